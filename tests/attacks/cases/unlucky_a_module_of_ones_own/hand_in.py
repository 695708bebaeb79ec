import json

HELPER = """%%writefile my_helper.py
def total(row):
    return row.sum(axis=1)
"""
ANSWER = """from my_helper import total


def normalise_rows(N):
    sums = total(N).astype(float)
    return np.divide(N, sums[:, None], out=np.zeros(N.shape), where=sums[:, None] != 0)
"""


def hand_in(folder, notebook):
    """The file lies in the working folder, which a notebook imports from."""
    cells = notebook["cells"]
    place = next(i for i, c in enumerate(cells) if c["metadata"].get("nbgrader", {}).get("grade_id") == "normalise_rows")
    cells[place]["source"] = ANSWER
    cells.insert(place, {"cell_type": "code", "source": HELPER, "metadata": {}, "outputs": [], "execution_count": None})
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
