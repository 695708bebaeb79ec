import json


def hand_in(folder, notebook):
    """Three thousand cells."""
    path = folder / f"{folder.name}.ipynb"
    notebook["cells"] += [{"cell_type": "code", "source": "1", "metadata": {}}] * 3000
    path.write_text(json.dumps(notebook), encoding="utf-8")
