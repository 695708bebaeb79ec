"""Reads the course's policy, ``course.toml``, and reports mistakes with their line. Finds who has which extension."""

from __future__ import annotations

import json
import os
import re
import secrets
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from autograder.course import extensions
from autograder.course.class_list import ClassList, read_class_list
from autograder.course.lab import LabSpec
from autograder.course.lists import sentences_about
from autograder.course.masters import all_labs, course_header, course_root, lab_as_written
from autograder.course.policy import Settings, is_key_of
from autograder.course.safe_cells import safe_cell
from autograder.errors import UserError
from autograder.files import folder_name, lasting_secret
from autograder.sandbox.limits import Limits

_chosen: Settings | None = None


def settings() -> Settings:
    """The settings of this course. The salt is made at the first use and kept beside the course."""
    return _chosen if _chosen is not None else _read()


def use(chosen: Settings | None) -> None:
    """Use these settings instead of the file's (None: the file's again)."""
    global _chosen
    _chosen = chosen
    _read.cache_clear()
    spec.cache_clear()
    class_list.cache_clear()


def course_file() -> Path:
    """The path ``COURSE_FILE``, else ``course.toml`` in the course's folder."""
    return Path(os.environ.get("COURSE_FILE") or course_root() / "course.toml")


@cache
def _read() -> Settings:
    path = course_file()
    if not path.exists():
        if os.environ.get("COURSE_FILE"):
            raise UserError(f"There is no course file {path}.")
        return Settings(salt=_lasting_salt())
    try:
        text = path.read_text(encoding="utf-8-sig")  # Windows editors add a byte order mark
        values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}.") from None
    except RecursionError:
        raise UserError(f"{path} is not valid TOML: brackets stand inside one another too deep.") from None
    except (OSError, ValueError) as error:  # not UTF-8, or a number with thousands of digits
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise UserError(f"{path} cannot be read: {reason}.") from None
    try:
        read = Settings(**values)
        mistake = next(_mistakes(read), None)
    except ValidationError as error:
        mistake = _first_mistake(error, values)
    if mistake is not None:
        place, message = mistake
        raise UserError(f"{path}, line {_line_of(text, place)}: “{'.'.join(place)}”: {message}.")
    salt = os.environ.get("COURSE_SALT") or read.salt or _lasting_salt()
    return read.model_copy(update={"salt": salt})


@cache
def class_list() -> ClassList:
    """The class list from ``COURSE_ROSTER`` if set (empty: no list), else from ``course.toml``; an empty list without one."""
    place = os.environ.get("COURSE_ROSTER", settings().roster)
    return read_class_list(course_file().parent / place, settings().team) if place else ClassList()


def extensions_file() -> Path:
    """The path of ``extensions.csv``, to which the team's extensions are written while the course runs."""
    return course_file().parent / "extensions.csv"


def names_of_student(names: Iterable[str], student: str) -> list[str]:
    """Those of the names that belong to this student: the folder's, or others of the same person on the class list."""
    own, person = spellings(student), class_list().of_folder(student)
    return [
        name
        for name in names
        if spellings(name) & own or (person is not None and class_list().find(name) == person)
    ]


def unknown_extensions(lab: str, students: Collection[str] = ()) -> dict[str, list[str]]:
    """Names with an extension in course.toml or extensions.csv that are neither on the class list nor ``students``."""
    there = {form for student in students for form in spellings(student)}
    named = {
        course_file().name: settings().extended(lab),
        extensions_file().name: extensions.granted(extensions_file(), lab),
    }
    nobodies = {
        file: [name for name in names if not spellings(name) & there and class_list().find(name) is None]
        for file, names in named.items()
    }
    return {file: names for file, names in nobodies.items() if names}


def spellings(name: str) -> set[str]:
    """The forms of a name (NFC): itself, as a safe cell, and as a folder's name."""
    return {unicodedata.normalize("NFC", form) for form in (name, safe_cell(name), folder_name(name))}


def extension_of(lab: str, student: str) -> timedelta | None:
    """The student's extension: from ``extensions.csv``, else course.toml, else the class list; None without one.

    A person may be named by the folder's name or by any of their words on the class list.
    """
    person = class_list().of_folder(student)
    listed = {student: person.extension} if person is not None and person.extension else {}
    for given in (extensions.granted(extensions_file(), lab), settings().extended(lab), listed):
        if names := names_of_student(given, student):
            longer = given[names[-1]]
            return settings().length_of(lab, longer) if longer else None
    return None


def take_over_extensions(
    lab: str, due: datetime, until: Iterable[tuple[str, datetime]], source: str
) -> list[str]:
    """Add an extension for each student with a later due date than in the course. Returns sentences about it.

    ``until``: (student, due date in the ``source``). Its times and ``due`` are in UTC, without a zone. No extension gets shorter.
    """
    given, more, too_long = list[str](), list[str](), list[str]()
    a_minute = timedelta(minutes=1)  # systems give times in minutes: smaller differences are ignored
    for student, own in until:
        have, longer = extension_of(lab, student) or timedelta(), own - due
        days = settings().days_of(lab, longer)
        if days > 366:
            too_long.append(student)
        elif longer > have + a_minute:
            extensions.add(extensions_file(), lab, student, days)
            given.append(f"{student} ({settings().local(own):%Y-%m-%d %H:%M})")
        elif have > max(longer, timedelta()) + a_minute:
            more.append(student)
    file = extensions_file().name
    return sentences_about(
        {
            f"Longer in {source}, and so added to {file}": given,
            f"Longer in course.toml or {file} than in {source}, which counts": more,
            f"More than a year longer in {source}, so give them an extension in course.toml": too_long,
        }
    )


