"""Decides who may see which files: a student's bundle, the sandbox, a worker elsewhere, Gradescope's container.

One rule serves all of them. A file or folder that belongs to one lab has the lab's number in its name (``07_…``,
``test_07_…``, ``m07_…``, ``c07_…``, ``p07_…``), and nobody sees files of later labs than their own. Beyond that:

- a *student* of lab k sees the data that the lab's master names, and the kit without the lecture's demos and without the
  answers to lab k and later labs (``provided``): no solution, no hidden test, no wrong answer.
- a *grader* of lab k also sees the masters, hidden tests and wrong answers of the labs up to k.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.course.masters import course_header, course_root
from autograder.course.policy_file import course_file, salt_file
from autograder.errors import UserError
from autograder.sandbox.jail.visible import shown_through

KIT = "notebooks/coursekit"
_LAB_NUMBER = re.compile(r"^(?:test_|[a-z])?(\d\d)_")
#: Files that editors, systems and version control leave beside a file, under names that do not tell their lab.
_LEFT_OVER = re.compile(r"^[.#~]|(~|\.(bak|orig|pyc|rej|sw[a-p]|tmp))$", re.IGNORECASE)
_CACHES = frozenset({"__pycache__", ".pytest_cache", ".ruff_cache", ".mypy_cache", ".ipynb_checkpoints"})


def lab_number(name: str) -> str | None:
    """The number (``"07"``) of the lab to which a file or folder of this name belongs; None if to all labs."""
    match = _LAB_NUMBER.match(name)
    return match.group(1) if match else None


def files_below(path: Path) -> Iterator[Path]:
    """The file itself, or all files below the folder in a fixed order, without caches and leftovers."""
    if path.is_file():
        yield path
    for file in sorted(path.rglob("*")):
        is_left_over = any(map(_LEFT_OVER.search, file.relative_to(path).parts))
        if file.is_file() and not is_left_over and not _CACHES.intersection(file.parts):
            yield file


def kit_folder() -> Path:
    """The folder of the full student kit."""
    return course_root() / KIT


def kit_files(lab: str) -> list[Path]:
    """The kit's files that a student of ``lab`` (full name) sees, in a fixed order."""
    kit = kit_folder()
    return [file for file in files_below(kit) if _is_shown(file.relative_to(kit), lab[:2])]


def _is_shown(file: Path, number: str) -> bool:
    if file.parts[0] == "demos":  # lectures show answers
        return False
    latest = max((n for part in file.parts if (n := lab_number(part))), default="")
    if file.parts[0] == "provided":  # answers; a file without a lab's number may be a copy of one
        return latest < number if latest else file.name == "__init__.py"
    return latest <= number


def write_kit(lab: str, target: Path) -> None:
    """Copy the kit for students of ``lab`` to the folder ``target``."""
    copy_files(kit_files(lab), kit_folder(), target)


def copy_files(files: Iterable[Path], source: Path, target: Path) -> None:
    """Copy files below the folder ``source`` to the same places below ``target``."""
    for file in files:
        place = target / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, place)


def data_files(lab: str) -> list[Path]:
    """The data files and folders that the master's header names, as paths in ``data/``."""
    folder, names = course_root() / "data", course_header(lab).get("data") or []
    if not isinstance(names, list):
        raise UserError(f"The header of lab {lab} says data: {names}; write data: [{names}].")
    for name in map(Path, map(str, names)):
        if ".." in name.parts or name.is_absolute() or not (folder / name).exists():
            raise UserError(f"Lab {lab} names the data file {name}, which is not in data/.")
    return [folder / str(name) for name in names]


def grader_files(lab: str) -> Iterator[tuple[Path, str]]:
    """Yield (path, name in the course's folder) of the course's files for grading ``lab``: masters, tests, answers.

    The kit and the data are separate: ``kit_files`` and ``data_files``.
    """
    root = course_root()
    for master in sorted(root.glob("solutions/[0-9][0-9]_*/*.py")):
        if (lab_number(master.parent.name) or "") <= lab[:2]:
            yield master, master.relative_to(root).as_posix()
    folder = root / "autograder" / "questions"
    for file in files_below(folder):
        numbers = [n for part in file.relative_to(folder).parts if (n := lab_number(part))]
        if file.suffix == ".py" and numbers and max(numbers) <= lab[:2]:
            yield file, file.relative_to(root).as_posix()


def refuse_world_readable(*folders: Path) -> None:
    """Raise ``UserError`` if submissions can read the course, its salt or one of the class's ``folders``, as below /usr."""
    for path in (course_root(), course_file(), salt_file(), *folders):
        if shown := shown_through(path):
            raise UserError(
                f"{path} lies in {shown}, which submissions can read: move the course and the class's folders elsewhere, "
                "such as to /srv."
            )
