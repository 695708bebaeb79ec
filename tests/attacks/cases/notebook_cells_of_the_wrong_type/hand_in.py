import json


def hand_in(folder, notebook):
    """Cells that are numbers, lists and nothing, sources that are dictionaries."""
    path = folder / f"{folder.name}.ipynb"
    notebook["cells"] += [1, None, [], {"cell_type": 7, "source": {}}, {"cell_type": "code", "source": [1, None, "x = 1"], "metadata": []}]
    path.write_text(json.dumps(notebook), encoding="utf-8")
