"""Shows an audit: the kill matrix in short, the survivors in full."""

from __future__ import annotations

import warnings
from typing import Any

from rich.console import Console
from rich.markup import escape

from autograder.audit.hidden_tests import AnswerAudit
from autograder.audit.question import QuestionAudit, as_json, audit_question
from autograder.cli.imported import audit_imported
from autograder.course.masters import source_of_import
from autograder.course.policy_file import spec


def run_and_show(labs: list[str], *, mutants: bool, console: Console) -> tuple[dict[str, Any], bool]:
    """Audit the labs with a line a question; return the documented JSON and whether everything is as it should."""
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
                warnings.simplefilter("ignore")  # a wrong answer may well divide by zero
                audit = audits[lab][question] = audit_question(lab, question, points)
            good &= not audit.sentences
            _show_question(console, question, audit.rows)
            public = [f"public check, {t.kind} {t.answer}: {t.sentence}" for t in audit.public]
            for fault in (*audit.faults, *public):
                console.print(f"    [red]✗ {escape(fault)}[/]")
    report = as_json(audits)
    if mutants:
        from autograder.audit.mutants import run_and_show as run_mutants

        good &= run_mutants(labs, report, console=console)
    console.print("[green]✓ everything as it should be[/]" if good else "[red]✗ see the lines marked ✗[/]")
    return report, good


def _show_question(console: Console, question: str, rows: list[AnswerAudit]) -> None:
    def count(kind: str) -> str:
        chosen = [row for row in rows if row.kind == kind]
        return f"{sum(row.as_it_should for row in chosen)}/{len(chosen)}"

    mark = "[green]✓[/]" if all(row.as_it_should for row in rows) else "[red]✗[/]"
    console.print(
        f"  {mark} {question:<32} master {count('master')}   alternatives {count('alternative')}   "
        f"misconceptions caught {count('misconception')}"
    )
    for row in rows:
        if not row.as_it_should:
            console.print(
                f"    [red]✗ {row.kind} {row.name}: {row.points:g} of {row.max_points:g} points[/] ({escape(row.fault)})"
            )
