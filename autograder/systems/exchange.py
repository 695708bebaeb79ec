"""The interface of a learning system for ``pull`` and ``push``, and the record of what was fetched and sent."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import requests
from pydantic import BaseModel, ValidationError

from autograder.course.lists import folded, summarize_names
from autograder.course.policy_file import course_file
from autograder.errors import UserError
from autograder.files import write_atomically
from autograder.grading.submissions import MAX_BYTES

#: A system may take its time over a large course.
SECONDS = 120

#: A progress bar around some things: the things, how many they are, what is done.
Track = Callable[[Iterable[Any], int, str], Iterable[Any]]


class Refused(UserError):
    """The system answered, and refuses one request. Of several people the others may still be served."""


@dataclass(frozen=True)
class Assignment:
    """The lab's assignment in the system. ``due`` is a time in seconds since 1970 (0: none), ``most`` the maximum grade."""

    title: str
    most: float
    due: int = 0
    #: Whether it takes comments and files as feedback.
    takes_comments: bool = True
    takes_files: bool = True
    #: Sentences for whoever pushes.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Person:
    """Somebody who may hand in: the system's number, the name, and ids that a class list may have, the surest first."""

    user: int
    name: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class File:
    """A file that the system holds. ``modified`` is in seconds since 1970, ``folder`` begins and ends with a slash."""

    name: str
    size: int
    modified: int
    address: str
    folder: str = "/"


@dataclass(frozen=True)
class HandedIn:
    """The newest attempt that somebody handed in. ``open``: a newer one has begun."""

    attempt: int
    when: int
    files: tuple[File, ...] = ()
    typed: bool = False
    open: bool = False


@dataclass(frozen=True)
class Entry:
    """What the system holds for one attempt. ``comment`` is None while nobody may read it."""

    grade: float | None = None
    comment: str | None = ""
    files: tuple[File, ...] = ()
    modified: int = 0
    #: Why no grade is taken, a clause ("" when one is).
    locked: str = ""
    #: Whether it has the state that ``--state`` names, and has lost no points for lateness a second time.
    is_settled: bool = True


class Source(Protocol):
    """One assignment of one course, from where it is handed in. Each method may raise ``UserError``, or ``Refused``."""

    name: str
    #: Which assignment it is, as the record writes it.
    key: str
    assignment: Assignment

    def students(self) -> list[Person]:
        """Those who may hand in: no staff, nobody suspended."""

    def handed_in(self, people: Sequence[Person]) -> tuple[dict[int, HandedIn], list[str]]:
        """The newest attempt of each who handed in, by user, and sentences about the others."""

    def due_dates(self, people: Sequence[Person], track: Track) -> dict[int, int]:
        """When the lab is due for each, extensions and overrides included (seconds since 1970; 0: never)."""

    def read(self, file: File) -> bytes:
        """The bytes of a file."""


class System(Source, Protocol):
    """An assignment that takes grades."""

    @property
    def groups(self) -> Mapping[int, int]:
        """User -> group, where the members of a group cannot have grades of their own."""

    def require_gradable(self) -> None:
        """Raise ``UserError`` where the assignment takes no points as it is set up."""

    def entries(self, attempts: Mapping[int, int], track: Track) -> dict[int, Entry]:
        """What the system holds, by user, for the attempt that is named."""

    def send(self, user: int, attempt: int, new: New, now: Entry) -> None:
        """Enter a grade in place of what is there ``now``."""


@dataclass(frozen=True)
class New:
    """A new entry. ``page`` is None when the page that is there stays."""

    grade: float
    comment: str
    page_name: str = ""
    page: bytes | None = None


def class_now(system: Source, track: Track) -> tuple[list[Person], dict[int, HandedIn], list[str]]:
    """The students, their newest attempts by user, and sentences about those that are not taken. ``UserError`` without students."""
    for _ in track((system,), 1, "who is in the class"):
        people = system.students()
        if not people:
            raise UserError(
                f"{system.name} shows this token no student of “{system.assignment.title}”: has its owner the right to see all groups?"
            )
        attempts, notes = system.handed_in(people)
    return people, attempts, notes


