"""Makes reports, feedback pages and exports from stored results."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import track

from autograder.course.policy_file import spec
from autograder.course.safe_cells import write_table
from autograder.errors import UserError
from autograder.exports import Exported, export
from autograder.files import report_page, sole_writer, write_atomically
from autograder.gradebook.final_points import TeacherMarks
from autograder.gradebook.writer import marks_of
from autograder.results import SubmissionResult
from autograder.run.recorder import Recorder, entered_marks
from autograder.run.remarks import about_outdated_grades
from autograder.run.store import STORE, ResultStore
from autograder.run.term import TERM, Term, gather, render_term, table_of_students


def open_store(lab: str | None, out: Path) -> ResultStore:
    """The stored results of a graded folder. Raises ``UserError`` if the lab (None: any lab) was not graded there."""
    if not (out / STORE).is_file():
        raise UserError(f"There are no results in {out}: grade a class into it first.")
    store = ResultStore(out / STORE)
    if lab is None and not store.labs():
        raise UserError(f"No lab was graded into {out} yet.")
    if lab is not None and not store.keys(lab):
        raise UserError(f"Lab {lab} was not graded into {out}.")
    return store


def rewrite(lab: str, out: Path) -> tuple[Path, int]:
    """Make outdated pages again, for example after manual scores. Returns the report's path and the number of students."""
    with sole_writer(out), open_store(lab, out) as store:
        entered_marks(lab, out, store.keys(lab))  # raises if the gradebook is missing
        with Recorder(lab, out, store) as recorder:
            path, results, _ = recorder.finish()
    return path, len(results)


def write_term(out: Path, console: Console) -> tuple[Term, list[Path]]:
    """Write the term's report and its table. Returns the term, and both paths."""
    with sole_writer(out), open_store(None, out) as store:
        term = gather(out, store, lambda labs: track(labs, "the term", console=console, transient=True))
        page = report_page(out, TERM)
        write_atomically(page, render_term(term, out))
    rows = table_of_students(term)
    return term, [page, write_table(page.with_name(f"{TERM}.csv"), rows[0], rows[1:])]


def results_and_marks(lab: str, out: Path) -> tuple[list[SubmissionResult], dict[str, TeacherMarks]]:
    """The stored results of a lab, and student -> marks that people entered."""
    with sole_writer(out), open_store(lab, out) as store:
        results = list(store.all(lab))
        entered = entered_marks(lab, out, [result.student for result in results])
    return results, {result.student: marks_of(entered, result.student) for result in results}


def export_results(
    form: str, lab: str, out: Path, to: Path | None, *, roster: Path | None = None
) -> Exported:
    """Write an export that includes the marks that people entered. Returns its paths and notes."""
    results, marks = results_and_marks(lab, out)
    failed = [result.student for result in results if result.fault]
    graded = [result for result in results if not result.fault]
    made = export(form, graded, spec(lab), to or out / "exports", marks=marks, roster=roster)
    notes = list(made.notes)
    if open_answers := sum(bool(mark.waiting) for mark in marks.values()):
        notes.append(
            f"{open_answers} submissions still have answers that wait for a person (see `autograder formgrader`)."
        )
    notes += about_outdated_grades(results)
    if failed:
        notes.append(f"Not in the export, because the grader itself failed on them: {', '.join(failed)}.")
    return Exported(made.paths, tuple(notes))
