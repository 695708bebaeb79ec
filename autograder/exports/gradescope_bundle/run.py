"""Grades one submission inside Gradescope's container: reads submission/, writes results/results.json.

Without a notebook the result is 0 points and a sentence. If the grader itself cannot run, nothing is written and the exit
status is not 0. Gradescope then shows the submission as not graded, instead of 0 points.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.collect import Collected
    from autograder.results import SubmissionResult

#: The name of the student, whose real name is unknown here.
STUDENT = "student"


def main(root: Path) -> int:
    """Grade the submission in ``root/submission``. Returns the exit status."""
    source = root / "source"
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        source.chmod(
            0o700
        )  # the submission may be isolated only by another user id, which must not read the hidden tests
    course = source / "course"
    settings = json.loads((source / "gradescope.json").read_text(encoding="utf-8"))
    sys.path[:0] = [str(course), str(course / "notebooks")]
    os.environ.update(
        COURSE_ROOT=str(course),
        COURSE_FILE=str(course / "course.json"),
        COURSE_SALT=settings["salt"],
        COURSE_ROSTER="",  # the class list stays with the teacher
        PYTHONPATH=os.pathsep.join(sys.path[:2]),
    )
    with tempfile.TemporaryDirectory() as folder:
        found = _lay_out(root, Path(folder) / "submitted", settings["lab"])
        if found.students:
            result = _graded(Path(folder), settings)
            if result is None:
                return 1
        else:
            result = _without_notebook(settings["lab"])
    notes = [note.removeprefix(f"{STUDENT}: ").removeprefix(f"{STUDENT} ") for note in found.notes]
    notes += _lateness(settings["lab"], _time(root))
    _write(root / "results" / "results.json", replace(result, notes=(*map(_sentence, notes), *result.notes)))
    return 0


def _lay_out(root: Path, submitted: Path, lab: str) -> Collected:
    """Copy the submission, with its time, to the layout that the grader reads."""
    from autograder.collect import collect_folder

    return collect_folder(root / "submission", submitted, lab, student=STUDENT, submitted_at=_time(root))


def _time(root: Path) -> str:
    """When the student handed in, from Gradescope's metadata; "" if unknown."""
    try:
        metadata = json.loads((root / "submission_metadata.json").read_text(encoding="utf-8"))
        return str(metadata["created_at"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _graded(work: Path, settings: dict[str, Any]) -> SubmissionResult | None:
    """The notebook's result; None if the grader itself cannot run."""
    from autograder.run.store import STORE, ResultStore

    command = [sys.executable, "-m", "autograder.cli", "grade", settings["lab"], "--jobs", "1"]
    command += ["--submitted", str(work / "submitted"), "--out", str(work / "out")]
    status = subprocess.run(command, check=False).returncode
    if status != 0:
        print(f"The grader stopped with exit status {status}; no result was written.", file=sys.stderr)
        return None
    with ResultStore(work / "out" / STORE) as store:
        return store.get(settings["lab"], STUDENT)


def _lateness(lab: str, submitted_at: str) -> list[str]:
    """A sentence for a late submission. Extensions are unknown here, so no points are taken off."""
    from autograder.course.policy_file import settings
    from autograder.files import parse_time

    due, when = settings().due(lab), parse_time(submitted_at)
    if due is None or when is None or when <= due:
        return []
    shown = f"{settings().local(due):%Y-%m-%d %H:%M} {settings().timezone}"
    return [
        f"handed in after {shown}, when the lab was due. No points are taken off here, since nobody's extensions are known; "
        "Gradescope's late policy or the teaching team may."
    ]


def _without_notebook(lab: str) -> SubmissionResult:
    """The result without a notebook: 0 points for each question."""
    from autograder.course.policy_file import spec
    from autograder.results import QuestionResult, SubmissionResult

    questions = tuple(QuestionResult(name, 0.0, points) for name, points in spec(lab).questions)
    return SubmissionResult(STUDENT, lab, "missing", 0.0, spec(lab).max_score, 0.0, questions)


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:]


def _write(path: Path, result: SubmissionResult) -> None:
    from autograder.course.policy_file import spec
    from autograder.exports.json_results import results_of
    from autograder.files import write_atomically

    content = results_of(result, spec(result.lab))
    write_atomically(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
