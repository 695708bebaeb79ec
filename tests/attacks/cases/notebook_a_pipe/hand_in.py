import os


def hand_in(folder, notebook):
    """The file is a named pipe that nobody writes to."""
    path = folder / f"{folder.name}.ipynb"
    os.mkfifo(path)
