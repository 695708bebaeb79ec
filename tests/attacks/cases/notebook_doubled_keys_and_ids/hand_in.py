import json


def hand_in(folder, notebook):
    """All cells have one id, and JSON keys occur twice."""
    path = folder / f"{folder.name}.ipynb"
    for cell in notebook["cells"]:
        cell["id"] = "same"
    path.write_text('{"cells": [], ' + json.dumps(notebook)[1:])
