import json


def hand_in(folder, notebook):
    """Lone surrogates and control characters in sources."""
    path = folder / f"{folder.name}.ipynb"
    notebook["cells"].append({"cell_type": "code", "source": "x = '\ud800 \x00'", "metadata": {}})
    path.write_text(json.dumps(notebook), encoding="utf-8")
