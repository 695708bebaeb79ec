import json


def hand_in(folder, notebook):
    """A second notebook lies beside the right one."""
    path = folder / f"{folder.name}.ipynb"
    (folder / "<b>other.ipynb").write_text("{}")
    path.write_text(json.dumps(notebook), encoding="utf-8")
