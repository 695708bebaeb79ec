"""Chooses one notebook for each student and writes it, with its time, into nbgrader's layout.

The stages: read the download, say whose each file is, find when each student handed in, write. Each returns what it found,
and sentences about what it refused or had to choose.
"""

from __future__ import annotations

import math
import os
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from autograder.collect.entries import Entry, Refused, entries, first_of, inner_entries, shortened
from autograder.collect.git_times import OverLimits, commit_time
from autograder.collect.layouts import LAYOUTS, layout_of, owned_by_path
from autograder.collect.names import (
    KINDS,
    SYSTEMS,
    TYPED,
    Owned,
    kind_and_why,
    may_hold_one,
    owned,
    whose_repositories,
    without_wrapper,
)
from autograder.collect.times import Row, Times, read_times
from autograder.collect.whose import certain
from autograder.course import extensions
from autograder.course.class_list import ClassList, Person
from autograder.course.lists import AnotherName, folded, same_name, some
from autograder.course.other_lab import other_lab
from autograder.course.policy_file import class_list, extension_of, extensions_file, settings
from autograder.course.worksheet import is_team
from autograder.errors import GradingError, UserError
from autograder.files import (
    first_line,
    folder_name,
    names_a_zone,
    parse_time,
    require_apart,
    timestamp_in,
    write_atomically,
)
from autograder.grading.submissions import is_notebook, only_answered

#: A zip stays in memory until its student is done.
MAX_ZIPS = 5

#: Beside a notebook: the account that it came from, where the student was found by a name that people choose.
HANDED_IN_AS = "handed_in_as.txt"

FoundBy = Literal["", "name", "apart"]

_TIME_FORMAT = "%Y-%m-%d %H:%M:%S UTC"

#: Where a list of times comes from.
_HOW = {
    "canvas": "Give the times with --times: Canvas's submissions report, or its API's list of submissions.",
    "moodle": "Give the times with --times: the assignment's grading worksheet has them.",
    "classroom": "Give the times with --times: GitHub Classroom's grades CSV has them.",
    **dict.fromkeys(
        ("plain", *LAYOUTS), "Give the times with --times: a CSV with the columns student and time."
    ),
}


