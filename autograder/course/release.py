"""Writes a student's bundle of a lab: notebook, README, and ``kit.zip`` with the files that ``student_files`` chooses."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from autograder.course.masters import all_labs, course_root, source_of_import
from autograder.course.packages import conda_torch, fetches_cuda, needs_torch, student_requirements
from autograder.course.student_files import copy_files, data_files, files_below, write_kit
from autograder.errors import UserError
from autograder.files import write_atomically

#: The README and environment of a folder of bundles, and the notebook's first cell. The cell unpacks the zip and removes it:
#: there is one copy of the kit, and a newer bundle replaces it. The README says the measured size of a first installation,
#: and takes uv where PyTorch's CPU build is needed: it knows that build's index.
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("release_templates")),
    keep_trailing_newline=True, trim_blocks=True,
)  # fmt: skip


def release(lab: str, out: Path) -> Path:
    """Write the student's bundle of a lab to ``out``. Returns the notebook's path."""
    import nbformat

    from autograder.course.build import released_notebook  # loads nbgrader, which a worker does not need

    folder = out / lab
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty: choose another folder or remove it.")
    notebook = released_notebook(lab)
    if not source_of_import(lab):  # imported notebooks do not use the kit
        first_code = next(i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
        unpacks = _TEMPLATES.get_template("first_cell.txt").render().rstrip()
        notebook.cells.insert(first_code, nbformat.v4.new_code_cell(unpacks, id="kit"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _write_bundle(lab, folder, nbformat.writes(notebook) + "\n")
    except BaseException:  # a partial bundle would block the next try
        shutil.rmtree(folder, ignore_errors=True)
        raise
    # The folder may already hold later labs.
    latest = max([lab, *(name for name in all_labs() if (out / name).is_dir())])
    small = fetches_cuda(latest)
    values = {"lab": lab, "torch": needs_torch(latest), "small": small, "conda_torch": conda_torch()}
    for name in ("README.md", "environment.yml"):
        write_atomically(out / name, _TEMPLATES.get_template(name).render(values))
    write_atomically(out / "requirements.txt", "\n".join(student_requirements(latest)) + "\n")
    return folder / f"{lab}.ipynb"


def _write_bundle(lab: str, folder: Path, notebook: str) -> None:
    """Write the notebook, and ``kit.zip`` with kit and data. An imported lab gets no zip: its notebook has no cell to unpack it."""
    is_imported = bool(source_of_import(lab))
    with tempfile.TemporaryDirectory() as scratch:
        inside = folder if is_imported else Path(scratch)
        write_kit(lab, inside / "coursekit")
        for source in data_files(lab):
            # An imported notebook's data lie beside it again; the course's labs use data/<lab>.
            is_beside = is_imported and source.name == lab
            place = inside if is_beside else inside / "data" / source.relative_to(course_root() / "data")
            copy_files(files_below(source), source, place)
        if not is_imported:
            shutil.make_archive(str(folder / "kit"), "zip", scratch)
    for path in (folder, *folder.rglob("*")):  # students of a hub are other users
        path.chmod(0o755 if path.is_dir() else 0o644)
    write_atomically(folder / f"{lab}.ipynb", notebook)
