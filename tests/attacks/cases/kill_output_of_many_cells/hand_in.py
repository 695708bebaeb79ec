import json


def hand_in(folder, notebook):
    """Add the cells at the end."""
    source = "from IPython.display import display\nfor _ in range(90):\n    print('x' * 5_000)\n    display({'text/html': 'y' * 5_000}, raw=True)"
    for number in range(120):
        cell = {"cell_type": "code", "id": f"n{number}", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        notebook["cells"].append(cell)
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
