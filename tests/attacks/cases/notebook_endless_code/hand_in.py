import json


def hand_in(folder, notebook):
    """A cell with forty megabytes of code, which takes gigabytes as a syntax tree."""
    path = folder / f"{folder.name}.ipynb"
    notebook["cells"].insert(9, {"cell_type": "code", "source": "1\n" * 20_000_000, "metadata": {}})
    path.write_text(json.dumps(notebook), encoding="utf-8")
