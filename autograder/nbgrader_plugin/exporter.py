"""Makes nbgrader's own Autograde and Generate Feedback (the commands and Formgrader's buttons) do what this harness does.

``nbgrader_config.py`` sets ``IsolatedExporter`` as the exporter of ``Autograde`` and switches nbgrader's own preprocessors
off. So no student's code runs in a kernel, and only the harness parses students' files. ``FeedbackExporter`` writes the
pages of ``autograder feedback``. nbgrader still finds the submissions, makes the folders and shows the log.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from abc import abstractmethod
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbconvert.exporters.exporter import Exporter
from nbgrader.converters.base import NbGraderException
from sqlalchemy.engine import make_url

from autograder.course.masters import all_labs
from autograder.course.policy_file import spec
from autograder.errors import UserError
from autograder.gradebook.final_points import TeacherMarks
from autograder.gradebook.writer import marks_of
from autograder.nbgrader_plugin.formgrader import address_of
from autograder.pages.feedback import FeedbackWriter
from autograder.run.recorder import SECRET, entered_marks, secret_of, write_beside
from autograder.run.store import STORE, ResultStore

_NOTHING = "This submission could not be read, and there is nothing to show. {notes}"


class _OfTheCourse(Exporter):
    """Exports a submission of one of the course's own labs, which nbgrader's ``parent`` converter asks for."""

    def from_filename(  # type: ignore[override]
        self, filename: str, resources: dict[str, Any] | None = None, **keywords: Any
    ) -> tuple[str, dict[str, Any]]:
        """The content for nbgrader's folder, and the resources."""
        known = (resources or {}).get("nbgrader", {})
        if self.parent is None or "student" not in known:
            raise NbGraderException(
                "This exporter works for nbgrader's Autograde and Generate Feedback alone."
            )
        lab = known["assignment"]
        try:
            if lab not in all_labs():
                raise UserError(
                    f"“{lab}” is no lab of this course: this configuration is for the course's own labs."
                )
            content = self.content(self.parent, lab, known["student"])
        except UserError as error:
            raise NbGraderException(str(error)) from None
        return content, self._init_resources(resources or {})  # type: ignore[no-untyped-call]

    @abstractmethod
    def content(self, converter: Any, lab: str, student: str) -> str:
        """The content for one student. Raises ``UserError``."""


class IsolatedExporter(_OfTheCourse, NotebookExporter):
    """Grades and records each submission in the sandbox, as ``autograder grade`` does, and returns it to nbgrader.

    nbgrader requests one notebook after another. At the first request all submissions that nbgrader looks at are graded in
    a separate process, which grades only what has changed; the other requests only fetch results.
    """

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)  # type: ignore[no-untyped-call]
        self._graded: set[tuple[str, str]] = set()
        self._failure = ""

    def content(self, converter: Any, lab: str, student: str) -> str:
        """The notebook for ``autograded``."""
        if (lab, student) not in self._graded:
            # Of the whole class, or of the student whose button was pressed.
            folders = map(Path, converter.assignments)
            self._grade(
                lab, sorted({student, *(place.parent.name for place in folders if place.name == lab)})
            )
        with ResultStore(Path(converter.coursedir.root) / STORE) as store:
            result = store.get(lab, student)
        if result is None or result.fault:
            raise UserError(f"The grader itself failed on {student}'s submission: see faults/{lab}.")
        if converter._sanitizing:  # nbgrader converts twice, to sanitise and to execute
            points = f"{result.score:g} of {result.max_score:g} points"
            self.log.info(" ".join((f"{student}: {result.status}, {points}.", *result.notes)))
        nothing = nbformat.v4.new_markdown_cell(_NOTHING.format(notes=" ".join(result.notes)))
        return result.notebook or str(nbformat.writes(nbformat.v4.new_notebook(cells=[nothing])))

    def _grade(self, lab: str, students: list[str]) -> None:
        """Grade these students' submissions of a lab once, in a separate process."""
        if self._failure:
            raise UserError(self._failure)
        root, submitted = _places(self.parent)
        order = {"lab": lab, "submitted": str(submitted), "out": str(root), "students": students}
        self.log.info("Grading %d submissions of %s in the sandbox", len(students), lab)
        done = subprocess.run(
            [sys.executable, "-P", "-m", "autograder.nbgrader_plugin.exporter"],
            input=json.dumps(order), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            self._failure = lines[-1] if lines else "Grading in the sandbox failed."
            raise UserError(self._failure)
        self.log.info(done.stdout.strip())
        self._graded |= {(lab, student) for student in students}


class FeedbackExporter(_OfTheCourse, HTMLExporter):
    """Exports the student's page for each graded notebook, from the stored result and the gradebook."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)  # type: ignore[no-untyped-call]
        #: lab -> marks that people entered, read once.
        self._marks: dict[str, dict[str, TeacherMarks]] = {}

    def content(self, converter: Any, lab: str, student: str) -> str:
        """The page, with the marks that people entered. nbgrader's exchange finds time and secret beside it."""
        root = Path(converter.coursedir.root)
        with ResultStore(root / STORE) as store:
            result = store.get(lab, student)
        if result is None:
            raise UserError(f"{student}'s submission of {lab} has no result here: run Autograde first.")
        if lab not in self._marks:
            self._marks[lab] = entered_marks(lab, root, [student])
        target = Path(converter._format_dest(lab, student))
        source = Path(converter._format_source(lab, student))
        beside = source if (source / SECRET).is_file() else target
        write_beside(target, secret_of(lab, student, beside), result.submitted_at)
        return FeedbackWriter(spec(lab), root).page(result, marks_of(self._marks[lab], student))


def _places(converter: Any) -> tuple[Path, Path]:
    """The course's root, for gradebook and results, and the folder of the submissions."""
    course = converter.coursedir
    root = Path(course.root).resolve()
    usual = os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")
    if course.directory_structure != usual or course.autograded_directory != "autograded":
        raise UserError("Grading in the sandbox needs nbgrader's usual folders: submitted and autograded.")
    ours = [address_of(place / "gradebook.db") for place in (root, Path(course.root).absolute())]
    if make_url(course.db_url) not in map(make_url, ours):
        raise UserError(f"Grading in the sandbox writes {root / 'gradebook.db'}: let db_url be {ours[0]}.")
    return root, root / course.submitted_directory


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
