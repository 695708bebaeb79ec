"""Makes nbgrader's own Autograde (the command and Formgrader's button) grade in the sandbox.

``nbgrader_config.py`` sets ``IsolatedExporter`` as the exporter of ``Autograde`` and switches nbgrader's own preprocessors
off. So no student's code runs in a kernel, and only the harness parses students' files. nbgrader still finds the
submissions, makes the folders and shows the log.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.converters.base import NbGraderException
from sqlalchemy.engine import make_url

from autograder.course.masters import all_labs
from autograder.errors import UserError
from autograder.nbgrader_plugin.formgrader import address_of
from autograder.run.store import ResultStore

_NOTHING = "This submission could not be read, and there is nothing to show. {notes}"


class IsolatedExporter(NotebookExporter):
    """Grades and records each submission in the sandbox, as ``autograder grade`` does, and returns it to nbgrader.

    nbgrader requests one notebook after another. At the first request all submissions that nbgrader looks at are graded in
    a separate process, which grades only what has changed; the other requests only fetch results.
    """

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)  # type: ignore[no-untyped-call]
        self._graded: set[tuple[str, str]] = set()
        self._failure = ""

    def from_filename(  # type: ignore[override]
        self, filename: str, resources: dict[str, Any] | None = None, **keywords: Any
    ) -> tuple[str, dict[str, Any]]:
        """The notebook for ``autograded``, and the resources."""
        known = (resources or {}).get("nbgrader", {})
        if self.parent is None or "student" not in known:
            raise NbGraderException("This exporter works for nbgrader's Autograde alone.")
        student, lab = known["student"], known["assignment"]
        if (lab, student) not in self._graded:
            folders = map(
                Path, self.parent.assignments
            )  # of the whole class, or of the student whose button was pressed
            self._grade(
                lab, sorted({student, *(place.parent.name for place in folders if place.name == lab)})
            )
        with ResultStore(Path(self.parent.coursedir.root) / ".results.db") as store:
            result = store.get(lab, student)
        if result is None or result.fault:
            raise NbGraderException(f"The grader itself failed on {student}'s submission: see faults/{lab}.")
        if self.parent._sanitizing:  # nbgrader converts twice, to sanitise and to execute
            points = f"{result.score:g} of {result.max_score:g} points"
            self.log.info(" ".join((f"{student}: {result.status}, {points}.", *result.notes)))
        resources = self._init_resources(resources or {})  # type: ignore[no-untyped-call]
        return result.notebook or _empty(result.notes), resources

    def _grade(self, lab: str, students: list[str]) -> None:
        """Grade these students' submissions of a lab once, in a separate process."""
        if self._failure:
            raise NbGraderException(self._failure)
        try:
            root, submitted = _places(self.parent, lab)
        except UserError as error:
            raise NbGraderException(str(error)) from None
        order = {"lab": lab, "submitted": str(submitted), "out": str(root), "students": students}
        self.log.info("Grading %d submissions of %s in the sandbox", len(students), lab)
        done = subprocess.run(
            [sys.executable, "-P", "-m", "autograder.nbgrader_plugin.exporter"],
            input=json.dumps(order), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            self._failure = lines[-1] if lines else "Grading in the sandbox failed."
            raise NbGraderException(self._failure)
        self.log.info(done.stdout.strip())
        self._graded |= {(lab, student) for student in students}


def _places(converter: Any, lab: str) -> tuple[Path, Path]:
    """The course's root, for gradebook and results, and the folder of the submissions."""
    course = converter.coursedir
    root = Path(course.root).resolve()
    if lab not in all_labs():
        raise UserError(f"“{lab}” is no lab of this course: this configuration grades the course's own labs.")
    usual = os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")
    if course.directory_structure != usual or course.autograded_directory != "autograded":
        raise UserError("Grading in the sandbox needs nbgrader's usual folders: submitted and autograded.")
    ours = [address_of(place / "gradebook.db") for place in (root, Path(course.root).absolute())]
    if make_url(course.db_url) not in map(make_url, ours):
        raise UserError(f"Grading in the sandbox writes {root / 'gradebook.db'}: let db_url be {ours[0]}.")
    return root, root / course.submitted_directory


def _empty(notes: tuple[str, ...]) -> str:
    cell = nbformat.v4.new_markdown_cell(_NOTHING.format(notes=" ".join(notes)))
    return str(nbformat.writes(nbformat.v4.new_notebook(cells=[cell])))


def main() -> None:
    """Grade the request on standard input. A ``UserError`` gives a sentence on standard error and exit status 2."""
    from autograder.run.pipeline import run

    order = json.load(sys.stdin)
    try:
        done = run(
            order["lab"], Path(order["submitted"]), Path(order["out"]), students=frozenset(order["students"])
        )
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    print(f"The class report is {done.report}.")


if __name__ == "__main__":
    main()
