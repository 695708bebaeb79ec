import json


def hand_in(folder, notebook):
    """Each cell is as long as a cell may be, and binds what the answer is made of."""
    path = folder / f"{folder.name}.ipynb"
    source = "1 / 0\n" + "np=np\n" * 28_000
    for place in (9, 10, 11, 12):
        notebook["cells"].insert(place, {"cell_type": "code", "source": source, "metadata": {}})
    path.write_text(json.dumps(notebook), encoding="utf-8")
