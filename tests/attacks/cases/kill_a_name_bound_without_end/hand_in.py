import json


def hand_in(folder, notebook):
    """Each cell runs for a fifth of what the class's limits allow, and binds what the answer is made of."""
    path = folder / f"{folder.name}.ipynb"
    source = "1 / 0\n" + "np=np\n" * 14_000
    for place in range(9, 17):
        notebook["cells"].insert(place, {"cell_type": "code", "source": source, "metadata": {}})
    path.write_text(json.dumps(notebook), encoding="utf-8")
