def hand_in(folder, notebook):
    """A folder has the notebook's name."""
    path = folder / f"{folder.name}.ipynb"
    path.mkdir()
