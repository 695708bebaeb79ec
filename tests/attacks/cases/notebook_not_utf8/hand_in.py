import json


def hand_in(folder, notebook):
    """Bytes that are no UTF-8."""
    path = folder / f"{folder.name}.ipynb"
    path.write_bytes(b"\xff\xfe\x00" + json.dumps(notebook).encode("utf-16"))
