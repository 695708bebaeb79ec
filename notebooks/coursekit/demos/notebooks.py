"""Writes the demos' notebooks, one cell each: a demo brings its title, its scenes and its questions itself.

``python -m coursekit.demos.notebooks`` writes ``notebooks/demos/*.ipynb``; ``--check`` fails where one differs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from coursekit.demos import bundle

FOLDER = Path(__file__).resolve().parents[2] / "demos"


def notebook(name: str) -> nbformat.NotebookNode:
    """The notebook of a demo."""
    code = f'from coursekit.demos.widget import show\n\nshow("{name}")'
    cell = new_code_cell(code, id="demo", metadata={"jupyter": {"source_hidden": True}})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=[cell], metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def main() -> int:
    """Write or check all notebooks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    FOLDER.mkdir(exist_ok=True)
    stale = []
    for name in bundle.names():
        text, path = nbformat.writes(notebook(name)) + "\n", FOLDER / f"{name}.ipynb"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.name)
        if not check:
            path.write_text(text, encoding="utf-8")
    print(("differ: " if check else "written: ") + (", ".join(stale) or "none"))
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
