"""The output of ``grade`` and ``regrade``: a progress bar, one row for each student, the paths of the files."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from autograder.files import write_atomically
from autograder.results import SubmissionResult
from autograder.run.pipeline import ClassResult, run
from autograder.run.world_readable import refuse_world_readable

if TYPE_CHECKING:
    from autograder.run.plan import Plan


def grade_and_show(
    lab: str,
    submitted: Path,
    out: Path,
    *,
    jobs: int | None,
    engine: str,
    json_file: Path | None,
    console: Console,
    force: bool = False,
    say_why: bool = False,
) -> None:
    """Grade, print, and write ``results.json`` (and ``json_file``). Exit status 1 if the grader itself failed."""
    if json_file is not None:
        refuse_world_readable(json_file)
    began = time.perf_counter()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    progress = Progress(*columns, console=console, transient=True)
    bar = progress.add_task(f"grading {lab}", total=None)
    try:

        def planned(plan: Plan) -> None:
            progress.update(bar, total=len(plan.to_grade) or 1)
            progress.start()  # not earlier: workers are forked while this process has only one thread

        def graded(result: SubmissionResult) -> None:
            progress.advance(bar)

        done = run(lab, submitted, out, jobs=jobs, engine=engine, force=force, planned=planned, graded=graded)
    finally:
        if progress.live.is_started:
            progress.stop()
    seconds = time.perf_counter() - began
    rows = rows_as_json(done.results)
    for path in (out / "results.json", json_file):
        if path is not None:
            write_atomically(path, rows)
    if say_why:
        _show_reasons(console, done)
    from autograder.cli.grade_table import show_summary, show_table  # slow to import

    show_table(console, done)
    show_summary(console, done, seconds)
    for what, path in (
        ("gradebook", out / "gradebook.db"),
        ("feedback", out / "feedback"),
        ("report", done.report),
        ("results", json_file or out / "results.json"),
    ):
        console.print(f"  {what:<10} {path}", markup=False)
    if done.faults:
        _show_faults(console, done)
        raise typer.Exit(1)


def rows_as_json(results: Sequence[SubmissionResult]) -> str:
    """The documented JSON, with a line for each student: writing it with more line breaks takes ten times as long."""
    return (
        "[\n" + ",\n".join(json.dumps(result.as_json(), ensure_ascii=False) for result in results) + "\n]\n"
    )


def _show_reasons(console: Console, done: ClassResult) -> None:
    console.print(f"{len(done.plan.unchanged)} unchanged")
    by_reason: dict[str, list[str]] = defaultdict(list)
    for student, reason in done.plan.reasons.items():
        by_reason[reason].append(student)
    for reason, students in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        tested = Counter(question for student in students for question in done.redone.get(student, ()))
        if not tested:
            what = "no question had to be tested again"
        elif len(tested) == len(done.results[0].questions) and len(set(tested.values())) == 1:
            what = "all questions tested"
        else:
            what = "tested: " + ", ".join(
                name if count == len(students) else f"{name} ({count} of them)"
                for name, count in tested.items()
            )
        console.print(f"{len(students)} graded again, {reason}: {what}", markup=False)


def _show_faults(console: Console, done: ClassResult) -> None:
    from autograder.cli.grade_table import shown

    names = ", ".join(shown(result.student) for result in done.faults[:5])
    more = f" and {len(done.faults) - 5} more" if len(done.faults) > 5 else ""
    console.print(
        f"\n[bold red]! The grader itself failed on {len(done.faults)} of {len(done.results)} submissions:[/] "
        + f"{names}{more}"
    )
    console.print(
        "[red]  This run gave them no grade, and their authors are not at fault. The error: "
        + escape(done.faults[0].fault.splitlines()[-1])
        + f"\n  In full in {escape(str(done.out / 'faults' / done.lab))}; `autograder regrade` tries them again.[/]"
    )