@cache
def spec(lab: str) -> LabSpec:
    """The description of a lab (full name) with the points of the course's policy."""
    return lab_as_written(lab).with_points(settings().lab(lab).points)


#: The default limits of graded labs. Graded cells compute for seconds only, so these are tighter than the sandbox's defaults.
GRADED_LIMITS = Limits(cell_seconds=15.0, call_seconds=10.0, total_seconds=120.0, cpu_seconds=120)


def limits_of(lab: str) -> Limits:
    """The limits of a lab (full name). Later, more specific sources override earlier ones."""
    policy = settings()
    layers: list[dict[str, Any]] = [
        asdict(GRADED_LIMITS),
        policy.limits.model_dump(exclude_none=True),  # course.toml, for all labs
        course_header(lab).get("limits") or {},  # the master
        policy.lab(lab).limits.model_dump(exclude_none=True),  # course.toml, for this lab
    ]
    return Limits(**{name: value for layer in layers for name, value in layer.items()})


#: The keys of a setting in the file, from the outermost in, and a sentence about it.
_Mistake = tuple[tuple[str, ...], str]


def _mistakes(read: Settings) -> Iterator[_Mistake]:
    """Yield unknown labs and questions, which would disable a rule silently, and dates that contradict each other."""
    entries = {"moodle": "assignments", "canvas": "assignments", "github": "assignments", "lti": "links"}
    tables: dict[tuple[str, ...], Iterable[str]] = {
        (name, entry): getattr(getattr(read, name), entry, ()) for name, entry in entries.items()
    }
    named: dict[str, str] = {}
    for place, table in {**tables, ("labs",): read.labs}.items():
        named = {}
        for key in table:
            lab = next((lab for lab in all_labs() if is_key_of(key, lab)), None)
            if lab is None:
                yield (*place, key), f"there is no lab “{key}”"
            elif lab in named:
                yield (*place, key), f"lab {lab} stands there already"
            else:
                named[lab] = key
    for lab, key in named.items():  # those of [labs]
        for place, message in _mistakes_of(lab, read):
            yield ("labs", key, *place), message


def _mistakes_of(lab: str, read: Settings) -> Iterator[_Mistake]:
    policy = read.lab(lab)
    if policy.points or policy.forbid or policy.rubric:  # else the master is not read
        written = lab_as_written(lab)
        functions = dict(written.questions)
        for entry, known in {
            "points": functions | dict(written.written),
            "forbid": functions,
            "rubric": functions,
        }.items():
            for name in (name for name in getattr(policy, entry) if name not in known):
                yield (entry, name), f"lab {lab} has no question “{name}”"
    if policy.due is not None and (closes := read.closes(lab)) and closes < (read.due(lab) or closes):
        yield ("closes",), "the lab would close before it is due"
    for student, given in policy.extensions.items():
        if (longer := read.length_of(lab, given)) is None:
            yield ("extensions", student), "an extension to a date needs the lab's own due date"
        elif longer < timedelta():
            yield ("extensions", student), "the extension ends before the lab is due"


def _first_mistake(error: ValidationError, values: Any) -> _Mistake:
    """The first mistake in the file: its place (keys from the outermost in), and a sentence about it."""
    mistake = error.errors()[0]
    place: list[str] = []
    for name in mistake["loc"]:
        if isinstance(values, dict) and (name in values or mistake["type"] == "missing"):
            place.append(str(name))
            values = values.get(name)
    message = mistake["msg"].removeprefix("Value error, ")
    if mistake["type"] == "extra_forbidden":
        message = "there is no such setting"
    elif "extensions" in place[:-1]:
        message = "an extension is a number of days, at most 366, or for one lab the new due date"
    return tuple(place), message[:1].lower() + message[1:]


def _line_of(text: str, place: Sequence[str]) -> int:
    """The line (from 1) of a setting. tomllib keeps no positions.

    Each name of ``place`` is searched for as a key or in a table's header, starting at the line of the name before it.
    """
    lines, here = text.splitlines(), 0
    for name in place:
        key = re.compile(rf"""(?:^|[\[{{.,])\s*["']?{re.escape(name)}["']?\s*[\].=]""")
        here = next((n for n in range(here, len(lines)) if key.search(lines[n])), here)
    return here + 1


def salt_file() -> Path:
    """The file with the course's salt: ``COURSE_SALT_FILE``, else ``.course-salt`` in the course's folder (ignored by git)."""
    return Path(os.environ.get("COURSE_SALT_FILE") or course_root() / ".course-salt")


def _lasting_salt() -> str:
    """The salt: ``COURSE_SALT``, or a random one in ``salt_file()``, which only its owner may read."""
    if os.environ.get("COURSE_SALT"):
        return os.environ["COURSE_SALT"]
    path = salt_file()
    try:
        salt = lasting_secret(path, lambda: secrets.token_hex(16))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise UserError(
            f"The course's salt {path} cannot be read or made ({reason}): make it readable and writable for you."
        ) from None
    if not salt:
        raise UserError(
            f"The course's salt file {path} is empty: restore the file as it was, or delete it if no class was graded yet."
        )
    return salt
