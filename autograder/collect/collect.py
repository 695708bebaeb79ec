"""Chooses one notebook for each student and writes it, with its time, into nbgrader's layout.

The stages: read the download, find each file's owner, find each student's time, write. Each stage returns its result, and
sentences about refused files and choices.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.collect.entries import entries, shortened
from autograder.collect.names import KINDS, Owned, kind_and_why, owned, without_wrapper
from autograder.collect.people import Download, Student, of_members, students_of
from autograder.collect.placing import TIME_FORMAT, Outcome, collect_student, make_folder, place
from autograder.collect.times import Row, read_times
from autograder.course.lists import sentences_about, summarize_names
from autograder.course.policy_file import class_list, settings
from autograder.course.system_extensions import take_over_extensions
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
    people = class_list()
    files, kind, why, notes = _read(source, lab, kind)
    read = read_times(times, settings().timezone, kind) if times is not None else None
    notes += read.notes if read is not None else ()
    job = Download(submitted, lab, kind, people, read)
    students, about_people = students_of(of_members(files, job), job)
    when, about_times = _times(students, job)
    require_apart(submitted, (*_others_there(submitted, students), *(student.name for student in students)))
    outcomes = {student.name: place(student, when[student.name], job) for student in students}
    done = tuple(sorted(name for name, outcome in outcomes.items() if outcome.is_collected))
    notes += [*people.notes, *about_people, *about_times]
    notes += [note for _, outcome in sorted(outcomes.items()) for note in outcome.notes]
    if not done:
        reason = f" {notes[0]}" if notes else ""
        raise GradingError(f"{source} holds no notebook of {lab} that can be collected.{reason}")
    notes += [note for student in students if student.name not in done for note in make_folder(student, job)]
    notes += people.notes_about(list(outcomes), "On the class list, but not in this download")
    notes += _take_over_extensions(students, job)
    without = tuple(name for name in done if not (job.folder(name) / "timestamp.txt").exists())
    notes += _about_times(outcomes, without, len(done), kind)
    return Collected(done, tuple(notes), kind, without, why)


def collect_folder(
    folder: Path, submitted: Path, lab: str, *, student: str, submitted_at: str = ""
) -> Collected:
    """Collect one student's notebook from a folder. An empty folder gives a note, not an error."""
    notes: list[str] = []
    files = tuple(Owned(entry, student, entry.parts[-1]) for entry in entries(folder, notes))
    outcome = collect_student(Student(student, student, files), submitted_at, Download(submitted, lab))
    return Collected((student,) if outcome.is_collected else (), (*notes, *outcome.notes))


def _read(source: Path, lab: str, kind: str) -> tuple[list[Owned], str, str, list[str]]:
    """The files with their owners, the kind of the download, how it was recognised, and sentences."""
    notes: list[str] = []
    listed, doubt = without_wrapper(entries(source, notes), lab, kind)
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
    mine, nobodys, doubtful = owned(listed, kind)
    notes += doubtful
    notes += [f"Nobody's: {entry.path}." for entry in nobodys if entry.path.endswith((".ipynb", ".zip"))]
    return mine, kind, why, notes


def _others_there(submitted: Path, students: Iterable[Student]) -> list[str]:
    """The students of an earlier download who are not in this one. Names are normalised: some file systems change their bytes."""
    now = {unicodedata.normalize("NFC", folder_name(student.name)) for student in students}
    folders = submitted.iterdir() if submitted.is_dir() else ()
    return [path.name for path in folders if unicodedata.normalize("NFC", path.name) not in now]


def _times(students: Sequence[Student], job: Download) -> tuple[dict[str, str], list[str]]:
    """Student -> time of submission from the teacher's list ("" if unknown), and sentences.

    A student with another name on the list gets no time. If these are at least half, the list is refused.
    """
    when, listed = {student.name: "" for student in students}, job.times
    if listed is None:
        return when, []
    contradictions, matched, several = list[tuple[Student, Row]](), set[Row](), list[str]()
    for student in students:
        name, one = student.name, student.files[0]
        rows = listed.rows_of(one, student.person, student.downloaded)
        matched |= set(rows)
        if wrong := [row for row in rows if listed.is_anothers(row, one)]:
            contradictions.append((student, wrong[0]))
        elif found := {row.when for row in rows if row.when is not None}:
            when[name] = max(found).strftime(TIME_FORMAT)
            several += [name] if len(found) > 1 else []
    if not matched:
        raise UserError(
            f"{listed.path} has no time for anybody in the download: it names {_names_once(row.who for row in listed.rows)}, the "
            f"download {_names_once(when)}. Nothing was collected."
        )
    if contradictions and len(contradictions) >= sum(map(bool, when.values())):
        student, row = contradictions[0]
        raise UserError(
            f"{listed.path} calls number {student.files[0].number} “{row.name}”, the download “{student.files[0].name}”: the list "
            "belongs to another assignment or course, or has no names. Nothing was collected."
        )
    file = listed.path.name
    apart = [student.name for student, _ in contradictions]
    notes = sentences_about(
        {
            f"Name in {file} does not match the download's, and so without a time": apart,
            f"In {file} with several times, of which the last counts": several,
        }
    )
    if nobodys := [row.who for row in listed.rows if row not in matched and row.when is not None]:
        notes.append(f"In {file}, but not in the download: {_names_once(nobodys)}.")
    return when, notes


def _names_once(names: Iterable[str]) -> str:
    """The distinct names, shortened for sentences."""
    return summarize_names(list(dict.fromkeys(map(shortened, names)))) or "nobody"


def _take_over_extensions(students: Sequence[Student], job: Download) -> list[str]:
    """Add Moodle's extensions that are longer than the course's to ``extensions.csv``. Returns sentences."""
    here = {row: student.name for student in students if (row := job.worksheet_row(student.files[0]))}
    rows = job.times.rows if job.kind == "moodle" and job.times is not None else ()
    own = []
    for row in rows:
        known = {person.student for word in row.words if (person := job.people.find(word)) is not None}
        name = here.get(row) or (known.pop() if len(known) == 1 else "")  # a student without a submission
        own += [(name, row.due)] if name and row.due is not None else []
    if not own:
        return []
    if (due := settings().due(job.lab)) is None:
        return [
            f"course.toml has no due date for {job.lab}: nobody is late, and Moodle's extensions count for nothing."
        ]
    return take_over_extensions(job.lab, due, own, "Moodle")


def _about_times(outcomes: Mapping[str, Outcome], without: Sequence[str], done: int, kind: str) -> list[str]:
    """Sentences about drafts, and about students without a time."""
    notes = []
    if drafts := sorted(name for name, outcome in outcomes.items() if outcome.is_draft):
        notes.append(
            f"Not handed in (a draft or a reopened attempt), and so not collected: {summarize_names(drafts)}."
        )
    if without:
        notes.append(
            f"The times of {len(without)} of {done} are unknown, so none of them is late: {summarize_names(without)}. {_TIMES_FROM[kind]}"
        )
    return notes