@dataclass(frozen=True)
class Collected:
    """Whose notebooks were collected, and sentences about what was refused, chosen or left alone."""

    students: tuple[str, ...]
    notes: tuple[str, ...]
    kind: str = "plain"
    #: Those of whom nobody knows when they handed in: lateness is not counted for them.
    without_time: tuple[str, ...] = ()
    #: What the kind was told from.
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """The documented JSON of ``collect --json``."""
        return {
            "kind": self.kind,
            "students": list(self.students),
            "without_time": list(self.without_time),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class _Download:
    """What is the same for everybody in one download."""

    source: Path | None
    submitted: Path
    lab: str
    kind: str = "plain"
    people: ClassList = field(default_factory=ClassList)
    times: Times | None = None

    def folder(self, student: str) -> Path:
        """Where a student's notebook goes."""
        return self.submitted / folder_name(student) / self.lab

    @property
    def has_accounts(self) -> bool:
        """Whether people choose what they are called there, so that only the account tells one from another."""
        return self.kind in ("moodle", "classroom")

    def account(self, one: Owned, downloaded: str) -> str:
        """What the system knows somebody by: within one assignment it is nobody else's."""
        return f"{self.kind} {one.number or folded(downloaded)}"

    def worksheet_row(self, one: Owned) -> Row | None:
        """What Moodle's grading worksheet says of a file's owner, where there is one."""
        return self.times.participant(one) if self.kind == "moodle" and self.times is not None else None


@dataclass(frozen=True)
class _Student:
    """A student of the download: the folder's name, the name in the download, the files."""

    name: str
    downloaded: str
    files: tuple[Owned, ...]
    #: How they were found on the class list: by the full name alone, or not, for somebody else seems to be the same person.
    found_by: FoundBy = ""


@dataclass(frozen=True)
class _Outcome:
    """What became of one student's files."""

    is_collected: bool = False
    notes: tuple[str, ...] = ()
    #: Where the time comes from, if from no list.
    time_from: Literal["", "path", "file", "commit"] = ""
    has_zone: bool = True
    is_draft: bool = False


def collect(
    source: Path, submitted: Path, lab: str, *, kind: str = "auto", times: Path | None = None
) -> Collected:
    """Write ``submitted/<student>/<lab>/<lab>.ipynb`` for everybody in ``source``, and ``timestamp.txt`` where a time is known.

    ``source`` is a zip or a folder; ``kind`` one of ``KINDS``, or ``auto`` to tell from the names. A file's own time is the
    download's and counts for nothing. A time is known from ``times`` (a list of the teacher's), from the names of
    Blackboard's and ILIAS's files, from ``timestamp.txt`` in nbgrader's layout, and from a clone's commits, which a
    student can date as they like. With a class list, students are called as it calls them. Extensions on Moodle's worksheet
    are added to ``extensions.csv``. Raises ``UserError`` when nothing can be collected, or a list contradicts the download.
    """
    if kind not in ("auto", *KINDS):
        raise GradingError(f"There is no kind of download “{kind}”: choose one of auto, {', '.join(KINDS)}.")
    read = read_times(times, settings().timezone) if times is not None else None
    people = class_list()
    files, kind, why, notes = _read(source, submitted, lab, kind, read, people)
    job = _Download(source, submitted, lab, kind, people, read)
    files, doubtful, about = certain(_of_members(files, job), people)
    students, about_people = _students(files, job)
    when, about_times = _times(students, job)
    require_apart(submitted, (*_others_there(submitted, students), *(student.name for student in students)))
    outcomes = {student.name: _guarded(student, when[student.name], job) for student in students}
    done = tuple(sorted(name for name, outcome in outcomes.items() if outcome.is_collected))
    notes += [*people.notes, *about, *about_people, *about_times]
    notes += [note for _, outcome in sorted(outcomes.items()) for note in outcome.notes]
    if not done:
        reason = f" {notes[0]}" if notes else ""
        raise GradingError(f"{source} holds no notebook of {lab} that can be collected.{reason}")
    notes += [note for student in students if student.name not in done for note in _have_a_row(student, job)]
    notes += _about_class_list(students, people, {one.number for one in doubtful})
    notes += _take_over_extensions(students, job)
    without = tuple(name for name in done if not (job.folder(name) / "timestamp.txt").exists())
    notes += _about_times(outcomes, without, len(done), kind)
    return Collected(done, tuple(notes), kind, without, why)


def collect_folder(
    folder: Path, submitted: Path, lab: str, *, student: str, submitted_at: str = ""
) -> Collected:
    """Collect the one notebook of one student from a folder; nothing there is no error but a note."""
    notes: list[str] = []
    files = tuple(Owned(entry, student, entry.parts[-1]) for entry in entries(folder, notes))
    outcome = _collect_student(
        _Student(student, student, files), submitted_at, _Download(None, submitted, lab)
    )
    return Collected((student,) if outcome.is_collected else (), (*notes, *outcome.notes))


def _read(
    source: Path, submitted: Path, lab: str, kind: str, times: Times | None, people: ClassList
) -> tuple[list[Owned], str, str, list[str]]:
    """The files with their owners, the kind of the download and what it was told from, and sentences."""
    notes: list[str] = []

    def is_owner(top: str) -> bool:
        ends = (top[at + 1 :] for at, letter in enumerate(top) if letter == "-")  # assignment-login
        return (
            any(map(people.find, (top, *ends)))
            or (times is not None and times.names(top))
            or (submitted / folder_name(top)).is_dir()
        )

    def is_clone(path: str) -> bool:
        return os.path.exists(source / path / ".git")

    found = entries(source, notes)
    guesses: list[str] = []
    listed = without_wrapper(found, lab, kind, guesses, is_owner, is_clone)
    around = "" if listed == found else f"{found[0].parts[0]}/"
    why = "as you said"
    if kind == "auto":
        kind, why = kind_and_why(listed, lambda top: is_clone(around + top))
        if layout := layout_of(found, SYSTEMS.get(kind, "")):
            kind, why = layout, f"all names are {LAYOUTS[layout].system}'s"
    if kind in LAYOUTS:
        mine, nobodys = owned_by_path(found, kind)
    else:
        notes += guesses
        repositories: Mapping[str, str] = {}
        if kind == "classroom":
            logins = times.logins if times is not None else {}
            repositories = whose_repositories(
                listed, logins, notes, lambda login: people.find(login) is not None
            )
        mine, nobodys = owned(listed, kind, repositories)
    notes += [f"Nobody's: {entry.path}." for entry in nobodys if entry.path.endswith((".ipynb", ".zip"))]
    notes += times.notes if times is not None else ()
    return mine, kind, why, notes


def _of_members(files: Sequence[Owned], job: _Download) -> list[Owned]:
    """The files, a group's as those of each of its members. ``UserError`` where nobody says who is in a group."""
    teams = [row for row in job.times.rows if row.team] if job.times is not None else []
    if job.kind != "moodle" or not (teams or any(not one.number for one in files)):
        return list(files)
    found = []
    for one in files:
        members = [row for row in teams if is_team(row.team, one.name)]
        if not members:
            raise UserError(
                f"“{one.name}” is a group, and no list says who is in it: download the assignment's grading worksheet in the "
                "same language and give it with --times. Nothing was collected."
            )
        for row in members:
            number, name = row.participant, row.name or "Participant"
            found.append(replace(one, student=f"{name}_{number}", name=name, number=number))
    return found


def _others_there(submitted: Path, students: Iterable[_Student]) -> list[str]:
    """The students of an earlier download who are not in this one. Some systems spell a folder's name in bytes of their own."""
    now = {unicodedata.normalize("NFC", folder_name(student.name)) for student in students}
    folders = submitted.iterdir() if submitted.is_dir() else ()
    return [path.name for path in folders if unicodedata.normalize("NFC", path.name) not in now]


def _students(files: Iterable[Owned], job: _Download) -> tuple[list[_Student], list[str]]:
    """Everybody in the download, called as the class list calls them where it is certain who they are."""
    by_owner: dict[str, list[Owned]] = defaultdict(list)
    for one in files:
        by_owner[one.student].append(one)
    owners = {downloaded: mine[0] for downloaded, mine in by_owner.items()}
    _refuse_another_courses_list(owners.values(), job)
    notes: list[str] = []
    persons = {downloaded: _person(one, job, notes) for downloaded, one in owners.items()}
    count = Counter(person.student for person, _ in persons.values() if person is not None)
    students = []
    for downloaded, mine in by_owner.items():
        person, found_by = persons[downloaded]
        if person is not None and count[person.student] > 1:
            notes.append(
                f"{downloaded} and another folder of the download both seem to be {person.student}: kept apart."
            )
            person, found_by = None, "apart"
        name = person.student if person is not None else downloaded
        files_here = tuple(replace(one, student=name) for one in mine)
        students.append(_Student(name, downloaded, files_here, found_by))
    return students, notes


def _differ(person: Person, one: Owned) -> bool:
    return bool(person.name and one.name) and not same_name(person.name, one.name)


def _refuse_another_courses_list(owners: Iterable[Owned], job: _Download) -> None:
    """A class list most of whose numbers of Canvas's are other people's is of another course. One may have a new name."""
    if job.kind != "canvas":
        return
    known = [(one, person) for one in owners if (person := job.people.of_canvas(one.number)) is not None]
    others = [(one, person) for one, person in known if _differ(person, one)]
    if 2 * len(others) > len(known):
        one, person = others[0]
        raise UserError(
            f"The class list says that Canvas's number {one.number} is “{person.name}”, the download says “{one.name}”, and "
            f"so for {len(others)} of {len(known)}: the list is another course's, and nothing was collected."
        )


def _person(one: Owned, job: _Download, notes: list[str]) -> tuple[Person | None, FoundBy]:
    """Who on the class list a file's owner is (None when that is not certain), and how that is known."""
    if job.kind == "canvas":
        person = job.people.of_canvas(one.number)
        if person is not None and _differ(person, one):
            notes.append(
                f"{one.student}: Canvas's number {one.number} is “{person.name}” on the class list and “{one.name}” in the download: "
                "the folder keeps the download's name, until you mend the list."
            )
            return None, ""
        return person, ""
    if job.kind != "moodle":
        person = job.people.find(one.student)
        return _if_still(person, "", one, job, notes) if person is not None else (None, "")
    row = job.worksheet_row(one)
    ids = row.words if row is not None else frozenset[str]()
    known = {person.student: person for word in ids if (person := job.people.find(word)) is not None}
    if len(known) == 1:
        return next(iter(known.values())), ""
    named = job.people.named(one.name)
    if known:
        notes.append(
            f"{one.student}: the class list has {some(sorted(known))} by the worksheet's address and numbers; the folder keeps its own name."
        )
    elif len(named) > 1:
        notes.append(
            f"{one.student}: the class list has {len(named)} students of this name; the grading worksheet (--times) tells them apart."
        )
    elif named:
        return _if_still(named[0], "name", one, job, notes)
    return None, ""


def _if_still(
    person: Person, found_by: FoundBy, one: Owned, job: _Download, notes: list[str]
) -> tuple[Person | None, FoundBy]:
    """The person, if a name or login, which people choose, is of the account that their notebook collected before came from."""
    before = first_line(job.folder(person.student) / HANDED_IN_AS)
    if not job.has_accounts or before in ("", job.account(one, one.student)):
        return person, found_by
    notes.append(
        f"{one.student} seems to be {person.student}, whose notebook collected before came from another account ({before}): kept apart. "
        f"If both are theirs, remove {HANDED_IN_AS} from {person.student}'s folder and collect again."
    )
    return None, "apart"


def _times(students: Sequence[_Student], job: _Download) -> tuple[dict[str, str], list[str]]:
    """When each student handed in, from the teacher's list ("" where it does not say).

    Who has another name there has no time; where that is so of as many as have one, it is another assignment's list.
    """
    when = {student.name: "" for student in students}
    if job.times is None:
        return when, []
    alike = Counter(folded(name) for name in when)
    contradictions, matched, several = list[tuple[str, AnotherName]](), set[Row](), list[str]()
    for student in students:
        person = None if student.found_by == "apart" else job.people.find(student.name)
        exact, found = alike[folded(student.name)] > 1, set[datetime]()
        try:
            for row in job.times.rows_of(student.files[0], person, job.kind, student.downloaded, exact=exact):
                matched.add(row)
                found |= {row.when} if row.when is not None else set()
        except AnotherName as error:
            contradictions.append((student.name, error))
            continue
        when[student.name] = max(found).strftime(_TIME_FORMAT) if found else ""
        several += [student.name] if len(found) > 1 else []
    if not matched:
        raise UserError(
            f"{job.times.path} has a time of nobody in the download: it names {_each(row.who for row in job.times.rows)}, the "
            f"download {_each(when)}. Nothing was collected."
        )
    if contradictions and len(contradictions) >= sum(map(bool, when.values())):
        raise contradictions[0][1]
    listed, notes = job.times.path.name, []
    if contradictions:
        notes.append(
            f"Name in {listed} does not match the download's, and so without a time: {some([name for name, _ in contradictions])}."
        )
    if several:
        notes.append(f"{listed} has more times than one of {some(several)}: the last counts.")
    if nobodys := [row.who for row in job.times.rows if row not in matched and row.when is not None]:
        notes.append(f"In {listed}, but not in the download: {_each(nobodys)}.")
    return when, notes


def _each(names: Iterable[str]) -> str:
    """Each of these names once, for sentences."""
    return some(list(dict.fromkeys(map(shortened, names)))) or "nobody"


def _take_over_extensions(students: Sequence[_Student], job: _Download) -> list[str]:
    """Add to ``extensions.csv`` what Moodle's worksheet gives beyond what the course gives; sentences about it."""
    rows = [(student.name, row) for student in students if (row := job.worksheet_row(student.files[0]))]
    own = [(name, row.due) for name, row in rows if row.due is not None]
    if not own:
        return []
    due, file = settings().due(job.lab), extensions_file()
    if due is None:
        return [
            f"course.toml has no due date for {job.lab}: nobody is late, and Moodle's extensions count for nothing."
        ]
    longer, shorter = [], []
    for name, until in own:
        given = extension_of(job.lab, name) or timedelta()
        if until > due + given:
            days = math.ceil(settings().days_of(job.lab, until - due) * 1e6) / 1e6
            extensions.add(file, job.lab, name, days)
            longer.append(f"{name} ({settings().local(until):%Y-%m-%d %H:%M})")
        elif given and until + timedelta(minutes=1) < due + given:
            shorter.append(name)
    notes = []
    if longer:
        notes.append(f"Longer on Moodle's worksheet, and so added to {file.name}: {some(longer)}.")
    if shorter:
        notes.append(f"Longer in course.toml or {file.name} than in Moodle, which counts: {some(shorter)}.")
    return notes


def _about_class_list(students: Sequence[_Student], people: ClassList, refused: set[str]) -> list[str]:
    """Sentences about who is missing and who is a stranger. ``refused``: numbers in doubtful names."""
    notes, names = [], [student.name for student in students]
    if strangers := [name for name in names if people and people.of_folder(name) is None]:
        notes.append(f"Not on the class list: {some(strangers)}.")
    absent = [person.student for person in people.absent(names) if person.canvas_id not in refused]
    if absent:
        notes.append(f"{len(absent)} of the class list are not in this download: {some(absent)}.")
    if by_name := [student.name for student in students if student.found_by == "name"]:
        notes.append(
            f"{len(by_name)} were found on the class list by their full name alone, which people may change: "
            f"{some(by_name)}. A grading worksheet with addresses or ID numbers (--times) tells them for certain."
        )
    return notes


def _about_times(outcomes: Mapping[str, _Outcome], without: Sequence[str], done: int, kind: str) -> list[str]:
    """Sentences about where times come from, and about those whose time nobody knows."""
    notes, zone = [], settings().timezone
    sources = Counter(outcome.time_from for outcome in outcomes.values())
    if count := sources["path"]:
        notes.append(
            f"The times of {count} are those in {LAYOUTS[kind].system}'s names, which name no zone and were "
            f"taken for {zone} (course.toml)."
        )
    if count := sources["file"]:
        notes.append(
            f"The times of {count} are those of timestamp.txt beside the notebook, which nbgrader's exchange writes; "
            "where students made these folders themselves, give the times with --times."
        )
    if zoneless := sorted(name for name, outcome in outcomes.items() if not outcome.has_zone):
        notes.append(
            f"The times of {len(zoneless)} in timestamp.txt name no zone and were taken for {zone} "
            f"(course.toml): {some(zoneless)}."
        )
    if count := sources["commit"]:
        notes.append(
            f"The times of {count} are those of their last commits, which a student can set as they like: "
            "GitHub Classroom's grades CSV has the times of the pushes (--times)."
        )
    if drafts := sorted(name for name, outcome in outcomes.items() if outcome.is_draft):
        notes.append(
            f"Not handed in (a draft, or an attempt that was opened again), and so not collected: {some(drafts)}."
        )
    if without:
        notes.append(
            f"When {len(without)} of {done} handed in is not known, so none of them is late: {some(without)}. {_HOW[kind]}"
        )
    return notes


def _have_a_row(student: _Student, job: _Download) -> list[str]:
    """A folder for whoever is in the download, though no notebook could be collected: without it nobody would miss them."""
    first = student.files[0]
    if job.kind in ("plain", "classroom"):  # anything may lie beside the students' there
        is_theirs = any(len(one.entry.parts) > 1 or may_hold_one(one.file) for one in student.files)
        if first.entry.parts[0].startswith(".") or not is_theirs:
            return []
    folder = job.folder(student.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / f"{job.lab}.ipynb").exists():
            return [f"{student.name}: the notebook that was collected before stays, with its own time."]
        if job.has_accounts:
            write_atomically(folder / HANDED_IN_AS, job.account(first, student.downloaded) + "\n")
    except OSError as error:
        return [f"{student.name}: no folder could be made ({error.strerror})."]
    return []


def _guarded(student: _Student, time: str, job: _Download) -> _Outcome:
    """``_collect_student``, where nothing that one student handed in can end the class."""
    try:
        return _collect_student(student, time, job)
    except UserError:  # the disk, say: it concerns everybody
        raise
    except Exception as error:
        why = f"{student.name}: what was handed in could not be collected ({type(error).__name__})."
        return _Outcome(notes=(why,))


def _collect_student(student: _Student, time: str, job: _Download) -> _Outcome:
    """Write one student's notebook, if there is one."""
    name, lab = student.name, job.lab
    if (row := job.worksheet_row(student.files[0])) and row.is_unsubmitted:
        return _Outcome(is_draft=True)
    notebooks, notes = _notebooks(student.files, lab)
    if not notebooks:
        typed = any(one.file in TYPED for one in student.files)
        notes.append(f"{name} handed in {'a typed text but ' if typed else ''}no notebook of {lab}.")
        return _Outcome(notes=tuple(notes))
    chosen, why = _choose(notebooks, lab, job.kind)
    notes += [f"{name}{why}"] if why else []
    if job.kind == "blackboard" and chosen.attempt < max(one.attempt for one in student.files):
        notes.append(f"{name}: the last attempt holds no notebook of {lab}, so an earlier one counts.")
    try:
        content = chosen.entry.read()
    except Refused as refused:
        return _Outcome(notes=(*notes, f"{name}: {refused}"))
    if other := other_lab(content, lab):
        notes.append(f"{name}: {chosen.entry.path} is a notebook of {other}, not of {lab}.")
    if chosen.late:
        notes.append(f"{name}: Canvas marks the submission as late, but not by how much.")
    known = _Time(time) if time else _known_time(student, chosen, job)
    notes += [f"{name}: {known.trouble}"] if known.trouble else []
    may_replace, about = _may_replace(job.folder(name) / f"{lab}.ipynb", content, known.text)
    notes += [f"{name}: {about}"] if about else []
    if may_replace:
        _write(student, chosen, content, known.text, job)
    return _Outcome(True, tuple(notes), known.source, known.has_zone)


def _write(student: _Student, chosen: Owned, content: bytes, time: str, job: _Download) -> None:
    target = job.folder(student.name) / f"{job.lab}.ipynb"
    if not (target.is_file() and target.read_bytes() == content):
        # The time of what lay there is not this one's, and goes before: who is stopped here, or has no room on the disk,
        # collects again, and then the notebook is the same.
        for stale in ("timestamp.txt", *(() if job.has_accounts else (HANDED_IN_AS,))):
            target.with_name(stale).unlink(missing_ok=True)
    write_atomically(target, content)
    if job.has_accounts:
        write_atomically(target.with_name(HANDED_IN_AS), job.account(chosen, student.downloaded) + "\n")
    if time:
        write_atomically(target.with_name("timestamp.txt"), time + "\n")


@dataclass(frozen=True)
class _Time:
    """When a notebook came in ("": nobody knows), and what says so; what kept it from being known."""

    text: str = ""
    source: Literal["", "path", "file", "commit"] = ""
    has_zone: bool = True
    trouble: str = ""


def _known_time(student: _Student, chosen: Owned, job: _Download) -> _Time:
    """The time that the path, nbgrader's exchange or a clone's commits give."""
    if chosen.sent is not None:
        local = chosen.sent.replace(tzinfo=ZoneInfo(settings().timezone))
        return _Time(local.astimezone(UTC).strftime(_TIME_FORMAT), "path")
    if job.source is None or job.kind not in ("plain", "classroom"):
        return _Time()
    beside = _timestamp(chosen, student.files, job.lab) if job.kind == "plain" else _Time()
    parts = chosen.entry.parts
    if beside.text or not job.source.is_dir() or len(parts) < 2:
        return beside
    for folder in (job.source / parts[0], *(child / parts[0] for child in _only_folder(job.source))):
        try:
            when = commit_time(folder, "/".join(parts[1:]))
        except OverLimits as error:
            return _Time(trouble=f"{error}, so nobody knows when the notebook came in.")
        if when is not None:
            return _Time(when.strftime(_TIME_FORMAT), "commit", trouble=beside.trouble)
    return beside


def _timestamp(chosen: Owned, files: Sequence[Owned], lab: str) -> _Time:
    """The first line of the ``timestamp.txt`` that nbgrader's exchange puts beside the notebook, when it is a time.

    Only in nbgrader's layout, ``<student>/<lab>/``: anywhere else a student may have put it there.
    """
    folder = chosen.entry.parts[:-1]
    beside = [one for one in files if one.entry.parts == (*folder, "timestamp.txt")]
    if not beside or len(folder) != 2 or folder[-1] != lab:
        return _Time()
    try:
        text = beside[0].entry.read()[:200].decode("utf-8", "replace").partition("\n")[0].strip()
    except Refused:
        return _Time()
    if (time := parse_time(text, settings().timezone)) is None:
        return _Time(trouble="timestamp.txt holds no valid time.") if text else _Time()
    return _Time(time.strftime(_TIME_FORMAT), "file", names_a_zone(text))


def _only_folder(source: Path) -> list[Path]:
    """The one folder that some programs put around everything they pack."""
    with os.scandir(source) as inside:
        folders = [
            source / entry.name
            for entry in inside
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
        ]
    return folders if len(folders) == 1 else []


def _notebooks(files: Sequence[Owned], lab: str) -> tuple[list[Owned], list[str]]:
    """The student's notebooks, those inside a zip that was handed in too, other labs' left out; sentences about what was not read."""
    held: list[Owned] = []
    notes: list[str] = []
    unread: list[str] = []
    zips = 0
    for one in files:
        if one.entry.is_refused:  # a note says why
            continue
        if not one.file.casefold().endswith(".zip"):
            held.append(one)
            continue
        zips += 1
        if zips > MAX_ZIPS:
            unread.append(f"Not read: {one.entry.path}; of one student {MAX_ZIPS} zips are opened.")
            continue
        inner = inner_entries(one.entry, notes)
        held += [replace(one, entry=entry, file=entry.parts[-1]) for entry in inner]
    notes += first_of(unread)
    return [one for one in held if is_notebook(one.file) and not _of_another_lab(one.entry, lab)], notes


def _of_another_lab(entry: Entry, lab: str) -> bool:
    """nbgrader's layout has a folder of the same name around each lab's notebook."""
    stem = entry.parts[-1].rsplit(".", 1)[0]
    is_a_labs = stem[:2].isdigit() and stem[2:3] == "_"  # a student may be a number
    return len(entry.parts) > 1 and entry.parts[-2] == stem != lab and is_a_labs


def _choose(notebooks: Sequence[Owned], lab: str, kind: str) -> tuple[Owned, str]:
    """The only notebook with an answer in it, or the one with the right name; among several, or without one, the last.

    Says which, and why. On Blackboard each attempt takes the place of the one before, whatever its files are called.
    """
    newest = max(one.attempt for one in notebooks)
    counting = [one for one in notebooks if one.attempt == newest or kind != "blackboard"]
    right = [one for one in counting if one.file == f"{lab}.ipynb"]
    answered = only_answered(counting, lab, lambda one: one.entry.read(), Refused)
    candidates = [answered] if answered else right or counting
    orders: dict[str, Callable[[Owned], Any]] = {
        "the last attempt": lambda one: one.attempt,
        "the last that was uploaded": lambda one: one.upload,
        # All files of a clone are as old as the clone.
        "the one in the fewest folders": lambda one: -len(one.entry.parts) if kind == "classroom" else 0,
        "the newest by the files' own dates": lambda one: one.entry.modified,
        "the last by name, for nothing says which is the newest": lambda one: one.entry.path,
    }
    chosen = max(candidates, key=lambda one: tuple(order(one) for order in orders.values()))
    if len(notebooks) == 1:
        return chosen, "" if right else f": {chosen.file} was taken as {lab}.ipynb."
    why = "the one with the right name" if len(counting) == len(notebooks) else "of the last attempt"
    if answered:
        why = "the only one with an answer in it"
    elif len(candidates) > 1:
        why = next(
            (words for words, order in orders.items() if len({order(one) for one in candidates}) > 1),
            "which is like the others in all that tells",
        )
    return chosen, f" handed in {len(notebooks)} notebooks: {chosen.entry.path}, {why}, was taken."


def _may_replace(target: Path, content: bytes, time: str) -> tuple[bool, str]:
    """Whether the notebook that is there gives way: always, unless it is known to be the newer of the two. What is to be said."""
    try:
        if not target.exists() or target.read_bytes() == content:
            return True, ""
        old = parse_time(timestamp_in(target.parent), settings().timezone)
        new = parse_time(time) if time else None
        if old and new and old > new:
            return False, "the notebook collected before is newer and stays."
    except (OSError, ValueError):
        pass  # without two times nobody knows which is the newer one: what comes in now is taken
    return True, "replaced the notebook collected before."
