"""Prints an audit: a summary for each question, and every surviving answer."""

from __future__ import annotations

import warnings
from typing import Any

from rich.console import Console
from rich.markup import escape

from autograder.audit.question import AnswerAudit, QuestionAudit, as_json, audit_question
from autograder.cli.imported import audit_imported
from autograder.course.masters import source_of_import
from autograder.course.policy_file import spec


def run_and_show(console: Console, labs: list[str]) -> tuple[dict[str, Any], bool]:
    """Audit the labs, printing a line for each question. Returns the documented JSON, and whether all is well."""
    audits: dict[str, dict[str, QuestionAudit]] = {}
    good = True
    for lab in labs:
        console.print(f"[bold]{lab}[/]")
        audits[lab] = {}
        if source_of_import(lab):
            good &= audit_imported(console, lab)
            continue
        for question, points in spec(lab).questions:
            with console.status(f"auditing {question} …"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a wrong answer may divide by zero
                audit = audits[lab][question] = audit_question(lab, question, points)
            good &= not audit.sentences
            _show_question(console, question, audit.rows)
            for fault in audit.of_the_whole:
                console.print(f"    [red]✗ {escape(fault)}[/]")
    console.print("[green]✓ everything as it should be[/]" if good else "[red]✗ see the lines marked ✗[/]")
    return as_json(audits), good


def _show_question(console: Console, question: str, rows: list[AnswerAudit]) -> None:
    def count(kind: str) -> str:
        chosen = [row for row in rows if row.kind == kind]
        return f"{sum(not row.fault for row in chosen)}/{len(chosen)}"

    mark = "[green]✓[/]" if not any(row.fault for row in rows) else "[red]✗[/]"
    console.print(
        f"  {mark} {question:<32} master {count('master')}   alternatives {count('alternative')}   "
        f"misconceptions caught {count('misconception')}"
    )
    for row in rows:
        if row.fault:
            console.print(
                f"    [red]✗ {row.kind} {row.name}: {row.points:g} of {row.max_points:g} points[/] ({escape(row.fault)})"
            )
