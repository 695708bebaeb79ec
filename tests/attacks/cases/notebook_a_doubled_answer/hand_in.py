import json


def hand_in(folder, notebook):
    """An answer cell stands there twice, the second one wrong."""
    path = folder / f"{folder.name}.ipynb"
    def place(name):
        return next(i for i, c in enumerate(notebook["cells"]) if c["metadata"].get("nbgrader", {}).get("grade_id") == name)


    again = json.loads(json.dumps(notebook["cells"][place("normalise_rows")]))
    again["source"] = "def normalise_rows(N):\n    return N"
    notebook["cells"].insert(place("normalise_rows") + 1, again)
    path.write_text(json.dumps(notebook), encoding="utf-8")
