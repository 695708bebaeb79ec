"""Chooses one notebook for each student and writes it, with its time, into nbgrader's layout."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from pathlib import Path
from typing import Any
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
from autograder.course.class_list import ClassList, Person
from autograder.course.lists import AnotherName, folded, same_name, some
from autograder.course.other_lab import other_lab
from autograder.course.policy_file import class_list, settings
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

_TIME_FORMAT = "%Y-%m-%d %H:%M:%S UTC"


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
class _Job:
    """What is the same for everybody in one download."""

    submitted: Path
    lab: str
    notes: list[str]
    kind: str = "plain"
    people: ClassList = field(default_factory=ClassList)
    times: Times | None = None
    source: Path | None = None
    #: student -> the name in the download, where the class list calls them something else.
    names: dict[str, str] = field(default_factory=dict)
    #: Folders that seem to be the same person's as another.
    apart: set[str] = field(default_factory=set)
    by_name: list[str] = field(default_factory=list)
    by_commit: list[str] = field(default_factory=list)
    by_file: list[str] = field(default_factory=list)
    by_path: list[str] = field(default_factory=list)
    without_zone: list[str] = field(default_factory=list)


def collect(
    source: Path, submitted: Path, lab: str, *, kind: str = "auto", times: Path | None = None
) -> Collected:
    """Write ``submitted/<student>/<lab>/<lab>.ipynb`` for everybody in ``source``, and ``timestamp.txt`` where a time is known.

    ``source`` is a zip or a folder; ``kind`` one of ``KINDS``, or ``auto`` to tell from the names. A file's own time is the
    download's and counts for nothing. A time is known from ``times`` (a list of the teacher's), from the names of
    Blackboard's and ILIAS's files, from ``timestamp.txt`` in nbgrader's layout, and from a clone's commits, which a
    student can date as they like. With a class list, students are called as it calls them. Raises ``UserError`` when
    nothing can be collected, or a list contradicts the download.
    """
    if kind not in ("auto", *KINDS):
        raise GradingError(f"There is no kind of download “{kind}”: choose one of auto, {', '.join(KINDS)}.")
    notes: list[str] = []
    read = read_times(times, settings().timezone) if times is not None else None
    people, logins = class_list(), read.logins if read is not None else {}

    def is_owner(top: str) -> bool:
        ends = (top[at + 1 :] for at, letter in enumerate(top) if letter == "-")  # assignment-login
        return (
            any(map(people.find, (top, *ends)))
            or (read is not None and read.names(top))
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
        repositories = (
            whose_repositories(listed, logins, notes, lambda login: people.find(login) is not None)
            if kind == "classroom"
            else {}
        )
        mine, nobodys = owned(listed, kind, repositories)
    notes += [f"Nobody's: {entry.path}." for entry in nobodys if entry.path.endswith((".ipynb", ".zip"))]
    notes += read.notes if read is not None else ()
    job = _Job(submitted, lab, notes, kind, people, read, source)
    notes += job.people.notes
    mine, doubtful, about = certain(mine, job.people)
    notes += about
    by_student = _by_student(mine, job)
    when = _times(by_student, job)
    require_apart(submitted, (*_others_there(submitted, by_student), *by_student))
    done = [
        student
        for student, files in sorted(by_student.items())
        if _guarded(student, files, when[student], job)
    ]
    if not done:
        reason = f" {notes[0]}" if notes else ""
        raise GradingError(f"{source} holds no notebook of {lab} that can be collected.{reason}")
    for student in sorted(set(by_student).difference(done)):
        _have_a_row(student, by_student[student], job)
    without = tuple(student for student in done if not (_folder(student, job) / "timestamp.txt").exists())
    _say_what_lists_show(job, by_student, without, done, {one.number for one in doubtful})
    return Collected(tuple(done), tuple(notes), kind, without, why)


def _others_there(submitted: Path, students: Iterable[str]) -> list[str]:
    """The students of an earlier download who are not in this one. Some systems spell a folder's name in bytes of their own."""
    now = {unicodedata.normalize("NFC", folder_name(student)) for student in students}
    folders = submitted.iterdir() if submitted.is_dir() else ()
    return [path.name for path in folders if unicodedata.normalize("NFC", path.name) not in now]


