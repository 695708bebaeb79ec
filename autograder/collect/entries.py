"""Lists the files in an untrusted folder or zip: no paths that lead outside, no links, no zip bombs.

Nothing is unpacked. Only chosen entries are read, and only up to a limit.
"""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from autograder.errors import GradingError, Unreadable
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


@dataclass(frozen=True)
class Entry:
    """One file: the parts of its path inside the source, its time of change (in an order), and a function that reads it.

    A folder is represented by a file with the name "" in it. Folders and files that are ``refused``, which is the reason,
    only show that a student is in the download: nothing reads them.
    """

    parts: tuple[str, ...]
    modified: Any = None
    content: Callable[[int], bytes] | None = None
    refused: str = ""

    @property
    def path(self) -> str:
        """The path inside the source, for sentences."""
        return "/".join(self.parts)

    def read(self) -> bytes:
        """The content. Raises ``Unreadable`` for a file that is too large, damaged or not read."""
        try:
            # A zip's listing may claim a wrong size, so the bytes are counted.
            content = self.content(MAX_BYTES + 1) if self.content is not None else b""
        except Exception as error:  # the zip library raises many types for forged bytes
            why = getattr(error, "strerror", None) or f"damaged: {error}"
            raise Unreadable(f"Not read: {self.path} ({why}).") from None
        if len(content) > MAX_BYTES:
            raise Unreadable(f"Not read: {self.path} is larger than {MAX_BYTES >> 20} MB.")
        return content


def entries_in(source: Path, notes: list[str]) -> list[Entry]:
    """All readable files of a folder or zip. Adds sentences about refused files to ``notes``."""
    if not source.exists():
        raise GradingError(f"{source} does not exist: give the downloaded zip or the folder.")
    try:
        found = list(_in_folder(source) if source.is_dir() else _in_zip(source))
    except OSError as error:
        raise GradingError(f"{source} could not be read: {error.strerror}.") from error
    except Unreadable as refused:
        raise GradingError(f"{source} is no zip that can be read: {refused}") from None
    return _held(found, notes)


def _held(found: Iterable[Entry], notes: list[str], where: str = "") -> list[Entry]:
    """The entries whose path has no ignored name, each once. Adds the sentences about refused ones, a few of each student.

    ``where`` begins the sentences about a student's zip.
    """
    held: dict[tuple[str, ...], Entry] = {}
    unread: dict[str, list[str]] = defaultdict(list)
    for entry in found:
        if entry.refused:
            student = "" if where else entry.path.split("/")[0]
            unread[student].append(f"Not read: {shortened(where + entry.refused)}")
        is_ignored = any(map(_IGNORED.match, entry.parts)) or not entry.parts
        if not is_ignored and (entry.content or entry.parts not in held):
            held[entry.parts] = entry
    notes += [note for of_one in unread.values() for note in first_of(of_one)]
    return list(held.values())


def inner_entries(entry: Entry, notes: list[str]) -> list[Entry]:
    """The files of a zip inside the source, with the zip's time. A zip inside that zip is an ordinary file."""
    try:
        content = entry.read()
        if content.count(b"PK\x01\x02") > MAX_INNER_ENTRIES:  # before the zip library makes an object of each
            raise Unreadable(f"{entry.path}: the zip lists more than {MAX_INNER_ENTRIES} files.")
        where = f"{entry.path}: "
        inner = _held(_in_zip(io.BytesIO(content), where), notes, where)
    except Unreadable as refused:
        notes.append(str(refused))
        return []
    return [Entry((*entry.parts, *one.parts), entry.modified, one.content) for one in inner if one.content]


def _in_zip(source: Path | io.BytesIO, where: str = "") -> Iterator[Entry]:
    """Yield each file and folder of a zip. ``where`` names a student's zip."""
    try:
        # The archive stays open while entries may be read; it closes when the last entry is garbage-collected.
        archive = zipfile.ZipFile(source)
    except Exception as error:
        raise Unreadable(f"{where}the zip is damaged ({error}).") from None
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
        refused = next((sentence for sentence in why if why[sentence]), "")
        place = () if leads_out else parts[:DEEPEST]
        if name.endswith("/"):
            yield Entry((*place, "") if place else ())
        elif refused:
            yield Entry(place, refused=refused)
        else:
            yield Entry(place, info.date_time, partial(_unpacked, archive, info))


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


def _in_folder(folder: Path) -> Iterator[Entry]:
    """Yield each file and folder below a folder."""
    closed: list[OSError] = []
    for place, folders, files in os.walk(folder, onerror=closed.append):
        here = Path(place).relative_to(folder).parts
        folders[:] = sorted(name for name in folders if not _IGNORED.match(name))
        if here:
            yield Entry((*here, ""))
        if len(here) == DEEPEST and folders:
            yield _refused((*here, folders[0], ""), f"(deeper than {DEEPEST} folders).")
            folders.clear()
        for name in sorted([*files, *folders]):
            path, parts = Path(place, name), (*here, name)
            try:
                status = path.lstat()
            except OSError as error:
                yield _refused(parts, f"({error.strerror}).")
                continue
            if stat.S_ISREG(status.st_mode):
                yield Entry(parts, status.st_mtime, partial(read_plain, path))
            elif stat.S_ISLNK(status.st_mode):
                yield _refused(parts if "." in name else (*parts, ""), "is a link.")
            elif not stat.S_ISDIR(status.st_mode):
                yield _refused(parts, "is no plain file.")
    for failed in closed:
        parts = Path(failed.filename).relative_to(folder).parts
        if not parts:
            raise failed
        yield _refused((*parts, ""), f"({failed.strerror}).")


def _refused(parts: tuple[str, ...], why: str) -> Entry:
    return Entry(parts, refused=f"{'/'.join(filter(None, parts))} {why}")
