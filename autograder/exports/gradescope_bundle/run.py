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

from autograder.collect import collect_folder
from autograder.course.policy_file import settings, spec
from autograder.exports.json_results import results_json
from autograder.exports.rows import graded
from autograder.files import parse_time, write_atomically
from autograder.results import QuestionResult, SubmissionResult
from autograder.run.store import STORE, ResultStore

#: The name of the student, whose real name is unknown here.
STUDENT = "student"


def main(root: Path) -> int:
    """Grade the submission in ``root/submission``. Returns the exit status."""
    source = root / "source"
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # The submission may be isolated only by another user id, which must not read the hidden tests.
        source.chmod(0o700)
    given = json.loads((source / "gradescope.json").read_text(encoding="utf-8"))
    lab, os.environ["COURSE_SALT"] = given["lab"], given["salt"]
    try:
        metadata = json.loads((root / "submission_metadata.json").read_text(encoding="utf-8"))
        time = str(metadata["created_at"])
    except (OSError, ValueError, KeyError, TypeError):
        time = ""
    with tempfile.TemporaryDirectory() as folder:
        submitted, out = Path(folder, "submitted"), Path(folder, "out")
        found = collect_folder(root / "submission", submitted, lab, student=STUDENT, submitted_at=time)
        if found.students:
            command = [sys.executable, "-m", "autograder.cli", "grade", lab, "--jobs", "1"]
            command += ["--submitted", str(submitted), "--out", str(out)]
            if status := subprocess.run(command, check=False).returncode:
                print(
                    f"The grader stopped with exit status {status}; no result was written.", file=sys.stderr
                )
                return 1
            with ResultStore(out / STORE) as store:
                result = store.get(lab, STUDENT)
        else:
            nothing = tuple(QuestionResult(name, 0.0, points) for name, points in spec(lab).questions)
            result = SubmissionResult(STUDENT, lab, "missing", 0.0, spec(lab).max_score, 0.0, nothing)
    if result is None:
        return 1
    notes = [note.removeprefix(f"{STUDENT}: ").removeprefix(f"{STUDENT} ") for note in found.notes]
    notes += _lateness(lab, time)
    sentences = [note[:1].upper() + note[1:] for note in notes]
    content = results_json(graded(replace(result, notes=(*sentences, *result.notes)), spec(lab), None))
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_atomically(root / "results" / "results.json", text)
    return 0


def _lateness(lab: str, submitted_at: str) -> list[str]:
    """A sentence for a late submission. Extensions are unknown here, so no points are taken off."""
    due, when = settings().due(lab), parse_time(submitted_at)
    if due is None or when is None or when <= due:
        return []
    shown = f"{settings().local(due):%Y-%m-%d %H:%M} {settings().timezone}"
    return [
        f"handed in after {shown}, when the lab was due. No points are taken off here, since nobody's extensions are known; "
        "Gradescope's late policy or the teaching team may."
    ]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
