"""Writes the demos' notebooks from their modules: a title, what to look at, the demo, questions for the audience.

A demo that is drawn in the browser (``web/NAME.js``) brings all of these itself: its notebook is one cell.

``python -m coursekit.demos.notebooks`` writes ``notebooks/demos/*.ipynb``; ``--check`` fails where one differs.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from coursekit.demos import bundle
from coursekit.demos.frame import Demo

FOLDER = Path(__file__).resolve().parents[2] / "demos"


def names() -> list[str]:
    """The names of all demos, in the course's order."""
    return sorted([*drawn_in_python(), *bundle.names()])


def drawn_in_python() -> list[str]:
    """The names of the demos that a kernel draws."""
    here = str(Path(__file__).parent)
    return sorted(found.name[1:] for found in iter_modules([here]) if found.name[1:3].isdigit())


def load(name: str) -> Demo:
    """The demo of that name."""
    demo = import_module(f"coursekit.demos.d{name}").demo
    if demo.name != name:
        raise ValueError(f"The demo in d{name}.py calls itself {demo.name}.")
    return demo


def notebook(name: str) -> nbformat.NotebookNode:
    """The notebook of a demo."""
    if name in bundle.names():
        code = f'from coursekit.demos.widget import show\n\nshow("{name}")'
        return _book([new_code_cell(code, id="demo", metadata={"jupyter": {"source_hidden": True}})])
    demo = load(name)
    asked = "\n".join(f"{i}. {question}" for i, question in enumerate(demo.questions, 1))
    code = f"from coursekit.demos.d{demo.name} import demo\nfrom coursekit.demos.widgets import show\n\nshow(demo)"
    cells = [
        new_markdown_cell(f"# {demo.name[:2]} · {demo.title}\n\n{demo.look}", id="title"),
        new_code_cell(code, id="demo", metadata={"jupyter": {"source_hidden": True}}),
        new_markdown_cell(f"**Ask the audience**\n\n{asked}", id="questions"),
    ]
    return _book(cells)


def _book(cells: list[nbformat.NotebookNode]) -> nbformat.NotebookNode:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def main() -> int:
    """Write or check all notebooks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    FOLDER.mkdir(exist_ok=True)
    stale = []
    for name in names():
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
