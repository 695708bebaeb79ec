"""The only writer of results: writes gradebook, notebook, feedback, and last the store.

nbgrader's exchange needs two more files beside a feedback page: the submission's time and secret. A submission through the
exchange contains ``submission_secret.txt``. Feedback is released under a name made from this secret, which nobody else
knows. Other submissions have no secret. A random one is made for them: it keeps the release from stopping, and nobody can
find their page.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import traceback
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from coursekit.demos import bundle

from autograder.course.lists import summarize_names
from autograder.course.policy_file import extension_of, settings, spec
from autograder.errors import UserError
from autograder.files import (
    autograded_notebook,
    feedback_page,
    folder_name,
    read_plain,
    report_page,
    write_atomically,
    write_autograded,
)
from autograder.gradebook.final_points import TeacherMarks, final_points, with_final_points
from autograder.gradebook.writer import GradebookWriter, marks_of
from autograder.grading.submissions import Submission
from autograder.pages.feedback import FeedbackWriter
from autograder.pages.places import places_of
from autograder.results import EARLIER_NOTE, FAULT_NOTE, NOT_GRADED_AGAIN, SubmissionResult
from autograder.run.remarks import remarks
from autograder.run.stale_pages import Files
from autograder.run.store import ResultStore, digest_of, text_of

SECRET, TIME = "submission_secret.txt", "timestamp.txt"
#: The most characters of a secret that are read; nbgrader's has 128.
_LONGEST = 4096


def open_gradebook(lab: str, out: Path) -> GradebookWriter:
    """The gradebook of a graded folder, with the course's due date, extensions and late penalties."""
    policy = settings()
    return GradebookWriter(
        out / "gradebook.db",
        spec(lab),
        due=policy.due(lab),
        extension=lambda student: extension_of(lab, student),
        late_penalty=partial(policy.penalty, lab) if policy.has_late_rule(lab) else None,
    )


def entered_marks(lab: str, out: Path, graded: Collection[str]) -> dict[str, TeacherMarks]:
    """The marks that people entered for the students ``graded``, by stored name, with late penalties by current rules.

    Raises ``UserError`` if the gradebook or a student's row is missing: late penalties and entered marks would be lost.
    """
    path, marks = out / "gradebook.db", dict[str, TeacherMarks]()
    if path.is_file():
        with open_gradebook(lab, out) as gradebook:
            marks = gradebook.apply_policy(graded)
    lost = sorted(student for student in graded if folder_name(student) not in marks)
    if lost:
        raise UserError(
            f"{path} holds nothing about {summarize_names(lost)}: put the gradebook back where it was, or run `autograder regrade`, which "
            "makes a new one without the points that people had entered."
        )
    return marks


class Recorder(AbstractContextManager["Recorder"]):
    """Records the results of one lab under ``out``. A submission whose recording was interrupted is graded again."""

    def __init__(self, lab: str, out: Path, store: ResultStore):
        self.lab = lab
        self.out = out
        self.store = store
        self.gradebook = open_gradebook(lab, out)
        self.feedback = FeedbackWriter(spec(lab), out)
        self.files = Files(lab, out, store)
        #: student -> the questions that were tested in this run.
        self.redone: dict[str, tuple[str, ...]] = {}
        self.faults: list[SubmissionResult] = []
        #: student -> the submission's secret, under which nbgrader's exchange releases the page.
        self.secrets: dict[str, str] = {}

    def __exit__(self, *error: object) -> None:
        self.gradebook.close()

    def begin(self, class_: Sequence[Submission], again: Collection[str] = ()) -> None:
        """Update the submission times of results that stay.

        The new time of a student who is graded ``again`` belongs to the new result. Until then the earlier result keeps its time.
        """
        self.secrets = {
            one.student: secret_of(self.lab, one.student, one.path.parent if one.path else None)
            for one in class_
        }
        known = self.store.times(self.lab)
        for submission in class_:
            if (
                submission.student not in again
                and known.get(submission.student, submission.submitted_at) != submission.submitted_at
            ):
                result = self.store.get(self.lab, submission.student)
                assert result is not None
                dated = replace(result, submitted_at=submission.submitted_at)
                self.gradebook.write(dated, regraded=())
                self.store.put(dated)

    def record(self, result: SubmissionResult) -> None:
        """Record a result. An error in writing is recorded as a fault of this submission, and the class goes on."""
        try:
            self._record(result)
        except UserError:  # the disk or a locked file: every submission would fail
            raise
        except Exception:
            if result.fault:
                raise
            self._record(_unrecorded(result))

    def _record(self, result: SubmissionResult) -> None:
        """Write gradebook, notebook, feedback, and last the store."""
        earlier = self.store.get(self.lab, result.student)
        if result.fault:
            self.faults.append(result)
            name = f"{folder_name(result.student)}.txt"
            write_atomically(self.out / "faults" / self.lab / name, result.fault + "\n")
            has_grade = earlier is not None and not earlier.fault and earlier.status != "missing"
            if earlier is not None and has_grade:  # a failure of the grader must not take a grade away
                self.store.put(_with_outdated_grade(earlier))
                return
        again = graded_again(earlier, result)
        self.redone[result.student] = tuple(q.name for q in result.questions if q.name in again)
        marks = self.gradebook.write(result, regraded=again)
        text = text_of(result)
        self._write_files(result, digest_of(text), marks)
        self.store.put(result, text)

    def finish(self) -> tuple[Path, list[SubmissionResult], dict[str, TeacherMarks]]:
        """Make outdated files and rows again, also for results that stayed: the gradebook or the course's rules may have
        changed, or a file or row may be missing. Returns the class report, all results without notebooks, and the marks
        that people entered.
        """
        marks = self.gradebook.apply_policy(self.store.keys(self.lab))
        results, sources = [], []
        for result, digest in self.store.all_with_digests(self.lab):
            try:
                source = self._bring_up_to_date(result, digest, marks)
            except UserError:
                raise
            except Exception:
                result, source = _unrecorded(result), digest
                self.faults.append(result)
            results.append(replace(result, notebook=""))
            sources.append(source)
        return self._report(marks, sources, remarks(self.lab, results, marks)), results, marks

    def _bring_up_to_date(self, result: SubmissionResult, digest: str, marks: dict[str, TeacherMarks]) -> str:
        """Make a result's rows and files again unless they are current. Returns the digest of their sources."""
        entered = marks_of(marks, result.student)
        if not self.gradebook.agrees(result, entered):
            entered = self.gradebook.write(result, regraded=())
            marks[folder_name(result.student)] = entered
        return self._write_files(result, digest, entered)

    def _report(self, marks: dict[str, TeacherMarks], sources: list[str], sentences: tuple[str, ...]) -> Path:
        """The path of the class report, which is made again unless it is current."""
        from autograder.pages.report import DEMOS, build_report

        path, lab_spec = report_page(self.out, self.lab), spec(self.lab)
        places = places_of(lab_spec, DEMOS)
        source = self.files.source(*sources, repr(places), repr(sentences))
        if not self.files.are_current([path], source):
            results = (
                with_final_points(result, final_points(result, lab_spec, marks_of(marks, result.student)))
                for result in self.store.all(self.lab)
                if not result.fault
            )
            for page in {path.parent / one.demo_address for one in places.values() if one.demo_address}:
                with contextlib.suppress(OSError):  # without a demo's data, the report does not link to it
                    if not page.exists():
                        write_atomically(page, bundle.page(page.stem))
            known = known_answers(self.lab)
            build_report(results, lab_spec, self.out, known_answers=known, remarks=sentences)
            self.files.made([path], source)
        self.files.save()
        return path

    def _write_files(self, result: SubmissionResult, digest: str, marks: TeacherMarks) -> str:
        """Write a result's notebook and page unless they are current. Returns the digest of their sources."""
        page = feedback_page(self.out, result.student, self.lab)
        # For a student outside this run, the secret is the one written before.
        secret = self.secrets.get(result.student) or secret_of(self.lab, result.student, page.parent)
        entered = json.dumps(asdict(marks), sort_keys=True, default=str)
        source = self.files.source(digest, entered, secret)
        notebook = autograded_notebook(self.out, result.student, self.lab)
        paths = [notebook, notebook.with_name(TIME), page, page.with_name(SECRET)]
        if not self.files.are_current(paths, source):
            if write_autograded(result, self.out) is not None:
                # nbgrader's own Generate Feedback reads it there.
                write_atomically(notebook.with_name(SECRET), secret)
            write_beside(self.feedback.write(result, marks).parent, secret, result.submitted_at)
            self.files.made(paths, source)
        return source


