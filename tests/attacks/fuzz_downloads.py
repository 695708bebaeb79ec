"""Downloads of a class in which one or two call themselves and their files what they like: the others keep what they had.

Each input is a number, from which a class, the lists that a teacher has, and somebody who makes mischief are drawn. The class is collected without and
with them, and put beside the learning system's list of it. Nobody gets a classmate's notebook, time or row; what the
others lose is in the notes.
"""

from __future__ import annotations

import csv
import os
import random
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from autograder.collect.collect import collect
from autograder.course.class_list import ClassList, read_class_list
from autograder.course.lists import read_list
from autograder.course.masters import lab_name
from autograder.errors import UserError
from autograder.exports.matching import match

LAB = lab_name("01")
_FIRST = ("Ada", "Bo", "Chloé", "Dan", "Eva", "Ada", "Jürgen", "Li", "Mary Ann", "O'Neil")
_LAST = ("Lovelace", "Li", "Müller", "van Dyk", "Smith-Jones", "1984", "Ng", "Lovelace")


@dataclass(frozen=True)
class _Student:
    first: str
    last: str
    login: str
    number: int
    upload: int
    hour: int

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def canvas(self) -> str:
        return "".join(letter for letter in (self.last + self.first).lower() if letter.isalnum())

    @property
    def mail(self) -> str:
        return f"{self.login}@example.edu"

    @property
    def words(self) -> tuple[str, ...]:
        """Whatever some list calls this student."""
        numbered = (
            f"i{self.number}",
            f"{self.canvas}_{self.number}",
            f"{self.name}_{self.number}",
            str(self.number),
        )
        names = (self.login, self.mail, self.name, f"{self.last}, {self.first}", self.canvas)
        return *numbered, *names


def twisted_downloads(rng: random.Random) -> Iterator[bytes]:
    """Numbers: a class for each."""
    while True:
        yield rng.randbytes(8)


def _class(rng: random.Random) -> list[_Student]:
    count = rng.randint(3, 7)
    numbers = rng.sample(range(1, 9000), count)
    made: list[_Student] = []
    for place in range(count):
        first, last = rng.choice(_FIRST), rng.choice(_LAST)
        short = "".join(letter for letter in first.lower() if letter.isascii() and letter.isalpha())
        login = rng.choice((f"{short}{place}", f"{short}-{place}", str(80_000 + place), f"{short}_{place}"))
        made.append(_Student(first, last, login, numbers[place], 1000 + 7 * place, place))
    return made


def _chosen(rng: random.Random, students: Sequence[_Student]) -> str:
    """What somebody may call themselves: a classmate's words, altered a little, one or two of them."""
    words = [rng.choice(rng.choice(students).words) for _ in range(rng.choice((1, 1, 2)))]
    name = rng.choice(("", "_", "-", " ")).join(words)
    match rng.randrange(8):
        case 0:
            name = name.upper()
        case 1:
            name = unicodedata.normalize("NFD", name)
        case 2:
            name = rng.choice((" ", "_", "-", "LATE_")) + name
        case 3:
            name += rng.choice((" ", "-1", ".ipynb", "_1", "_4000_5000_x", ".zip"))
        case _:
            pass
    return name.replace("/", "")


def _files(kind: str, name: str, number: int, upload: int, file: str) -> list[str]:
    """The paths of one hand-in. Number and upload are the system's; name and file are the student's own choice."""
    if kind == "canvas":
        return [f"{name}_{number}_{upload}_{file}"]
    if kind == "moodle":
        return [f"{name}_{number}_assignsubmission_file_/{file}"]
    return [f"{name}/{file}"]


def _possible(kind: str, name: str, students: Sequence[_Student]) -> bool:
    """Whether the system lets somebody be called so. Canvas and Moodle put a number behind whatever name."""
    taken = {_honest(kind, one) for one in students}
    return bool(name.strip()) and (kind != "plain" or name.strip().removesuffix(".zip") not in taken)


def _honest(kind: str, one: _Student) -> str:
    return {"canvas": one.canvas, "moodle": one.name}.get(kind, one.login)


