"""What a student receives: the notebook, the kit cut to what the lab may show, the data, how to begin."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from autograder.errors import UserError
from autograder.layout import write_atomically
from autograder.masters import course_header, course_root

_README = """# From Bigrams to Translators

1. Unpack all labs into one folder (a later lab uses what you wrote in the earlier ones) and open a terminal in it.
2. `conda env create -f environment.yml`, then `conda activate bigrams-to-translators`
   (or, with Python 3.11 to 3.13 alone: `pip install -r requirements.txt`).
3. `jupyter lab`, open the notebook in the lab's folder (such as `{lab}/{lab}.ipynb`), and run the cells from the top.

Write each function where it says `YOUR CODE HERE`; the cell below it checks your work in words.
When you are done: press Validate above the notebook. It saves, runs everything from a fresh start, and lists what is
not done yet. Then hand in that notebook; or run `from coursekit import hand_in; hand_in()` in a new cell, which packs it
as a zip file and says in words what is in it.
"""

_ENVIRONMENT = """name: bigrams-to-translators
channels: [conda-forge]
dependencies:
  - python=3.11
  - pip
  - pip:
      - -r requirements.txt
"""


def kit_folder() -> Path:
    """The student kit's package."""
    return course_root() / "notebooks" / "coursekit"


def write_kit(lab: str, target: Path) -> None:
    """Copy the kit as lab ``lab`` may show it: checks up to this lab, provided functions of earlier ones only."""
    number = lab[:2]

    def unwanted(folder: str, names: list[str]) -> set[str]:
        out = {name for name in names if name == "__pycache__" or name.endswith(".pyc")}
        where = Path(folder).name
        if Path(folder) == kit_folder():
            out |= {"demos"} & set(names)  # a lecture shows what a lab asks for
        if where == "provided":
            out |= {name for name in names if name[0] == "p" and name[1:3].isdigit() and name[1:3] >= number}
        if where == "checks":
            out |= {name for name in names if name[0] == "c" and name[1:3].isdigit() and name[1:3] > number}
        return out

    shutil.copytree(kit_folder(), target, ignore=unwanted)


def data_files(lab: str) -> list[Path]:
    """The data files and folders that the master's header names, as paths in ``data/``."""
    names = course_header(lab).get("data") or []
    files = [course_root() / "data" / name for name in names]
    for file in files:
        if not file.exists():
            raise UserError(f"Lab {lab} names the data file {file.name}, which is not in data/.")
    return files


def release(lab: str, out: Path) -> Path:
    """Write the student's bundle of a lab to ``out`` and return the notebook's path."""
    import nbformat

    from autograder.build import released_notebook  # it loads nbgrader, which a worker can do without

    folder = out / lab
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty: choose another folder or remove it.")
    notebook = released_notebook(lab)
    folder.mkdir(parents=True, exist_ok=True)
    write_kit(lab, folder / "coursekit")
    for source in data_files(lab):
        target = folder / "data" / source.relative_to(course_root() / "data")
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
    write_atomically(folder / f"{lab}.ipynb", nbformat.writes(notebook) + "\n")
    write_atomically(out / "README.md", _README.format(lab=lab))
    write_atomically(out / "environment.yml", _ENVIRONMENT)
    write_atomically(out / "requirements.txt", "\n".join(_student_requirements()) + "\n")
    return folder / f"{lab}.ipynb"


def _student_requirements() -> list[str]:
    """The pinned packages that a student needs: the first group of pyproject's dependencies."""
    import tomllib

    text = (course_root() / "pyproject.toml").read_text(encoding="utf-8")
    wanted = tomllib.loads(text)["project"]["dependencies"]
    harness = ("jupytext", "typer", "rich", "pydantic", "SQLAlchemy", "Jinja2")
    return [line for line in wanted if not line.startswith(harness)]


def digest_of(paths: list[Path]) -> str:
    """One digest of the contents of files and folders, names included."""
    digest = hashlib.sha256()
    for path in paths:
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            if "__pycache__" not in file.parts:
                digest.update(str(file.relative_to(path.parent)).encode() + b"\0")
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
