"""The output of ``grade`` and ``regrade``: a progress bar, one row for each student, the paths of the files."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from autograder.course.student_files import refuse_world_readable
from autograder.files import write_atomically
from autograder.results import SubmissionResult
from autograder.run.pipeline import run

if TYPE_CHECKING:
    from autograder.run.plan import Plan


def grade_and_show(
    console: Console, lab: str, submitted: Path, out: Path, json_file: Path | None, say_why: bool, **how: Any
) -> None:
    """Grade, print, and write ``results.json`` (and ``json_file``). Exit status 1 if the grader itself failed.

    ``how`` are options of ``pipeline.run``.
    """
    if json_file is not None:
        refuse_world_readable(json_file)
    began = time.perf_counter()
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    progress = Progress(TextColumn("{task.description}"), *columns, console=console, transient=True)
    bar = progress.add_task(f"grading {lab}", total=None)
    if console.is_terminal:
        console.print(f"grading {lab}", end="\r")  # the bar takes its place when the workers are forked
    try:

        def planned(plan: Plan) -> None:
            progress.update(bar, total=len(plan.to_grade) or 1)
            progress.start()  # not earlier: workers are forked while this process has only one thread

        def graded(result: SubmissionResult) -> None:
            progress.advance(bar)

        done = run(lab, submitted, out, planned=planned, graded=graded, **how)
    finally:
        if progress.live.is_started:
            progress.stop()
    seconds = time.perf_counter() - began
    # A line for each student: writing it with more line breaks takes ten times as long.
    rows = ",\n".join(json.dumps(result.as_json(), ensure_ascii=False) for result in done.results)
    for path in filter(None, (out / "results.json", json_file)):
        write_atomically(path, f"[\n{rows}\n]\n")
    from autograder.cli.grade_table import show  # slow to import

    show(console, done, seconds, json_file or out / "results.json", say_why=say_why)
    if done.faults:
        raise typer.Exit(1)
