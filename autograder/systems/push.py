"""Sends grades, comments and feedback pages to the learning system and verifies them. People's own entries stay."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from autograder.course.lab import LabSpec
from autograder.course.lists import sentences_about, summarize_names
from autograder.errors import UserError
from autograder.exports.rows import Graded, Grades, graded
from autograder.files import parse_time
from autograder.gradebook.cells import test_cells
from autograder.gradebook.final_points import TeacherMarks
from autograder.pages.feedback import FeedbackWriter
from autograder.pages.render import points
from autograder.results import SubmissionResult
from autograder.systems.exchange import (
    Entry,
    New,
    Person,
    Pulled,
    Record,
    Refused,
    Sent,
    System,
    Track,
    people_of,
)

#: Grades with a smaller difference are equal: grades are sent with two decimals, and systems store other numbers of them.
_SAME = 0.005


@dataclass(frozen=True)
class Row:
    """One student's row of the table: the current entry, the new entry, and what happens.

    ``what`` is ``new``, ``change``, ``as it is`` or ``left out``; ``why`` is the reason, or what the grade still lacks.
    """

    student: str
    user: int
    attempt: int
    now: Entry
    new: New | None = None
    what: str = "left out"
    why: str = ""
    digest: str = ""


def plan(
    system: System, submitted: Path, lab: str, grades: Grades, track: Track, replaced: Collection[str] = ()
) -> tuple[list[Row], list[str]]:
    """The rows to send, and sentences. ``replaced``: students whose entries by people may be replaced.

    Raises ``UserError`` if nothing was pulled, or if a name in ``replaced`` has no result.
    """
    record = Record.read(submitted, lab, system)
    if not record.students:
        raise UserError(
            f"Nothing of {lab} came from {system.name} into {submitted}: run `autograder {system.name.lower()} pull {lab[:2]}` first."
        )
    if unknown := [name for name in replaced if name not in grades.by_student]:
        raise UserError(
            f"--replace names {summarize_names(unknown)}, without a result: give the name of a student's folder."
        )
    active = {person.user: person for person in people_of(system, track)[0]}
    user_of = {known.student: user for user, known in record.students.items()}
    rows = list[Row]()
    for one in grades.rows:
        user = user_of.get(one.student, 0)
        known = record.students.get(user)
        why = _why_not(one, known, active.get(user), system.name)
        rows.append(Row(one.student, user, known.attempt if known else -1, Entry(), why=why))
    there = system.entries({row.user: row.attempt for row in rows if not row.why}, track)
    rows = [
        row if row.why else _planned(replace(row, now=there[row.user]), system, grades, record, replaced)
        for row in rows
    ]
    rows = sorted(rows, key=lambda one: one.student)
    return rows, _notes(system, grades, record)


def _why_not(row: Graded, known: Pulled | None, now: Person | None, system: str) -> str:
    """The reason why a result cannot be sent; "" if it can."""
    if known is None:
        return f"not fetched from {system}"
    if now is None:
        return f"no active student of the assignment in {system}"
    if known.attempt < 0:
        return "handed in nothing that is graded here"
    if parse_time(row.result.submitted_at) != datetime.fromtimestamp(known.when, UTC).replace(tzinfo=None):
        return "what was graded is not what was fetched last: regrade and push"
    if now.attempt is None:
        return f"nothing is handed in in {system} any more"
    if now.attempt.open:
        return "a new attempt is open"
    if (now.attempt.number, now.attempt.when) != (known.attempt, known.when):
        return "handed in again since: pull, regrade and push"
    return ""


def _planned(row: Row, system: System, grades: Grades, record: Record, replaced: Collection[str]) -> Row:
    """The row with the new entry, and with the decision whether it is sent."""
    ours, may_replace = record.sent.get(row.user, []), row.student in replaced
    one, now, most = grades.by_student[row.student], row.now, system.assignment.most
    page = FeedbackWriter(grades.spec, Path()).page(one.result, grades.marks.get(one.student)).encode()
    digest, name = hashlib.sha256(page).hexdigest(), f"{grades.spec.name}.html"
    comment = one.summary_html if system.assignment.takes_comments else ""
    has_page = any((file.name, file.size) == (name, len(page)) for file in now.files)
    is_there = now.comment is None or (has_page and _text(now.comment) == _text(comment))
    is_sent = is_there and any(sent.page == digest for sent in ours)
    is_left = is_sent or not system.assignment.takes_files
    new = New(float(grades.number(one.points, most)), comment, name, None if is_left else page)
    what = "new" if now.grade is None else "change"
    if new.grade > most + _SAME:
        why = f"{points(new.grade)} is above the maximum of {points(most)}: raise it there"
    elif now.locked:
        why = now.locked
    elif not _missing(new, now):
        what, why = "as it is" if new.page is None and now.is_settled else what, ""
    elif may_replace or _is_empty(now) or any(_is_ours(sent, now) for sent in ours):
        why = ""
    else:
        why = "somebody entered this grade or comment: --replace takes its place"
    return replace(row, new=new, what="left out" if why else what, why=why or one.remark, digest=digest)


def _missing(ours: New | Sent, now: Entry) -> list[str]:
    """What the current entry does not have of a grade and a comment. A comment that is hidden is not missing."""
    has_grade = now.grade is not None and abs(now.grade - ours.grade) < _SAME
    is_hidden = now.comment is None or ours.comment is None
    has_comment = is_hidden or _text(now.comment or "") == _text(ours.comment or "")
    return ([] if has_grade else ["the grade"]) + ([] if has_comment else ["the comment"])


def _is_empty(now: Entry) -> bool:
    return now.grade is None and now.comment is not None and not _text(now.comment)


def _is_ours(sent: Sent, now: Entry) -> bool:
    """Whether the current entry is the one that was sent. If the comment is hidden, the time of the last change decides."""
    is_hidden = now.comment is None or sent.comment is None
    return not _missing(sent, now) and (not is_hidden or now.modified == sent.modified)


def _text(comment: str) -> str:
    """A comment's words, because systems change tags and entities."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", comment)).split())


