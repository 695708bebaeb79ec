"""The record of a live class: every notebook with its receipt and verdict, and people's decisions.

The notebooks are files; all else is one SQLite database that waits for the disk at each commit (``synchronous = FULL``).
A row is written after its notebook has reached the disk, and a receipt is given after its row has. So whatever ends the
process, or the machine: who has a receipt is graded, and a verdict that is there is not made again. Nothing deletes an attempt.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder.errors import GradingError, UserError
from autograder.results import UNREAD, SubmissionResult

#: All of an attempt but its result, which may be large, and lies in a table of its own so that lists never read past it.
_LISTED = "id, lab, student, number, receipt, digest, size, received, graded, status, score, fault, points"

#: Without 0, 1, I and O, which people read aloud wrongly.
_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass(frozen=True)
class Verdict:
    """The summary of an attempt's result for lists and counts; ``Journal.result`` has the whole."""

    status: str
    score: float
    #: Whether the grader itself failed.
    fault: bool = False
    #: question -> points
    points: dict[str, float] = field(default_factory=dict, hash=False)

    @property
    def readable(self) -> bool:
        """Whether there was a notebook to grade."""
        return self.status not in UNREAD


@dataclass(frozen=True)
class Attempt:
    """One notebook that came in. ``verdict`` is that under inputs of its own; None until there is one."""

    id: int
    lab: str
    student: str
    #: 1 for the student's first of this lab.
    number: int
    receipt: str
    #: SHA-256 of the notebook.
    digest: str
    size: int
    #: When it was on disk, in seconds since 1970.
    received: float
    verdict: Verdict | None = None
    graded: float | None = None

    @property
    def received_at(self) -> str:
        """When it came in, as nbgrader writes times."""
        return f"{datetime.fromtimestamp(self.received, UTC):%Y-%m-%d %H:%M:%S} UTC"

    @property
    def counted(self) -> bool:
        """Whether it uses up one of the student's attempts: not where the grader itself failed."""
        return self.verdict is None or not self.verdict.fault


@dataclass(frozen=True)
class Event:
    """An action of the team, or of a student who asks for a regrade."""

    id: int
    at: float
    who: str
    what: str
    lab: str
    student: str
    details: dict[str, Any]


class Refused(UserError):
    """A notebook that is not taken: one sentence for the student. ``retry_after``: in how many seconds it would be."""

    def __init__(self, sentence: str, retry_after: float | None = None):
        super().__init__(sentence)
        self.retry_after = retry_after


#: Raises ``Refused`` where a student with these attempts at a lab may not hand in now.
Allowed = Callable[[Sequence[Attempt]], None]


