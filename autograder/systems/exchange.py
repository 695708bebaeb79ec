"""The interface of a learning system for ``pull`` and ``push``, and the record of fetched and sent entries."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import requests
from pydantic import BaseModel, PrivateAttr, SecretStr, ValidationError
from rich.console import Console
from rich.progress import track

from autograder.course.lists import folded, summarize_names
from autograder.course.policy_file import course_file, settings
from autograder.errors import UserError
from autograder.files import write_atomically
from autograder.grading.submissions import MAX_BYTES

#: Seconds that a system may take for an answer about a large course.
SECONDS = 120
Item = TypeVar("Item")


class Refused(UserError):
    """The system refused one request. Requests for other people may still succeed."""


@dataclass(frozen=True)
class File:
    """A file in the system. ``modified`` is in seconds since 1970; ``folder`` begins and ends with a slash."""

    name: str
    size: int
    modified: int
    address: str
    folder: str = "/"


@dataclass(frozen=True)
class Attempt:
    """A person's newest submitted attempt. ``when`` is in seconds since 1970; ``open``: whether a newer one has begun."""

    number: int
    when: int
    files: tuple[File, ...] = ()
    has_text: bool = False
    open: bool = False


@dataclass(frozen=True)
class Person:
    """A person who may hand in: the system's number, and ids for a class list, the most reliable first."""

    user: int
    ids: tuple[str, ...]
    attempt: Attempt | None = None


@dataclass(frozen=True)
class Entry:
    """The system's entry for one attempt. ``comment`` is None while it cannot be read."""

    grade: float | None = None
    comment: str | None = ""
    files: tuple[File, ...] = ()
    modified: int = 0
    #: The reason, as a clause, why no grade is accepted; "" if one is.
    locked: str = ""
    #: Whether it has the state of ``--state``, and the system has not subtracted a late penalty a second time.
    is_settled: bool = True


@dataclass(frozen=True)
class Update:
    """The entry to send. ``page`` is None if the current page stays."""

    grade: float
    comment: str
    page_name: str = ""
    page: bytes | None = None


class System:
    """The assignment of one lab, as course.toml names it. Each method may raise ``UserError`` or ``Refused``."""

    name: str
    #: The assignment's name in the record, and in the system.
    key: str
    title: str
    #: The maximum grade, and the due date in seconds since 1970 (0: none).
    most: float = 0.0
    due: int = 0
    #: Whether it accepts comments and files as feedback.
    takes_comments: bool = True
    takes_files: bool = True
    #: Sentences for the person who pushes.
    notes: tuple[str, ...] = ()
    #: Where progress is shown.
    console = Console(quiet=True)

    def __init__(self, lab: str, state: str = "") -> None:
        """``state``: the grades' state in Moodle's marking workflow."""
        name, policy = self.name, getattr(settings(), self.name.lower())
        if policy is None:
            raise UserError(
                f"course.toml says nothing of {name}: write [{name.lower()}] (docs/run_a_course.md)."
            )
        wanted = policy.assignment(lab)
        if wanted is None:
            raise UserError(
                f"course.toml does not say which assignment of {name} lab {lab[:2]} is: write `{lab[:2]} = …` under "
                f"[{name.lower()}.assignments], its name there or the number in the address of its page."
            )
        if state and name != "Moodle":
            raise UserError("Only Moodle has a marking workflow: leave out --state.")
        self._lab, self._state, self._site = lab, state, policy.site
        self._policy, self._wanted = policy, wanted

    def people(self) -> tuple[list[Person], list[str]]:
        """The people who may hand in, without staff and suspended people; sentences about those without an attempt."""
        raise NotImplementedError

    def due_dates(self, people: Sequence[Person]) -> Mapping[int, int]:
        """User -> due date, including extensions and overrides (seconds since 1970; 0: never)."""
        return {}

    def read(self, file: File) -> bytes:
        """The bytes of a file."""
        raise NotImplementedError

    def require_gradable(self) -> None:
        """Raise ``UserError`` if the assignment's settings accept no points."""
        raise NotImplementedError

    def entries(self, attempts: Mapping[int, int]) -> dict[int, Entry]:
        """User -> entry, for the given attempts."""
        raise NotImplementedError

    def send(self, user: int, attempt: int, new: Update, now: Entry) -> None:
        """Replace the current entry ``now`` by ``new``."""
        raise NotImplementedError

    def track(self, things: Iterable[Item], what: str, total: int | None = None) -> Iterable[Item]:
        """The things, with a bar that shows how many are done, in a terminal."""
        hidden = not self.console.is_terminal
        return track(things, what, total, console=self.console, transient=True, disable=hidden)

    def require_people(self) -> tuple[list[Person], list[str]]:
        """``people``. Raises ``UserError`` if there is nobody."""
        for _ in self.track((self,), "who is in the class"):
            people, notes = self.people()
        if not people:
            raise UserError(
                f"{self.name} shows this token no student of “{self.title}”: has its owner the right to see all groups?"
            )
        return people, notes

    def _chosen(self, what: str, wanted: int | str, there: Mapping[int, str]) -> int:
        """The number of the one in ``there`` (number -> name) that course.toml names. Raises ``UserError`` unless one fits."""
        name = folded(wanted) if isinstance(wanted, str) else None
        found = [number for number, other in there.items() if wanted == number or name == folded(other)]
        if len(found) != 1:
            shown = summarize_names([f"“{there[number]}” ({number})" for number in found or there])
            raise UserError(
                f"course.toml calls the {what} “{wanted}”, and {self.name} has {len(found)} of that name; write one of these "
                f"numbers: {shown or 'none that this token may see'}."
            )
        return found[0]

    def _parsed(self, content: bytes) -> Any:
        """The JSON in an answer. Raises ``UserError`` if there is none."""
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise UserError(
                f"{self._site} does not answer as {self.name}'s web services do: is it the address of {self.name}'s front page?"
            ) from None


