"""Finds a file's owner from its path, as Canvas, Moodle or nbgrader name files. Refuses downloads of other systems."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from autograder.collect.entries import Entry, first_of, shortened
from autograder.course.masters import all_labs
from autograder.errors import UserError
from autograder.grading.submissions import is_notebook

KINDS = ("canvas", "moodle", "plain")

#: lastnamefirst_[LATE_]userid_attachmentid_filename-1.ipynb, as Canvas's lib/content_zipper.rb @05e9653c writes it; an
#: anonymous submission has ``anon_`` and five characters. Students choose the name, in which Canvas leaves underscores and
#: numbers, so a name can be made to look like a classmate's name and number.
_CANVAS_NAME = (
    r"(?:(?P<early>LATE_)?(?P<anonymous>anon_(?P<inner>LATE_)?[A-Za-z0-9]{5})"
    r"|(?P<name>.+?)_(?P<late>LATE_)?(?P<user>[0-9]+))_(?P<upload>[0-9]{1,18})_(?P<file>.+)"
)
_CANVAS = re.compile(_CANVAS_NAME)
#: The same name with the last possible numbers. Canvas numbers a whole school's attachments: one or two digits are part of
#: a file's name.
_CANVAS_LAST = re.compile(_CANVAS_NAME.replace(".+?", ".+").replace("{1,18}", "{3,18}"))
#: Full Name_id_assignsubmission_file_/file.ipynb, or the same without folders, or a typed text instead of a file. If groups
#: hand in, name and number are the group's; students without a group share one without a number.
_MOODLE = re.compile(
    r"^(?P<name>.+?)(?:_(?P<user>\d+))?_assignsubmission_(?P<what>file|onlinetext)(?:_(?P<file>.*))?$"
)
#: Moodle writes this once. A student whose own name contains it could pass for a classmate.
_MARK = "_assignsubmission_"
#: The files for texts and addresses that students typed into Canvas's or Moodle's page.
TYPED = ("text.html", "onlinetext.html", "link.html")
#: Canvas appends ``-1``, ``-2`` … to the name of a file that was handed in again.
_RESUBMITTED = re.compile(r"-(\d{1,9})$")
#: System whose downloads are refused -> the form of its paths, without outer folders.
_UNREAD = {
    "Blackboard": r"[^/]+?_attempt_\d{4}(?:-\d\d){5}_[^/]+",
    "ILIAS": r"[^/]+_[^/]+_[^/_]+_\d+/\d{14}_[^/]+",
    "Brightspace": r"\d+-\d+ ?- [^/]+?- ?[^/]*\d{4} [\d.:]{3,5}(?: [AP]M)?(?:/| - ).+",
    "Gradescope": r"submission_\d+/.+",
    "Microsoft Teams": r"[^/]+/[^/]+/Version \d+/[^/]+",
}


@dataclass(frozen=True)
class Owned:
    """A file with its owner, the name that the student gave it, and other facts from its path.

    ``name`` and ``number`` are the system's: Canvas's user, or Moodle's participant in this assignment.
    """

    entry: Entry
    student: str
    file: str
    late: bool = False
    attempt: int = 0
    upload: int = 0
    name: str = ""
    number: str = ""


def without_wrapper(entries: Sequence[Entry], lab: str, kind: str) -> tuple[list[Entry], str]:
    """The entries without a single outer folder that contains a system's files; and a sentence if it may be a student's."""
    tops = {entry.parts[0] for entry in entries}
    inside = [replace(one, parts=one.parts[1:]) for one in entries if len(one.parts) > 1 and one.parts[1]]
    if len(tops) != 1 or not inside or kind == "plain" or _looks_like_a_systems(*tops):
        return list(entries), ""
    holding = {one.parts[0] for one in inside if may_contain_notebook(one.parts[-1])}
    if kind in ("canvas", "moodle") or 2 * sum(map(_looks_like_a_systems, holding)) > len(holding):
        return inside, ""
    folders = {one.parts[0] for one in inside if len(one.parts) > 1}
    unclear = {name for name in holding - {lab, *all_labs()} if not name.startswith(".")}
    if len(unclear) < 2 and not unclear & folders:
        return list(entries), ""
    return list(entries), (
        f"“{min(tops)}” is the download's only folder: does it belong to one student, or contain the students' folders? Collect the "
        "folder that contains them, or say with --kind plain that it is one student's."
    )


def may_contain_notebook(file: str) -> bool:
    """Whether a file of this name may be a notebook or contain one."""
    return is_notebook(file) or file.casefold().endswith(".zip")


def kind_and_why(entries: Sequence[Entry]) -> tuple[str, str]:
    """The system that made a download, and the number of names that say so. The majority decides: students choose names.

    Raises ``UserError`` for a system that is not supported.
    """
    votes: dict[str, str] = {}  # probable owner -> kind of the name
    for entry in entries:
        top = entry.parts[0]
        canvas, moodle = _CANVAS.match(top) if len(entry.parts) == 1 else None, _MOODLE.match(top)
        if canvas:
            votes[f"{canvas['name']}_{canvas['user']}"] = "canvas"
        elif moodle:
            votes[f"{moodle['name']}_{moodle['user']}"] = "moodle"
        else:
            votes.setdefault(top, "plain")
    for kind, name in {"canvas": "Canvas", "moodle": "Moodle"}.items():
        count = sum(vote == kind for vote in votes.values())
        if 2 * count > len(votes):
            _refuse_unread(entries, 1.0)  # one student's files must not outvote the other names
            return kind, f"{count} of {len(votes)} names are {name}'s"
    _refuse_unread(entries, 0.501)
    marked = sum(vote != "plain" for vote in votes.values())
    odd = f", {marked} of them look like a learning system's" if marked else ""
    return "plain", f"{len(votes)} names{odd}"


def _refuse_unread(entries: Sequence[Entry], part: float) -> None:
    """Raise ``UserError`` if at least this part of the paths comes from a system that is not supported."""
    paths = [entry.path for entry in entries if may_contain_notebook(entry.parts[-1])]
    for system, form in _UNREAD.items():
        count = sum(re.fullmatch(rf"(?:[^/]+/)*?{form}", path) is not None for path in paths)
        if count and count >= part * len(paths):
            raise UserError(
                f"This is a download of {system}, which is not supported: put each student's notebook into a folder with the "
                "student's name, and collect the folder that contains these. If it comes from another system, name it with --kind."
            )


def owned(entries: Sequence[Entry], kind: str, notes: list[str]) -> list[Owned]:
    """The files with their owners. Adds sentences about files with no or several possible owners to ``notes``."""
    mine, nobodys = list[Owned](), list[str]()
    doubtful: dict[str, list[str]] = defaultdict(list)  # by the first possible owner
    for entry in entries:
        readings = _readings(entry, kind)
        if len(readings) == 1:
            mine += readings
        elif not readings:
            nobodys += [f"Nobody's: {entry.path}."] if entry.path.endswith((".ipynb", ".zip")) else []
        elif may_contain_notebook(readings[0].file):
            each = " or ".join(f"{one.student}'s" for one in readings)
            doubtful[readings[0].student].append(
                f"{shortened(entry.path)} is not collected: its name can be read as {each}. Rename it."
            )
    notes += [*(note for group in doubtful.values() for note in first_of(group)), *nobodys]
    return mine


def _readings(entry: Entry, kind: str) -> list[Owned]:
    """The file with each possible owner. Students choose their names, so there may be two."""
    top, last, is_inside = entry.parts[0], entry.parts[-1], len(entry.parts) > 1
    if kind == "plain":
        student = top.removesuffix(".zip") if is_inside else PurePosixPath(last).stem.removesuffix(".ipynb")
        return [Owned(entry, student or top, last)]
    if kind == "canvas":
        matches = [match for match in (_CANVAS.match(top), _CANVAS_LAST.match(top)) if match]
        users = {match.span("user") for match in matches}
        return [_of_canvas(entry, match) for match in matches[: len(users)]]
    match = _MOODLE.match(top)
    if match is None or top.count(_MARK) != 1:
        return []
    name, number, file = match["name"], match["user"] or "", last if is_inside else match["file"] or last
    return [Owned(entry, f"{name}_{number}" if number else name, file, name=name, number=number)]


def _of_canvas(entry: Entry, match: re.Match[str]) -> Owned:
    path = PurePosixPath(match["file"] if len(entry.parts) == 1 else entry.parts[-1])
    again = _RESUBMITTED.search(path.stem)
    file, attempt = (path.stem[: again.start()] + path.suffix, int(again[1])) if again else (path.name, 0)
    late, upload = bool(match["early"] or match["inner"] or match["late"]), int(match["upload"])
    if match["anonymous"]:
        return Owned(entry, match["anonymous"].replace("LATE_", ""), file, late, attempt, upload)
    name, number = match["name"], match["user"]
    return Owned(entry, f"{name}_{number}", file, late, attempt, upload, name, number)


def _looks_like_a_systems(name: str) -> bool:
    return bool(_CANVAS.match(name) or _MOODLE.match(name))