def _notes(system: System, grades: Grades, record: Record) -> list[str]:
    notes = [*grades.scaled_note(system.assignment.most, system.name), *system.assignment.notes]
    if not system.assignment.takes_comments:
        notes.append("Feedback comments are switched off in the assignment: none are sent.")
    if not system.assignment.takes_files:
        notes.append("Feedback files are switched off in the assignment: the pages are not sent.")
    lost = [one.student for one in record.students.values() if one.student not in grades.by_student]
    return notes + sentences_about({"Fetched, but not graded": lost})


def send(system: System, submitted: Path, lab: str, rows: Sequence[Row], track: Track) -> list[str]:
    """Send new and changed entries and read them again. Returns a sentence for each that did not arrive.

    Each entry is recorded before it is sent, so that the next push recognises it after a failure.
    """
    record = Record.read(submitted, lab, system)
    going = [(row, row.new) for row in rows if row.new is not None and row.what in ("new", "change")]
    troubles, tried = list[str](), list[tuple[Row, New]]()
    for row, new in track(going, len(going), "grades"):
        sent = Sent(grade=new.grade, comment=new.comment, page=row.digest)
        record.sent[row.user] = [*record.sent.get(row.user, [])[-1:], sent]
        record.save()
        try:
            system.send(row.user, row.attempt, new, row.now)
            tried.append((row, new))
        except Refused as error:
            troubles.append(f"{row.student}: {error}")
    there = system.entries({row.user: row.attempt for row, _ in tried}, track)
    for row, new in tried:
        now = there[row.user]
        missing = _missing(new, now)
        pages = [one.size for one in now.files if one.name == new.page_name]
        if new.page is not None and now.comment is not None and pages != [len(new.page)]:
            missing.append("the feedback page")
        missing += [] if now.is_settled else ["the state"]
        if missing:
            troubles.append(f"{row.student}: {' and '.join(missing)} did not arrive.")
        else:
            sent = Sent(grade=new.grade, comment=now.comment, modified=now.modified, page=row.digest)
            record.sent[row.user] = [sent]
    record.save()
    return troubles


def was_pushed(system: System, submitted: Path, lab: str) -> bool:
    """Whether anything was sent before. The first push only shows what it would do."""
    return bool(Record.read(submitted, lab, system).sent)


def grades_of(lab: LabSpec, results: Sequence[SubmissionResult], marks: Mapping[str, TeacherMarks]) -> Grades:
    """The final points of each result, in the exports' form."""
    cells = test_cells(lab)
    return Grades(lab, tuple(graded(one, lab, marks, cells) for one in results), None, True, marks=marks)
