"""The commands ``grade`` and ``regrade`` on the screen: a progress bar, one row a student, where things lie."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

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
from rich.table import Table

from autograder.layout import write_atomically
from autograder.masters import lab_name
from autograder.pipeline import ClassResult, Plan, run
from autograder.results import SubmissionResult

_COLOURS = {"graded": "green", "partly-run": "yellow", "missing": "dim"}
#: A class larger than this gets a summary on the screen; the table is in the report.
ROWS_SHOWN = 60


def grade_and_show(
    lab: str,
    submitted: Path,
    out: Path,
    *,
    jobs: int | None,
    engine: str,
    sandbox: bool,
    json_file: Path | None,
    console: Console,
    force: bool = False,
    say_why: bool = False,
) -> None:
    """Grade, show, and write ``results.json`` (and ``json_file``)."""
    name = lab_name(lab)
    if not sandbox:
        console.print(
            "[bold yellow]! No sandbox: submissions run with your own rights. Only grade code you trust.[/]"
        )
    began = time.perf_counter()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task(f"grading {name}", total=None)

        def planned(plan: Plan) -> None:
            progress.update(bar, total=len(plan.tasks) or 1)

        def graded(result: SubmissionResult) -> None:
            progress.advance(bar)

        done = run(
            name,
            submitted,
            out,
            jobs=jobs,
            engine=engine,
            sandbox=sandbox,
            force=force,
            planned=planned,
            graded=graded,
        )
    seconds = time.perf_counter() - began
    rows = json.dumps([result.as_json() for result in done.results], indent=2, ensure_ascii=False) + "\n"
    for path in (out / "results.json", json_file):
        if path is not None:
            write_atomically(path, rows)
    if say_why:
        _show_reasons(console, done.plan)
    _show_table(console, done)
    _show_summary(console, done, seconds)
    console.print(f"  gradebook  {out / 'gradebook.db'}")
    console.print(f"  feedback   {out / 'feedback'}")
    console.print(f"  report     {done.report}")
    console.print(f"  results    {json_file or out / 'results.json'}")


def _show_table(console: Console, done: ClassResult) -> None:
    if len(done.results) > ROWS_SHOWN:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (
        ("student", "left"),
        ("status", "left"),
        ("score", "right"),
        ("misconception", "left"),
    ):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for result in done.results:
        colour = _COLOURS.get(result.status, "red")
        named = "; ".join(f"{q.name}: {q.misconception}" for q in result.questions if q.misconception)
        flagged = "; ".join(
            f"{q.name}: uses {', '.join(q.forbidden)}" for q in result.questions if q.forbidden
        )
        words = "; ".join(part for part in (named, flagged) if part)
        score = f"{result.score:g} / {result.max_score:g}"
        table.add_row(escape(result.student), f"[{colour}]{result.status}[/]", score, escape(words))
    console.print(table)


def _show_summary(console: Console, done: ClassResult, seconds: float) -> None:
    count = len(done.results)
    statuses = Counter(result.status for result in done.results)
    mean = sum(result.score for result in done.results) / count if count else 0.0
    redone = len(done.plan.tasks)
    pace = f"{seconds:.1f} s" + (f", {redone / seconds:.1f} submissions a second" if redone else "")
    console.print(
        f"\n[bold]{done.lab}[/]: {count} submissions, mean {mean:.1f} of {done.results[0].max_score:g} points; "
        f"{redone} graded, {len(done.plan.unchanged)} unchanged ({pace})"
    )
    console.print("  " + ", ".join(f"{n} {status}" for status, n in statuses.most_common()))


def _show_reasons(console: Console, plan: Plan) -> None:
    console.print(f"{len(plan.unchanged)} unchanged")
    for reason, count in Counter(plan.reasons.values()).most_common():
        console.print(f"{count} graded again: {escape(reason)}")
