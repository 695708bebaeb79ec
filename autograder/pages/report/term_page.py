"""Draws the term's report: one self-contained page, and the rows of the table that goes with it."""

from __future__ import annotations

import base64
import hashlib
import os
import statistics
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from autograder.files import feedback_page, report_page
from autograder.pages.render import TEMPLATES, plain, points, render
from autograder.pages.report.term import FALL, LOW_SHARE, Entry, Idea, Lab, Student, Term
from autograder.results import STATUSES

#: The page's name in ``out/report``, and that of the tables beside it.
TERM = "term"


def render_term(term: Term, out: Path) -> str:
    """The page as HTML; it links the labs' reports and the students' pages where these exist in ``out``."""
    script = (TEMPLATES / "sort.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    shares = [share for student in term.students if (share := student.share) is not None]
    extensions = [student.extensions for student in term.students]
    return render(
        "term.html.j2",
        script=Markup(script),
        script_hash=f"sha256-{digest}",
        course=term.name,
        most=term.most,
        labs=[_lab_row(summary, out) for summary in term.summaries],
        numbers=[lab.name[:2] for lab in term.labs],
        median=statistics.median(shares) if shares else None,
        missing=sum(len(student.missing) for student in term.students),
        extensions=[sum(given for given, _ in extensions), sum(used for _, used in extensions)],
        open=sum(bool(student.open) for student in term.students),
        behind=[_behind_row(student) for student in term.behind],
        low=round(100 * LOW_SHARE),
        fall=round(100 * FALL),
        misconceptions=[_misconception_row(found) for found in term.misconceptions],
        students=[_student_row(student, term, out) for student in term.students],
        sections=any(student.section for student in term.students),
        remarks=[plain(remark, 2000) for remark in term.remarks],
    )


def table_of_students(term: Term) -> list[list[str]]:
    """The rows of ``term.csv``, the header first."""
    header = ["student", "name", "section", "points", "of", "percent", "missing", "late", "extensions given",
              "extensions used", "not final", "falling behind", "ideas"]  # fmt: skip
    for lab in term.labs:
        header += [lab.name, f"{lab.name} status"]
    rows = [header]
    for student in term.students:
        given, used = student.extensions
        row = [
            student.student, student.name, student.section, points(student.points), points(term.most),
            "" if student.share is None else f"{100 * student.share:.1f}", " ".join(student.missing),
            " ".join(student.late), str(given), str(used), " ".join(student.open), "; ".join(student.behind),
            "; ".join(f"{idea.lab} {idea.question}: {idea.title}" for idea in student.ideas),
        ]  # fmt: skip
        for entry in student.entries.values():
            row += ["" if entry.fault else points(entry.points), _status(entry)]
        rows.append([plain(cell) for cell in row])
    return rows


def table_of_misconceptions(term: Term) -> list[list[str]]:
    """The rows of ``term-misconceptions.csv``, the header first: one for each lab and question."""
    rows = [["misconception", "lab", "question", "students", "submissions", "percent", "who"]]
    for found in term.misconceptions:
        for lab, question, students, read in found.places:
            share = f"{100 * len(students) / max(1, read):.1f}"
            rows.append(
                [found.title, lab, question, str(len(students)), str(read), share, "; ".join(students)]
            )
    return rows


def _status(entry: Entry) -> str:
    """A lab's state in a phrase: the run's status, and what its points lack or lost."""
    words = [entry.status]
    if entry.fault:
        words = ["the grader itself failed: no grade"]
    if entry.waiting:
        words.append(f"up to {points(entry.waiting)} wait for a person")
    if entry.earlier:
        words.append("points of an earlier time, since the grader itself failed")
    if entry.undated:
        words.append("lateness not counted")
    if entry.late_penalty:
        words.append(f"{points(entry.late_penalty)} off for lateness")
    if entry.extension:
        words.append("extension used" if entry.extension_used else "extension given")
    elif entry.extension_used:
        words.append("extension used")
    return ", ".join(words)


def _lab_row(summary: Any, out: Path) -> dict[str, Any]:
    page = report_page(out, summary.lab.name)
    return {
        "summary": summary,
        "link": quote(page.name) if page.exists() else "",
        "remarks": [plain(remark, 2000) for remark in summary.lab.remarks],
    }


def _behind_row(student: Student) -> dict[str, Any]:
    return {**_names(student), "share": student.share, "why": student.behind, "ideas": _ideas(student)}


def _ideas(student: Student) -> list[dict[str, str]]:
    return [{"lab": idea.lab[:2], "question": idea.question, "title": _title(idea)} for idea in student.ideas]


def _title(idea: Idea) -> str:
    return plain(idea.title, 300) or "no points, and no cause that was recognised"


def _names(student: Student) -> dict[str, str]:
    return {
        "name": plain(student.name or student.student, 100),
        "folder": plain(student.student, 100) if student.name not in ("", student.student) else "",
        "section": plain(student.section, 60),
    }


def _misconception_row(found: Any) -> dict[str, Any]:
    return {
        "title": found.title,
        "hint": found.hint,
        "share": found.share,
        "students": found.students,
        "places": [
            {"lab": lab[:2], "question": question, "count": len(students), "read": read,
             "who": [plain(student, 100) for student in students]}
            for lab, question, students, read in found.places
        ],
    }  # fmt: skip


def _student_row(student: Student, term: Term, out: Path) -> dict[str, Any]:
    return {
        **_names(student),
        "points": student.points,
        "share": student.share,
        "cells": [_cell(student, lab, out) for lab in term.labs],
        "missing": len(student.missing),
        "extensions": student.extensions,
        "behind": bool(student.behind),
    }


def _cell(student: Student, lab: Lab, out: Path) -> dict[str, Any]:
    """One lab's points of one student: what is shown, what it is sorted by, and what a mark stands for."""
    entry = student.entries[lab.name]
    page = feedback_page(out, entry.folder or student.student, lab.name)
    known = not (entry.missing or entry.fault)
    return {
        "points": entry.points if known else None,
        "word": "–" if entry.missing else "?",
        "marks": "".join(
            mark
            for mark, holds in (
                ("…", entry.open),
                ("L", entry.seconds_late > 0),
                ("E", entry.extension_used),
                ("!", entry.status not in ("graded", "missing") and not entry.fault),
            )
            if holds
        ),
        "says": STATUSES[entry.status].for_staff if entry.missing else _status(entry),
        "link": quote(
            Path(os.path.relpath(page, out / "report")).as_posix().encode("utf-8", "surrogateescape")
        )
        if page.exists()
        else "",
    }
