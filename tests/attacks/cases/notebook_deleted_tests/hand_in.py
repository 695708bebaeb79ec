import json


def hand_in(folder, notebook):
    """All locked cells were deleted."""
    path = folder / f"{folder.name}.ipynb"
    notebook["cells"] = [c for c in notebook["cells"] if not c["metadata"].get("nbgrader", {}).get("locked")]
    path.write_text(json.dumps(notebook), encoding="utf-8")
