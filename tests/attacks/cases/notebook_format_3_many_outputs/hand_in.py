import json


def hand_in(folder, notebook):
    """A notebook of format 3 with 200,000 tiny outputs."""
    path = folder / f"{folder.name}.ipynb"
    cells = [
        {"cell_type": "code", "input": c["source"], "outputs": [], "metadata": c["metadata"]}
        for c in notebook["cells"]
        if c["cell_type"] == "code"
    ]
    cells[0]["outputs"] = [{"output_type": "stream", "stream": "stdout", "text": "."}] * 200_000
    path.write_text(json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}))
