def hand_in(folder, notebook):
    """The file is a symbolic link to a classmate's."""
    path = folder / f"{folder.name}.ipynb"
    other = folder.parents[1] / "honest honest" / folder.name / path.name
    path.symlink_to(other)
