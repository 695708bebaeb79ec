"""The demos' command.

``python -m coursekit.demos pages [NAME …] [--out DIR]``  one HTML file a demo, which opens from a disk
``python -m coursekit.demos export [NAME …]``             their data, from Python into data/demos
``python -m coursekit.demos notebooks [NAME …]``          their notebooks, one cell each, into notebooks/demos
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from coursekit.data import path
from coursekit.demos import bundle, exported

NOTEBOOKS = Path(__file__).resolve().parents[2] / "demos"


def notebook(name: str) -> str:
    """The notebook of a demo: one cell, because the demo contains its title, scenes and questions."""
    code = f'from coursekit.demos.widget import show\n\nshow("{name}")'
    cell = new_code_cell(code, id="demo", metadata={"jupyter": {"source_hidden": True}})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = new_notebook(cells=[cell], metadata={"kernelspec": kernel, "language_info": {"name": "python"}})
    return nbformat.writes(book) + "\n"


def _note_sums(folder: Path, written: list[Path]) -> None:
    """Write the files' checksums into the data folder's list."""
    sums = folder / "SHA256SUMS"
    new = {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in written
    }
    kept = [line for line in sums.read_text().splitlines() if line.split(maxsplit=1)[1] not in new]
    sums.write_text("\n".join(kept + [f"{digest}  {name}" for name, digest in new.items()]) + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m coursekit.demos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", choices=("pages", "export", "notebooks"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="demos; none: all")
    parser.add_argument("--out", type=Path, default=Path("build/site/demos"))
    asked = parser.parse_args(arguments)
    known = bundle.names()
    if asked.action == "export":
        known = [name for name in exported.EXPORTS if name not in exported.MODELS]
    wrong = sorted(set(asked.names) - set(known))
    if wrong:
        print(f"There is no such demo: {', '.join(wrong)}. There are {', '.join(known)}.", file=sys.stderr)
        return 2
    if asked.action == "pages":
        written = bundle.write(asked.out, *asked.names)
    elif asked.action == "notebooks":
        written = [NOTEBOOKS / f"{name}.ipynb" for name in asked.names or known]
        for file in written:
            file.write_text(notebook(file.stem), encoding="utf-8")
    else:
        folder = path("demos")
        written = [folder / f"{name}.json" for name in asked.names or known]
        for file in written:
            file.write_text(exported.text(file.stem), encoding="utf-8")
        _note_sums(folder.parent, written)
    for file in written:
        print(f"{file}  {file.stat().st_size // 1024} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
