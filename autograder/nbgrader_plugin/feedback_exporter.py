"""Makes nbgrader's own Generate Feedback (the command and Formgrader's button) write this harness's pages.

nbgrader finds the graded notebooks and makes the folders. It writes the page of ``autograder feedback``, with the marks that
people entered. nbgrader's exchange then finds time and secret beside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbgrader.converters.base import NbGraderException

from autograder.course.masters import all_labs
from autograder.course.policy_file import spec
from autograder.errors import UserError
from autograder.gradebook.final_points import TeacherMarks
from autograder.gradebook.writer import marks_of
from autograder.pages.feedback import FeedbackWriter
from autograder.run.exchange_files import SECRET, secret_of, write_beside
from autograder.run.recorder import entered_marks
from autograder.run.store import STORE, ResultStore


class FeedbackExporter(HTMLExporter):
    """Exports the student's page for each graded notebook, from the stored result and the gradebook."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)  # type: ignore[no-untyped-call]
        #: lab -> marks that people entered, read once.
        self._marks: dict[str, dict[str, TeacherMarks]] = {}

    def from_filename(  # type: ignore[override]
        self, filename: str, resources: dict[str, Any] | None = None, **keywords: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page, and the resources."""
        known = (resources or {}).get("nbgrader", {})
        converter: Any = self.parent
        if converter is None or "student" not in known:
            raise NbGraderException("This exporter works for nbgrader's Generate Feedback alone.")
        try:
            page = self._page(converter, known["assignment"], known["student"])
        except UserError as error:
            raise NbGraderException(str(error)) from None
        return page, self._init_resources(resources or {})  # type: ignore[no-untyped-call]

    def _page(self, converter: Any, lab: str, student: str) -> str:
        root = Path(converter.coursedir.root)
        if lab not in all_labs():
            raise UserError(
                f"“{lab}” is no lab of this course: this configuration writes the course's own feedback."
            )
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
