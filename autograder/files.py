"""Safe paths in nbgrader's folders, and functions that read and write files safely."""

from __future__ import annotations

import datetime
import errno
import hashlib
import os
import re
import stat
import sys
import tempfile
import unicodedata
import zoneinfo
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from autograder.errors import GradingError, UserError
from autograder.results import SubmissionResult

#: The most bytes of a folder's name; common file systems refuse much longer ones.
LONGEST_NAME = 200

#: Times by nbgrader ("2026-10-01 12:00:00.123456 UTC", or another zone's letters), by ``autograder collect``, and in other forms of
#: ISO 8601, such as Gradescope's.
_ISO_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)(?:\.\d+)? ?(Z|[A-Z]{2,5}|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f/\\:*?\"<>|&`\u200e\u200f\u2028-\u202e\u2066-\u2069]")
#: The end of a replaced name. Names that already end like this are also replaced, so that no two students share one.
_MADE = re.compile(r"-[0-9a-f]{16}$")
_RESERVED_ON_WINDOWS = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$", re.IGNORECASE)


def parse_time(text: str, zone: str = "UTC") -> datetime.datetime | None:
    """The time in a text, in UTC without a zone; None for no time, or one far from any course.

    A time without a zone is in ``zone``. Letters count as a zone only if they are ``zone``'s own at that time. Nothing else
    is guessed, because a student may have written the text.
    """
    try:
        time, letters = iso_time(text)
        if time.tzinfo is None:  # in the repeated hour at the end of summer time, there are two
            possible = (time.replace(tzinfo=zoneinfo.ZoneInfo(zone), fold=fold) for fold in (0, 1))
            time = next(one for one in possible if letters in ("", one.tzname()))
        time = time.astimezone(datetime.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, StopIteration):
        return None
    return time if 1970 < time.year < 2200 else None


def iso_time(text: str) -> tuple[datetime.datetime, str]:
    """The time in a text, with its zone if that is certain, and the letters of another zone. Raises ValueError."""
    if (match := _ISO_TIME.fullmatch(text)) is None:
        raise ValueError(text)
    day, clock, zone = match.groups("")
    zone = "Z" if zone in ("UTC", "GMT") else zone
    letters = zone if zone.isalpha() and zone != "Z" else ""
    return datetime.datetime.fromisoformat(f"{day}T{clock}{'' if letters else zone}"), letters


def names_a_zone(text: str) -> bool:
    """Whether a valid time names its zone."""
    time, letters = iso_time(text)
    return bool(time.tzinfo or letters)


def folder_name(student: str) -> str:
    """A folder's name for a student: it stays inside its parent and differs for different students.

    An ordinary name, also in Unicode, is its own folder's name, as in nbgrader. In a name that could escape or confuse
    (separators, control or bidirectional characters, a leading dot, too long), these characters are replaced by ``_`` and a
    short digest of the original is appended.
    """
    encoded = student.encode("utf-8", "surrogatepass")
    safe = _UNSAFE.sub("_", student.encode("utf-8", "replace").decode("utf-8"))
    safe = safe.strip().rstrip(".")
    if safe.startswith("."):
        safe = "_" + safe.lstrip(".")
    if _RESERVED_ON_WINDOWS.match(safe):
        safe = "_" + safe
    if safe and safe == student and len(encoded) <= LONGEST_NAME and not _MADE.search(safe):
        return safe
    shortened = safe.encode("utf-8")[: LONGEST_NAME - 20].decode("utf-8", "ignore")
    return f"{shortened or '_'}-{hashlib.sha256(encoded).hexdigest()[:16]}"


def letters_of(name: str) -> str:
    """A name without distinctions that some file systems ignore: capitals, and forms of an accented letter."""
    return unicodedata.normalize("NFC", name).casefold()


