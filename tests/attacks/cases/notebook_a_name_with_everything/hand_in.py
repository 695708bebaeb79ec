import json


def hand_in(folder, notebook):
    """The student's name has quotes, markup, spaces and other alphabets."""
    path = folder / f"{folder.name}.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
