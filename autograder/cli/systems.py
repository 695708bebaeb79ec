"""The output of ``autograder moodle``, ``canvas`` and ``github``: fetched submissions, planned entries, failed entries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from autograder.cli.rewrite import results_and_marks
from autograder.cli.say import say, shown
from autograder.course.lists import sentences_about
from autograder.course.policy_file import spec
from autograder.course.student_files import refuse_world_readable
from autograder.pages.render import points
from autograder.systems.canvas import Canvas
from autograder.systems.github import GitHub
from autograder.systems.moodle import Moodle
from autograder.systems.pull import Pull
from autograder.systems.push import Push, Row, grades_of

#: The learning systems by name.
SYSTEMS = {one.name: one for one in (Moodle, Canvas, GitHub)}


def pull(console: Console, name: str, lab: str, submitted: Path) -> None:
    """Fetch a lab's submissions, and print a summary."""
    refuse_world_readable(submitted)
    with console.status(f"asking {name} …"):
        system = SYSTEMS[name](lab)
    system.console = console
    done = Pull(system, submitted, lab)
    done.run()
    say(console, "pull", done=done, title=system.title, submitted=submitted)


def push(
    console: Console,
    name: str,
    lab: str,
    submitted: Path,
    out: Path,
    send: bool | None,
    replace: Sequence[str],
    state: str,
) -> bool:
    """Print what a push changes, and send it if requested or if done before. Returns whether everything arrived."""
    results, marks = results_and_marks(lab, out)
    with console.status(f"asking {name} …"):
        system = SYSTEMS[name](lab, state)
        system.require_gradable()
    system.console = console
    failed = [one.student for one in results if one.fault]
    grades = grades_of(spec(lab), [one for one in results if not one.fault], marks)
    push = Push(system, submitted, lab, grades, replace)
    notes = push.notes + sentences_about({"Not sent, because the grader itself failed on them": failed})
    _show_rows(push.rows, name, system.most, console)
    sent = send or (send is None and not push.is_first)
    troubles = push.send() if sent else []
    notes += troubles
    say(console, "push", name=name, notes=notes, sent=sent, troubles=len(troubles), going=len(push.going))
    return not troubles


def _show_rows(rows: Sequence[Row], name: str, most: float, console: Console) -> None:
    """Print a line for each student with a change, and the number of the others."""
    same = sum(row.what == "as it is" for row in rows)
    headings = ("student", f"in {name}", f"here (of {points(most)})", "", "")
    table = Table(*headings, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        if row.what != "as it is":
            there = "" if row.now.grade is None else points(row.now.grade)
            here = "" if row.new is None else points(row.new.grade)
            table.add_row(*map(shown, (row.student, there, here, row.what, row.why)))
    say(console, "changes", table if table.row_count else None, same=same, name=name)
