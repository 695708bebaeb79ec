import os


def hand_in(folder, notebook):
    """A file of half a gigabyte (of which the disk holds nothing)."""
    path = folder / f"{folder.name}.ipynb"
    path.touch()
    os.truncate(path, 500 << 20)
