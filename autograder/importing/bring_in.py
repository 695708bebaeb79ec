"""``autograder import``: an nbgrader source notebook as a lab of this course, tried on its own answers before it counts."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat

from autograder.course import policy_file
from autograder.course.masters import (
    all_labs,
    course_header,
    course_root,
    lab_as_written,
    read_master,
    use_root,
)
from autograder.course.policy_file import limits_of, settings
from autograder.course.visible_files import data_files, files_below, write_kit
from autograder.errors import UserError
from autograder.files import write_atomically
from autograder.grading.cache_keys import context_of
from autograder.grading.imported import grader_of
from autograder.grading.repair import Template
from autograder.grading.submissions import Notebook, Submission
from autograder.grading.task import Task
from autograder.grading.zygotes import Zygotes
from autograder.importing.movable import Names, TestCell, test_cells_of
from autograder.importing.notebook import master_text, read_source, tests_text
from autograder.results import QuestionResult, SubmissionResult
from autograder.testing.run import set_salt, tests_of

_FILE_SIZE = 64 << 20
#: Names in every bundle, which data may not have.
_OF_A_BUNDLE = frozenset({"coursekit", "kit.zip"})


@dataclass(frozen=True)
class Imported:
    """A lab that was made of a notebook: its files, and of each graded cell what became of it."""

    lab: str
    files: tuple[Path, ...]
    cells: tuple[TestCell, ...]
    #: (grade_id, points) of what a person grades.
    by_hand: tuple[tuple[str, float], ...]
    #: Cells that the notebook's own answers do not pass, in this course or in nbgrader.
    failing: tuple[str, ...]
    #: The files beside the notebook that students' code may read now, and those left out, with the reason.
    data: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def import_notebook(path: Path, name: str | None = None) -> Imported:
    """Write the lab (``name``, or the next free number and the notebook's own name). ``UserError`` in one sentence.

    A cell whose test does not hold on the notebook's own answer outside the notebook stays beside the student's code.
    """
    root, notebook = course_root(), read_source(path)
    beside, left_out = _data_beside(path.resolve().parent, root.resolve())
    lab = _free_name(path, name)
    source = f"{path.resolve().parent.name}/{path.stem}"
    master = root / "solutions" / lab / f"{lab}.py"
    tests = root / "autograder" / "questions" / f"m{lab}" / "cells.py"
    try:
        cells, names = test_cells_of(notebook.cells)
    except (RecursionError, MemoryError):
        raise UserError(f"{path} holds code that is nested too deep to be read.") from None
    text = master_text(notebook, lab, source, bool(beside))
    made = (master.parent, tests.parent, root / "data" / lab)
    for place in made:
        if place.exists():
            raise UserError(f"{place.relative_to(root)} is there already: nothing was written.")
    written = [master, tests]
    try:
        for file in beside:
            target = root / "data" / lab / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.is_dir():
                shutil.copytree(file, target, ignore=_unwanted)
            else:
                shutil.copy2(file, target)
        write_atomically(master, text)
        write_atomically(tests.with_name("__init__.py"), f'"""Lab {lab[:2]}, which was imported."""\n')
        cells, result = _written_and_tried(lab, source, cells, tests, names)
    except BaseException as error:
        for place in made:
            shutil.rmtree(place, ignore_errors=True)
        if isinstance(error, (RecursionError, MemoryError)):
            raise UserError(f"{path} holds code that is nested too deep to be read.") from None
        raise
    failing = [q.name for q in result.questions if q.points < q.max_points]
    files = tuple(file.relative_to(root) for file in written)
    data = tuple(file.name for file in beside)
    return Imported(
        lab, files, tuple(cells), lab_as_written(lab).written, tuple(failing), data, tuple(left_out)
    )


def _written_and_tried(
    lab: str, source: str, cells: list[TestCell], tests: Path, names: Names
) -> tuple[list[TestCell], SubmissionResult]:
    """Write the tests, try them on the notebook's own answers, and take back those that do not hold there.

    One that holds only if what the answers make of their arguments counts is written so (``in_place``).
    """
    while True:
        write_atomically(tests, tests_text(lab, source, cells, names))
        _forget(lab)
        result = grade_own_answers(lab)
        earned = {question.name: question for question in result.questions}
        tried = [_after_trial(cell, earned[cell.grade_id.removeprefix("test_")]) for cell in cells]
        if tried == cells:
            return cells, result
        cells = tried


def _after_trial(cell: TestCell, own: QuestionResult) -> TestCell:
    """The cell as it is where its test holds on the notebook's ``own`` answer; else what to try next."""
    if cell.reason or own.points >= cell.points:
        return cell
    if not cell.in_place:
        return replace(cell, in_place=True)
    said = own.tests[0].message
    return replace(cell, reason=f"outside the notebook its own answer does not pass ({said})")


def grade_own_answers(lab: str) -> SubmissionResult:
    """Grade the lab's own notebook as a submission: with its solutions every cell should give its points."""
    use_root(course_root())
    set_salt(settings().salt)
    home = Path(tempfile.mkdtemp(prefix="coursekit-"))
    raw = nbformat.writes(read_master(lab)).encode()
    notebook = Notebook(
        Submission("the source itself", home / "own.ipynb"), lab, raw, names_torch=b"torch" in raw
    )
    try:
        write_kit(lab, home / "coursekit")
        limits = limits_of(lab)
        with Zygotes.of(lab, home / "coursekit", data_files(lab), limits) as zygotes:
            return grader_of(lab)(lab, zygotes, Template.of(lab), context_of(lab, limits)).grade(
                Task(notebook)
            )
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _forget(lab: str) -> None:
    """Clear the caches of a lab whose files have changed."""
    importlib.invalidate_caches()
    sys.modules.pop(f"autograder.questions.m{lab}.cells", None)
    for remembered in (tests_of, read_master, course_header, lab_as_written, Template.of, policy_file.spec):
        remembered.cache_clear()


def _free_name(path: Path, name: str | None) -> str:
    taken = {lab[:2]: lab for lab in all_labs()}
    if name is None:
        word = re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_") or "assignment"
        word = word if word[0].isalpha() else f"n{word}"
        number = next((f"{n:02d}" for n in range(20, 100) if f"{n:02d}" not in taken), None)
        if number is None:
            raise UserError("All numbers from 20 to 99 are taken: give the lab a name.")
        return f"{number}_{word}"
    if not re.fullmatch(r"\d\d_[a-z][a-z0-9_]*", name):
        raise UserError(f"“{name}” is no name for a lab: two digits and small letters, as in 20_problem1.")
    if name[:2] in taken:
        raise UserError(f"There is a lab {taken[name[:2]]} already: take another number.")
    return name


def _data_beside(folder: Path, root: Path) -> tuple[list[Path], list[str]]:
    """The files beside a notebook that become its lab's data, which students' code may read; and those left out, with the reason.

    Never the course, and no links, which may lead anywhere.
    """
    beside, left = list[Path](), list[str]()
    for path in sorted(folder.iterdir()):
        why = _why_left_out(path)
        if not why and path.name in _OF_A_BUNDLE:
            why = "a bundle has its own"
        elif not why and (size := sum(file.lstat().st_size for file in files_below(path))) >= _FILE_SIZE:
            why = f"{size / 1e6:.0f} MB; at most {_FILE_SIZE / 1e6:.0f} MB"
        if not why:
            beside.append(path)
            left += _left_out_below(path)
        elif why not in (_HIDDEN, _NOTEBOOK):
            left.append(f"{path.name} ({why})")
    if folder == root or any(root.is_relative_to(path) for path in beside):
        raise UserError(
            f"The course itself lies in {folder}, and what lies beside a notebook becomes its lab's data: "
            "put the notebook and its files into a folder of their own."
        )
    return beside, left


def _left_out_below(path: Path) -> Iterator[str]:
    """What of a folder is left out, hidden files apart, with the reason."""
    for folder, folders, files in os.walk(path):
        for name in sorted([*folders, *files]):
            if (why := _why_left_out(Path(folder, name))) not in ("", _HIDDEN):
                yield f"{Path(folder, name).relative_to(path.parent)} ({why})"
        folders[:] = [name for name in folders if not _why_left_out(Path(folder, name))]


def _unwanted(folder: str, names: list[str]) -> set[str]:
    """What of a folder is left out."""
    return {name for name in names if _why_left_out(Path(folder, name))}


_HIDDEN, _NOTEBOOK = "a hidden file", "another notebook"


def _why_left_out(path: Path) -> str:
    """Why a file or folder is no data of a lab; "" for data."""
    if path.name[:1] == "." or path.name == "__pycache__":
        return _HIDDEN
    if path.name.endswith(".ipynb"):
        return _NOTEBOOK
    if path.is_symlink():
        return "a link"
    return "" if path.is_file() or path.is_dir() else "no file"
