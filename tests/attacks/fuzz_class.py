"""Twisted zips, times and names, for ``python -m tests.attacks.fuzz``: what a class is collected from."""

from __future__ import annotations

import io
import os
import random
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.collect.collect import collect
from autograder.course.masters import lab_name
from autograder.errors import UserError
from autograder.files import folder_name, parse_time
from autograder.gradebook.writer import storable
from autograder.pages.render import plain

from .fuzz_downloads import read_download, twisted_downloads

LAB = lab_name("01")
_KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_PIECES = (
    *("ada", "bo", "_", "-", "/", "\\", "..", ".", " ", ":", "a:b", "LATE_", "12", "_1_2_", "_3_assignsubmission_file_"),
    *(".github/", ".ipynb", ".zip", f"{LAB}/", f"{LAB}.ipynb", "timestamp.txt", "é", "e\u0301", "\u202e", "\x1b[2J"),
    *("<img src=x onerror=a()>", "&", '"', "'", "`", "CON", "\udcff", "\ud800", "\0", "\n", "x" * 260, "-0123456789abcdef"),
)  # fmt: skip


def _name(rng: random.Random) -> str:
    return "".join(rng.choice(_PIECES) for _ in range(rng.randint(1, 5)))


_BYTES = (b"\xff" * 4, b"\0" * 4, b"PK\x01\x02", b"PK\x05\x06", b"\xff" * 7 + b"\x7f", b"\0" * 7 + b"\x80")


def changed(content: bytes, rng: random.Random, times: Sequence[int] = (1, 1, 2, 6)) -> bytes:
    """The content with some bytes flipped, added, removed, repeated or replaced."""
    data = bytearray(content)
    for _ in range(rng.choice(times)):
        at, other = rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)
        match rng.randrange(5):
            case 0 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 1:
                data[at:at] = rng.randbytes(rng.randint(1, 8))
            case 2:
                del data[at : at + rng.choice((1, 8, 60))]
            case 3:
                data[at:at] = data[other : other + rng.randint(1, 30)]
            case _:
                value = rng.choice(_BYTES)
                data[at : at + len(value)] = value
    return bytes(data)


def twisted_zips(rng: random.Random) -> Iterator[bytes]:
    """Downloads of a few students, with odd names, a zip in a zip now and then, and bytes changed."""
    while True:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", rng.choice(_KINDS)) as archive:
            for student in range(rng.randint(1, 4)):
                inner = io.BytesIO()
                with zipfile.ZipFile(inner, "w", rng.choice(_KINDS)) as packed:
                    packed.writestr(f"{LAB}.ipynb", b'{"cells": []}' * 20)
                content, end = rng.choice(((b'{"cells": []}' * 20, ".ipynb"), (inner.getvalue(), ".zip")))
                name = rng.choice(
                    (f"s{student}/{LAB}/{LAB}{end}", f"s{student}_{student}_9_{LAB}{end}", _name(rng))
                )
                archive.writestr("n" + name.encode("utf-8", "replace").decode(), content)
                if rng.random() < 0.3:
                    archive.writestr(f"s{student}/{LAB}/timestamp.txt", next(twisted_times(rng)))
        yield changed(buffer.getvalue(), rng, (0, 1, 1, 3, 20))


def read_zip(data: bytes) -> str:
    """Collect it: notebooks, or a sentence, and nothing outside the folder."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as home:
        source, out = Path(home, "in.zip"), Path(home, "out", "submitted")
        source.write_bytes(data)
        try:
            done = collect(source, out, LAB)
        except UserError as error:
            assert str(error)
            return "refused"
        finally:
            assert {path.name for path in Path(home).iterdir()} <= {"in.zip", "out"}
        assert len(done.students) == len({folder_name(student) for student in done.students})
        return "collected"


_TIME_PIECES = (
    *("2026", "-", "11", "-", "20", " ", "T", "10", ":", "00", ":", "99", ".5", "UTC", "Z", "+14:00", "-99:99", "0001", "9999", "AM"),
    *("Nov", "Fri", "é", "٢٠٢٦", "\0", "9" * 30, "1e9", "nan", ",", "/", "W", "٠", "\u202e", "(", "'"),
)  # fmt: skip


def twisted_times(rng: random.Random) -> Iterator[bytes]:
    """What may stand in the first line of timestamp.txt."""
    while True:
        text = rng.choice(("2026-11-20 10:00:00 UTC", "", "2026-11-20T10:00:00+02:00"))
        at = rng.randrange(len(text) + 1)
        middle = "".join(rng.choice(_TIME_PIECES) for _ in range(rng.randint(0, 8)))
        yield (text[:at] + middle + text[at + rng.randrange(4) :]).encode("utf-8", "surrogatepass")


def read_time(data: bytes) -> str:
    """A time that every page, and the gradebook, can hold; or none."""
    time = parse_time(data.decode("utf-8", "replace"))
    if time is None:
        return "no time"
    assert time.tzinfo is None and 1970 < time.year < 2200
    return "a time"


def twisted_names(rng: random.Random) -> Iterator[bytes]:
    """What a student's folder may be called."""
    while True:
        yield _name(rng).encode("utf-8", "surrogatepass")


def read_name(data: bytes) -> str:
    """The folder, the gradebook's row and the console's text: none is obeyed by anything, and none is another's."""
    name = data.decode("utf-8", "surrogatepass")
    folder = folder_name(name)
    assert folder and not set(folder) & set('/\\:<>"&`\0\n\x1b\u202e') and folder not in (".", "..")
    assert len(folder.encode()) <= 255 and storable(name) == folder
    assert folder == name or folder_name(folder) != folder
    assert not set(plain(name)) & set("\x1b\u202e\0")
    return "as it is" if folder == name else "made"


READERS = {
    "downloads": (twisted_downloads, read_download),
    "zips": (twisted_zips, read_zip),
    "times": (twisted_times, read_time),
    "names": (twisted_names, read_name),
}
