"""Reads from a path whose file it is, as Canvas, Moodle, GitHub Classroom or nbgrader name them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from types import MappingProxyType

from autograder.collect.entries import Entry
from autograder.course.lists import folded
from autograder.course.masters import all_labs
from autograder.grading.submissions import is_notebook

KINDS = ("canvas", "moodle", "classroom", "blackboard", "ilias", "plain")

#: lastnamefirst_[LATE_]userid_attachmentid_filename-1.ipynb, as Canvas's lib/content_zipper.rb @05e9653c writes it; an
#: anonymous submission has ``anon_`` and five characters. The name is the student's own choice: Canvas leaves underscores in
#: it, and a number behind the last one, so a name may be made to look like a classmate's name and number.
_CANVAS = re.compile(
    r"^(?:(?P<early>LATE_)?(?P<anonymous>anon_(?P<inner>LATE_)?[A-Za-z0-9]{5})"
    r"|(?P<name>.+?)_(?P<late>LATE_)?(?P<user>[0-9]+))"
    r"_(?P<upload>[0-9]+)_(?P<file>.+)$"
)
#: Each place where user and attachment may stand in such a name.
_NUMBERS = re.compile(r"(?<=.)(?=_(?P<late>LATE_)?(?P<user>[0-9]+)_(?P<upload>[0-9]+)_(?P<file>.+)$)")
#: Canvas counts the attachments of a whole school: one or two digits begin a file's name, such as a lab's.
_LOWEST_UPLOAD = 100
#: A person's name and a file's have 255 characters at most; what is longer was made by nobody's Canvas.
_LONGEST = 1000
#: Full Name_id_assignsubmission_file_/file.ipynb, or the same in one name when folders are off; a typed text in its place. Where
#: groups hand in, the name and number are a group's, and who has no group is in one without a number.
_MOODLE = re.compile(
    r"^(?P<name>.+?)(?:_(?P<user>\d+))?_assignsubmission_(?P<what>file|onlinetext)(?:_(?P<file>.*))?$"
)
#: Moodle writes it once; a student whose own name holds it as well could pass for a classmate.
_MARK = "_assignsubmission_"
#: What Canvas and Moodle make of a text that was typed into the page, and of an address.
TYPED = ("text.html", "onlinetext.html", "link.html")
_RESUBMITTED = re.compile(r"-(\d+)$")


@dataclass(frozen=True)
class Owned:
    """A file with its owner, the name the student gave it, and what the system's name for it says besides.

    ``name`` and ``number`` are the system's for the student: Canvas's user, or Moodle's participant of this assignment.
    """

    entry: Entry
    student: str
    file: str
    late: bool = False
    attempt: int = 0
    upload: int = 0
    name: str = ""
    number: str = ""
    #: Whose it is if its name, which the student has a part in, is read otherwise: ``canvas_owners`` decides.
    others: tuple[Owned, ...] = ()
    #: When it came in, by the system's clock, where the path says so.
    sent: datetime | None = None


def without_wrapper(
    entries: Sequence[Entry],
    lab: str,
    kind: str,
    notes: list[str],
    is_owner: Callable[[str], bool] = lambda top: False,
    is_clone: Callable[[str], bool] = lambda path: False,
) -> list[Entry]:
    """The entries without the one folder that some programs put around everything they pack.

    Whoever is collected alone may work in a folder of their own folder, or call it like a classmate. So the only folder is a
    student's where anything says so (``is_owner``, ``is_clone``, its name, what is in it), and where fewer than two of
    what lies in it look like students'. What is a guess is said.
    """
    tops = {entry.parts[0] for entry in entries}
    inside = [entry for entry in entries if len(entry.parts) > 1 and entry.parts[1]]
    if len(tops) != 1 or not inside:
        return list(entries)
    [top] = tops
    holding = {entry.parts[1] for entry in inside if may_hold_one(entry.parts[-1])}
    repositories = {entry.parts[1] for entry in inside if entry.parts[2:3] == (".github",)}
    labs = {lab, *all_labs()}  # one student's folders in nbgrader's layout
    files = {entry.parts[1] for entry in inside if len(entry.parts) == 2}
    called_like_the_lab = sum(file.startswith(lab) for file in files & holding)
    one_file_each = (
        holding <= files and 2 * len(holding) > len(files) and 4 * called_like_the_lab < len(holding)
    )

    def looks_like_an_owner(name: str) -> bool:
        if kind == "classroom":
            return name in repositories or is_clone(f"{top}/{name}")
        plain = one_file_each if name in files else name not in labs and not name.startswith(".")
        return plain or _marked(name)

    if kind in ("canvas", "moodle"):
        is_student, is_layer = _marked(top), True
    else:
        is_student = _marked(top) or any(entry.parts[1] == ".github" for entry in inside)
        is_student = is_student or is_owner(top) or is_clone(top)
        # Most decide, for each student may name one: a folder of the lab's name, or a file beside the folders.
        owners = set(filter(looks_like_an_owner, holding))
        is_layer = len({PurePosixPath(name).stem for name in owners}) > 1 and 2 * len(owners) > len(holding)
        if not is_student and is_layer:
            notes.append(f"“{top}” was taken for a folder around those of {len(owners)} students.")
        elif not is_student and (len(holding) > 1 or holding - files - labs):
            notes.append(f"“{top}” is the download's only folder, and was taken for one student's.")
    if is_student or not is_layer:
        return list(entries)
    return [replace(entry, parts=entry.parts[1:]) for entry in inside]


def may_hold_one(file: str) -> bool:
    """Whether a file of this name may be a notebook, or hold one."""
    return is_notebook(file) or file.casefold().endswith(".zip")


SYSTEMS = {"canvas": "Canvas", "moodle": "Moodle", "classroom": "GitHub Classroom"}


def kind_and_why(
    entries: Sequence[Entry], is_clone: Callable[[str], bool] = lambda top: False
) -> tuple[str, str]:
    """Which system made this download, and how many of the names say so: the majority decides, for each student can name one.

    A clone is GitHub Classroom's: not each assignment there has workflows.
    """
    votes: dict[str, str] = {}  # an owner, as far as names tell, -> the kind that the name is of
    for entry in entries:
        top = entry.parts[0]
        canvas, moodle = _CANVAS.match(top) if len(entry.parts) == 1 else None, _MOODLE.match(top)
        if canvas:
            votes[f"{canvas['name']}_{canvas['user']}"] = "canvas"
        elif moodle:
            votes[f"{moodle['name']}_{moodle['user']}"] = "moodle"
        elif len(entry.parts) > 2 and entry.parts[1] == ".github":
            votes[top] = "classroom"
        elif top not in votes:
            votes[top] = "classroom" if is_clone(top) else "plain"
    for kind, name in SYSTEMS.items():
        count = sum(vote == kind for vote in votes.values())
        if 2 * count > len(votes):
            return kind, f"{count} of {len(votes)} names are {name}'s"
    marked = sum(vote != "plain" for vote in votes.values())
    odd = f", {marked} of them look like a learning system's" if marked else ""
    return "plain", f"{len(votes)} names{odd}"


def owned(
    entries: Sequence[Entry], kind: str, repositories: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[Owned], list[Entry]]:
    """Each file with its owner, and the files that are nobody's. ``repositories``: whose each is, by ``whose_repositories``."""
    mine: list[Owned] = []
    nobodys: list[Entry] = []
    for entry in entries:
        one = _owner(entry, kind, repositories)
        if one is None:
            nobodys.append(entry)
        else:
            mine.append(one)
    return mine, nobodys