class Pulled(BaseModel):
    """A student's folder, and the attempt that lies in it."""

    student: str
    attempt: int = -1
    when: int = 0
    files: list[tuple[str, int, int]] = []


class Sent(BaseModel):
    """What we entered, as the system gave it back. ``page``: the digest of the feedback page."""

    grade: float
    comment: str | None
    modified: int = 0
    page: str = ""


class Record(BaseModel):
    """What was fetched and sent for a class's folder, by the system's number of each user.

    ``sent`` holds every entry of ours that the system may have: when an answer is lost, it is the last one or the one before.
    """

    of: str
    students: dict[int, Pulled] = {}
    sent: dict[int, list[Sent]] = {}

    @staticmethod
    def path(submitted: Path, lab: str, system: str) -> Path:
        """``submitted/<system>-<lab>.json``, beside the students' folders."""
        return submitted / f"{system.lower()}-{lab}.json"

    @classmethod
    def read(cls, submitted: Path, lab: str, system: Source) -> Record:
        """The record, empty where there is none yet. ``UserError`` when it is of another assignment, or damaged."""
        path = cls.path(submitted, lab, system.name)
        if not path.exists():
            return cls(of=system.key)
        try:
            record = cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            raise UserError(
                f"{path}, the record of what came from {system.name}, cannot be read: put back the file as it was."
            ) from None
        if record.of != system.key:
            raise UserError(
                f"What lies in {submitted} came from {record.of}, and course.toml names {system.key}: "
                "give another folder with --submitted."
            )
        return record

    def save(self, submitted: Path, lab: str, system: Source) -> None:
        """Write the record, whole or not at all."""
        write_atomically(self.path(submitted, lab, system.name), self.model_dump_json(indent=1) + "\n")


def token(system: str) -> str:
    """The system's token: from ``MOODLE_TOKEN``, say, or the file ``.moodle-token`` beside course.toml."""
    variable, path = f"{system.upper()}_TOKEN", course_file().with_name(f".{system.lower()}-token")
    found = os.environ.get(variable, "").strip()
    try:
        if not found and path.is_file():
            if os.name == "posix" and path.stat().st_mode & 0o077:
                raise UserError(f"Others on this machine may read {path}: run `chmod 600 {path}`.")
            found = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, ValueError):
        raise UserError(f"{path} cannot be read: write the token into it, and nothing else.") from None
    if not found:
        raise UserError(
            f"There is no token for {system}: put one into the environment variable {variable} or the file {path} "
            "(docs/run_a_course.md says where to get it)."
        )
    if not re.fullmatch(r"[\x21-\x7e]+", found):
        raise UserError(f"The token for {system} holds spaces or line breaks: copy it again.")
    return found


def chosen(system: str, what: str, wanted: int | str, there: Mapping[int, str]) -> int:
    """The number of the course or assignment that course.toml names. ``there``: number -> name. ``UserError`` unless it is one."""
    names = [
        number for number, name in there.items() if isinstance(wanted, str) and folded(wanted) == folded(name)
    ]
    found = [wanted] if isinstance(wanted, int) and wanted in there else names
    if len(found) != 1:
        shown = summarize_names([f"“{there[number]}” ({number})" for number in found or there])
        raise UserError(
            f"course.toml calls the {what} “{wanted}”, and {system} has {len(found)} of that name; write one of these numbers: "
            f"{shown or 'none that this token may see'}."
        )
    return found[0]


def content_of(answer: requests.Response, system: str) -> bytes:
    """The bytes of an answer that is read as it comes. ``Refused`` when there are too many."""
    content = bytearray()
    for part in answer.iter_content(1 << 16):
        content += part
        if len(content) > MAX_BYTES:
            raise Refused(f"{system} gives more than {MAX_BYTES >> 20} MB at once, which is not read.")
    return bytes(content)


def unreachable(site: str, error: requests.RequestException) -> UserError:
    """The sentence for a site that does not answer."""
    reason = getattr(error.args[0] if error.args else error, "reason", error)
    return UserError(
        f"{site} cannot be reached ({reason}): what was done before is kept, run the same command again."
    )
