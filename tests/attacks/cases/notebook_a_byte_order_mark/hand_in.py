import json


def hand_in(folder, notebook):
    """UTF-8 with a byte order mark, as Windows editors write it."""
    path = folder / f"{folder.name}.ipynb"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(notebook).encode())
