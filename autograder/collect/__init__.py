"""Copies downloads from learning systems to nbgrader's ``submitted`` layout: one notebook for each student, with its time.

The stages: read the download, find each file's owner, find each student's time, write. Each adds its sentences about
refused files and choices to the download's notes.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.collect.entries import entries_in
from autograder.collect.names import KINDS, Owned, kind_and_why, owned, without_wrapper
from autograder.collect.people import Download, Student, Times, of_members, read_times, set_times, students_of
from autograder.collect.placing import collect_student, make_folder, place
from autograder.course.lists import sentences_about, summarize_names
from autograder.course.policy_file import class_list, settings, take_over_extensions
from autograder.errors import GradingError, UserError
from autograder.files import folder_name, require_apart

#: Kind of download -> a sentence about where to get its list of times.
_TIMES_FROM = {
    "canvas": "Give the times with --times: Canvas's submissions report, or its API's list of submissions.",
    "moodle": "Give the times with --times: the assignment's grading worksheet has them.",
    "plain": "Give the times with --times: a CSV with the columns student and time.",
}


@dataclass(frozen=True)
class Collected:
    """The students whose notebooks were collected, and sentences about files that were refused, chosen or left alone."""

    students: tuple[str, ...]
    notes: tuple[str, ...]
    kind: str = "plain"
    #: Students with an unknown time of submission, so that lateness is not counted.
    without_time: tuple[str, ...] = ()
    #: The reason for the recognised kind.
    why: str = ""


def collect(
    source: Path, submitted: Path, lab: str, *, kind: str = "auto", times: Path | None = None
) -> Collected:
    """Write ``submitted/<student>/<lab>/<lab>.ipynb`` for everybody in ``source``, and ``timestamp.txt`` if the time is known.

    ``source`` is a zip or folder; ``kind`` is one of ``KINDS``, or ``auto`` to recognise it by names. Times come from the
    teacher's list ``times``; a file's own time is the download's and is ignored. Students are named as on the class list if
    there is one. Extensions on Moodle's worksheet are added to ``extensions.csv``.
    Raises ``UserError`` if nothing can be collected, or if a list contradicts the download.
    """
    if kind not in ("auto", *KINDS):
        raise GradingError(f"There is no kind of download “{kind}”: choose one of auto, {', '.join(KINDS)}.")
    people, notes = class_list(), list[str]()
    files, kind, why = _read(source, lab, kind, notes)
    job = Download(submitted, lab, kind, people, read_times(times, kind) if times else Times(), notes)
    notes += [*job.times.notes, *people.notes]
    students = students_of(of_members(files, job), job)
    set_times(students, job)
    require_apart(submitted, (*_others_there(submitted, students), *(student.name for student in students)))
    drafts, done = list[str](), list[str]()
    for student in sorted(students, key=lambda student: student.name):
        if student.row is not None and student.row.is_unsubmitted:
            drafts.append(student.name)
        elif place(student, job):
            done.append(student.name)
    if not done:
        reason = f" {notes[0]}" if notes else ""
        raise GradingError(f"{source} holds no notebook of {lab} that can be collected.{reason}")
    for student in students:
        if student.name not in done:
            make_folder(student, job)
    names = [student.name for student in students]
    notes += people.notes_about(names, "On the class list, but not in this download")
    notes += _take_over_extensions(students, job)
    notes += sentences_about({"Not handed in (a draft or a reopened attempt), and so not collected": drafts})
    without = tuple(name for name in done if not (job.folder(name) / "timestamp.txt").exists())
    if without:
        notes.append(
            f"The times of {len(without)} of {len(done)} are unknown, so none of them is late: {summarize_names(without)}. {_TIMES_FROM[kind]}"
        )
    return Collected(tuple(done), tuple(notes), kind, without, why)


def collect_folder(
    folder: Path, submitted: Path, lab: str, *, student: str, submitted_at: str = ""
) -> Collected:
    """Collect one student's notebook from a folder. An empty folder gives a note, not an error."""
    job = Download(submitted, lab)
    files = tuple(Owned(entry, student, entry.parts[-1]) for entry in entries_in(folder, job.notes))
    is_collected = collect_student(Student(student, student, files, submitted_at), job)
    return Collected((student,) if is_collected else (), tuple(job.notes))


def _read(source: Path, lab: str, kind: str, notes: list[str]) -> tuple[list[Owned], str, str]:
    """The files with their owners, the kind of the download, and how it was recognised."""
    listed, doubt = without_wrapper(entries_in(source, notes), lab, kind)
    why = "as you said"
    if kind == "auto":
        kind, why = kind_and_why(listed)
        tops = {entry.parts[0] for entry in listed}
        clones = {entry.parts[0] for entry in listed if entry.parts[1:2] == (".github",)}
        clones |= {top for top in tops if os.path.exists(source / top / ".git")}
        if 2 * len(clones) > len(tops):
            raise UserError(
                "These repositories do not name their students: fetch them with `autograder github pull`, or give --kind "
                "plain if each folder has its student's name."
            )
    if doubt:
        raise UserError(doubt)
    return owned(listed, kind, notes), kind, why


def _others_there(submitted: Path, students: Iterable[Student]) -> list[str]:
    """The students of an earlier download who are not in this one. Names are normalised: some file systems change their bytes."""
    now = {unicodedata.normalize("NFC", folder_name(student.name)) for student in students}
    folders = submitted.iterdir() if submitted.is_dir() else ()
    return [path.name for path in folders if unicodedata.normalize("NFC", path.name) not in now]


def _take_over_extensions(students: Sequence[Student], job: Download) -> list[str]:
    """Add Moodle's extensions that are longer than the course's to ``extensions.csv``. Returns sentences."""
    here = {student.row: student.name for student in students}
    own = []
    for row in job.times.rows:
        if row.due is not None:
            known = job.people.named(row.words)
            name = here.get(row) or (known.popitem()[0] if len(known) == 1 else "")  # without a submission
            own += [(name, row.due)] if name else []
    if not own:
        return []
    if (due := settings().due(job.lab)) is None:
        return [
            f"course.toml has no due date for {job.lab}: nobody is late, and Moodle's extensions count for nothing."
        ]
    return take_over_extensions(job.lab, due, own, "Moodle")
