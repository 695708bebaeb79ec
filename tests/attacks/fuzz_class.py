"""Twisted zips, course files, class lists, times and names, for ``python -m tests.attacks.fuzz``: what a class is collected and planned from."""

from __future__ import annotations

import atexit
import io
import os
import random
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from autograder.collect.collect import collect
from autograder.course import policy_file
from autograder.course.class_list import read_class_list
from autograder.course.masters import lab_name
from autograder.course.policy import Settings
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


_LINES = (
    'name = "x"', 'timezone = "Europe/Berlin"', 'timezone = "../etc"', "forbidden = \"ask\"", "[late]", "percent_per_day = 10",
    "[limits]", "cell_seconds = 15", "memory_bytes = 1e400", "cell_seconds = nan", "cell_seconds = -1", "[extensions]", "ada = 3",
    '"\\u202e" = 1', "[labs.01]", "[labs.99]", "due = 2026-10-15", "due = 0001-01-01T00:00:00+14:00", "due = 9999-12-31T23:59:59-14:00",
    "due = 10:00:00", "points = { normalise_rows = 4 }", "points = { x = inf }", 'forbid.normalise_rows = ["numpy.divide"]',
    'forbid.normalise_rows = [""]', "[labs.01.extensions]", "bo = 2026-10-20T12:00:00", "bo = 1e9", "[[labs]]", "labs = 3", "[labs.01.late]",
    'salt = 3', "x = " + "[" * 300, "a" * 5000 + " = 1", "'' = 1", "1 = 1_000_000_000_000_000_000_000_000",
)  # fmt: skip


#: What each setting may be, and what nobody should write there.
_GOOD = {
    "": {"name": '"x"', "timezone": '"Europe/Berlin"', "forbidden": '"zero"', "isolation": '"namespaces"', "team": '["t"]', "torch_index": '"file:///x"', "site": '"https://x.example/"'},
    "late": {"percent_per_day": "10", "at_most_percent": "50.5", "grace_minutes": "15"},
    "limits": {"cell_seconds": "30", "memory_bytes": "2_000_000_000", "processes": "9"},
    "extensions": {"ada": "3", '"Bo é"': "0.5"},
    "live": {"verdicts": '"after closing"', "attempts": "5", "pause_minutes": "2", "counts": '"last"'},
    "labs.01": {
        "due": "2026-10-15", "closes": "2026-10-20T18:00:00+02:00", "points": "{ normalise_rows = 4 }",
        "forbid.normalise_rows": '["numpy.divide"]', "extensions.bo": "2026-10-20T12:00:00", "limits.cell_seconds": "3",
    },
    "labs.1.late": {"percent_per_day": "20"},
    "labs.13": {"due": "2026-12-01T08:00:00Z", "live.attempts": "1"},
}  # fmt: skip
_ODD = (
    "nan", "-inf", "1e400", "-1", "0", "true", '""', '"\\u202e"', "[]", "{}", "[[1]]", "07:32:00", "0001-01-01", "9999-12-31T23:59:59-14:00",
    "1970-12-31T23:30:00", "2199-12-31", "9" * 5000, "0x" + "f" * 300, '"../../etc/passwd"', '"x\\u0000"', "{ a = { b = 1 } }", "1979-05-27T00:32:00.999999-07:00",
)  # fmt: skip


def _policy(rng: random.Random) -> str:
    """A course file that says something sensible, a slip apart."""
    lines = []
    for section, settings in _GOOD.items():
        if not section or rng.random() < 0.4:
            lines += [f"[{section}]"] * bool(section)
            chosen = rng.sample(sorted(settings), rng.randint(0, len(settings)))
            lines += [
                f"{key} = {settings[key] if rng.random() < 0.97 else rng.choice(_ODD)}" for key in chosen
            ]
    return "\n".join(lines)


def twisted_course_files(rng: random.Random) -> Iterator[bytes]:
    """Course files with slips, lines of course files in any order, and either with bytes changed."""
    while True:
        odd_lines = (rng.choice(_LINES) for _ in range(rng.randint(1, 8)))
        text = _policy(rng) if rng.random() < 0.7 else "\n".join(odd_lines)
        yield changed(text.encode(), rng) if rng.random() < 0.3 else text.encode()


@cache
def _home() -> str:
    """One folder for all course files: a new name for each would fill Python's table of texts, which never shrinks."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return folder.name


def read_course_file(data: bytes) -> str:
    """Read it as every command does: a policy that can be asked, or a sentence."""
    file = Path(_home(), "course.toml")
    file.write_bytes(data)
    before = os.environ.get("COURSE_FILE")
    os.environ["COURSE_FILE"] = str(file)
    policy_file.use(None)
    try:
        policy = policy_file.settings()
        (
            policy.due(LAB),
            policy.extension(LAB, "bo"),
            policy.penalty(LAB, 20.0, 1e9),
            policy_file.limits_of(LAB),
        )
        assert Settings(**tomllib.loads(policy_file.as_toml(policy))) == policy
        return "a policy"
    except UserError as error:
        assert str(error)
        return "refused"
    finally:
        os.environ.pop("COURSE_FILE")
        if before is not None:
            os.environ["COURSE_FILE"] = before
        policy_file.use(None)


_COLUMNS = (
    "student", "Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Full name", "Vorname", "Nachname", "E-Mail-Adresse",
    "Username", "ID number", "extension", "Points Possible", "", "\ufeffstudent",
)  # fmt: skip
_CELLS = (
    "ada", "bo", "Ada Lovelace", "Lovelace, Ada", "17", "3", "0,5", "nan", "-1", "a@b.de", "", " ", "é", "e\u0301", "ADA", '"', "x\ny",
)  # fmt: skip


def twisted_class_lists(rng: random.Random) -> Iterator[bytes]:
    """Class lists of any columns, separator and encoding, with bytes changed."""
    while True:
        mark, encoding = rng.choice(",,;\t"), rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"))
        columns = rng.sample(_COLUMNS, rng.randint(1, 5))
        rows = [[rng.choice(_CELLS) for _ in columns] for _ in range(rng.randint(0, 4))]
        quoted = ((f'"{cell}"' if rng.random() < 0.2 else cell for cell in row) for row in (columns, *rows))
        data = "\r\n".join(mark.join(row) for row in quoted).encode(encoding, "replace")
        yield changed(data, rng) if rng.random() < 0.5 else data


def read_people(data: bytes) -> str:
    """Read it: people, none of whom can be taken for another, or a sentence."""
    file = Path(_home(), "roster.csv")
    file.write_bytes(data)
    try:
        people = read_class_list(file)
    except UserError as error:
        assert str(error)
        return "refused"
    assert people.people
    for person in people.people:
        assert people.find(person.student) is person
        assert all(people.find(key) is person for key in person.keys)
    return "a class"


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
    "course files": (twisted_course_files, read_course_file),
    "class lists": (twisted_class_lists, read_people),
    "times": (twisted_times, read_time),
    "names": (twisted_names, read_name),
}
