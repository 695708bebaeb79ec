"""What a student receives: the notebook, the kit cut to what the lab may show, the data, how to begin."""

from __future__ import annotations

import shutil
from pathlib import Path

from autograder.course.masters import course_root
from autograder.course.packages import student_packages
from autograder.course.visible_files import data_files, write_kit
from autograder.errors import UserError
from autograder.files import write_atomically

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


def release(lab: str, out: Path) -> Path:
    """Write the student's bundle of a lab to ``out`` and return the notebook's path."""
    import nbformat

    from autograder.course.build import released_notebook  # it loads nbgrader, which a worker can do without

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
    write_atomically(out / "requirements.txt", "\n".join(student_packages()) + "\n")
    return folder / f"{lab}.ipynb"
