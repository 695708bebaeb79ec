"""Grades one submission inside Gradescope's container: submission/ in, results/results.json out.

When the grader itself cannot run, nothing is written and the exit status is not 0: Gradescope then
shows the submission as not graded, where a zero would blame the student.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def main(root: Path) -> int:
    """Grade what lies in ``root/submission``; returns the exit status."""
    course = root / "source" / "course"
    settings = json.loads((root / "source" / "gradescope.json").read_text(encoding="utf-8"))
    sys.path[:0] = [str(course), str(course / "notebooks")]
    environment = {
        **os.environ,
        "COURSE_ROOT": str(course),
        "COURSE_SALT": settings["salt"],
        "COURSE_ROSTER": "",  # the class list stays with the teacher: here is one student, who has no name
        "PYTHONPATH": os.pathsep.join(sys.path[:2]),
    }
    os.environ["COURSE_ROOT"] = str(course)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        _lay_out(root, work / "submitted", settings["lab"])
        command = [sys.executable, "-m", "autograder.cli", "grade", settings["lab"], "--jobs", "1"]
        command += ["--submitted", str(work / "submitted"), "--out", str(work / "out")]
        command += ["--json", str(work / "results.json"), *settings["options"]]
        status = subprocess.run(command, env=environment, check=False).returncode
        if status != 0 or not (work / "results.json").exists():
            print(f"The grader stopped with exit status {status}; no result was written.", file=sys.stderr)
            return status or 1
        [row] = json.loads((work / "results.json").read_text(encoding="utf-8"))
    _write(root / "results" / "results.json", row, settings)
    return 0


def _lay_out(root: Path, submitted: Path, lab: str) -> None:
    """Put the submission where the grader expects it, with its time."""
    from autograder.collect import collect_folder

    collect_folder(root / "submission", submitted, lab, student="student", submitted_at=_time(root))
    (submitted / "student").mkdir(parents=True, exist_ok=True)


def _time(root: Path) -> str:
    """When the student handed in, from Gradescope's metadata ("" when it does not say)."""
    try:
        metadata = json.loads((root / "submission_metadata.json").read_text(encoding="utf-8"))
        return str(metadata["created_at"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _write(path: Path, row: dict[str, Any], settings: dict[str, Any]) -> None:
    from autograder.course.policy_file import spec
    from autograder.exports.gradescope import results_of
    from autograder.exports.json_rows import result_from_json
    from autograder.files import write_atomically

    result = result_from_json(row, unsandboxed="--no-sandbox" in settings["options"])
    content = results_of(result, spec(settings["lab"]))
    write_atomically(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