def collect_folder(
    folder: Path, submitted: Path, lab: str, *, student: str, submitted_at: str = ""
) -> Collected:
    """Collect the one notebook of one student from a folder; nothing there is no error but a note."""
    notes: list[str] = []
    files = [Owned(entry, student, entry.parts[-1]) for entry in entries(folder, notes)]
    done = _collect_student(student, files, submitted_at, _Job(submitted, lab, notes))
    return Collected((student,) if done else (), tuple(notes))


def _by_student(files: Sequence[Owned], job: _Job) -> dict[str, list[Owned]]:
    """The files of each student, who is called as the class list calls them."""
    by_student: dict[str, list[Owned]] = defaultdict(list)
    for one in files:
        by_student[one.student].append(one)
    _refuse_another_courses_list([mine[0] for mine in by_student.values()], job)
    person_of = {folder: _person(mine[0], job) for folder, mine in by_student.items()}
    result: dict[str, list[Owned]] = {}
    for folder, mine in by_student.items():
        student = person_of[folder]
        if student and list(person_of.values()).count(student) > 1:
            job.notes.append(
                f"{folder} and another folder of the download both seem to be {student}: kept apart."
            )
            job.apart.add(folder)
            job.by_name[:] = [name for name in job.by_name if name != student]
            student = ""
        if student:
            job.names[student] = folder
        result[student or folder] = [replace(one, student=student or folder) for one in mine]
    return result


def _differ(person: Person, one: Owned) -> bool:
    return bool(person.name and one.name) and not same_name(person.name, one.name)


def _refuse_another_courses_list(owners: Sequence[Owned], job: _Job) -> None:
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


def _person(one: Owned, job: _Job) -> str:
    """Who on the class list a file's owner is ("" when that is not certain)."""
    if not job.people:
        return ""
    if job.kind == "canvas":
        person = job.people.of_canvas(one.number)
        if person is not None and _differ(person, one):
            job.notes.append(
                f"{one.student}: Canvas's number {one.number} is “{person.name}” on the class list and “{one.name}” in the download: "
                "the folder keeps the download's name, until you mend the list."
            )
            return ""
        return person.student if person is not None else ""
    if job.kind == "moodle":
        return _participant(one, job)
    person = job.people.find(one.student)
    return person.student if person is not None and _is_still(person, one, job) else ""


def _participant(one: Owned, job: _Job) -> str:
    """Whom of the class list Moodle's full name means, which people may change, as far as the worksheet agrees."""
    named = job.people.named(one.name)
    if len(named) > 1:
        job.notes.append(
            f"{one.student}: the class list has {len(named)} students of this name; the folder keeps its own."
        )
    if len(named) != 1:
        return ""
    [person] = named
    words = job.times.words_of(one.number) if job.times is not None else frozenset[str]()
    known = {other.student for word in words if (other := job.people.find(word)) is not None}
    if known == {person.student}:
        return person.student
    if known:
        job.notes.append(
            f"{one.student} is called like {person.student} of the class list, but is {some(sorted(known))} by the worksheet: "
            "the folder keeps its own name."
        )
    elif _is_still(person, one, job):
        job.by_name.append(person.student)
        return person.student
    return ""


def _handed_in_as(one: Owned, login: str, kind: str) -> str:
    """What the system knows somebody by: within one assignment it is nobody else's."""
    return f"{kind} {one.number or folded(login)}"


def _remember(student: str, one: Owned, job: _Job) -> None:
    account = _handed_in_as(one, job.names.get(student, student), job.kind)
    write_atomically(_folder(student, job) / HANDED_IN_AS, account + "\n")


def _is_still(person: Person, one: Owned, job: _Job) -> bool:
    """Whether a name or login, which people choose, is still that of whom it was when this person's notebook was collected."""
    before = first_line(_folder(person.student, job) / HANDED_IN_AS)
    if job.kind not in ("moodle", "classroom") or before in ("", _handed_in_as(one, one.student, job.kind)):
        return True
    job.apart.add(one.student)
    job.notes.append(
        f"{one.student} seems to be {person.student}, whose notebook collected before came from another account ({before}): kept apart. "
        f"If both are theirs, remove {HANDED_IN_AS} from {person.student}'s folder and collect again."
    )
    return False


