import json


def hand_in(folder, notebook):
    """Sixty cells of 199,000 characters bear the id of a figure's cell."""
    figure = next(cell for cell in notebook["cells"] if "skip-grading" in cell["metadata"].get("tags", []))
    long = {**figure, "source": "numbers = [" + "1, " * 66_000 + "]"}
    notebook["cells"] += [long] * 60
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