def _unrecorded(result: SubmissionResult) -> SubmissionResult:
    """A fault in place of a result that could not be written: no grade, and the current error. It is graded again."""
    return replace(
        result, status="crashed", score=0.0, questions=(), notes=(FAULT_NOTE,), notebook="", submitted_at="",
        keys={}, public_checks={}, run_notes=(), tested=(), fault=traceback.format_exc(),
    )  # fmt: skip


def _with_outdated_grade(result: SubmissionResult) -> SubmissionResult:
    """The earlier result of a student on whom the grader has just failed. It says so, and each run tries again."""
    notes = (*(note for note in result.notes if not note.startswith(NOT_GRADED_AGAIN)), EARLIER_NOTE)
    return replace(result, notes=notes, keys={**result.keys, "raw": "", "context": ""})


def graded_again(earlier: SubmissionResult | None, result: SubmissionResult) -> set[str]:
    """The questions that were tested again, and the written answers that changed."""
    everything = {name for name, _ in (*spec(result.lab).questions, *spec(result.lab).written)}
    if earlier is None or earlier.fault:
        return everything
    old_answers, new_answers = _written(earlier), _written(result)
    tested = set(result.tested)
    if not result.notebook and earlier.status != result.status:
        tested = {name for name, _ in spec(result.lab).questions}
    return tested | {name for name in new_answers if old_answers.get(name) != new_answers[name]}


def _written(result: SubmissionResult) -> dict[str, str]:
    """grade_id -> the text of each written answer of a result's notebook."""
    names = {name for name, _ in spec(result.lab).written}
    answers = dict.fromkeys(names, "")
    for cell in json.loads(result.notebook)["cells"] if result.notebook else ():
        name = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
        if name in names:
            answers[name] = cell.get("source", "")
    return answers


def known_answers(lab: str) -> Iterator[str]:
    """Sources that students may have in common without copying: the catalogue's answers and the master's."""
    from autograder.course.masters import solution_sources
    from autograder.questions.engine.answers import answers_of, source_of

    for by in answers_of(lab).values():
        for answers in by.values():
            yield from filter(None, map(source_of, answers))
    yield from solution_sources(lab).values()


def secret_of(lab: str, student: str, submitted: Path | None) -> str:
    """The secret in the submission's folder, or a new one if there is none or it cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        text = read_plain(submitted / SECRET, _LONGEST + 1).decode("ascii") if submitted else ""
        if text.strip() and len(text) <= _LONGEST:
            return text
    return hashlib.sha256(f"{settings().salt}\0{lab}\0{student}".encode("utf-8", "surrogatepass")).hexdigest()


def write_beside(folder: Path, secret: str, submitted_at: str) -> None:
    """Write both files into a student's folder; an unknown time is written as "unknown"."""
    write_atomically(folder / SECRET, secret)
    write_atomically(folder / TIME, (submitted_at or "unknown") + "\n")
