"""A graded class on the screen: one row a student, the whole in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.course.lab import LabSpec
from autograder.course.lists import some
from autograder.course.policy_file import settings, spec
from autograder.gradebook.cells import test_cells
from autograder.gradebook.final_points import TeacherMarks, final_points
from autograder.gradebook.writer import marks_of
from autograder.pages.render import duration, plain
from autograder.results import ISOLATION, REDUCED, STATUSES, STRONGEST, SubmissionResult
from autograder.run.pipeline import ClassResult
from autograder.run.remarks import remarks

#: A class larger than this gets a summary on the screen; the table is in the report.
ROWS_SHOWN = 60


def shown(name: str, most: int = 200) -> str:
    """A text with students' names in it, without what a terminal would obey."""
    return escape(plain(name, most))


def show_table(console: Console, done: ClassResult) -> None:
    """One row a student: what the tests gave, what lateness took off, the grade."""
    if len(done.results) > ROWS_SHOWN:
        return
    lab_spec, cells = spec(done.lab), test_cells(spec(done.lab))
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("student")
    table.add_column("status")
    table.add_column("score", justify="right")
    lateness = [_lateness(done.lab, result, marks_of(done.marks, result.student)) for result in done.results]
    if any(lateness):
        table.add_column("lateness", justify="right")
    table.add_column("grade", justify="right")
    table.add_column("misconception or error")
    for result, late in zip(done.results, lateness, strict=True):
        colour = STATUSES[result.status].colour
        known = ((q.name, q.cause if q.did_not_run else q.misconception) for q in result.questions)
        named = "; ".join(f"{name}: {plain(words)}" for name, words in known if words)
        flagged = "; ".join(
            f"{q.name}: uses {', '.join(q.forbidden)}" for q in result.questions if q.forbidden
        )
        words = "; ".join(part for part in (named, flagged) if part)
        score = f"{result.score:g} / {result.max_score:g}"
        marks = marks_of(done.marks, result.student)
        final = final_points(result, lab_spec, marks, cells)
        table.add_row(
            shown(result.student),
            f"[{colour}]{result.status}[/]",
            score,
            *([late] if any(lateness) else []),
            f"{final.total:g} / {_reachable(lab_spec):g}" + (" so far" if final.waiting else ""),
            escape(words),
        )
    console.print(table)


def _reachable(lab_spec: LabSpec) -> float:
    """The points that can be reached, written answers included."""
    return lab_spec.max_score + sum(most for _, most in lab_spec.written)


def _lateness(lab: str, result: SubmissionResult, marks: TeacherMarks) -> str:
    """What lateness costs, and how late it was; "?" where nobody knows when it came in."""
    if result.readable and not result.submitted_at and settings().due(lab) is not None:
        return "?"
    if marks.seconds_late <= 0:
        return ""
    closed = "closed, " if settings().is_closed(lab, marks.seconds_late, marks.due) else ""
    return f"−{marks.late_penalty:g} ({closed}{duration(marks.seconds_late)})"


def _show_isolation(console: Console, results: Sequence[SubmissionResult]) -> None:
    """What kept the submissions apart, in colour where it was not the strongest."""
    levels = Counter(result.isolation for result in results if result.readable and not result.fault)
    if levels.total() == levels[STRONGEST]:
        console.print(f"  isolation: {STRONGEST}")
    for level, count in levels.items():
        if level != STRONGEST:
            console.print(
                f"[bold yellow]! {count} graded with isolation “{level}” only: {ISOLATION[REDUCED]} (see docs/security.md)[/]"
            )


def show_summary(console: Console, done: ClassResult, seconds: float) -> None:
    """The class in three lines, and what its teacher must hear."""
    count = len(done.results)
    statuses = Counter(result.status for result in done.results)
    read = [result.score for result in done.results if result.readable]
    mean = f"mean {fmean(read):.1f} of {done.results[0].max_score:g} points" if read else "none could be read"
    if 0 < len(read) < count:
        mean += f" over the {len(read)} that could be read"
    redone = len(done.plan.to_grade)
    pace = f"{seconds:.1f} s" + (f", {redone / seconds:.1f} submissions a second" if redone else "")
    console.print(
        f"\n[bold]{done.lab}[/]: {count} submissions, {mean}; "
        f"{redone} graded, {len(done.plan.unchanged)} unchanged ({pace})"
    )
    console.print("  " + ", ".join(f"{n} {status}" for status, n in statuses.most_common()))
    asked = sum(question.in_question for result in done.results for question in result.questions)
    if asked:
        console.print(
            f"  [yellow]{asked} {'answer uses a function' if asked == 1 else 'answers use functions'} that the "
            "question forbids: the points stand until a person says otherwise (see the report, and Formgrader)[/]"
        )
    _show_isolation(console, done.results)
    lab_spec = spec(done.lab)
    if lab_spec.written:
        console.print(
            f"  the tests give at most {lab_spec.max_score:g} points, with the written answers it is {_reachable(lab_spec):g}"
        )
    penalties = [marks_of(done.marks, result.student).late_penalty for result in done.results]
    if lost := [penalty for penalty in penalties if penalty]:
        console.print(f"  lateness takes {sum(lost):g} points off {len(lost)} of them, {max(lost):g} at most")
    if done.gone:
        sentence = (
            f"Graded into {done.out} before, and without a folder now: {some(done.gone)}. They are in no result, report or export any "
            "more: put their folders back, and a class that lies in two places into one."
        )
        console.print(f"[yellow]![/] {shown(sentence, 2000)}")
    for remark in remarks(done.lab, done.results, done.marks):
        console.print(f"[yellow]![/] {shown(remark, 2000)}")
