"""Makes a lab from an nbgrader source notebook (``autograder import``), and tests it on the notebook's own answers."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import nbformat

from autograder.course import policy_file
from autograder.course.masters import (
    all_labs,
    course_header,
    course_root,
    lab_as_written,
    read_master,
    require_new_name,
    use_root,
)
from autograder.course.policy_file import limits_of, settings
from autograder.course.student_files import copy_files, data_files, write_kit
from autograder.errors import UserError
from autograder.files import write_atomically
from autograder.grading.cache_keys import context_of
from autograder.grading.imported import grader_of
from autograder.grading.repair import Template
from autograder.grading.submissions import Notebook, Submission
from autograder.grading.task import Task
from autograder.grading.zygotes import zygote_of
from autograder.importing.notebook import master_text, read_source
from autograder.judging.movable import GradedCell, graded_cells
from autograder.judging.run import set_salt, tests_of
from autograder.results import QuestionResult, SubmissionResult

_FILE_SIZE = 64 << 20
#: Names of a bundle's own files, which data may not have.
_OF_A_BUNDLE = frozenset({"coursekit", "kit.zip"})


@dataclass(frozen=True)
class Imported:
    """A lab that was made from a notebook: its master, and how each graded cell was imported."""

    lab: str
    master: Path
    cells: Sequence[GradedCell]
    #: (grade_id, points) of the cells that a person grades.
    by_hand: tuple[tuple[str, float], ...]
    #: Cells that fail on the notebook's own answers, in this course or in nbgrader.
    failing: Sequence[str]
    #: The files beside the notebook that students' code can read now, and the files left out, with the reason.
    data: Sequence[str]
    left_out: Sequence[str]


def import_notebook(path: Path, name: str | None = None) -> Imported:
    """Write the lab ``name`` (default: the next free number and the notebook's name). Raises ``UserError``, in one sentence.

    Each test cell that may run outside the notebook is tried on the notebook's own answers. If it fails, it is tried with
    changed arguments allowed (``in_place``). If it fails again, it stays beside the student's code.
    """
    root, notebook = course_root(), read_source(path)
    folder = path.resolve().parent
    beside, left_out = _data_beside(folder, root.resolve())
    lab = name or _free_name(path)
    source = f"{folder.name}/{path.stem}"
    master = root / "solutions" / lab / f"{lab}.py"
    made = (master.parent, root / "data" / lab)
    require_new_name(lab, *made)
    try:
        cells = graded_cells(notebook.cells)[0]
        copy_files((folder / place for place in beside), folder, root / "data" / lab)

        def write() -> None:
            write_atomically(master, master_text(notebook, lab, source, bool(beside), cells))
            _forget(lab)

        write()
        with own_answers(lab) as grade:
            while True:
                result = grade()
                earned = {question.name: question for question in result.questions}
                tried = [_after_trial(cell, earned[cell.grade_id.removeprefix("test_")]) for cell in cells]
                if tried == cells:
                    break
                cells = tried
                write()
    except BaseException as error:
        for place in made:
            shutil.rmtree(place, ignore_errors=True)
        if isinstance(error, (RecursionError, MemoryError)):
            raise UserError(f"{path} holds code that is nested too deep to be read.") from None
        raise
    failing = [q.name for q in result.questions if q.points < q.max_points]
    data = list(dict.fromkeys(place.parts[0] for place in beside))
    written = lab_as_written(lab).written
    return Imported(lab, master.relative_to(root), cells, written, failing, data, left_out)


def _after_trial(cell: GradedCell, own: QuestionResult) -> GradedCell:
    """The cell unchanged if its test passes on the notebook's ``own`` answer; else the next variant to try."""
    if cell.reason or own.points >= cell.points:
        return cell
    if not cell.in_place:
        return replace(cell, in_place=True)
    message = own.tests[0].message
    return replace(cell, reason=f"outside the notebook its own answer does not pass ({message})")


@contextmanager
def own_answers(lab: str) -> Iterator[Callable[[], SubmissionResult]]:
    """A function that grades the lab's own notebook, with solutions, as a submission: every cell should give its points."""
    use_root(course_root())
    set_salt(settings().salt)
    raw = nbformat.writes(read_master(lab)).encode()
    with tempfile.TemporaryDirectory(prefix="coursekit-") as name:
        home = Path(name)
        submission = Submission("the source itself", home / "own.ipynb")
        task = Task(Notebook(submission, lab, raw))
        write_kit(lab, home / "coursekit")
        limits = limits_of(lab)
        with zygote_of(lab, home / "coursekit", data_files(lab), limits) as zygote:
            yield lambda: grader_of(lab)(lab, zygote, Template.of(lab), context_of(lab, limits)).grade(task)


def _forget(lab: str) -> None:
    """Clear the caches of a lab whose files have changed."""
    for remembered in (tests_of, read_master, course_header, lab_as_written, Template.of, policy_file.spec):
        remembered.cache_clear()


def _free_name(path: Path) -> str:
    """The next free number and the notebook's name."""
    word = re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_") or "assignment"
    word = word if word[0].isalpha() else f"n{word}"
    taken = {lab[:2] for lab in all_labs()}
    number = next(n for n in count(20) if str(n) not in taken)
    return f"{number}_{word[:60]}"


def _data_beside(folder: Path, root: Path) -> tuple[list[Path], list[str]]:
    """The files beside a notebook that become the lab's data, readable for students' code; and those left out, with the reason.

    Paths are relative to ``folder``. The course itself, and links, are never included.
    """
    if root.is_relative_to(folder):
        raise UserError(
            f"The course itself lies in {folder}, and what lies beside a notebook becomes its lab's data: "
            "put the notebook and its files into a folder of their own."
        )
    data, left = list[Path](), list[str]()
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if any(part[:1] == "." or part == "__pycache__" for part in place.parts):
            continue
        if place.parts[0] in _OF_A_BUNDLE:
            left.append(f"{place.parts[0]} (a bundle has its own)")
        elif path.is_symlink():
            left.append(f"{place} (a link)")
        elif path.suffix == ".ipynb":
            left += [f"{place} (another notebook)"] if len(place.parts) > 1 else []
        elif path.is_file() and (size := path.stat().st_size) >= _FILE_SIZE:
            left.append(f"{place} ({size / 1e6:.0f} MB; at most {_FILE_SIZE / 1e6:.0f} MB)")
        elif path.is_file():
            data.append(place)
        elif not path.is_dir():
            left.append(f"{place} (no file)")
    return data, list(dict.fromkeys(left))
