import json


def hand_in(folder, notebook):
    """Metadata of every shape and size."""
    path = folder / f"{folder.name}.ipynb"
    notebook["metadata"] = {"nbgrader": [1, {"x": None}], "kernelspec": {"name": "../../bin/sh", "language": ["R"]}, "widgets": "<script>"}
    for cell in notebook["cells"]:
        cell["metadata"]["collapsed"] = {"deep": [[["x"] * 50]]}
    path.write_text(json.dumps(notebook), encoding="utf-8")
