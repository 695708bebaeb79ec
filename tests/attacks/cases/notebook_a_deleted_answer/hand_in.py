import json


def hand_in(folder, notebook):
    """An answer cell was deleted: its points are lost, and no others."""
    path = folder / f"{folder.name}.ipynb"
    def place(name):
        return next(i for i, c in enumerate(notebook["cells"]) if c["metadata"].get("nbgrader", {}).get("grade_id") == name)

    del notebook["cells"][place("average_nll")]
    path.write_text(json.dumps(notebook), encoding="utf-8")
