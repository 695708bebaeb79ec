import json


def hand_in(folder, notebook):
    """No cells."""
    path = folder / f"{folder.name}.ipynb"
    notebook["cells"] = []
    path.write_text(json.dumps(notebook), encoding="utf-8")
