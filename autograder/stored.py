"""What can be made again from stored results: the class report, the feedback pages, exports."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import track

from autograder.errors import UserError
from autograder.feedback import FeedbackWriter
from autograder.gradebook import GradebookWriter
from autograder.masters import spec
from autograder.pipeline import STORE, known_answers
from autograder.report import build_report
from autograder.store import ResultStore


def open_store(lab: str, out: Path) -> ResultStore:
    """The stored results of a graded folder. ``UserError`` when the lab was not graded there."""
    if not (out / STORE).is_file():
        raise UserError(f"There are no results in {out}: grade a class into it first.")
    store = ResultStore(out / STORE)
    if not store.fingerprints(lab):
        raise UserError(f"Lab {lab} was not graded into {out}.")
    return store


def rewrite_report(lab: str, out: Path) -> Path:
    """Write the class report and return its path."""
    with open_store(lab, out) as store:
        return build_report(store.all(lab), spec(lab), out, known_answers=known_answers(lab))


def rewrite_feedback(lab: str, out: Path, console: Console) -> int:
    """Write every student's feedback page with what people entered in the gradebook; how many."""
    writer, count = FeedbackWriter(spec(lab), out), 0
    with open_store(lab, out) as store, GradebookWriter(out / "gradebook.db", spec(lab)) as gradebook:
        for result in track(
            store.all(lab), "feedback", total=len(store.fingerprints(lab)), console=console, transient=True
        ):
            writer.write(result, gradebook.marks(result.student))
            count += 1
    return count


def export_results(form: str, lab: str, out: Path, to: Path | None) -> list[Path]:
    """Write an export and return the paths it made."""
    from autograder.exports import export

    with open_store(lab, out) as store:
        made = export(form, list(store.all(lab)), spec(lab), to or out / "exports")
    return [made] if isinstance(made, Path) else list(made)
