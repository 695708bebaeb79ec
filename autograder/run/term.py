"""The term's report: each student over the labs, and who is falling behind; gathered from a graded folder."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.course.lab import LabSpec
from autograder.course.masters import all_labs
from autograder.course.policy_file import class_list, settings, spec
from autograder.files import feedback_page, parse_time, report_page
from autograder.gradebook.final_points import TeacherMarks, final_points
from autograder.gradebook.writer import marks_of
from autograder.pages.render import address_of, plain, points, render, sorting_script
from autograder.results import STATUSES, SubmissionResult
from autograder.run.recorder import entered_marks
from autograder.run.remarks import remarks
from autograder.run.store import ResultStore

#: The name of the page, and of the table beside it, in ``out/report``.
TERM = "term"
#: A student falls behind with less than this share of the points over this number of last labs ...
LOW_SHARE, RECENT = 0.5, 2
#: ... or with this much less than their own share in the labs before.
FALL = 0.25
#: The most ideas named for a student who falls behind.
IDEAS = 3

Progress = Callable[[Iterable[str]], Iterable[str]]


@dataclass(frozen=True)
class Idea:
    """A question that lost points, and the reason: a misconception's title, or another cause."""

    lab: str
    question: str
    title: str
    lost: float


@dataclass(frozen=True)
class Entry:
    """One student's result in one lab. ``points`` are the final points, ``most`` the points that can be reached."""

    status: str
    points: float
    most: float
    #: The points of written answers that nobody has read yet. They are part of ``most`` but not decided.
    waiting: float = 0.0
    late_penalty: float = 0.0
    seconds_late: float = 0.0
    extension_used: bool = False
    #: Whether there is a due date but the time of submission is unknown.
    undated: bool = False
    #: Whether the grader itself failed: there is no grade or, with ``earlier``, only an outdated one.
    fault: bool = False
    earlier: bool = False
    #: The name of the submission's folder.
    folder: str = ""
    ideas: tuple[Idea, ...] = ()

    @property
    def missing(self) -> bool:
        """Whether nothing was handed in."""
        return self.status == "missing"

    @property
    def open(self) -> bool:
        """Whether the points are not final."""
        return bool(self.waiting or self.undated or self.fault or self.earlier)

    @property
    def decided(self) -> float:
        """The points that are decided: earned or lost."""
        return 0.0 if self.fault else max(0.0, self.most - self.waiting)

    @property
    def words(self) -> str:
        """A phrase about the lab: the status, and what its points lack or lost."""
        if self.missing:
            return STATUSES["missing"].for_staff
        phrases = {
            "the grader itself failed: no grade" if self.fault else self.status: True,
            f"up to {points(self.waiting)} wait for a person": self.waiting,
            "points from an earlier run, since the grader itself failed": self.earlier,
            "lateness not counted": self.undated,
            f"{points(self.late_penalty)} off for lateness": self.late_penalty,
            "extension used": self.extension_used,
        }
        return ", ".join(words for words, holds in phrases.items() if holds)


