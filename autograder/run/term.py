"""Gathers a term from a graded folder: every graded lab's results, entered marks, and the class list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from autograder.course.class_list import ClassList
from autograder.course.lab import LabSpec
from autograder.course.lists import summarize_names
from autograder.course.masters import all_labs
from autograder.course.policy_file import class_list, settings, spec
from autograder.files import parse_time
from autograder.gradebook.cells import test_cells
from autograder.gradebook.final_points import TeacherMarks, final_points
from autograder.gradebook.writer import marks_of
from autograder.pages.report.term import Entry, Idea, Lab, Student, Term
from autograder.results import SubmissionResult
from autograder.run.recorder import entered_marks
from autograder.run.remarks import remarks
from autograder.run.store import ResultStore

Progress = Callable[[Iterable[str]], Iterable[str]]


def gather(out: Path, store: ResultStore, progress: Progress = iter) -> Term:
    """The term from all labs that were graded into ``out``. ``progress`` wraps the walk over the labs."""
    stored = store.labs()
    known = [lab for lab in all_labs() if lab in stored]
    gone = [lab for lab in stored if lab not in known]
    people, labs = class_list(), []
    entries: dict[str, dict[str, Entry]] = defaultdict(dict)
    doubled: list[str] = []
    for lab in progress(known):
        summary, of_lab = _lab(lab, out, store)
        labs.append(summary)
        folders = [folder for folder, _ in of_lab]
        whose = people.of_folders(folders)
        for folder, entry in of_lab:
            entries[whose[folder].student if folder in whose else folder][lab] = entry
        doubled += (
            f"In lab {lab} {summarize_names(sorted(claims))} all match {student} on the class list, so each has its own row: "
            "rename or remove all but one."
            for student, claims in people.claimed_twice(folders).items()
        )
    for person in people.people:
        entries[person.student]  # everybody on the class list gets a row
    notes = [f"Lab {lab} was graded, but is no longer a lab of this course: it is left out." for lab in gone]
    students = (_student(name, own, labs, people) for name, own in entries.items())
    ordered = sorted(students, key=lambda one: (one.section.casefold(), (one.name or one.student).casefold()))
    return Term(settings().name, tuple(labs), tuple(ordered), (*doubled, *notes))


def _lab(lab: str, out: Path, store: ResultStore) -> tuple[Lab, list[tuple[str, Entry]]]:
    """A lab and the entries of its folders."""
    lab_spec = spec(lab)
    marks = entered_marks(lab, out, store.keys(lab))
    results, entries = [], []
    for result in store.all(lab):
        entries.append((result.student, entry_of(result, marks_of(marks, result.student), lab_spec)))
        results.append(replace(result, notebook=""))
    due = settings().due(lab)
    words = f"{settings().local(due):%d %B %Y, %H:%M}" if due is not None else ""
    return Lab(lab, lab_spec.title, _most(lab_spec), words, remarks(lab, results, marks)), entries


def _most(lab_spec: LabSpec) -> float:
    return lab_spec.max_score + sum(most for _, most in lab_spec.written)


def entry_of(result: SubmissionResult, marks: TeacherMarks, lab_spec: LabSpec) -> Entry:
    """A lab's entry in the term: the result with a person's marks."""
    final = final_points(result, lab_spec, marks, test_cells(lab_spec))
    written = dict(lab_spec.written)
    due, came = settings().due(result.lab), parse_time(result.submitted_at or "")
    after_due = (came - due).total_seconds() if due is not None and came is not None else 0.0
    return Entry(
        status=result.status,
        points=0.0 if result.fault else final.total,
        most=_most(lab_spec),
        waiting=sum(written[name] for name in final.waiting),
        late_penalty=final.late_penalty,
        seconds_late=marks.seconds_late,
        # An extension, wherever it was given, makes the submission less late than the clock says.
        extension_used=after_due > 0 and marks.seconds_late < after_due - 1,
        undated=result.readable and due is not None and not result.submitted_at,
        fault=bool(result.fault),
        earlier=result.is_outdated,
        folder=result.student,
        ideas=tuple(_ideas(result, {name: cell.final for name, cell in final.questions.items()})),
    )


def _ideas(result: SubmissionResult, points: dict[str, float]) -> Iterator[Idea]:
    """The questions that lost points, each with its cause, and every recognised misconception."""
    if result.fault or not result.readable:
        return
    for question in result.questions:
        lost = question.max_points - points.get(question.name, question.points)
        if lost > 1e-9 or question.misconception:
            title = question.misconception or question.cause or ""
            yield Idea(result.lab, question.name, title, max(0.0, lost))


def _student(name: str, own: dict[str, Entry], labs: Iterable[Lab], people: ClassList) -> Student:
    """A student with an entry for every lab; a lab without a row was not handed in."""
    person = people.find(name) or people.of_folder(name)
    entries = {lab.name: own.get(lab.name) or Entry("missing", 0.0, lab.most) for lab in labs}
    shown = person if person is not None and person.student == name else None
    return Student(name, shown.name if shown else "", shown.section if shown else "", entries)
