import json


def hand_in(folder, notebook):
    """Two cells of 190,000 characters, each with fifty bad lines at its end."""
    line = "x = " + "[" * 190 + "]" * 190 + "\n"
    cell = {"cell_type": "code", "source": line * 495 + "x =\n" * 50, "metadata": {}, "outputs": []}
    notebook["cells"] += [cell] * 2
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
