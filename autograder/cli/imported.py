"""Prints the import of a notebook's cells: which became hidden tests, and which stay beside the student's code."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.cli.say import say
from autograder.importing.bring_in import Imported, own_answers
from autograder.judging.run import tests_of

OUTSIDE, BESIDE, BY_HAND = "a hidden test", "in the sandbox, beside the student's code", "a person"
#: The student's functions can change what this test compares with, so it is only as reliable as its author made it.
OUTSIDE_IN_PLACE = "a hidden test, which trusts what functions make of their arguments"


def show(console: Console, imported: Imported) -> dict[str, Any]:
    """Print the file, a line for each graded cell, and the next commands. Returns the same as JSON."""
    headings = ("cell", "points", "graded by", "why not outside")
    table = Table(*headings, box=None, pad_edge=False, header_style="bold")
    table.columns[1].justify = "right"
    rows = []
    for cell in imported.cells:
        by = BESIDE if cell.reason else OUTSIDE_IN_PLACE if cell.in_place else OUTSIDE
        rows.append((cell.grade_id, cell.points, by, cell.reason))
    rows += [(name, points, BY_HAND, "") for name, points in imported.by_hand]
    for name, points, by, reason in rows:
        table.add_row(escape(name), f"{points:g}", by, escape(reason))
    say(console, "import", table, imported=imported, moved=sum(not cell.reason for cell in imported.cells))
    return {
        "lab": imported.lab,
        "cells": [{"cell": n, "points": p, "graded_by": by, "reason": reason} for n, p, by, reason in rows],
        "own_answers_fail": list(imported.failing),
        "data": list(imported.data),
        "left_out": list(imported.left_out),
    }


def audit_imported(console: Console, lab: str) -> bool:
    """Grade the lab's own answers, printing a line for each cell. Returns whether they get every point."""
    with own_answers(lab) as grade:
        result = grade()
    for question in result.questions:
        good = question.points == question.max_points
        by = OUTSIDE if tests_of(lab)[question.name] else BESIDE
        mark = "[green]✓[/]" if good else "[red]✗[/]"
        console.print(
            f"  {mark} {escape(question.name):<32} its own answer {question.points:g}/{question.max_points:g}   {by}"
        )
    return result.score == result.max_score