class Pulled(BaseModel):
    """A student's name, and the attempt in their folder."""

    student: str
    attempt: int = -1
    when: int = 0
    files: list[tuple[str, int, int]] = []


class Sent(BaseModel):
    """An entry that was sent, as the system returned it. ``page``: the digest of the feedback page."""

    grade: float
    comment: str | None
    modified: int = 0
    page: str = ""


class Record(BaseModel):
    """The fetched and sent entries for a class's folder, by the system's user numbers.

    ``sent`` holds every sent entry that the system may have: if an answer was lost, the last entry or the one before.
    """

    of: str
    students: dict[int, Pulled] = {}
    sent: dict[int, list[Sent]] = {}
    _path: Path = PrivateAttr()

    @classmethod
    def read(cls, submitted: Path, lab: str, system: System) -> Record:
        """The record ``submitted/<system>-<lab>.json``, or an empty one.

        Raises ``UserError`` if it belongs to another assignment or is damaged.
        """
        path = submitted / f"{system.name.lower()}-{lab}.json"
        try:
            record = cls.model_validate_json(path.read_bytes()) if path.exists() else cls(of=system.key)
        except (OSError, ValidationError):
            raise UserError(
                f"{path}, the record of what came from {system.name}, cannot be read: put back the file as it was."
            ) from None
        if record.of != system.key:
            raise UserError(
                f"What lies in {submitted} came from {record.of}, and course.toml names {system.key}: "
                "give another folder with --submitted."
            )
        record._path = path
        return record

    def save(self) -> None:
        """Write the record, completely or not at all."""
        write_atomically(self._path, self.model_dump_json(indent=1) + "\n")


def token(system: str) -> SecretStr:
    """The system's token, for example from ``MOODLE_TOKEN`` or the file ``.moodle-token`` beside course.toml."""
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
    return SecretStr(found)


def ask(method: str, address: str, **more: Any) -> tuple[requests.Response, bytes]:
    """The answer to one request, and its content. Raises ``UserError`` without an answer, ``Refused`` for one that is too large."""
    site, content = "/".join(address.split("/")[:3]), bytearray()
    try:
        with requests.request(method, address, stream=True, timeout=SECONDS, **more) as answer:
            for part in answer.iter_content(1 << 16):
                content += part
                if len(content) > MAX_BYTES:
                    raise Refused(f"{site} gives more than {MAX_BYTES >> 20} MB at once, which is not read.")
    except requests.RequestException as error:
        reason = getattr(error.args[0] if error.args else error, "reason", error)
        raise UserError(
            f"{site} cannot be reached ({reason}): what was done before is kept, run the same command again."
        ) from None
    return answer, bytes(content)
