import json


def hand_in(folder, notebook):
    """A time before the first year."""
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
    (folder / "timestamp.txt").write_text('0001-01-01 00:00:00 +14:00\n')