@dataclass(frozen=True)
class Student:
    """A student over the term. ``entries``: graded lab -> result."""

    student: str
    name: str = ""
    section: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)

    @property
    def points(self) -> float:
        """All points so far."""
        return sum(entry.points for entry in self.entries.values())

    @property
    def share(self) -> float | None:
        """The share of the decided points, between 0 and 1 (more with extra credit); None if no points are decided."""
        return share_of(self.entries.values())

    @property
    def missing(self) -> tuple[str, ...]:
        """The labs for which nothing was handed in."""
        return tuple(lab for lab, entry in self.entries.items() if entry.missing)

    @property
    def open(self) -> tuple[str, ...]:
        """The labs whose points are not final."""
        return tuple(lab for lab, entry in self.entries.items() if entry.open)

    @property
    def behind(self) -> tuple[str, ...]:
        """The reasons why the student is falling behind, a phrase for each; empty if they are not."""
        labs = list(self.entries)
        why = []
        if labs and self.entries[labs[-1]].missing:
            why.append("nothing handed in for the latest lab")
        if len(self.missing) > 1:
            why.append(f"{len(self.missing)} of {len(labs)} labs missing")
        now = share_of(self.entries[lab] for lab in labs[-RECENT:])
        before = share_of(self.entries[lab] for lab in labs[:-RECENT])
        over = "the last two labs" if len(labs) >= RECENT else "the lab"
        if now is not None and now < LOW_SHARE:
            why.append(f"{100 * now:.0f}% of the points over {over}")
        elif now is not None and before is not None and before - now >= FALL:
            why.append(f"{100 * now:.0f}% over {over} after {100 * before:.0f}% before")
        return tuple(why)

    @property
    def ideas(self) -> tuple[Idea, ...]:
        """The ideas that lost most points in the last labs, the costliest first."""
        ideas = [idea for lab in list(self.entries)[-RECENT:] for idea in self.entries[lab].ideas]
        return tuple(sorted(ideas, key=lambda idea: -idea.lost)[:IDEAS])


def share_of(entries: Iterable[Entry]) -> float | None:
    """The share of the decided points in these entries; None if no point is decided."""
    several = list(entries)
    most = sum(entry.decided for entry in several)
    return sum(entry.points for entry in several if not entry.fault) / most if most > 0 else None


@dataclass(frozen=True)
class Lab:
    """A graded lab: full name, title, due date (local, in words; "" without one), remarks."""

    name: str
    title: str
    most: float
    due: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Term:
    """The whole course so far."""

    name: str
    labs: tuple[Lab, ...]
    students: tuple[Student, ...]
    remarks: tuple[str, ...] = ()

    @property
    def behind(self) -> tuple[Student, ...]:
        """The students who are falling behind, the smallest share first."""
        low = [student for student in self.students if student.behind]
        return tuple(sorted(low, key=lambda student: (student.share or 0.0, student.student.casefold())))


def gather(out: Path, store: ResultStore, progress: Progress = iter) -> Term:
    """The term from all labs that were graded into ``out``. ``progress`` wraps the walk over the labs."""
    stored, people, labs = store.labs(), class_list(), list[Lab]()
    entries: dict[str, dict[str, Entry]] = defaultdict(dict)
    for lab in progress([lab for lab in all_labs() if lab in stored]):
        summary, of_lab = _lab(lab, out, store)
        labs.append(summary)
        whose = people.of_folders([entry.folder for entry in of_lab])
        for entry in of_lab:
            entries[whose[entry.folder].student if entry.folder in whose else entry.folder][lab] = entry
    listed, students = {person.student: person for person in people.people}, list[Student]()
    for name in dict.fromkeys([*entries, *listed]):  # everybody on the class list gets a row
        own = {lab.name: entries[name].get(lab.name) or Entry("missing", 0.0, lab.most) for lab in labs}
        called = (listed[name].name, listed[name].section) if name in listed else ("", "")
        students.append(Student(name, *called, own))
    students.sort(key=lambda one: (one.section.casefold(), (one.name or one.student).casefold()))
    gone = sorted(set(stored) - {lab.name for lab in labs})
    notes = [f"Lab {lab} was graded, but is no longer a lab of this course: it is left out." for lab in gone]
    return Term(settings().name, tuple(labs), tuple(students), tuple(notes))


def _lab(lab: str, out: Path, store: ResultStore) -> tuple[Lab, list[Entry]]:
    lab_spec, due, results = spec(lab), settings().due(lab), list[SubmissionResult]()
    most = lab_spec.max_score + sum(points for _, points in lab_spec.written)
    marks, entries = entered_marks(lab, out, store.keys(lab)), list[Entry]()
    for result in store.all(lab):
        entries.append(_entry(result, marks_of(marks, result.student), lab_spec, most))
        results.append(replace(result, notebook=""))
    words = f"{settings().local(due):%d %B %Y, %H:%M}" if due is not None else ""
    return Lab(lab, lab_spec.title, most, words, remarks(lab, results, marks)), entries


