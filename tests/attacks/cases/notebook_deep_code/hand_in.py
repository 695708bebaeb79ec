import json


def hand_in(folder, notebook):
    """Code so deep that a recursive reader of its syntax tree fails."""
    path = folder / f"{folder.name}.ipynb"
    for cell in notebook["cells"]:
        if "skip-grading" in cell["metadata"].get("tags", []):
            cell["source"] = "def deep():\n    return " + "1+" * 3000 + "1"
    path.write_text(json.dumps(notebook), encoding="utf-8")
