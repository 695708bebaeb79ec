import json


def hand_in(folder, notebook):
    """An answer's grade id was changed to another question's."""
    path = folder / f"{folder.name}.ipynb"
    def place(name):
        return next(i for i, c in enumerate(notebook["cells"]) if c["metadata"].get("nbgrader", {}).get("grade_id") == name)

    notebook["cells"][place("average_nll")]["metadata"]["nbgrader"]["grade_id"] = "normalise_rows"
    path.write_text(json.dumps(notebook), encoding="utf-8")
