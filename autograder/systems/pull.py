"""Fetches notebooks, times and extensions from a learning system, in the layout that ``autograder grade`` reads."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autograder.collect import collect_folder
from autograder.collect.names import may_contain_notebook
from autograder.course.lists import sentences_about, summarize_names
from autograder.course.policy_file import class_list, settings
from autograder.course.system_extensions import take_over_extensions
from autograder.files import folder_name, letters_of, require_apart, timestamp_in
from autograder.grading.submissions import MAX_BYTES
from autograder.systems.exchange import Attempt, Person, Pulled, Record, Refused, Source, Track, people_of

#: Smaller differences between due dates are ignored: some systems end a day at 23:59:00.
A_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Done:
    """The outcome of a pull: the class, who handed in, whose notebook is new, and sentences about the others."""

    students: tuple[str, ...]
    handed_in: tuple[str, ...]
    fetched: tuple[str, ...]
    notes: tuple[str, ...]


def pull(system: Source, submitted: Path, lab: str, track: Track) -> Done:
    """Write ``submitted/<student>/<lab>/`` for everybody in the class, with their newest submitted attempt and its time.

    Unchanged notebooks are not fetched again, so an interrupted pull resumes. Extensions are added to ``extensions.csv``.
    Raises ``UserError``; notebooks fetched before the error are kept and recorded.
    """
    record = Record.read(submitted, lab, system)
    people, notes = people_of(system, track)
    folders = _folders(people, record, system.name, notes)
    notes += class_list().notes_about(
        folders.values(), f"On the class list, but not a student in {system.name}"
    )
    require_apart(submitted, folders.values())
    handed_in, fetched, without = list[str](), list[str](), list[str]()
    try:
        for person in track(people, len(people), "notebooks"):
            student, attempt = folders[person.user], person.attempt
            (submitted / student / lab).mkdir(parents=True, exist_ok=True)
            known = record.students.setdefault(person.user, Pulled(student=student))
            if attempt is None:
                if known.attempt >= 0:
                    notes.append(
                        f"{student} has nothing handed in there any more: what was fetched before stays."
                    )
                continue
            found = _pulled(student, attempt)
            is_here = known == found and (submitted / student / lab / f"{lab}.ipynb").is_file()
            if not is_here and _fetch(system, attempt, student, submitted, lab, notes):
                fetched.append(student)
                known = record.students[person.user] = found
            (handed_in if known.attempt >= 0 else without).append(student)
    finally:
        record.save()
    left = [one.student for user, one in record.students.items() if user not in folders]
    notes += sentences_about({f"No active students of {system.name} any more, but still here": left})
    if without:
        notes.append(
            f"Handed in, but nothing that is graded here: {summarize_names(without)}. No grade will be sent."
        )
    notes += _extend(system, people, folders, lab, track)
    return Done(tuple(sorted(folders.values())), tuple(sorted(handed_in)), tuple(fetched), tuple(notes))


def _pulled(student: str, attempt: Attempt) -> Pulled:
    files = [(one.name, one.size, one.modified) for one in attempt.files]
    return Pulled(student=student, attempt=attempt.number, when=attempt.when, files=files)


def _fetch(
    system: Source, attempt: Attempt, student: str, submitted: Path, lab: str, notes: list[str]
) -> bool:
    """Fetch one student's notebook. Returns whether it is in the folder now."""
    time = f"{datetime.fromtimestamp(attempt.when, UTC):%Y-%m-%d %H:%M:%S} UTC"
    with tempfile.TemporaryDirectory(prefix="autograder-") as scratch:
        for file in attempt.files:
            if not may_contain_notebook(file.name):
                continue
            if file.size > MAX_BYTES:
                notes.append(
                    f"{student}: {file.name} is larger than {MAX_BYTES >> 20} MB and was not fetched."
                )
                continue
            folder = Path(scratch, *map(folder_name, filter(None, file.folder.split("/"))))
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / folder_name(file.name)
            try:
                path.write_bytes(system.read(file))
            except Refused as error:
                notes.append(f"{student}: {error}")
                return False
            os.utime(path, (file.modified, file.modified))
        is_empty, root = not any(Path(scratch).iterdir()), Path(scratch)
        done = None if is_empty else collect_folder(root, submitted, lab, student=student, submitted_at=time)
    notes += done.notes if done else []
    if done is not None and done.students:
        return timestamp_in(submitted / student / lab) == time
    if attempt.typed:
        notes.append(f"{student} typed a text into {system.name}: read it there.")
    elif is_empty:
        notes.append(f"{student} handed in no notebook of {lab}.")
    return False


def _folders(people: Sequence[Person], record: Record, system: str, notes: list[str]) -> dict[int, str]:
    """User -> folder's name: as before, else as on the class list, else the system's most reliable id."""
    listed, folders = class_list(), dict[int, str]()
    for person in people:
        found = {one.student for word in person.words if (one := listed.find(word)) is not None}
        own = person.words[0] if person.words else f"{system.lower()}-{person.user}"
        before = record.students.get(person.user)
        folders[person.user] = before.student if before else found.pop() if len(found) == 1 else own
        folders[person.user] = folder_name(folders[person.user])
    same = Counter(map(letters_of, folders.values()))
    twice = [user for user, name in folders.items() if same[letters_of(name)] > 1]
    if twice:
        notes.append(
            f"Several people of {system} would have one folder: {summarize_names([folders[user] for user in twice])}; each has a number."
        )
    return {**folders, **{user: f"{folders[user]}_{user}" for user in twice}}


def _extend(
    system: Source, people: Sequence[Person], folders: dict[int, str], lab: str, track: Track
) -> list[str]:
    """Add extensions to ``extensions.csv`` and return sentences. The longer of the course's and the system's counts."""
    theirs, ours, notes = system.assignment.due, settings().due(lab), list[str]()
    if theirs and (ours is None or abs(_utc(theirs) - ours) > A_MINUTE):
        there, here = _local(_utc(theirs)), _local(ours) if ours else ""
        none = f" has none, so nobody is late: write `due = {there}` under [labs.{lab[:2]}]"
        mine = f"'s {here}, which counts" if here else none
        notes.append(f"{system.name}'s due date is {there}, and course.toml{mine}.")
    due = ours or (_utc(theirs) if theirs else None)
    if due is None:
        return notes
    own_dates = [(folders[user], own) for user, own in system.due_dates(people, track).items()]
    longer = [(student, _utc(own) if own > theirs else due) for student, own in own_dates if own]
    notes += take_over_extensions(lab, due, longer, system.name)
    never = [student for student, own in own_dates if not own and theirs]
    sooner = [student for student, own in own_dates if 0 < own < theirs]
    return notes + sentences_about({
        f"Never due in {system.name}, so give them an extension in course.toml": never,
        f"Due sooner than the others in {system.name}, which does not count here": sooner,
    })  # fmt: skip


def _utc(seconds: int) -> datetime:
    """The time in UTC without a zone, as in the policy."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def _local(time: datetime) -> str:
    return f"{settings().local(time):%Y-%m-%dT%H:%M:%S}"
