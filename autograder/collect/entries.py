"""Lists the files in a folder or zip without trusting either: no way out, no links, no bombs.

Nothing is unpacked. An entry is read when it was chosen, and never beyond a cap.
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

#: A zip that one student packed and that lists more entries than this is not looked at. The class's own may list any number.
MAX_INNER_ENTRIES = 10_000
#: So many folders in each other are looked into.
DEEPEST = 50
#: Notes about one zip's files, and characters of one.
MAX_NOTES, MAX_NOTE = 5, 300

_IGNORED = re.compile(r"^(__MACOSX|\.ipynb_checkpoints|\.git|\._.*|\.DS_Store|__pycache__)$")


#: The ways of packing that can be unpacked up to a cap; of the others a kilobyte may become gigabytes at once.
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Everything that the zip library raises on bytes that somebody damaged or forged.
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
    """An entry that is not read; the text is the sentence that says why."""


@dataclass(frozen=True)
class Entry:
    """One file: the parts of its path inside the source, when it was changed, how to read it.

    A folder is the file "" in it. It, and what was refused, show only that somebody is in the download.
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
    """All files of a folder or zip that may be read; what was refused is added to ``notes``."""
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
    """The files of a zip inside the source (one level; a zip inside that one is an ordinary file), with its own time."""
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
        # Stays open as long as an entry may be read, and closes when the last entry is forgotten.
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
                held.setdefault((*parts, ""), _nothing((*parts, "")))
            elif is_refused:
                held.setdefault(parts[:DEEPEST], _nothing(parts[:DEEPEST]))
            else:
                held[parts] = Entry(parts, _zip_time(info), _zip_reader(archive, info, where + name))
    yield from held.values()
    for some in unread.values():
        notes += first_of(some)


def _name(info: zipfile.ZipInfo) -> str:
    """An entry's name. macOS writes UTF-8 without the mark of it, which the zip library takes for the letters of the first PCs."""
    try:
        return info.filename if info.flag_bits & 0x800 else info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def first_of(notes: Sequence[str]) -> list[str]:
    """The first of many notes, and how many more there are: one student's do not hide the others'."""
    more = len(notes) - MAX_NOTES
    return [*notes[:MAX_NOTES], *([f"… and {more} more like these."] if more > 0 else [])]


def shortened(text: str) -> str:
    """A sentence whose names somebody chose, in a line or two."""
    return text if len(text) <= MAX_NOTE else f"{text[: MAX_NOTE // 2]} … {text[-MAX_NOTE // 2 :]}"


def _zip_reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Callable[[], bytes]:
    def read() -> bytes:
        # The size in the listing is what the zip claims; only what really comes out is counted.
        try:
            with archive.open(info) as member:
                content = member.read(MAX_BYTES + 1)
        except (*_DAMAGED, NotImplementedError, MemoryError) as error:
            raise Refused(f"Not read: {name} is damaged ({error}).") from None
        if len(content) > MAX_BYTES:
            raise Refused(f"Not read: {name} unpacks to more than {MAX_BYTES >> 20} MB.")
        return content

    return read


def _nothing(parts: tuple[str, ...]) -> Entry:
    """A folder, or a file that is not read."""

    def read() -> bytes:
        raise Refused(f"Not read: {'/'.join(parts)}.")

    return Entry(parts, datetime(1980, 1, 1, tzinfo=UTC), read, is_refused=True)


def _in_folder(folder: Path, notes: list[str]) -> Iterator[Entry]:
    unread: dict[str, list[str]] = defaultdict(list)
    closed: list[Entry] = []

    def refuse(parts: tuple[str, ...], why: str) -> Entry:
        unread[parts[0]].append(shortened(f"Not read: {'/'.join(filter(None, parts))} {why}"))
        return _nothing(parts)

    def cannot_open(error: OSError) -> None:
        parts = Path(error.filename).relative_to(folder).parts
        if not parts:
            raise GradingError(f"{folder} could not be read: {error.strerror}.") from None
        closed.append(refuse((*parts, ""), f"({error.strerror})."))

    for place, folders, files in os.walk(folder, onerror=cannot_open):
        here = Path(place).relative_to(folder).parts
        folders[:] = sorted(name for name in folders if not _IGNORED.match(name))
        if here:
            yield _nothing((*here, ""))
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
    for some in unread.values():
        notes += first_of(some)


def _file_reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            content = read_plain(path, MAX_BYTES + 1)  # it may have become a link since it was listed
        except OSError as error:
            raise Refused(f"Not read: {path.name} ({error.strerror}).") from None
        if len(content) > MAX_BYTES:
            raise Refused(f"Not read: {path.name} is larger than {MAX_BYTES >> 20} MB.")
        return content

    return read


def _parts(name: str) -> tuple[str, ...]:
    """The path's parts. Raises Refused for a name that leads out of the folder it is unpacked in."""
    if "\x00" in name or name.startswith(("/", "\\")) or re.match(r"^[A-Za-z]:", name):
        raise Refused(f"{name!r} would be written outside its folder.")
    parts = tuple(part for part in re.split(r"[/\\]", name) if part not in ("", "."))
    if not parts or ".." in parts:
        raise Refused(f"{name!r} would be written outside its folder.")
    return parts


def _zip_time(info: zipfile.ZipInfo) -> datetime:
    """A zip's times have no zone; they are taken for UTC."""
    try:
        return datetime(*info.date_time, tzinfo=UTC)
    except ValueError:
        return datetime(1980, 1, 1, tzinfo=UTC)


def _file_time(seconds: float) -> datetime:
    """A file's time; one that no calendar has counts as the oldest."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime(1980, 1, 1, tzinfo=UTC)