class Journal:
    """The folder of a live class. Its methods may be called from any thread."""

    def __init__(self, folder: Path):
        # Resolved: a notebook that lies behind a link is not graded.
        self.folder = folder.resolve()
        self.incoming = self.folder / "incoming"
        self._lock = threading.RLock()
        try:
            self.incoming.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = sqlite3.connect(
                self.folder / "journal.db", isolation_level=None, check_same_thread=False
            )
            self._db.row_factory = sqlite3.Row
            with self._database():
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.executescript(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
        except OSError as error:
            raise UserError(f"The folder {folder} cannot be written to: {error.strerror}.") from None
        _to_disk(self.folder)

    def close(self) -> None:
        """Let go of the files."""
        with self._lock:
            self._db.close()

    # Notebooks

    def receive(self, lab: str, student: str, file: Path, allowed: Allowed) -> tuple[Attempt, bool]:
        """Take a notebook that lies in ``incoming``: the attempt, and whether it is new.

        The bytes of the student's last attempt once more are that attempt. Raises ``Refused`` when ``allowed`` does.
        When this returns, the notebook and its row have reached the disk.
        """
        digest, size = _digest_on_disk(file)
        with self._lock:
            earlier = self.attempts(lab, student)
            if earlier and earlier[-1].digest == digest:
                file.unlink()
                return earlier[-1], False
            allowed(earlier)
            receipt = f"{lab[:2]}-" + "".join(secrets.choice(_LETTERS) for _ in range(10))
            place = self.notebook(lab, receipt)
            if not place.parent.is_dir():
                place.parent.mkdir(parents=True, mode=0o700)
                for folder in (place.parent, *place.parent.parents[:2]):
                    _to_disk(folder)
            os.replace(file, place)
            _to_disk(place.parent)
            attempt = Attempt(0, lab, student, len(earlier) + 1, receipt, digest, size, time.time())
            with self._database():
                added = self._db.execute(
                    "INSERT INTO attempts (lab, student, number, receipt, digest, size, received) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (lab, student, attempt.number, receipt, digest, size, attempt.received),
                )
            return replace(attempt, id=added.lastrowid or 0), True

    def notebook(self, lab: str, receipt: str) -> Path:
        """Where the notebook of a receipt lies."""
        return self.folder / "notebooks" / lab / f"{receipt}.ipynb"

    def finish(self, attempt: Attempt, result: SubmissionResult) -> bool:
        """Keep the verdict on an attempt, unless it has one; whether this one was kept."""
        with self._change():
            done = self._db.execute(
                "UPDATE attempts SET graded = ? WHERE id = ? AND graded IS NULL", (time.time(), attempt.id)
            )
            if done.rowcount == 1:
                self._write(attempt.id, result)
        return done.rowcount == 1

    def _write(self, number: int, result: SubmissionResult) -> None:
        points = json.dumps({question.name: question.points for question in result.questions})
        self._db.execute(
            "UPDATE attempts SET status = ?, score = ?, fault = ?, points = ? WHERE id = ?",
            (result.status, result.score, bool(result.fault), points, number),
        )
        text = json.dumps(replace(result, notebook="").as_dict())
        self._db.execute("INSERT OR REPLACE INTO results VALUES (?, ?)", (number, text))

    def result(self, attempt: Attempt) -> SubmissionResult | None:
        """The whole result of an attempt; None until there is one."""
        rows = self._run("SELECT result FROM results WHERE attempt = ?", attempt.id)
        return _result(rows[0][0]) if rows else None

    def attempts(self, lab: str, student: str | None = None) -> list[Attempt]:
        """The attempts at a lab, of one student or of all, in the order in which they came."""
        if student is None:
            return self._attempts("WHERE lab = ?", lab)
        return self._attempts("WHERE lab = ? AND student = ?", lab, student)

    def attempt(self, number: int) -> Attempt:
        """The attempt with this id."""
        return self._attempts("WHERE id = ?", number)[0]

    def of_receipt(self, receipt: str) -> Attempt | None:
        """The attempt with this receipt."""
        found = self._attempts("WHERE receipt = ?", receipt)
        return found[0] if found else None

    def open(self) -> list[Attempt]:
        """The attempts without a verdict."""
        return self._attempts("WHERE graded IS NULL")

    def judge_again(self, attempt: Attempt, who: str) -> None:
        """Take an attempt's verdict away, which the log keeps: it will be made again."""
        result = self.result(attempt)
        kept = result.as_json() if result is not None else None
        with self._lock:
            self.log(who, "regrade", attempt.lab, attempt.student, receipt=attempt.receipt, verdict=kept)
            with self._change():
                self._db.execute(
                    "UPDATE attempts SET graded = NULL, status = NULL, score = NULL, fault = NULL, points = NULL WHERE id = ?",
                    (attempt.id,),
                )
                self._db.execute("DELETE FROM results WHERE attempt = ?", (attempt.id,))

    def _attempts(self, where: str, *values: object) -> list[Attempt]:
        rows = self._run(f"SELECT {_LISTED} FROM attempts {where} ORDER BY id", *values)
        return [_attempt(dict(row)) for row in rows]

    # People

    def invite(self, student: str, *, team: bool = False) -> str:
        """A new token for somebody; one that they had is worth nothing from now on. Only its digest is kept."""
        token = secrets.token_urlsafe(24)
        with self._lock:
            self._run("DELETE FROM invitations WHERE student = ?", student)
            self._run("INSERT INTO invitations VALUES (?, ?, ?)", digest_of_token(token), student, team)
        return token

    def invited(self, digest: str) -> tuple[str, bool] | None:
        """The person whose token has this digest, and whether they belong to the team."""
        rows = self._run("SELECT student, team FROM invitations WHERE token = ?", digest)
        return (rows[0][0], bool(rows[0][1])) if rows else None

    def everybody_invited(self) -> set[str]:
        """All who have a token."""
        return {name for (name,) in self._run("SELECT student FROM invitations")}

    def digest_of(self, student: str, *, team: bool) -> str:
        """The digest of the token by which somebody is known, for whom another system vouches; without a token they get one."""
        with self._lock:
            self._run("UPDATE invitations SET team = ? WHERE student = ?", team, student)
            rows = self._run("SELECT token FROM invitations WHERE student = ?", student)
            return str(rows[0][0]) if rows else digest_of_token(self.invite(student, team=team))

    def is_team(self, name: str) -> bool | None:
        """Whether somebody with a token is of the team; None for nobody."""
        rows = self._run("SELECT team FROM invitations WHERE student = ?", name)
        return bool(rows[0][0]) if rows else None

    # What is known of another system

    def note(self, kind: str, name: str, value: Any) -> None:
        """Note a value (JSON) in place of what was noted under this name."""
        query = "INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)"
        self._run(query, kind, name, time.time(), json.dumps(value))

    def notes(self, kind: str) -> dict[str, Any]:
        """Everything that was noted of this kind."""
        rows = self._run("SELECT name, value FROM notes WHERE kind = ?", kind)
        return {name: json.loads(value) for name, value in rows}

    def noted(self, kind: str, name: str) -> Any:
        """The value noted under this name; None without one."""
        rows = self._run("SELECT value FROM notes WHERE kind = ? AND name = ?", kind, name)
        return json.loads(rows[0][0]) if rows else None

    def is_first_use(self, kind: str, name: str, seconds: float) -> bool:
        """Note that something is used, which nobody may use again; forget what was used so many seconds ago."""
        now = time.time()
        with self._change():
            self._db.execute("DELETE FROM notes WHERE kind = ? AND at < ?", (kind, now - seconds))
            row = (kind, name, now, "null")
            return self._db.execute("INSERT OR IGNORE INTO notes VALUES (?, ?, ?, ?)", row).rowcount == 1

    # The log

    def log(self, who: str, what: str, lab: str = "", student: str = "", **details: Any) -> None:
        """Note what somebody did."""
        query = "INSERT INTO events (at, who, what, lab, student, details) VALUES (?, ?, ?, ?, ?, ?)"
        self._run(query, time.time(), who, what, lab, student, json.dumps(details, ensure_ascii=False))

    def events(
        self, *what: str, lab: str | None = None, student: str | None = None, last: int = -1
    ) -> list[Event]:
        """The events of these kinds in order, or only the ``last`` so many."""
        query = f"SELECT * FROM events WHERE what IN ({', '.join('?' * len(what))})"
        values: list[str | int] = list(what)
        for column, value in (("lab", lab), ("student", student)):
            if value is not None:
                query, values = f"{query} AND {column} = ?", [*values, value]
        rows = self._run(f"{query} ORDER BY id DESC LIMIT ?", *values, last)
        return [Event(**{**dict(row), "details": json.loads(row["details"])}) for row in reversed(rows)]

    def _run(self, query: str, *values: object) -> list[sqlite3.Row]:
        """Run one statement; the rows that it gives."""
        with self._database():
            return self._db.execute(query, values).fetchall()

    @contextmanager
    def _database(self) -> Iterator[None]:
        """Hold the database; what it refuses becomes a sentence."""
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise GradingError(
                    f"The journal in {self.folder} cannot be read or written ({error}): nothing is taken until it can be."
                ) from error

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Several statements that take effect together or not at all."""
        with self._database():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk may have undone it already
                    self._db.execute("ROLLBACK")
                raise


def _attempt(row: dict[str, Any]) -> Attempt:
    status, score, fault, points = (row.pop(name) for name in ("status", "score", "fault", "points"))
    if row["graded"] is None:
        return Attempt(**row)
    return Attempt(**row, verdict=Verdict(status, score, bool(fault), json.loads(points)))


@lru_cache(maxsize=500)
def _result(stored: str) -> SubmissionResult:
    """A result as it is stored. Whoever waits for one asks for their newest ones each time."""
    return SubmissionResult.from_dict(json.loads(stored))


def digest_of_token(token: str) -> str:
    """The digest of a token, from which nobody can compute the token."""
    return hashlib.sha256(token.encode("utf-8", "backslashreplace")).hexdigest()


def _digest_on_disk(file: Path) -> tuple[str, int]:
    """SHA-256 and size of a file, once its bytes have reached the disk."""
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
        os.fsync(opened.fileno())
        return digest, os.fstat(opened.fileno()).st_size


def _to_disk(folder: Path) -> None:
    """Wait until what a folder names has reached the disk, where the file system knows how to."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (
            errno.EINVAL,
            errno.ENOTSUP,
        ):  # some network drives: files they do, folders not
            raise
    finally:
        os.close(descriptor)