def _owner(entry: Entry, kind: str, repositories: Mapping[str, str]) -> Owned | None:
    top, last = entry.parts[0], entry.parts[-1]
    if kind == "canvas" and len(top) <= _LONGEST and (match := _CANVAS.match(top)):
        if match["anonymous"]:
            file, attempt = _attempt(match["file"] if len(entry.parts) == 1 else last)
            late, upload = bool(match["early"] or match["inner"]), int(match["upload"])
            return Owned(entry, match["anonymous"].replace("LATE_", ""), file, late, attempt, upload)
        first, *others = _readings(entry, top)
        return replace(first, others=tuple(others))
    if kind == "moodle" and (match := _MOODLE.match(top)) and top.count(_MARK) == 1:
        file = last if len(entry.parts) > 1 else (match["file"] or last)
        name, number = match["name"], match["user"] or ""
        return Owned(entry, f"{name}_{number}" if number else name, file, name=name, number=number)
    if kind in ("canvas", "moodle"):
        return None
    if len(entry.parts) > 1:
        return Owned(entry, repositories.get(top) or _without_zip(top), last)
    return Owned(entry, PurePosixPath(last).stem.removesuffix(".ipynb"), last)


def _readings(entry: Entry, top: str) -> list[Owned]:
    """Each owner that a name of Canvas's may mean, the one with the shortest name first."""
    found: dict[int, Owned] = {}
    for match in _NUMBERS.finditer(top):
        if match.start("user") in found or (found and int(match["upload"]) < _LOWEST_UPLOAD):
            continue
        name, number = top[: match.start()], match["user"]
        file, attempt = _attempt(match["file"] if len(entry.parts) == 1 else entry.parts[-1])
        found[match.start("user")] = Owned(
            entry, f"{name}_{number}", file, bool(match["late"]), attempt, int(match["upload"]), name, number
        )
    return list(found.values())


