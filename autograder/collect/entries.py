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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

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
    MemoryError,
)


class Refused(Exception):
    """An entry is not read. The text is a sentence with the reason."""


@dataclass(frozen=True)
class Entry:
    """One file: the parts of its path inside the source, its time of change (in an order), and a function that reads it.

    A folder is represented by a file with the name "" in it. Folders and refused files only show that a student is in the
    download: nothing reads them.
    """

    parts: tuple[str, ...]
    modified: Any = None
    content: Callable[[int], bytes] | None = None

    @property
    def path(self) -> str:
        """The path inside the source, for sentences."""
        return "/".join(self.parts)

    def read(self) -> bytes:
        """The content. Raises ``Refused`` for a file that is too large, damaged or not read."""
        try:
            # A zip's listing may claim a wrong size, so the bytes are counted.
            content = self.content(MAX_BYTES + 1) if self.content is not None else None
        except _DAMAGED as error:
            why = getattr(error, "strerror", None) or f"damaged: {error}"
            raise Refused(f"Not read: {self.path} ({why}).") from None
        if content is None or len(content) > MAX_BYTES:
            why = f" is larger than {MAX_BYTES >> 20} MB" if content is not None else ""
            raise Refused(f"Not read: {self.path}{why}.")
        return content


class _Listing:
    """The entries of a folder or zip, and sentences about refused files, for each student (first part of the path)."""

    def __init__(self) -> None:
        self.held: dict[tuple[str, ...], Entry] = {}
        self._unread: dict[str, list[str]] = defaultdict(list)

    def add(self, *entry: Any) -> None:
        """Add the file, unless its path has a name that is ignored."""
        new = Entry(*entry)
        if not any(map(_IGNORED.match, new.parts)) and (new.content or new.parts not in self.held):
            self.held[new.parts] = new

    def refuse(self, student: str, sentence: str) -> None:
        """Note that a file is not read."""
        self._unread[student].append(f"Not read: {shortened(sentence)}")

    def entries(self, notes: list[str]) -> list[Entry]:
        """The entries. Adds the sentences to ``notes``."""
        notes += [note for of_one in self._unread.values() for note in first_of(of_one)]
        return list(self.held.values())


def entries(source: Path, notes: list[str]) -> list[Entry]:
    """All readable files of a folder or zip. Adds sentences about refused files to ``notes``."""
    if source.is_dir():
        return _in_folder(source).entries(notes)
    if not source.exists():
        raise GradingError(f"{source} does not exist: give the downloaded zip or the folder.")
    try:
        return _in_zip(source, "").entries(notes)
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
        inner = _in_zip(io.BytesIO(content), f"{entry.path}: ").entries(notes)
    except Refused as refused:
        notes.append(str(refused))
        return []
    return [Entry((*entry.parts, *one.parts), entry.modified, one.content) for one in inner if one.content]


def _in_zip(source: Path | io.BytesIO, where: str) -> _Listing:
    """The files of a zip. ``where`` begins the sentences about a student's zip; "" for the class's."""
    try:
        # The archive stays open while entries may be read; it closes when the last entry is garbage-collected.
        archive = zipfile.ZipFile(source)
    except _DAMAGED as error:
        raise Refused(f"{where}the zip is damaged ({error}).") from None
    found = _Listing()
    for info in archive.infolist():
        name = _name(info)
        parts = tuple(part for part in re.split(r"[/\\]", name) if part not in ("", "."))
        leads_out = re.match(r"[/\\]|[A-Za-z]:", name) or "\x00" in name or ".." in parts or not parts
        why = {
            f"{name!r} would be written outside its folder.": leads_out,
            f"{name} (deeper than {DEEPEST} folders).": len(parts) > DEEPEST,
            f"{name} is a link.": stat.S_ISLNK(info.external_attr >> 16),
            f"{name} is encrypted.": info.flag_bits & 1,
            f"{name} is packed in an unusual way: pack it with the system's own zip.": (
                where and info.compress_type not in _BOUNDED  # a student packed it
            ),
        }
        is_folder, refused = name.endswith("/"), next((sentence for sentence in why if why[sentence]), "")
        if refused and not is_folder:
            found.refuse("" if where else name.split("/")[0], f"{where}{refused}")
        if is_folder or refused:
            if not leads_out:
                found.add((*parts, "") if is_folder else parts[:DEEPEST])
        else:
            found.add(parts, info.date_time, partial(_unpacked, archive, info))
    return found


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    with archive.open(info) as member:
        return member.read(most)


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


def _in_folder(folder: Path) -> _Listing:
    found = _Listing()

    def refuse(parts: tuple[str, ...], why: str) -> None:
        found.refuse(parts[0], f"{'/'.join(filter(None, parts))} {why}")
        found.add(parts)

    def cannot_open(error: OSError) -> None:
        parts = Path(error.filename).relative_to(folder).parts
        if not parts:
            raise GradingError(f"{folder} could not be read: {error.strerror}.") from None
        refuse((*parts, ""), f"({error.strerror}).")

    for place, folders, files in os.walk(folder, onerror=cannot_open):
        here = Path(place).relative_to(folder).parts
        folders[:] = sorted(name for name in folders if not _IGNORED.match(name))
        if here:
            found.add((*here, ""))
        if len(here) == DEEPEST and folders:
            refuse((*here, folders[0], ""), f"(deeper than {DEEPEST} folders).")
            folders.clear()
        for name in sorted([*(file for file in files if not _IGNORED.match(file)), *folders]):
            path, parts = Path(place, name), (*here, name)
            try:
                status = path.lstat()
            except OSError as error:
                refuse(parts, f"({error.strerror}).")
                continue
            if stat.S_ISLNK(status.st_mode):
                refuse(parts if "." in name else (*parts, ""), "is a link.")
            elif stat.S_ISREG(status.st_mode):
                found.add(parts, status.st_mtime, partial(read_plain, path))
            elif not stat.S_ISDIR(status.st_mode):
                refuse(parts, "is no plain file.")
    return found