def _say_what_lists_show(
    job: _Job,
    by_student: dict[str, list[Owned]],
    without: Sequence[str],
    done: Sequence[str],
    refused: set[str],
) -> None:
    """Sentences about those who are missing, strangers, and those whose time nobody knows. ``refused``: numbers in doubtful names."""
    if job.people:
        strangers = [student for student in by_student if job.people.of_folder(student) is None]
        if strangers:
            job.notes.append(f"Not on the class list: {some(strangers)}.")
        absent = [
            person.student for person in job.people.absent(by_student) if person.canvas_id not in refused
        ]
        if absent:
            job.notes.append(f"{len(absent)} of the class list are not in this download: {some(absent)}.")
    if job.by_name:
        job.notes.append(
            f"{len(job.by_name)} were found on the class list by their full name alone, which people may change: "
            f"{some(job.by_name)}. A grading worksheet with addresses or ID numbers (--times) tells them for certain."
        )
    if job.by_path:
        job.notes.append(
            f"The times of {len(job.by_path)} are those in {LAYOUTS[job.kind].system}'s names, which name no zone and were "
            f"taken for {settings().timezone} (course.toml)."
        )
    if job.by_file:
        job.notes.append(
            f"The times of {len(job.by_file)} are those of timestamp.txt beside the notebook, which nbgrader's exchange writes; "
            "where students made these folders themselves, give the times with --times."
        )
    if job.without_zone:
        job.notes.append(
            f"The times of {len(job.without_zone)} in timestamp.txt name no zone and were taken for {settings().timezone} "
            f"(course.toml): {some(job.without_zone)}."
        )
    if job.by_commit:
        job.notes.append(
            f"The times of {len(job.by_commit)} are those of their last commits, which a student can set as they like: "
            "GitHub Classroom's grades CSV has the times of the pushes (--times)."
        )
    if without:
        job.notes.append(
            f"When {len(without)} of {len(done)} handed in is not known, so none of them is late: {some(without)}. "
            f"{_HOW[job.kind]}"
        )


#: Where a list of times comes from.
_HOW = {
    "canvas": "Give the times with --times: Canvas's submissions report, or its API's list of submissions.",
    "moodle": "Give the times with --times: the assignment's grading worksheet has them.",
    "classroom": "Give the times with --times: GitHub Classroom's grades CSV has them.",
    **dict.fromkeys(
        ("plain", *LAYOUTS), "Give the times with --times: a CSV with the columns student and time."
    ),
}


def _times(by_student: Mapping[str, Sequence[Owned]], job: _Job) -> dict[str, str]:
    """When each student handed in, from the teacher's list ("" where it does not say).

    Who has another name there has no time; where that is so of as many as have one, it is another assignment's list.
    """
    when, contradictions = dict.fromkeys(by_student, ""), list[tuple[str, AnotherName]]()
    if job.times is None:
        return when
    alike, matched, several = Counter(map(folded, by_student)), set[Row](), list[str]()
    for student, files in by_student.items():
        person = None if student in job.apart else job.people.find(student)
        folder, exact = job.names.get(student, student), alike[folded(student)] > 1
        found = []
        try:
            for row in job.times.rows_of(files[0], person, job.kind, folder, exact=exact):
                matched.add(row)
                found += [row.when] if row.when is not None else []
        except AnotherName as error:
            contradictions.append((student, error))
            continue
        when[student] = max(found).strftime(_TIME_FORMAT) if found else ""
        several += [student] if len(set(found)) > 1 else []
    if not matched:
        raise UserError(
            f"{job.times.path} has a time of nobody in the download: it names {_each(row.who for row in job.times.rows)}, the "
            f"download {_each(by_student)}. Nothing was collected."
        )
    if contradictions and len(contradictions) >= sum(map(bool, when.values())):
        raise contradictions[0][1]
    if contradictions:
        job.notes.append(
            f"Of another name in {job.times.path.name} than in the download, and so without a time: "
            f"{some([student for student, _ in contradictions])}."
        )
    if several:
        job.notes.append(
            f"{job.times.path.name} has more times than one of {some(several)}: the last counts."
        )
    nobodys = [row.who for row in job.times.rows if row not in matched and row.when is not None]
    if nobodys:
        job.notes.append(f"In {job.times.path.name}, but not in the download: {_each(nobodys)}.")
    return when


def _each(names: Iterable[str]) -> str:
    """Each of these names once, for sentences."""
    return some(list(dict.fromkeys(map(shortened, names)))) or "nobody"


def _folder(student: str, job: _Job) -> Path:
    return job.submitted / folder_name(student) / job.lab


def _guarded(student: str, files: Sequence[Owned], time: str, job: _Job) -> bool:
    """``_collect_student``, where nothing that one student handed in can end the class."""
    try:
        return _collect_student(student, files, time, job)
    except UserError:  # the disk, say: it concerns everybody
        raise
    except Exception as error:
        job.notes.append(f"{student}: what was handed in could not be collected ({type(error).__name__}).")
        return False


