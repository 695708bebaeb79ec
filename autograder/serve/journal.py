"""The record of a live class: every notebook with its receipt and verdict, and the team's decisions.

The notebooks are files. Everything else is in an SQLite database that waits for the disk at each commit (``synchronous =
FULL``). A row is written after its notebook has reached the disk, a receipt is given after its row has. So even after a
crash every notebook with a receipt is graded, and no verdict is made twice. Attempts are never deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder.errors import GradingError, UserError
from autograder.results import UNREAD, SubmissionResult

#: Letters and digits of a receipt, without 0, 1, I and O, which are easily confused.
_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass(frozen=True)
class Attempt:
    """One received notebook and the summary of its verdict, with the team's decisions.

    ``Journal.result`` has the tests' full result, which may be large: lists do not read it.
    """

    id: int
    lab: str
    student: str
    #: The number of the student's attempt at this lab, from 1.
    number: int
    receipt: str
    #: SHA-256 of the notebook.
    digest: str
    #: When it had reached the disk, in seconds since 1970.
    received: float
    #: When it was graded, by its own hidden inputs; None while it has no verdict.
    graded: float | None = None
    status: str = ""
    score: float = 0.0
    #: Whether the grader itself failed.
    fault: bool = False
    #: question -> points
    points: dict[str, float] = field(default_factory=dict, hash=False)

    @property
    def received_at(self) -> str:
        """The time of receipt in nbgrader's format."""
        return f"{datetime.fromtimestamp(self.received, UTC):%Y-%m-%d %H:%M:%S} UTC"

    @property
    def counted(self) -> bool:
        """Whether it counts against the student's attempts; not if the grader itself failed."""
        return self.graded is None or not self.fault

    @property
    def judged(self) -> bool:
        """Whether it has a verdict on a notebook that could be read, without a failure of the grader itself."""
        return self.graded is not None and not self.fault and self.status not in UNREAD


@dataclass(frozen=True)
class Event:
    """An action of the team, or a student's request for a regrade."""

    id: int
    at: float
    who: str
    what: str
    lab: str
    student: str
    details: dict[str, Any]


class Refused(UserError):
    """A notebook is refused, with one sentence for the student. ``retry_after``: seconds until it would be accepted."""

    def __init__(self, sentence: str, retry_after: float | None = None):
        super().__init__(sentence)
        self.retry_after = retry_after


#: Raises ``Refused`` if a student with these attempts at a lab may not hand in now.
Allowed = Callable[[Sequence[Attempt]], None]


