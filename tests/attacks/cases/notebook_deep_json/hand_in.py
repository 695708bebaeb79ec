def hand_in(folder, notebook):
    """A hundred thousand brackets."""
    path = folder / f"{folder.name}.ipynb"
    path.write_text('{"cells": ' + "[" * 100_000)
