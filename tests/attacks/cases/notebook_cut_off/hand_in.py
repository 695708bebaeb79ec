import json


def hand_in(folder, notebook):
    """The upload broke off."""
    path = folder / f"{folder.name}.ipynb"
    path.write_text(json.dumps(notebook)[:5000])