def require_apart(folder: Path, students: Iterable[str]) -> None:
    """Refuse a folder on a disk (Mac, Windows, USB stick) on which two of these students would share a folder.

    Raises ``UserError`` in one sentence.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for name in sorted({folder_name(student) for student in students}):
        alike[letters_of(name)].append(name)
    for twins in (names for names in alike.values() if len(names) > 1):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".apart-", dir=folder) as probe:
            for name in twins:
                Path(probe, name).mkdir(exist_ok=True)
            if len(os.listdir(probe)) < len(twins):
                raise UserError(
                    f"The disk of {folder} does not tell “{twins[0]}” from “{twins[1]}”, which are two students: "
                    "choose a folder on another disk, or rename one of them."
                )


def autograded_notebook(out: Path, student: str, lab: str) -> Path:
    """The path ``out/autograded/<student>/<lab>/<lab>.ipynb``, where Formgrader looks for the notebook."""
    return out / "autograded" / folder_name(student) / lab / f"{lab}.ipynb"


def feedback_page(out: Path, student: str, lab: str) -> Path:
    """The path ``out/feedback/<student>/<lab>/<lab>.html``, from which nbgrader releases feedback."""
    return out / "feedback" / folder_name(student) / lab / f"{lab}.html"


def report_page(out: Path, lab: str) -> Path:
    """The path of the class report, ``out/report/<lab>.html``."""
    return out / "report" / f"{lab}.html"


def read_plain(path: Path, most: int) -> bytes:
    """At most ``most`` bytes of an untrusted file. Raises ``OSError`` for a link, pipe or device."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "no plain file")
        return file.read(most)


def timestamp_in(folder: Path) -> str:
    """The first line of nbgrader's ``timestamp.txt`` beside a notebook; "" if it is missing or unreadable.

    Formgrader compares this time with the one in ``submitted/``, so a file's own time would not do. The file is untrusted: it
    may be a pipe, or endless.
    """
    try:
        first = read_plain(folder / "timestamp.txt", 100).partition(b"\n")[0]
    except OSError:
        return ""
    return first.decode("utf-8", "replace").strip()


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old or the new content, never a part.

    A missing folder is made. Raises GradingError if the disk is full or writing is not allowed. There is no fsync, because
    these files can be made again from the gradebook's inputs.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    temporary: str | None = None
    try:
        if not path.parent.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".writing-", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        reason = error.strerror or "unknown error"
        raise GradingError(f"The file {path} could not be written: {reason}.") from error


def say_if_others_may_read(path: Path) -> None:
    """Warn about a secret on a disk without permissions (USB stick, Windows)."""
    if path.stat().st_mode & 0o077:
        print(
            f"! The disk of {path} stores no permissions: everybody with an account on this machine can read it.",
            file=sys.stderr,
        )


def lasting_secret(path: Path, make: Callable[[], str]) -> str:
    """A secret that is created at its first use and that only its owner may read."""
    only_mine = partial(os.open, mode=0o600)
    if not path.exists():
        with suppress(FileExistsError), open(path, "x", opener=only_mine) as file:
            file.write(make())
            say_if_others_may_read(path)
    return path.read_text().strip()


def write_autograded(result: SubmissionResult, out: Path) -> Path | None:
    """Write the executed notebook (and ``timestamp.txt``) to nbgrader's ``autograded`` folder.

    For a submission without a notebook (missing, unreadable) nothing is written, and an earlier run's notebook is removed, so
    that it is not taken for the current one. Returns the path, or None.
    """
    path = autograded_notebook(out, result.student, result.lab)
    time = f"{result.submitted_at}\n" if result.notebook and result.submitted_at else ""
    for file, content in ((path, result.notebook), (path.with_name("timestamp.txt"), time)):
        if content:
            write_atomically(file, content)
        else:
            file.unlink(missing_ok=True)
    return path if result.notebook else None


#: The errors of file systems without locks.
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


@contextmanager
def sole_writer(out: Path) -> Iterator[None]:
    """Lock the output folder, and remove partial files of a killed run. Raises ``UserError`` if it is locked already.

    The lock ends with the process that holds it, however that ends.
    """
    from filelock import FileLock, Timeout  # takes a tenth of a second to import

    if not out.is_dir():
        raise UserError(f"There is no folder {out}: grade a class into it first.")
    lock = FileLock(out / ".lock", mode=0o644, fallback_to_soft=False)  # a soft lock would outlive a crash
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise UserError(f"Another command is writing to {out}: let it finish and try again.") from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise UserError(
                f"The folder {out} cannot be written to ({error.strerror}): give another, or change its permissions."
            ) from None
    try:
        if lock.is_locked:
            for folder in ("autograded", "feedback", "report"):
                for unfinished in (out / folder).rglob(".writing-*"):
                    unfinished.unlink(missing_ok=True)
        yield
    finally:
        lock.release()


def digest_of(paths: Iterable[Path]) -> str:
    """One digest of the contents and names of files and folders."""
    digest = hashlib.sha256()
    for path in paths:
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            if "__pycache__" not in file.parts:
                digest.update(os.fsencode(file.relative_to(path.parent)) + b"\0")
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
