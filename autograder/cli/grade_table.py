"""Prints a graded class: one line for each student, and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from autograder.course.lab import LabSpec
from autograder.course.lists import summarize_names
from autograder.course.policy_file import settings, spec
from autograder.gradebook.cells import test_cells
from autograder.gradebook.final_points import TeacherMarks, final_points
from autograder.gradebook.writer import marks_of
from autograder.pages.render import duration, plain
from autograder.results import ISOLATION, REDUCED, STATUSES, STRONGEST, SubmissionResult
from autograder.run.pipeline import ClassResult
from autograder.run.remarks import remarks

#: A class larger than this gets only a summary; the table is in the report.
ROWS_SHOWN = 60
#: The most misconceptions counted below the table.
NAMED = 8


def shown(name: str, most: int = 200) -> str:
    """A text, which may contain students' names, without terminal codes."""
    return escape(plain(name, most))


def show_table(console: Console, done: ClassResult) -> None:
    """Print one line for each student, worst results first: status, points after lateness, and what is wrong."""
    if len(done.results) > ROWS_SHOWN:
        return
    lab_spec, cells = spec(done.lab), test_cells(spec(done.lab))
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("student", max_width=20, no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("what is wrong (Q1: the first question)")
    for result in sorted(done.results, key=_sort_key):
        marks = marks_of(done.marks, result.student)
        final = final_points(result, lab_spec, marks, cells)
        most = sum(q.max_points for q in result.questions) or lab_spec.max_score
        most += sum(most for name, most in lab_spec.written if final.written[name].score is not None)
        table.add_row(
            shown(result.student),
            "" if result.status == "graded" else f"[{STATUSES[result.status].colour}]{result.status}[/]",
            f"{final.total:g}/{most:g}",
            Text(
                "; ".join([*_lateness(done.lab, result, marks), *_wrong(result)]),
                no_wrap=True,
                overflow="ellipsis",
            ),
        )
    console.print(table)


def _sort_key(result: SubmissionResult) -> tuple[bool, float, bool, str]:
    """The key that sorts students: no result, few points, or an incomplete run come first."""
    judged = result.readable and not result.fault
    return judged, result.score, result.status == "graded", result.student


def _wrong(result: SubmissionResult) -> list[str]:
    """The causes of lost points, and the forbidden functions, in a few words, each with its questions."""
    questions_of: dict[str, list[int]] = {}
    for number, question in enumerate(result.questions if result.readable else (), 1):
        lost = question.points < question.max_points
        causes = [plain(question.cause)] if question.cause and (lost or question.misconception) else []
        causes += [f"uses {', '.join(question.forbidden)}"] if question.forbidden else []
        if causes:
            questions_of.setdefault(", ".join(causes).rstrip("."), []).append(number)
    notes = [plain(note).removeprefix("The cell that begins ") for note in result.notes[:1]]
    words = [f"{_numbered(numbers)}: {cause}" for cause, numbers in questions_of.items()]
    return words or (notes if result.status != "graded" else [])


def _numbered(numbers: Sequence[int]) -> str:
    """Questions by their numbers: "Q1, Q3"; "Q2–Q6" for three or more in a row."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"Q{numbers[0]}–Q{numbers[-1]}"
    return ", ".join(f"Q{number}" for number in numbers)


def _reachable(lab_spec: LabSpec) -> float:
    """The points that can be reached, including written answers."""
    return lab_spec.max_score + sum(most for _, most in lab_spec.written)


def _lateness(lab: str, result: SubmissionResult, marks: TeacherMarks) -> list[str]:
    """The late penalty, and how late the submission was; empty if in time."""
    if result.readable and not result.submitted_at and settings().due(lab) is not None:
        return ["lateness unknown"]
    if marks.seconds_late <= 0:
        return []
    closed = "closed, " if settings().is_closed(lab, marks.seconds_late, marks.due) else ""
    return [f"−{marks.late_penalty:g} late ({closed}{duration(marks.seconds_late)})"]


def _show_misconceptions(console: Console, done: ClassResult) -> None:
    """Print the misconceptions with their numbers of students, most frequent first."""
    held = Counter(
        (f"Q{number} {question.name}", question.misconception)
        for result in done.results
        for number, question in enumerate(result.questions, 1)
        if question.misconception
    )
    for (question, title), count in held.most_common(NAMED):
        console.print(
            f"  {count:>3} × {question}: {plain(str(title))}", markup=False, no_wrap=True, overflow="ellipsis"
        )
    if len(held) > NAMED:
        console.print(f"      and {len(held) - NAMED} other misconceptions (see the report)")


def _show_isolation(console: Console, results: Sequence[SubmissionResult]) -> None:
    """Print the level of isolation, in colour if it was not the strongest."""
    levels = Counter(result.isolation for result in results if result.readable and not result.fault)
    if levels.total() == levels[STRONGEST]:
        console.print(f"  isolation: {STRONGEST}")
    for level, count in levels.items():
        if level != STRONGEST:
            console.print(
                f"[bold yellow]! {count} graded with isolation “{level}” only: {ISOLATION[REDUCED]} (see docs/security.md)[/]"
            )


def show_summary(console: Console, done: ClassResult, seconds: float) -> None:
    """Print the class in three lines, and remarks for the teacher."""
    count = len(done.results)
    statuses = Counter(result.status for result in done.results)
    read = [result.score for result in done.results if result.readable]
    mean = f"mean {fmean(read):.1f} of {done.results[0].max_score:g} points" if read else "none could be read"
    if 0 < len(read) < count:
        mean += f" over the {len(read)} that could be read"
    redone = len(done.plan.to_grade)
    console.print(
        f"\n[bold]{done.lab}[/]: {count} submissions, {mean}; "
        f"{redone} graded, {len(done.plan.unchanged)} unchanged ({seconds:.1f} s)"
    )
    console.print("  " + ", ".join(f"{n} {status}" for status, n in statuses.most_common()))
    _show_misconceptions(console, done)
    asked = sum(question.in_question for result in done.results for question in result.questions)
    if asked:
        console.print(
            f"  [yellow]{asked} {'answer waits' if asked == 1 else 'answers wait'} for a person (a forbidden function, or a part that "
            "could not be tested): the points stand until then (see the report, and Formgrader)[/]"
        )
    _show_isolation(console, done.results)
    lab_spec = spec(done.lab)
    if lab_spec.written:
        console.print(
            f"  at most {lab_spec.max_score:g} points from the tests, {_reachable(lab_spec):g} with the written answers"
        )
    penalties = [marks_of(done.marks, result.student).late_penalty for result in done.results]
    if lost := [penalty for penalty in penalties if penalty]:
        console.print(f"  lateness takes {sum(lost):g} points off {len(lost)} of them, {max(lost):g} at most")
    if done.gone:
        sentence = (
            f"Graded into {done.out} before, and without a folder now: {summarize_names(done.gone)}. They are in no result, report or export any "
            "more: put their folders back, and a class that lies in two places into one."
        )
        console.print(f"[yellow]![/] {shown(sentence, 2000)}")
    for remark in remarks(done.lab, done.results, done.marks):
        console.print(f"[yellow]![/] {shown(remark, 2000)}")
