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
from autograder.files import folder_name, parse_time
from autograder.gradebook.final_points import TeacherMarks
from autograder.pages.feedback import FeedbackWriter
from autograder.pages.render import points
from autograder.results import SubmissionResult
from autograder.systems.exchange import Entry, Person, Pulled, Record, Refused, Sent, System, Update

#: Grades with a smaller difference are equal: grades are sent with two decimals, and systems store other numbers of them.
_SAME = 0.005
_NONE = Entry()


@dataclass(frozen=True)
class Row:
    """One student's row of the table: the current entry, the new entry, and what happens.

    ``what`` is ``new``, ``change``, ``as it is`` or ``left out``; ``why`` is the reason, or what the grade still lacks.
    """

    student: str
    user: int
    attempt: int
    why: str
    what: str = "left out"
    now: Entry = _NONE
    new: Update | None = None
    digest: str = ""


class Push:
    """What a push of one assignment changes (``rows``), and sentences for the person who pushes (``notes``).

    ``replaced``: students whose entries by people may be replaced. Raises ``UserError`` if nothing was pulled, or if a name in
    ``replaced`` has no result.
    """

    def __init__(
        self,
        system: System,
        submitted: Path,
        lab: str,
        grades: Grades,
        replaced: Collection[str] = (),
    ) -> None:
        self._system, self._grades, self._replaced = system, grades, replaced
        self._record = Record.read(submitted, lab, system)
        pulled = self._record.students
        if not pulled:
            raise UserError(
                f"Nothing of {lab} came from {system.name} into {submitted}: run `autograder {system.name.lower()} pull {lab[:2]}` first."
            )
        if unknown := [name for name in replaced if name not in grades.by_student]:
            raise UserError(
                f"--replace names {summarize_names(unknown)}, without a result: give the name of a student's folder."
            )
        active = {person.user: person for person in system.require_people()[0]}
        user_of = {folder_name(known.student): user for user, known in pulled.items()}
        rows = list[Row]()
        for one in sorted(grades.rows, key=lambda one: one.student):
            user = user_of.get(one.student, 0)
            why = _why_not(one, pulled.get(user), active.get(user), system.name)
            rows.append(Row(one.student, user, -1 if why else pulled[user].attempt, why))
        there = system.entries({row.user: row.attempt for row in rows if not row.why})
        self.rows = [row if row.why else self._planned(row, there[row.user]) for row in rows]
        self.notes = [*grades.scaled_note(system.most, system.name), *system.notes]
        if not system.takes_comments:
            self.notes.append("Feedback comments are switched off in the assignment: none are sent.")
        if not system.takes_files:
            self.notes.append("Feedback files are switched off in the assignment: the pages are not sent.")
        lost = [
            name for one in pulled.values() if (name := folder_name(one.student)) not in grades.by_student
        ]
        self.notes += sentences_about({"Fetched, but not graded": lost})
        #: Whether anything was sent before. The first push only shows what it would do.
        self.is_first = not self._record.sent
        self.going = [(row, row.new) for row in self.rows if row.new and row.what in ("new", "change")]

    def _planned(self, row: Row, now: Entry) -> Row:
        """The row with the current and the new entry, and with the decision whether it is sent."""
        ours, grades, system = self._record.sent.get(row.user, []), self._grades, self._system
        one = grades.by_student[row.student]
        page = FeedbackWriter(grades.spec, Path()).page(one.result, grades.marks.get(one.student)).encode()
        digest, name = hashlib.sha256(page).hexdigest(), f"{grades.spec.name}.html"
        comment = one.summary_html if system.takes_comments else ""
        has_page = any((file.name, file.size) == (name, len(page)) for file in now.files)
        is_there = now.comment is None or (has_page and _text(now.comment) == _text(comment))
        is_left = not system.takes_files or (is_there and any(sent.page == digest for sent in ours))
        new = Update(float(grades.number(one.points, system.most)), comment, name, None if is_left else page)
        what, why = "new" if now.grade is None else "change", ""
        if new.grade > system.most + _SAME:
            why = f"{points(new.grade)} is above the maximum of {points(system.most)}: raise it there"
        elif now.locked:
            why = now.locked
        elif not _missing(new, now):
            what = "as it is" if is_left and now.is_settled else what
        elif not (
            row.student in self._replaced or _is_empty(now) or any(_is_ours(sent, now) for sent in ours)
        ):
            why = "somebody entered this grade or comment: --replace takes its place"
        what, why = ("left out", why) if why else (what, one.remark)
        return replace(row, now=now, new=new, what=what, why=why, digest=digest)

    def send(self) -> list[str]:
        """Send new and changed entries and read them again. Returns a sentence for each that did not arrive.

        Each entry is recorded before it is sent, so that the next push recognises it after a failure.
        """
        record, troubles, tried = self._record, list[str](), list[tuple[Row, Update]]()
        for row, new in self._system.track(self.going, "grades"):
            sent = Sent(grade=new.grade, comment=new.comment, page=row.digest)
            record.sent[row.user] = [*record.sent.get(row.user, [])[-1:], sent]
            record.save()
            try:
                self._system.send(row.user, row.attempt, new, row.now)
                tried.append((row, new))
            except Refused as error:
                troubles.append(f"{row.student}: {error}")
        there = self._system.entries({row.user: row.attempt for row, _ in tried})
        for row, new in tried:
            now, missing = there[row.user], _missing(new, there[row.user])
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


def _missing(ours: Update | Sent, now: Entry) -> list[str]:
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


def grades_of(lab: LabSpec, results: Sequence[SubmissionResult], marks: Mapping[str, TeacherMarks]) -> Grades:
    """The final points of each result, in the exports' form."""
    return Grades(lab, tuple(graded(one, lab, marks) for one in results), None, True, marks=marks)
