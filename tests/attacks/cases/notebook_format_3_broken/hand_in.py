import json


def hand_in(folder, notebook):
    """A notebook that says it has worksheets and has rubbish."""
    path = folder / f"{folder.name}.ipynb"
    path.write_text(json.dumps({"nbformat": 3, "worksheets": [1, {"cells": 5}], "metadata": 7}))
