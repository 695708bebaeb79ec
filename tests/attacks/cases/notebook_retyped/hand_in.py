import json


def hand_in(folder, notebook):
    """An answer became Markdown and a test cell raw."""
    path = folder / f"{folder.name}.ipynb"
    def place(name):
        return next(i for i, c in enumerate(notebook["cells"]) if c["metadata"].get("nbgrader", {}).get("grade_id") == name)


    notebook["cells"][place("average_nll")]["cell_type"] = "markdown"
    notebook["cells"][place("test_average_nll")]["cell_type"] = "raw"
    path.write_text(json.dumps(notebook), encoding="utf-8")