def _have_a_row(student: str, files: Sequence[Owned], job: _Job) -> None:
    """A folder for whoever is in the download, though no notebook could be collected: without it nobody would miss them."""
    top = files[0].entry.parts[0]
    if job.kind in ("plain", "classroom"):  # anything may lie beside the students' there
        is_theirs = any(len(one.entry.parts) > 1 or may_hold_one(one.file) for one in files)
        if top.startswith(".") or not is_theirs:
            return
    folder = _folder(student, job)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / f"{job.lab}.ipynb").exists():
            job.notes.append(f"{student}: the notebook that was collected before stays, with its own time.")
        elif job.kind in ("moodle", "classroom"):
            _remember(student, files[0], job)
    except OSError as error:
        job.notes.append(f"{student}: no folder could be made ({error.strerror}).")


def _collect_student(student: str, files: Sequence[Owned], time: str, job: _Job) -> bool:
    """Write one student's notebook; says whether there was one."""
    notes, lab = job.notes, job.lab
    notebooks = _notebooks(files, lab, notes)
    if not notebooks:
        typed = any(one.file in TYPED for one in files)
        notes.append(f"{student} handed in {'a typed text but ' if typed else ''}no notebook of {lab}.")
        return False
    chosen = _choose(student, notebooks, job)
    if job.kind == "blackboard" and chosen.attempt < max(one.attempt for one in files):
        notes.append(f"{student}: the last attempt holds no notebook of {lab}, so an earlier one counts.")
    try:
        content = chosen.entry.read()
    except Refused as refused:
        notes.append(f"{student}: {refused}")
        return False
    if other := other_lab(content, lab):
        notes.append(f"{student}: {chosen.entry.path} is a notebook of {other}, not of {lab}.")
    if chosen.late:
        notes.append(f"{student}: Canvas marks the submission as late, but not by how much.")
    target = _folder(student, job) / f"{lab}.ipynb"
    time = time or _known_time(student, chosen, files, job)
    if _may_replace(target, content, time, student, notes):
        has_account = job.kind in ("moodle", "classroom")
        if not (target.is_file() and target.read_bytes() == content):
            # The time of what lay there is not this one's, and goes before: who is stopped here, or has no room on the disk,
            # collects again, and then the notebook is the same.
            for stale in ("timestamp.txt", *(() if has_account else (HANDED_IN_AS,))):
                target.with_name(stale).unlink(missing_ok=True)
        write_atomically(target, content)
        if has_account:
            _remember(student, chosen, job)
        if time:
            write_atomically(target.with_name("timestamp.txt"), time + "\n")
    return True


def _known_time(student: str, chosen: Owned, files: Sequence[Owned], job: _Job) -> str:
    """The time that the path, nbgrader's exchange or a clone's commits give ("" when none does)."""
    if chosen.sent is not None:
        job.by_path.append(student)
        return (
            chosen.sent.replace(tzinfo=ZoneInfo(settings().timezone)).astimezone(UTC).strftime(_TIME_FORMAT)
        )
    if job.kind not in ("plain", "classroom"):
        return ""
    if job.kind == "plain" and job.source is not None and (time := _timestamp(student, chosen, files, job)):
        job.by_file.append(student)
        return time
    parts = chosen.entry.parts
    if job.source is None or not job.source.is_dir() or len(parts) < 2:
        return ""
    for folder in (job.source / parts[0], *(child / parts[0] for child in _only_folder(job.source))):
        try:
            when = commit_time(folder, "/".join(parts[1:]))
        except OverLimits as error:
            job.notes.append(f"{student}: {error}, so nobody knows when the notebook came in.")
            return ""
        if when is not None:
            job.by_commit.append(student)
            return when.strftime(_TIME_FORMAT)
    return ""


def _only_folder(source: Path) -> list[Path]:
    """The one folder that some programs put around everything they pack."""
    with os.scandir(source) as inside:
        folders = [
            source / entry.name
            for entry in inside
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
        ]
    return folders if len(folders) == 1 else []