def _entry(result: SubmissionResult, marks: TeacherMarks, lab_spec: LabSpec, most: float) -> Entry:
    """A lab's entry in the term: the result with a person's marks."""
    final = final_points(result, lab_spec, marks)
    written, due = dict(lab_spec.written), settings().due(result.lab)
    came = parse_time(result.submitted_at or "")
    after_due = (came - due).total_seconds() if due is not None and came is not None else 0.0
    ideas = []
    for question in result.questions if result.readable and not result.fault else ():
        lost = question.max_points - final.questions[question.name].final
        if lost > 1e-9 or question.misconception:
            title = question.misconception or question.cause or ""
            ideas.append(Idea(result.lab, question.name, title, max(0.0, lost)))
    return Entry(
        status=result.status,
        points=0.0 if result.fault else final.total,
        most=most,
        waiting=sum(written[name] for name in final.waiting),
        late_penalty=final.late_penalty,
        seconds_late=marks.seconds_late,
        # An extension, wherever it was given, makes the submission less late than the clock says.
        extension_used=after_due > 0 and marks.seconds_late < after_due - 1,
        undated=result.readable and due is not None and not result.submitted_at,
        fault=bool(result.fault),
        earlier=result.is_outdated,
        folder=result.student,
        ideas=tuple(ideas),
    )


def render_term(term: Term, out: Path) -> str:
    """The page as HTML. It links to the labs' reports and the students' pages that exist in ``out``."""

    def page_of(student: Student, lab: str) -> str:
        folder = student.entries[lab].folder or student.student
        return address_of(feedback_page(out, folder, lab), out / "report")

    return render(
        "term.html.j2",
        **sorting_script(),
        term=term,
        students=sorted(term.students, key=lambda one: (one.share is None, one.share or 0.0)),
        labs=[_lab_row(lab, term, out) for lab in term.labs],
        median=_median(student.share for student in term.students),
        low=round(100 * LOW_SHARE),
        fall=round(100 * FALL),
        trend=_trend,
        page_of=page_of,
        sections=any(student.section for student in term.students),
    )


def _median(shares: Iterable[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return statistics.median(known) if known else None


def _lab_row(lab: Lab, term: Term, out: Path) -> dict[str, Any]:
    entries = [student.entries[lab.name] for student in term.students]
    return {
        "lab": lab,
        "link": address_of(report_page(out, lab.name), out / "report"),
        "missing": sum(entry.missing for entry in entries),
        "late": sum(entry.seconds_late > 0 for entry in entries),
        "open": sum(entry.open for entry in entries),
        "median": _median(share_of([entry]) for entry in entries if not entry.missing),
    }


def _trend(student: Student) -> str:
    """The coordinates of a line with the share of each lab; labs without decided points are left out."""
    shares = [share_of([entry]) for entry in student.entries.values()]
    return " ".join(f"{x},{1 - min(1.0, y):.2f}" for x, y in enumerate(shares) if y is not None)


def table_of_students(term: Term) -> list[list[str]]:
    """The rows of ``term.csv``, beginning with the header."""
    header = ["student", "name", "section", "points", "of", "percent", "missing", "not final"]
    header += ["falling behind", "ideas"]
    rows = [[*header, *(word for lab in term.labs for word in (lab.name, f"{lab.name} status"))]]
    for student in term.students:
        entries = student.entries.values()
        row = [
            student.student, student.name, student.section, points(student.points),
            points(sum(entry.decided for entry in entries)),
            "" if student.share is None else f"{100 * student.share:.1f}", " ".join(student.missing),
            " ".join(student.open), "; ".join(student.behind),
            "; ".join(f"{idea.lab} {idea.question}: {idea.title}" for idea in student.ideas),
        ]  # fmt: skip
        for entry in entries:
            row += ["" if entry.fault else points(entry.points), entry.words]
        rows.append([plain(cell) for cell in row])
    return rows
