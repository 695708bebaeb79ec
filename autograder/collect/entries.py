"""Lists the files in an untrusted folder or zip: no paths that lead outside, no links, no zip bombs.

Nothing is unpacked. Only chosen entries are read, and only up to a limit.
"""

from __future__ import annotations

import io
import lzma
import os
import re
import stat
import struct
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.errors import GradingError
from autograder.files import read_plain
from autograder.grading.submissions import MAX_BYTES

#: A student's zip with more entries than this is not read. The class's zip may have any number.
MAX_INNER_ENTRIES = 10_000
#: The most levels of folders that are read.
DEEPEST = 50
#: The most notes about one zip's files, and the most characters of a note.
MAX_NOTES, MAX_NOTE = 5, 300

_IGNORED = re.compile(r"^(__MACOSX|\.ipynb_checkpoints|\.git|\._.*|\.DS_Store|__pycache__)$")


#: The compression methods that can be unpacked up to a limit; with others a kilobyte may become gigabytes at once.
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: The exceptions that the zip library raises for damaged or forged bytes.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    OSError,
    EOFError,
    ValueError,
    LookupError,
    RuntimeError,
    OverflowError,
)


class Refused(Exception):
    """An entry is not read. The text is a sentence with the reason."""


@dataclass(frozen=True)
class Entry:
    """One file: the parts of its path inside the source, its time of change, and a function that reads it.

    A folder is represented by a file with the name "" in it. Folders and refused files only show that a student is in the
    download.
    """

    parts: tuple[str, ...]
    modified: datetime
    read: Callable[[], bytes]
    is_refused: bool = False

    @property
    def path(self) -> str:
        """The path inside the source, for sentences."""
        return "/".join(self.parts)


def entries(source: Path, notes: list[str]) -> list[Entry]:
    """All readable files of a folder or zip. Adds sentences about refused files to ``notes``."""
    if source.is_dir():
        return list(_in_folder(source, notes))
    if not source.exists():
        raise GradingError(f"{source} does not exist: give the downloaded zip or the folder.")
    try:
        return list(_in_zip(source, "", notes))
    except OSError as error:
        raise GradingError(f"{source} could not be read: {error.strerror}.") from error
    except Refused as refused:
        raise GradingError(f"{source} is no zip that can be read: {refused}") from None


def inner_entries(entry: Entry, notes: list[str]) -> list[Entry]:
    """The files of a zip inside the source, with the zip's time. A zip inside that zip is an ordinary file."""
    try:
        content = entry.read()
        if content.count(b"PK\x01\x02") > MAX_INNER_ENTRIES:  # before the zip library makes an object of each
            raise Refused(f"{entry.path}: the zip lists more than {MAX_INNER_ENTRIES} files.")
        inner = list(_in_zip(io.BytesIO(content), f"{entry.path}: ", notes))
    except Refused as refused:
        notes.append(str(refused))
        return []
    kept = [one for one in inner if not one.is_refused]
    return [Entry((*entry.parts, *one.parts), entry.modified, one.read) for one in kept]


def _in_zip(source: Path | io.BytesIO, where: str, notes: list[str]) -> Iterator[Entry]:
    try:
        # The archive stays open while entries may be read; it closes when the last entry is garbage-collected.
        archive = zipfile.ZipFile(source)
    except _DAMAGED as error:
        raise Refused(f"{where}the zip is damaged ({error}).") from None
    unread: dict[str, list[str]] = defaultdict(list)
    held: dict[tuple[str, ...], Entry] = {}
    for info in archive.infolist():
        name = _name(info)
        is_folder, is_refused = name.endswith("/"), False
        parts: tuple[str, ...] = ()
        try:
            parts = _parts(name)
            if len(parts) > DEEPEST:
                raise Refused(f"{name} (deeper than {DEEPEST} folders).")
            if stat.S_ISLNK(info.external_attr >> 16):
                raise Refused(f"{name} is a link.")
            if info.flag_bits & 1:
                raise Refused(f"{name} is encrypted.")
            if where and info.compress_type not in _BOUNDED:  # a student packed it
                raise Refused(f"{name} is packed in an unusual way: pack it with the system's own zip.")
        except Refused as refused:
            of, is_refused = "" if where else name.split("/")[0], True
            if not is_folder:
                unread[of].append(f"Not read: {where}{shortened(str(refused))}")
        if parts and not any(_IGNORED.match(part) for part in parts):
            if is_folder:
                held.setdefault((*parts, ""), _unreadable((*parts, "")))
            elif is_refused:
                held.setdefault(parts[:DEEPEST], _unreadable(parts[:DEEPEST]))
            else:
                held[parts] = Entry(parts, _zip_time(info), _zip_reader(archive, info, where + name))
    yield from held.values()
    for student_notes in unread.values():
        notes += first_of(student_notes)


