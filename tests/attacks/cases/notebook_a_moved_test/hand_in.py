import json


def hand_in(folder, notebook):
    """A test cell stands before its answer."""
    path = folder / f"{folder.name}.ipynb"
    def place(name):
        return next(i for i, c in enumerate(notebook["cells"]) if c["metadata"].get("nbgrader", {}).get("grade_id") == name)

    notebook["cells"].insert(1, notebook["cells"].pop(place("test_average_nll")))
    path.write_text(json.dumps(notebook), encoding="utf-8")
