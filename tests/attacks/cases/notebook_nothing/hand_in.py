def hand_in(folder, notebook):
    """The folder is empty."""
    path = folder / f"{folder.name}.ipynb"
    del path, notebook
