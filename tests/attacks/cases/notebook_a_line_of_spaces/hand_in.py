import json


def hand_in(folder, notebook):
    """A line of 199,000 spaces in a cell that does nothing else."""
    cell = {"cell_type": "code", "source": "1\n" + " " * 199_000 + "#", "metadata": {}, "outputs": []}
    notebook["cells"] += [cell] * 4
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
