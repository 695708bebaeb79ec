import json


def hand_in(folder, notebook):
    """A text names a module of the kit with 300,000 parts."""
    notebook["cells"].append(
        {"cell_type": "markdown", "id": "long", "metadata": {}, "source": "see coursekit" + ".a" * 300_000}
    )
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
