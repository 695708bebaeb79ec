"""Recognizes downloads whose paths say everything: which system made them, whose each file is, and when it came in."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath

from autograder.collect.entries import Entry, Refused
from autograder.collect.names import Owned, may_hold_one
from autograder.errors import UserError


@dataclass(frozen=True)
class Layout:
    """The form of one system's paths, behind any folders around them.

    ``pattern`` names ``who`` (the student, perhaps with the assignment before), ``when``, ``file``, and perhaps ``folder``.
    """

    system: str
    pattern: re.Pattern[str]
    #: The form of ``when``, on the clock of the system.
    clock: str = ""


#: The kinds that are read, by the name that ``--kind`` gives them.
LAYOUTS = {
    # Homework 1_jdoe_attempt_2026-10-24-17-59-00_hw.ipynb, and a receipt for each attempt without “_hw.ipynb” that ends in .txt
    "blackboard": Layout(
        "Blackboard",
        re.compile(r"(?P<who>[^/]+?)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:_(?P<file>[^/]+)|\.txt)"),
        "%Y-%m-%d-%H-%M-%S",
    ),
    # Lab 1/Abgaben/Doe_Jane_jdoe_1234/20261024175900_hw.ipynb
    "ilias": Layout(
        "ILIAS",
        re.compile(r"(?P<folder>[^/]+_[^/]+_(?P<who>[^/_]+)_\d+)/(?P<when>\d{14})_(?P<file>[^/]+)"),
        "%Y%m%d%H%M%S",
    ),
}

#: What is recognized and not read: its paths name no student that a class list could know, or put attempts into folders.
_UNREAD = (
    Layout("Brightspace", re.compile(r"\d+-\d+ ?- [^/]+?- ?[^/]*\d{4} [\d.:]{3,5}(?: [AP]M)?(?:/| - ).+")),
    Layout("Gradescope", re.compile(r"submission_\d+/.+")),
    Layout("Microsoft Teams", re.compile(r"[^/]+/[^/]+/Version \d+/[^/]+")),
)


def layout_of(entries: Sequence[Entry], other: str) -> str:
    """The kind of these entries by their paths ("" for none here). ``other``: the system that their first names look like.

    ``UserError`` for a system that is not read, for two that fit, and where only a part of the paths fits.
    """
    paths = [entry.path for entry in entries if may_hold_one(entry.parts[-1])]
    fitting = {
        layout.system: sum(_match(layout, path) is not None for path in paths)
        for layout in (*LAYOUTS.values(), *_UNREAD)
    }
    found = [system for system, count in fitting.items() if 2 * count > len(paths)]
    if other:  # by most students' names: a single student's files do not outvote them
        found = [system for system in found if fitting[system] == len(paths)]
    systems = [*found, *([other] if other and found else [])]
    if len(systems) > 1:
        raise UserError(
            f"The names in this download are {' and '.join(f'{system}’s' for system in systems)} alike: "
            "say which system made it with --kind."
        )
    for system in found:
        if system in {layout.system for layout in _UNREAD}:
            raise UserError(
                f"This is a download of {system}, which is not read: put each student's notebook into a folder that is called "
                "like the student, and collect the folder around these."
            )
        if fitting[system] < len(paths):
            raise UserError(
                f"{fitting[system]} of {len(paths)} files are named as {system} does, and the others are not: collect one "
                "download alone, or say which system made it with --kind."
            )
    return next((kind for kind, layout in LAYOUTS.items() if layout.system in found), "")


def owned_by_path(entries: Sequence[Entry], kind: str) -> tuple[list[Owned], list[Entry]]:
    """Each file of a known layout with its owner, and the files that are nobody's. ``UserError`` for several assignments."""
    layout = LAYOUTS[kind]
    matches = {entry: _match(layout, entry.path) for entry in entries}
    mine = {entry: match for entry, match in matches.items() if match}
    around = sorted({str(PurePosixPath(match["around"])) for match in mine.values()})
    if len(around) > 1:
        raise UserError(
            f"This download holds several assignments, {' and '.join(around[:5])}: collect the folder of one alone."
        )
    users = _users([(match["who"], entry) for entry, match in mine.items()])
    folders: dict[str, set[str]] = defaultdict(set)
    for match in mine.values():
        folders[users[match["who"]]].add(match.groupdict().get("folder") or match["who"])
    found = []
    for entry, match in mine.items():
        student = users[match["who"]]
        whole = match.groupdict().get("folder") or match["who"]
        one = Owned(entry, student if len(folders[student]) == 1 else whole, match["file"] or "")
        when = re.sub(r"\D", "", match["when"])
        found.append(replace(one, attempt=int(when), sent=_time(match["when"], layout.clock)))
    return found, [entry for entry in entries if entry not in mine]


def _match(layout: Layout, path: str) -> re.Match[str] | None:
    return re.fullmatch(rf"(?P<around>(?:[^/]+/)*?){layout.pattern.pattern}", path)


def _time(text: str, clock: str) -> datetime | None:
    try:
        return datetime.strptime(text, clock)
    except ValueError:
        return None


def _users(named: Sequence[tuple[str, Entry]]) -> dict[str, str]:
    """The user in each “assignment_user”: as a receipt of the system's says, else what stands behind the assignment's name.

    A receipt begins “Name: Jane Doe (jdoe)”. It is the system's own, for it has no file's name.
    """
    users = {}
    for who, entry in named:
        if entry.parts[-1].endswith(".txt") and re.search(r"_attempt_[\d-]+\.txt$", entry.parts[-1]):
            try:
                first = entry.read()[:1000].decode("utf-8", "replace").partition("\n")[0]
            except Refused:
                continue
            said = re.fullmatch(r"Name:.*\((?P<user>[^()]+)\)\s*", first)
            if said and who.endswith(f"_{said['user']}"):
                users[who] = said["user"]
    starts = Counter(who.removesuffix(user) for who, user in users.items())
    names = sorted({who for who, _ in named})
    shared = [who[: at + 1] for who in names[:1] for at, letter in enumerate(who) if letter == "_"]
    shared = [start for start in shared if all(who.startswith(start) for who in names)]
    start = starts.most_common(1)[0][0] if starts else max(shared, key=len, default="")
    for who in names:
        users.setdefault(who, who.removeprefix(start) if who.startswith(start) else who.rpartition("_")[2])
    return users