def _marked(name: str) -> bool:
    return bool(_CANVAS.match(name) or _MOODLE.match(name))


def _attempt(file: str) -> tuple[str, int]:
    """Canvas puts ``-1``, ``-2`` … behind the name of a file that was handed in again."""
    path = PurePosixPath(file)
    match = _RESUBMITTED.search(path.stem)
    if not match:
        return file, 0
    return path.stem[: match.start()] + path.suffix, int(match.group(1))


def whose_repositories(
    entries: Sequence[Entry],
    logins: Mapping[str, str],
    notes: list[str],
    is_known: Callable[[str], bool] = lambda login: False,
) -> dict[str, str]:
    """Whose each repository in a download of GitHub Classroom's is, which are called ``assignment-login``.

    ``logins``: folded repository -> login, as GitHub Classroom's own list has them; ``is_known``: whether somebody on the class list
    is called so. What has neither a place there nor the assignment's name keeps its own, and never takes that of another: whoever
    owns a repository may rename it.
    """
    tops = sorted({entry.parts[0] for entry in entries if len(entry.parts) > 1})
    # "x.zip" beside "x" is a repository that somebody called so.
    bare = {top: top if _without_zip(top) in tops else _without_zip(top) for top in tops}
    prefix, is_told = _assignment(list(bare.values()), logins, is_known)
    if prefix and not is_told:
        notes.append(
            f"No list says who is who on GitHub, so “{prefix}” is taken for the assignment's name before each login."
        )
    if len(tops) == 1 and not prefix and "-" in tops[0] and folded(bare[tops[0]]) not in logins:
        notes.append(
            f"Of one repository alone nothing says where the assignment's name ends and the login begins: {tops[0]} keeps its whole "
            "name. GitHub Classroom's grades CSV says it (--times), and so do all repositories together."
        )
    claims: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for top, name in bare.items():
        login = logins.get(folded(name), "")
        login = (
            name[-len(login) :] if login and folded(name[-len(login) :]) == login else login
        )  # as it is written
        sureness = 0 if login else 1 if name.startswith(prefix) else 2
        claims[login or name.removeprefix(prefix) or name].append((sureness, top))
    whose: dict[str, str] = {}
    for name, claiming in claims.items():
        best = min(claiming)[0]
        sure = [top for sureness, top in claiming if sureness == best]
        whose |= {sure[0]: name} if len(sure) == 1 else {}
    taken = set(whose.values())
    for top, name in bare.items():
        if top not in whose:
            whose[top] = name if name not in taken else f"{name} (repository)"
    odd = [top for claiming in claims.values() for sureness, top in claiming if sureness == 2]
    odd += [top for top in tops if whose[top].endswith(" (repository)") and top not in odd]
    if odd and prefix:
        notes.append(
            f"Repositories are called {prefix}… here, and these are not: {', '.join(odd[:10])}"
            f"{f' and {len(odd) - 10} more' if len(odd) > 10 else ''}. Each keeps its own name."
        )
    return whose


def _without_zip(top: str) -> str:
    return PurePosixPath(top).stem if top.endswith(".zip") else top


def _assignment(
    names: Sequence[str], logins: Mapping[str, str], is_known: Callable[[str], bool]
) -> tuple[str, bool]:
    """The assignment's name before the students' in the repositories' ``names``, up to a hyphen, and whether a list tells it.

    What stands before most logins in GitHub Classroom's list; else that behind which most are on the class list; else, as a guess, the
    longest that all share, or all but an eighth, or that most share.
    """
    listed = Counter(
        repository[: -len(login)] for repository, login in logins.items() if repository.endswith(login)
    )
    for start, count in listed.most_common(1):
        whole = next((name for name in names if folded(name[: len(start)]) == start), "")
        if whole and 2 * count > len(logins):
            return whole[: len(start)], True
    known, starts = Counter[str](), Counter[str]()
    for name in names:
        if len(name) > _LONGEST:
            continue
        for start in (name[: at + 1] for at, letter in enumerate(name) if letter == "-"):
            starts[start] += 1
            known[start] += is_known(name.removeprefix(start))
    if len(names) < 2 or not starts:
        return "", False
    start, count = max(known.items(), key=lambda one: (one[1], len(one[0])))
    if count > 1:
        return start, True
    alike = {start for start, count in starts.items() if count >= len(names) - len(names) // 8}
    if alike:
        return max(alike, key=len), False
    start, count = max(starts.items(), key=lambda one: (one[1], len(one[0])))
    return start if count > 2 and 2 * count > len(names) else "", False
