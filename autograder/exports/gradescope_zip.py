"""An autograder to upload to Gradescope: the harness, one lab and its data, and two scripts to start it.

The zip holds a secret of the teaching team (hidden tests and the salt of their inputs): it is for
Gradescope's "Configure Autograder" page and for nobody else. Gradescope's containers may forbid
namespaces. Grading there then stops and says so, unless the zip was made with ``no_sandbox``, which
marks every result.
"""

from __future__ import annotations

import json
import re
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from autograder.course import settings
from autograder.errors import GradingError
from autograder.exports.rows import Exported, Grades
from autograder.layout import write_atomically
from autograder.masters import course_root
from autograder.release import data_files, write_kit

_SCRIPTS = Path(__file__).parent / "gradescope_bundle"
#: Modules and folders that belong to one lab carry its number: test_07_…, m07_…, 07_….
_LAB_NUMBER = re.compile(r"^(?:test_|[a-z])?(\d\d)_")
_UNWANTED = ("__pycache__", ".pytest_cache", ".ruff_cache", ".mypy_cache")


def write_zip(grades: Grades, out: Path) -> Exported:
    """Write ``out/gradescope-autograder-<lab>.zip``. Raises GradingError when a part is missing."""
    lab = grades.spec.name
    path = out / f"gradescope-autograder-{lab}.zip"
    with tempfile.TemporaryDirectory() as folder:
        archive_path = Path(folder) / "autograder.zip"
        with zipfile.ZipFile(archive_path, "w", zipfile.ZIP_DEFLATED) as archive:
            for script in ("setup.sh", "run_autograder", "run.py"):
                _add(archive, script, (_SCRIPTS / script).read_bytes(), executable=script != "run.py")
            options = ["--no-sandbox"] if grades.no_sandbox else []
            content = {"lab": lab, "options": options, "salt": settings().salt}
            _add(archive, "gradescope.json", json.dumps(content, indent=2).encode())
            _add(archive, "requirements.txt", "\n".join([*_requirements(), ""]).encode())
            for source, name in _course_files(lab, Path(folder)):
                _add(archive, f"course/{name}", source.read_bytes())
        write_atomically(path, archive_path.read_bytes())
    notes: tuple[str, ...] = (
        "The zip holds the hidden tests: upload it to Gradescope and give it to nobody.",
    )
    if grades.no_sandbox:
        notes += ("Submissions will run without isolation: a hostile one can change its own result.",)
    return Exported((path,), notes)


def _course_files(lab: str, scratch: Path) -> Iterator[tuple[Path, str]]:
    """Every file of the course that grading the lab needs, with its name in the zip; nothing of later labs."""
    root = course_root()
    package = Path(__file__).resolve().parent.parent
    yield from ((file, f"autograder/{name}") for file, name in _files_up_to(package, lab))
    for folder in sorted((root / "solutions").glob("[0-9][0-9]_*")):
        master = folder / f"{folder.name}.py"
        if folder.name[:2] <= lab[:2] and master.is_file():
            yield master, f"solutions/{folder.name}/{master.name}"
    kit = scratch / "coursekit"
    write_kit(lab, kit)
    yield from ((file, f"notebooks/coursekit/{name}") for file, name in _files_up_to(kit, lab))
    for source in data_files(lab):
        name = source.relative_to(root / "data").as_posix()
        if source.is_file():
            yield source, f"data/{name}"
        else:
            yield from ((file, f"data/{name}/{inner}") for file, inner in _files_up_to(source, "99"))
    if (root / "course.toml").is_file():
        yield root / "course.toml", "course.toml"


def _files_up_to(folder: Path, lab: str) -> Iterator[tuple[Path, str]]:
    """The files below a folder in a fixed order, without caches and without those of later labs."""
    for file in sorted(folder.rglob("*")):
        parts = file.relative_to(folder).parts
        numbers = [found.group(1) for part in parts if (found := _LAB_NUMBER.match(part))]
        if file.is_file() and not set(parts) & set(_UNWANTED) and all(n <= lab[:2] for n in numbers):
            yield file, "/".join(parts)


def _requirements() -> list[str]:
    """The pinned packages of the harness, from the one place where versions stand."""
    path = course_root() / "pyproject.toml"
    if not path.is_file():
        path = Path(__file__).resolve().parent.parent.parent / "pyproject.toml"
    try:
        return list(tomllib.loads(path.read_text(encoding="utf-8"))["project"]["dependencies"])
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise GradingError(f"The pinned packages could not be read from {path}.") from error


def _add(archive: zipfile.ZipFile, name: str, content: bytes, *, executable: bool = False) -> None:
    """Add a file with a fixed time, so that the same course makes the same zip."""
    info = zipfile.ZipInfo(name, date_time=(2020, 1, 1, 0, 0, 0))
    info.external_attr = (0o755 if executable else 0o644) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)
