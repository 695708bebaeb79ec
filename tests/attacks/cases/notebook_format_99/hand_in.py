import json


def hand_in(folder, notebook):
    """nbformat 99 and schema_version 99 in every cell."""
    path = folder / f"{folder.name}.ipynb"
    notebook["nbformat"], notebook["nbformat_minor"] = 99, -1
    for cell in notebook["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["schema_version"] = 99
    path.write_text(json.dumps(notebook), encoding="utf-8")
