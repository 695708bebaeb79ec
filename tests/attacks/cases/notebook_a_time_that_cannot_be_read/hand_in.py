import json


def hand_in(folder, notebook):
    """A time whose numbers no calendar has."""
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
    (folder / "timestamp.txt").write_text('10:99999999999999999999999999999\n')