def _written(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _time_row(kind: str, one: _Student, with_numbers: bool) -> dict[str, object]:
    time = f"2026-03-02 {one.hour:02}:00:00+0000"
    participant = {"Identifier": f"Participant {one.number}"}
    match kind:
        case "canvas":
            number = {"user_id": one.number} if with_numbers else {"SIS Login ID": one.login}
            return {**number, "Student": one.name, "submitted_at": time}
        case "moodle":
            known = participant if with_numbers else {"Email address": one.mail}
            return {**known, "Full name": one.name, "Last modified (submission)": time}
    return {"student": one.login, "time": time}


def _gradebook_row(kind: str, s: _Student) -> dict[str, object]:
    if kind == "canvas":
        return {"Student": f"{s.last}, {s.first}", "ID": s.number, "SIS Login ID": s.login, "Section": "a"}
    return {"Identifier": f"Participant {s.number}", "Full name": s.name, "Email address": s.mail}


def _collected(
    home: Path, files: Mapping[str, bytes], kind: str, people: ClassList, times: Path | None
) -> tuple[dict[str, tuple[bytes, str]], str]:
    """Folder -> notebook and time; and all that was said."""
    source, out = home / "in", home / "out"
    for path, content in files.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes(content)
    with mock.patch("autograder.collect.collect.class_list", lambda: people):
        done = collect(source, out, LAB, kind=kind, times=times)
    found = {}
    for folder in out.iterdir():
        notebook, time = folder / LAB / f"{LAB}.ipynb", folder / LAB / "timestamp.txt"
        if notebook.exists():
            found[folder.name] = notebook.read_bytes(), time.read_text() if time.exists() else ""
    return found, "\n".join(done.notes)


def read_download(data: bytes) -> str:
    """Collect the class without and with the one who makes mischief."""
    rng = random.Random(data)
    students = _class(rng)
    kind = rng.choice(("canvas", "moodle", "plain"))
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        home = Path(folder)
        rogues = [
            _Student("Mallory", "M", f"m{n}", 9990 + n, 2000 + n, 23) for n in range(rng.choice((1, 1, 1, 2)))
        ]
        listed = [*students, *(rogues if rng.random() < 0.7 else [])]
        people = ClassList()
        if rng.random() < 0.7:
            ids = [{"id number": f"i{s.number}", "canvas id": s.number} for s in listed]
            rows = [
                {"student": s.login, "name": s.name, "email": s.mail, **i}
                for s, i in zip(listed, ids, strict=True)
            ]
            people = read_class_list(_written(home / "roster.csv", rows))
        mine = {
            path: f"{s.number}".encode()
            for s in students
            for path in _files(kind, _honest(kind, s), s.number, s.upload, "x.ipynb")
        }
        with_numbers, with_times = rng.random() < 0.8, rng.random() < 0.7
        rows = [_time_row(kind, s, with_numbers) for s in students]
        now_rows, now_students, files = list(rows), list(students), dict(mine)
        for rogue in rogues:
            name, file = _chosen(rng, students), rng.choice(("x.ipynb", f"{_chosen(rng, students)}.ipynb"))
            theirs = _files(kind, name, rogue.number, rogue.upload, file)
            too_long = any(len(part.encode()) > 250 for path in theirs for part in path.split("/"))
            if too_long or not _possible(kind, name, now_students):
                return "no such download"
            login = name if kind == "plain" else rogue.login
            now = replace(rogue, first=name, last="", login=login)
            now_students.append(now)
            now_rows.append(_time_row(kind, now, with_numbers))
            files |= dict.fromkeys(theirs, b"mischief")
        before = _run(home / "a", mine, kind, people, rows if with_times else None)
        after = _run(home / "b", files, kind, people, now_rows if with_times else None)
        if isinstance(before, str):
            return "refused without mischief"
        assert not isinstance(after, str), f"ended the class: {after}"
        kept, (found, notes) = before[0], after
        for student, (notebook, time) in kept.items():
            places = [place for place, (content, _) in found.items() if content == notebook]
            assert len(places) == 1, f"{student}'s notebook is in {places}"
            assert places == [student] or "kept apart" in notes, f"{student} became {places}"
            now_at = found[places[0]][1]
            assert now_at == time or (not now_at and places[0] in notes), (
                f"{student}'s time {time!r} became {now_at!r}"
            )
        for place, (content, _) in found.items():
            assert content != b"mischief" or place not in kept, f"mischief is {place}"
        if kind in ("canvas", "moodle"):
            _rows_are_kept(kind, now_students, people, list(kept), found, home)
        return "collected"


def _run(
    home: Path,
    files: Mapping[str, bytes],
    kind: str,
    people: ClassList,
    rows: Sequence[Mapping[str, object]] | None,
) -> tuple[dict[str, tuple[bytes, str]], str] | str:
    home.mkdir()
    try:
        return _collected(home, files, kind, people, _written(home / "times.csv", rows) if rows else None)
    except UserError as error:
        return str(error)


def _rows_are_kept(
    kind: str,
    students: Sequence[_Student],
    people: ClassList,
    kept: Sequence[str],
    found: Mapping[str, tuple[bytes, str]],
    home: Path,
) -> None:
    """Each row of the system's list is for the one whose number stands there, or for nobody, and that is said."""
    system = "canvas" if kind == "canvas" else "moodle-worksheet"
    table = read_list(_written(home / "gradebook.csv", [_gradebook_row(kind, one) for one in students]))
    try:
        match(system, table, kept, people)
    except UserError:
        return
    rows = match(system, table, found, people)
    for row, folder in rows.students.items():
        right = b"mischief" if students[row].hour == 23 else str(students[row].number).encode()
        assert found[folder][0] == right, f"row of {students[row].name} is for {folder}"
    missing = {folder for folder in found if folder not in rows.students.values()}
    assert missing <= {*rows.lost, *rows.renamed, *rows.doubled}, f"{missing} have no row, and it is not said"