class Journal:
    """The folder of a live class. Its methods may be called from any thread."""

    def __init__(self, folder: Path):
        # Resolved, because notebooks behind a link are not graded.
        self.folder = folder.resolve()
        self.incoming = self.folder / "incoming"
        self._lock = threading.RLock()
        try:
            self.incoming.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = sqlite3.connect(self.folder / "journal.db", check_same_thread=False)
            self._db.row_factory = sqlite3.Row
            with self._transaction():
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.executescript(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
        except OSError as error:
            raise UserError(f"The folder {folder} cannot be written to: {error.strerror}.") from None
        _to_disk(self.folder)

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._db.close()

    @property
    def version(self) -> int:
        """A number that grows with each change."""
        return self._db.total_changes

    # Notebooks

    def receive(self, lab: str, student: str, file: Path, allowed: Allowed) -> tuple[Attempt, bool]:
        """Record a notebook from ``incoming``. Returns the attempt, and whether it is new.

        The same bytes as the student's last attempt make no new attempt. Raises ``Refused`` if ``allowed`` does.
        On return the notebook and its row have reached the disk.
        """
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
            os.fsync(opened.fileno())
        with self._lock:
            earlier = self.attempts(lab, student)
            if earlier and earlier[-1].digest == digest:
                file.unlink()
                return earlier[-1], False
            allowed(earlier)
            receipt = f"{lab[:2]}-" + "".join(secrets.choice(_LETTERS) for _ in range(10))
            place = self.notebook(lab, receipt)
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.replace(file, place)
            for folder in place.parents[:3]:
                _to_disk(folder)
            self._run(
                "INSERT INTO attempts (lab, student, number, receipt, digest, size, received) VALUES (?, ?, ?, ?, ?, ?, ?)",
                *(lab, student, len(earlier) + 1, receipt, digest, place.stat().st_size, time.time()),
            )
            return self.attempts(lab, student)[-1], True

    def notebook(self, lab: str, receipt: str) -> Path:
        """The path of a receipt's notebook."""
        return self.folder / "notebooks" / lab / f"{receipt}.ipynb"

    def finish(self, attempt: Attempt, result: SubmissionResult) -> None:
        """Store the verdict on an attempt unless it has one."""
        points = json.dumps({question.name: question.points for question in result.questions})
        text = json.dumps(replace(result, notebook="").as_dict())
        with self._transaction():
            self._db.execute("INSERT OR IGNORE INTO results VALUES (?, ?)", (attempt.id, text))
            self._db.execute(
                "UPDATE attempts SET graded = ?, status = ?, score = ?, fault = ?, points = ? WHERE id = ? AND graded IS NULL",
                (time.time(), result.status, result.score, bool(result.fault), points, attempt.id),
            )

    def result(self, attempt: Attempt) -> SubmissionResult | None:
        """The full result of an attempt; None until it is graded."""
        rows = self._run("SELECT result FROM results WHERE attempt = ?", attempt.id)
        return _result(rows[0][0]) if rows else None

    def attempts(self, lab: str, student: str | None = None) -> list[Attempt]:
        """The attempts at a lab, of one student or of all, oldest first."""
        return self._attempts("WHERE lab = ? AND student = coalesce(?, student)", lab, student)

    def of_receipt(self, receipt: str) -> Attempt | None:
        """The attempt with this receipt."""
        found = self._attempts("WHERE receipt = ?", receipt)
        return found[0] if found else None

    def open(self) -> list[Attempt]:
        """The attempts without a verdict."""
        return self._attempts("WHERE graded IS NULL")

    def judge_again(self, attempt: Attempt, who: str) -> None:
        """Remove an attempt's verdict, so that it is graded again. The log keeps the old verdict."""
        result = self.result(attempt)
        verdict = result.as_json() if result is not None else None
        self.log(who, "regrade", attempt.lab, attempt.student, receipt=attempt.receipt, verdict=verdict)
        with self._transaction():
            self._db.execute("UPDATE attempts SET graded = NULL WHERE id = ?", (attempt.id,))
            self._db.execute("DELETE FROM results WHERE attempt = ?", (attempt.id,))

    def _attempts(self, where: str, *values: object) -> list[Attempt]:
        columns = ", ".join(column.name for column in fields(Attempt))
        rows = self._run(f"SELECT {columns} FROM attempts {where} ORDER BY id", *values)
        decided = self.overruled() if rows else {}
        return [_attempt(row, decided.get((row["lab"], row["student"]), {})) for row in rows]

    # People

    def invite(self, student: str, *, team: bool = False) -> str:
        """A new token for a person, which makes their old one invalid. Only its digest is stored."""
        token = secrets.token_urlsafe(24)
        query = "INSERT OR REPLACE INTO invitations VALUES (?, ?, ?)"  # a student has one row
        self._run(query, digest_of_token(token), student, team)
        return token

    def invited(self, digest: str) -> tuple[str, bool] | None:
        """The person whose token has this digest, and whether they belong to the team."""
        rows = self._run("SELECT student, team FROM invitations WHERE token = ?", digest)
        return (rows[0][0], bool(rows[0][1])) if rows else None

    def everybody_invited(self) -> dict[str, bool]:
        """The name of each person with a token -> whether they belong to the team."""
        return {name: bool(team) for name, team in self._run("SELECT student, team FROM invitations")}

    def digest_of(self, student: str, *, team: bool) -> str:
        """The digest of the token of a person whom another system has identified. A person without a token gets one."""
        with self._lock:
            self._run("UPDATE invitations SET team = ? WHERE student = ?", team, student)
            rows = self._run("SELECT token FROM invitations WHERE student = ?", student)
            return str(rows[0][0]) if rows else digest_of_token(self.invite(student, team=team))

    # Notes about other systems

    def note(self, kind: str, name: str, value: Any) -> None:
        """Store a JSON value under this kind and name, replacing an earlier value."""
        query = "INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)"
        self._run(query, kind, name, time.time(), json.dumps(value))

    def notes(self, kind: str) -> dict[str, Any]:
        """All values stored under this kind, by name."""
        rows = self._run("SELECT name, value FROM notes WHERE kind = ?", kind)
        return {name: json.loads(value) for name, value in rows}

    def noted(self, kind: str, name: str) -> Any:
        """The value stored under this kind and name, or None."""
        rows = self._run("SELECT value FROM notes WHERE kind = ? AND name = ?", kind, name)
        return json.loads(rows[0][0]) if rows else None

    def is_first_use(self, kind: str, name: str, seconds: float) -> bool:
        """Whether a name is used for the first time within ``seconds``. Notes the use and forgets older ones."""
        now = time.time()
        with self._transaction():
            self._db.execute("DELETE FROM notes WHERE kind = ? AND at < ?", (kind, now - seconds))
            row = (kind, name, now, "null")
            return self._db.execute("INSERT OR IGNORE INTO notes VALUES (?, ?, ?, ?)", row).rowcount == 1

    # The log

    def log(self, who: str, what: str, lab: str = "", student: str = "", **details: Any) -> None:
        """Log an action of a person."""
        query = "INSERT INTO events (at, who, what, lab, student, details) VALUES (?, ?, ?, ?, ?, ?)"
        self._run(query, time.time(), who, what, lab, student, json.dumps(details, ensure_ascii=False))

    def events(
        self, *what: str, lab: str | None = None, student: str | None = None, last: int = -1
    ) -> list[Event]:
        """The events of these kinds, oldest first; with ``last``, only that many of the latest."""
        query = f"SELECT * FROM events WHERE what IN ({', '.join('?' * len(what))})"
        query += " AND lab = coalesce(?, lab) AND student = coalesce(?, student) ORDER BY id DESC LIMIT ?"
        rows = self._run(query, *what, lab, student, last)
        return [Event(**{**dict(row), "details": json.loads(row["details"])}) for row in reversed(rows)]

    def overruled(self) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
        """(lab, student) -> question -> the team's last decision on its points."""
        last: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
        for event in self.events("overrule"):
            last.setdefault((event.lab, event.student), {})[event.details["question"]] = event.details
        return last

    def _run(self, query: str, *values: object) -> list[sqlite3.Row]:
        """Run one statement and return its rows."""
        with self._transaction():
            return self._db.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Run statements all or none, and nobody else's between. The database's errors become one sentence."""
        try:
            with self._lock, self._db:
                yield
        except sqlite3.Error as error:
            raise GradingError(
                f"The journal in {self.folder} cannot be read or written ({error}): nothing is taken until it can be."
            ) from error


def _attempt(row: sqlite3.Row, overruled: dict[str, dict[str, Any]]) -> Attempt:
    """The attempt of a row; the team's decisions replace the tests' points."""
    *received, graded, status, score, fault, points = row
    attempt = Attempt(*received)
    if graded is None:  # one that is graded again still has its old verdict in the row
        return attempt
    tests = json.loads(points)
    final = tests | {question: one["points"] for question, one in overruled.items()}
    score = round(score + sum(final.values()) - sum(tests.values()), 2)
    return replace(attempt, graded=graded, status=status, score=score, fault=bool(fault), points=final)


@lru_cache(maxsize=2000)
def _result(stored: str) -> SubmissionResult:
    """A result from its stored text, cached: every page that waits and every screen of a room asks for them again."""
    return SubmissionResult.from_dict(json.loads(stored))


def digest_of_token(token: str) -> str:
    """The digest of a token. The token cannot be computed from it."""
    return hashlib.sha256(token.encode("utf-8", "backslashreplace")).hexdigest()


def _to_disk(folder: Path) -> None:
    """Wait until a folder's entries have reached the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
