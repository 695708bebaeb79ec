"""Writes an autograder to upload to Gradescope: the harness, one lab with its data, and two start scripts.

The zip contains secrets of the teaching team (hidden tests and the salt of their inputs): it is only for Gradescope's
"Configure Autograder" page. Gradescope's containers may forbid namespaces. Then the weaker isolation is used, and every
result says so.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from autograder.course.masters import course_root
from autograder.course.packages import grader_requirements
from autograder.course.policy_file import settings
from autograder.course.student_files import data_files, files_below, grader_files, kit_files, lab_number
from autograder.exports.rows import Grades
from autograder.files import write_atomically

_SCRIPTS = Path(__file__).parent / "gradescope_bundle"


def write_zip(grades: Grades, out: Path) -> list[Path]:
    """Write ``out/gradescope-autograder-<lab>.zip``. Raises GradingError if a part is missing."""
    lab = grades.spec.name
    path = out / f"gradescope-autograder-{lab}.zip"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for script in ("setup.sh", "install_torch.sh", "run_autograder", "run.py"):
            _add(archive, script, (_SCRIPTS / script).read_bytes(), executable=script != "run.py")
        secret = {"lab": lab, "salt": settings().salt}
        _add(archive, "gradescope.json", json.dumps(secret, indent=2).encode())
        _add(archive, "requirements.txt", "\n".join([*grader_requirements(), ""]).encode())
        for source, name in _course_files(lab):
            _add(archive, f"course/{name}", source.read_bytes())
        policy = settings().of_one_lab(lab).model_copy(update={"isolation": "reduced"})
        _add(archive, "course/course.json", policy.model_dump_json(exclude_defaults=True).encode())
    write_atomically(path, content.getvalue())
    grades.notes.append("The zip holds the hidden tests: upload it to Gradescope and give it to nobody.")
    return [path]


def _course_files(lab: str) -> Iterator[tuple[Path, str]]:
    """Yield every file of the course for grading the lab, with its name in the zip, and no file of later labs."""
    package = Path(__file__).resolve().parents[1]
    for file in files_below(package):
        if not any(map(lab_number, file.relative_to(package).parts)):
            yield file, f"autograder/{file.relative_to(package).as_posix()}"
    yield from grader_files(lab)
    data = (file for path in data_files(lab) for file in files_below(path))
    for file in (*kit_files(lab), *data):
        yield file, file.relative_to(course_root()).as_posix()


def _add(archive: zipfile.ZipFile, name: str, content: bytes, *, executable: bool = False) -> None:
    """Add a file with a fixed time, so that the same course gives the same zip."""
    info = zipfile.ZipInfo(name, date_time=(2020, 1, 1, 0, 0, 0))
    info.external_attr = (0o755 if executable else 0o644) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)
