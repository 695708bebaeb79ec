def hand_in(folder, notebook):
    """Sixty megabytes of empty brackets, each a Python object once read."""
    path = folder / f"{folder.name}.ipynb"
    path.write_text('{"metadata": [' + "[],[]," * 10_000_000 + '0], "cells": [{}]}')