def _notebooks(files: Sequence[Owned], lab: str, notes: list[str]) -> list[Owned]:
    """The student's notebooks, those inside a zip that was handed in too, other labs' left out."""
    held: list[Owned] = []
    unread: list[str] = []
    zips = 0
    for one in files:
        if one.entry.is_refused:  # its note says why
            continue
        if one.file.casefold().endswith(".zip"):
            zips += 1
            if zips > MAX_ZIPS:
                unread.append(f"Not read: {one.entry.path}; of one student {MAX_ZIPS} zips are opened.")
                continue
            for entry in inner_entries(one.entry, notes):
                held.append(replace(one, entry=entry, file=entry.parts[-1]))
        else:
            held.append(one)
    notes += first_of(unread)
    return [one for one in held if is_notebook(one.file) and not _of_another_lab(one.entry, lab)]


def _of_another_lab(entry: Entry, lab: str) -> bool:
    """nbgrader's layout has a folder of the same name around each lab's notebook."""
    stem = entry.parts[-1].rsplit(".", 1)[0]
    is_a_labs = stem[:2].isdigit() and stem[2:3] == "_"  # a student may be a number
    return len(entry.parts) > 1 and entry.parts[-2] == stem != lab and is_a_labs


def _choose(student: str, notebooks: Sequence[Owned], job: _Job) -> Owned:
    """The only notebook with an answer in it, or the one with the right name; among several, or without one, the last.

    Says which, and why. On Blackboard each attempt takes the place of the one before, whatever its files are called.
    """
    newest = max(one.attempt for one in notebooks)
    counting = [one for one in notebooks if one.attempt == newest or job.kind != "blackboard"]
    right = [one for one in counting if one.file == f"{job.lab}.ipynb"]
    answered = only_answered(counting, job.lab, lambda one: one.entry.read(), Refused)
    candidates = [answered] if answered else right or counting
    orders: dict[str, Callable[[Owned], Any]] = {
        "the last attempt": lambda one: one.attempt,
        "the last that was uploaded": lambda one: one.upload,
        # All files of a clone are as old as the clone.
        "the one in the fewest folders": lambda one: -len(one.entry.parts) if job.kind == "classroom" else 0,
        "the newest by the files' own dates": lambda one: one.entry.modified,
        "the last by name, for nothing says which is the newest": lambda one: one.entry.path,
    }
    chosen = max(candidates, key=lambda one: tuple(order(one) for order in orders.values()))
    if len(notebooks) > 1:
        why = "the one with the right name" if len(counting) == len(notebooks) else "of the last attempt"
        if answered:
            why = "the only one with an answer in it"
        elif len(candidates) > 1:
            why = next(
                (words for words, order in orders.items() if len({order(one) for one in candidates}) > 1),
                "which is like the others in all that tells",
            )
        job.notes.append(
            f"{student} handed in {len(notebooks)} notebooks: {chosen.entry.path}, {why}, was taken."
        )
    elif not right:
        job.notes.append(f"{student}: {chosen.file} was taken as {job.lab}.ipynb.")
    return chosen


def _timestamp(student: str, chosen: Owned, files: Sequence[Owned], job: _Job) -> str:
    """The first line of the ``timestamp.txt`` that nbgrader's exchange puts beside the notebook, when it is a time.

    Only in nbgrader's layout, ``<student>/<lab>/``: anywhere else a student may have put it there.
    """
    folder = chosen.entry.parts[:-1]
    for one in files:
        if one.entry.parts == (*folder, "timestamp.txt") and len(folder) == 2 and folder[-1] == job.lab:
            try:
                text = one.entry.read()[:200].decode("utf-8", "replace").partition("\n")[0].strip()
            except Refused:
                return ""
            time = parse_time(text, settings().timezone)
            if time is not None and not names_a_zone(text):
                job.without_zone.append(student)
            elif time is None and text:
                job.notes.append(f"{student}: what stands in timestamp.txt is no time that can be read.")
            return time.strftime(_TIME_FORMAT) if time else ""
    return ""


def _may_replace(target: Path, content: bytes, time: str, student: str, notes: list[str]) -> bool:
    """A notebook that is there already gives way to another one unless it is known to be the newer of the two."""
    try:
        if not target.exists() or target.read_bytes() == content:
            return True
        old = parse_time(timestamp_in(target.parent), settings().timezone)
        new = parse_time(time) if time else None
        if old and new and old > new:
            notes.append(f"{student}: the notebook collected before is newer and stays.")
            return False
    except (OSError, ValueError):
        pass  # without two times nobody knows which is the newer one: what comes in now is taken
    notes.append(f"{student}: replaced the notebook collected before.")
    return True