def _name(info: zipfile.ZipInfo) -> str:
    """An entry's name. macOS writes UTF-8 without its flag, which the zip library decodes as cp437."""
    try:
        return info.filename if info.flag_bits & 0x800 else info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def first_of(notes: Sequence[str]) -> list[str]:
    """The first notes and the number of further ones, so that one student's notes do not hide the others'."""
    more = len(notes) - MAX_NOTES
    return [*notes[:MAX_NOTES], *([f"… and {more} more like these."] if more > 0 else [])]


def shortened(text: str) -> str:
    """A sentence, which may contain long names that students chose, shortened to ``MAX_NOTE`` characters."""
    return text if len(text) <= MAX_NOTE else f"{text[: MAX_NOTE // 2]} … {text[-MAX_NOTE // 2 :]}"


def _zip_reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Callable[[], bytes]:
    def read() -> bytes:
        # The zip's listing may claim a wrong size, so the unpacked bytes are counted.
        try:
            with archive.open(info) as member:
                content = member.read(MAX_BYTES + 1)
        except (*_DAMAGED, NotImplementedError, MemoryError) as error:
            raise Refused(f"Not read: {name} is damaged ({error}).") from None
        if len(content) > MAX_BYTES:
            raise Refused(f"Not read: {name} unpacks to more than {MAX_BYTES >> 20} MB.")
        return content

    return read


def _unreadable(parts: tuple[str, ...]) -> Entry:
    """The entry for a folder, or for a file that is not read."""

    def read() -> bytes:
        raise Refused(f"Not read: {'/'.join(parts)}.")

    return Entry(parts, datetime(1980, 1, 1, tzinfo=UTC), read, is_refused=True)


def _in_folder(folder: Path, notes: list[str]) -> Iterator[Entry]:
    unread: dict[str, list[str]] = defaultdict(list)
    closed: list[Entry] = []

    def refuse(parts: tuple[str, ...], why: str) -> Entry:
        unread[parts[0]].append(shortened(f"Not read: {'/'.join(filter(None, parts))} {why}"))
        return _unreadable(parts)

    def cannot_open(error: OSError) -> None:
        parts = Path(error.filename).relative_to(folder).parts
        if not parts:
            raise GradingError(f"{folder} could not be read: {error.strerror}.") from None
        closed.append(refuse((*parts, ""), f"({error.strerror})."))

    for place, folders, files in os.walk(folder, onerror=cannot_open):
        here = Path(place).relative_to(folder).parts
        folders[:] = sorted(name for name in folders if not _IGNORED.match(name))
        if here:
            yield _unreadable((*here, ""))
        if len(here) == DEEPEST and folders:
            yield refuse((*here, folders[0], ""), f"(deeper than {DEEPEST} folders).")
            folders.clear()
        for name in sorted([*files, *folders]):
            path, parts = Path(place, name), (*here, name)
            if _IGNORED.match(name):
                continue
            try:
                status = path.lstat()
            except OSError as error:
                yield refuse(parts, f"({error.strerror}).")
                continue
            if stat.S_ISLNK(status.st_mode):
                yield refuse(parts if "." in name else (*parts, ""), "is a link.")
            elif stat.S_ISREG(status.st_mode):
                yield Entry(parts, _file_time(status.st_mtime), _file_reader(path))
            elif not stat.S_ISDIR(status.st_mode):
                yield refuse(parts, "is no plain file.")
    yield from closed
    for student_notes in unread.values():
        notes += first_of(student_notes)


def _file_reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            content = read_plain(path, MAX_BYTES + 1)  # it may have become a link after being listed
        except OSError as error:
            raise Refused(f"Not read: {path.name} ({error.strerror}).") from None
        if len(content) > MAX_BYTES:
            raise Refused(f"Not read: {path.name} is larger than {MAX_BYTES >> 20} MB.")
        return content

    return read


def _parts(name: str) -> tuple[str, ...]:
    """The path's parts. Raises Refused for a name that leads outside the folder."""
    if "\x00" in name or name.startswith(("/", "\\")) or re.match(r"^[A-Za-z]:", name):
        raise Refused(f"{name!r} would be written outside its folder.")
    parts = tuple(part for part in re.split(r"[/\\]", name) if part not in ("", "."))
    if not parts or ".." in parts:
        raise Refused(f"{name!r} would be written outside its folder.")
    return parts


def _zip_time(info: zipfile.ZipInfo) -> datetime:
    """The time of a zip's entry. It has no zone; UTC is assumed."""
    try:
        return datetime(*info.date_time, tzinfo=UTC)
    except ValueError:
        return datetime(1980, 1, 1, tzinfo=UTC)


def _file_time(seconds: float) -> datetime:
    """A file's time. Invalid times count as the oldest."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime(1980, 1, 1, tzinfo=UTC)
