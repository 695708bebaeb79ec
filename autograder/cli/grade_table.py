"""Prints a graded class: what was graded again and why, one line for each student, a summary, the files."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.cli.say import say, shown
from autograder.course.policy_file import settings, spec
from autograder.gradebook.final_points import TeacherMarks, final_points
from autograder.gradebook.writer import marks_of
from autograder.pages.render import duration
from autograder.results import ISOLATION, REDUCED, STATUSES, STRONGEST, SubmissionResult
from autograder.run.pipeline import ClassResult
from autograder.run.remarks import remarks, what_is_wrong

#: A class larger than this gets only a summary; the table is in the report.
ROWS_SHOWN = 60
#: The most misconceptions counted below the table.
NAMED = 8


def table_of(done: ClassResult) -> Table:
    """One line for each student, worst results first: status, points after lateness, and what is wrong."""
    lab_spec = spec(done.lab)
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("student", max_width=20, no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("what is wrong (Q1: the first question)")
    for result in sorted(done.results, key=_sort_key):
        marks = marks_of(done.marks, result.student)
        final = final_points(result, lab_spec, marks)
        most = sum(q.max_points for q in result.questions) or lab_spec.max_score
        most += sum(most for name, most in lab_spec.written if final.written[name].score is not None)
        wrong = [*_lateness(done.lab, result, marks), *what_is_wrong(result)]
        table.add_row(
            shown(result.student, 200),
            "" if result.status == "graded" else f"[{STATUSES[result.status].colour}]{result.status}[/]",
            f"{final.total:g}/{most:g}",
            Text("; ".join(wrong), no_wrap=True, overflow="ellipsis"),
        )
    return table


def _sort_key(result: SubmissionResult) -> tuple[bool, float, bool, str]:
    """The key that sorts students: no result, few points, or an incomplete run come first."""
    judged = result.readable and not result.fault
    return judged, result.score, result.status == "graded", result.student


def _lateness(lab: str, result: SubmissionResult, marks: TeacherMarks) -> list[str]:
    """The late penalty, and how late the submission was; empty if in time."""
    if result.readable and not result.submitted_at and settings().due(lab) is not None:
        return ["lateness unknown"]
    if marks.seconds_late <= 0:
        return []
    closed = "closed, " if settings().is_closed(lab, marks.seconds_late, marks.due) else ""
    return [f"−{marks.late_penalty:g} late ({closed}{duration(marks.seconds_late)})"]


def _reasons(done: ClassResult) -> list[tuple[str, int, Counter[str]]]:
    """Each reason for grading again, with its number of students and, for each question, of those it was tested of."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for student, reason in done.plan.reasons.items():
        by_reason[reason].append(student)
    return [
        (reason, len(students), Counter(name for one in students for name in done.redone.get(one, ())))
        for reason, students in sorted(by_reason.items(), key=lambda item: -len(item[1]))
    ]


def show(console: Console, done: ClassResult, seconds: float, results: Path, *, say_why: bool) -> None:
    """Print the class. ``results`` is the file with the results, ``say_why`` whether to say what was graded again and why."""
    read = [result.score for result in done.results if result.readable]
    held = Counter(
        (f"Q{number} {question.name}", question.misconception)
        for result in done.results
        for number, question in enumerate(result.questions, 1)
        if question.misconception
    )
    penalties = [marks_of(done.marks, result.student).late_penalty for result in done.results]
    lab_spec = spec(done.lab)
    levels = Counter(one.isolation for one in done.results if one.readable and not one.fault)
    say(
        console,
        "grade",
        table_of(done) if len(done.results) <= ROWS_SHOWN else None,
        done=done,
        results=results,
        seconds=seconds,
        reasons=_reasons(done) if say_why else None,
        read=len(read),
        mean=fmean(read) if read else None,
        statuses=Counter(result.status for result in done.results).most_common(),
        held=[(of, count) for of, count in held.most_common() if count > 1],
        named=NAMED,
        asked=sum(question.in_question for result in done.results for question in result.questions),
        weaker={level: count for level, count in levels.items() if level != STRONGEST},
        strongest=STRONGEST,
        reduced=ISOLATION[REDUCED],
        most=lab_spec.max_score,
        reachable=lab_spec.max_score + sum(most for _, most in lab_spec.written),
        lost=[penalty for penalty in penalties if penalty],
        remarks=remarks(done.lab, done.results, done.marks),
    )
