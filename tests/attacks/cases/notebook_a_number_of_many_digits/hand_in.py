import json


def hand_in(folder, notebook):
    """An execution count of ten thousand digits."""
    path = folder / f"{folder.name}.ipynb"
    path.write_text(json.dumps(notebook).replace('"execution_count": null', '"execution_count": ' + "9" * 10_000))
