import json


def hand_in(folder, notebook):
    """The file has another name."""
    path = folder / f"{folder.name}.ipynb"
    (folder / "Copy of my lab (final) 2.ipynb").write_text(json.dumps(notebook))
