"""Keeps finished results on disk, so that a killed run resumes and a regrade redoes only what changed."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path

from autograder.errors import database_error
from autograder.grading.cache_keys import Context
from autograder.results import SubmissionResult

#: The store's file in an output folder.
STORE = ".results.db"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS results (
    lab TEXT NOT NULL, student TEXT NOT NULL, raw TEXT NOT NULL, context TEXT NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (lab, student)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS contexts (lab TEXT PRIMARY KEY, context TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS made (
    lab TEXT NOT NULL, file TEXT NOT NULL, source TEXT NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (lab, file)) WITHOUT ROWID;
"""


class ResultStore(AbstractContextManager["ResultStore"]):
    """The finished results of an output folder. A result is stored after all files made from it.

    Raises GradingError, in one sentence, for errors that a person can fix.
    """

    def __init__(self, path: Path, busy_seconds: float = 20.0):
        self.path = path
        with self._database_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
            self._db.executescript(_SCHEMA)

    def __exit__(self, *error: object) -> None:
        self._db.close()

    def labs(self) -> list[str]:
        """The labs that have finished results."""
        return [lab for (lab,) in self._rows("SELECT DISTINCT lab FROM results ORDER BY lab")]

    def keys(self, lab: str) -> dict[str, tuple[str, str]]:
        """student -> (key of the notebook, digest of the context) of all finished results."""
        rows = self._rows("SELECT student, raw, context FROM results WHERE lab = ?", lab)
        return {_decoded(student): (raw, context) for student, raw, context in rows}

    def get(self, lab: str, student: str) -> SubmissionResult | None:
        """The finished result of a student, if there is one."""
        query = "SELECT result FROM results WHERE lab = ? AND student = ?"
        results = (_result(text) for (text,) in self._rows(query, lab, _encoded(student)))
        with self._database_errors():
            return next(results, None)

    def times(self, lab: str) -> dict[str, str]:
        """student -> when the submission of the finished result came in ("" if unknown)."""
        rows = self._rows(
            "SELECT student, json_extract(result, '$.submitted_at') FROM results WHERE lab = ?", lab
        )
        return {_decoded(student): when for student, when in rows}

    def all(self, lab: str) -> Iterator[SubmissionResult]:
        """All finished results of a lab, by student."""
        return (result for result, _ in self.all_with_digests(lab))

    def all_with_digests(self, lab: str) -> Iterator[tuple[SubmissionResult, str]]:
        """All finished results of a lab, by student, each with its digest. One at a time: a class may not fit into memory."""
        with self._database_errors():
            for (text,) in self._db.execute(
                "SELECT result FROM results WHERE lab = ? ORDER BY student", (lab,)
            ):
                yield _result(text), digest_of(text)

    def put(self, result: SubmissionResult, text: str = "") -> None:
        """Store a finished result; ``text`` is its ``text_of``, where that was made before."""
        keys = (result.keys.get("raw", ""), result.keys.get("context", ""))
        query = "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?)"
        self._rows(query, result.lab, _encoded(result.student), *keys, text or text_of(result))

    def made(self, lab: str) -> dict[str, tuple[str, str]]:
        """file -> (digest of its sources, digest of its content), for each file made for a lab."""
        rows = self._rows("SELECT file, source, content FROM made WHERE lab = ?", lab)
        return {_decoded(file): (source, content) for file, source, content in rows}

    def put_made(self, lab: str, made: Mapping[str, tuple[str, str]]) -> None:
        """Store ``made``, completely or, if it cannot be written, not at all."""
        rows = [(lab, _encoded(file), *digests) for file, digests in made.items()]
        with self._database_errors():
            self._db.execute("BEGIN")
            self._db.executemany("INSERT OR REPLACE INTO made VALUES (?, ?, ?, ?)", rows)
            self._db.execute("COMMIT")

    def forget_others(self, lab: str, students: set[str]) -> list[str]:
        """Drop the results of students who left the class. Returns those who had handed something in."""
        query = "SELECT student, json_extract(result, '$.status') FROM results WHERE lab = ? ORDER BY student"
        gone = {name: status for name, status in self._rows(query, lab) if _decoded(name) not in students}
        for name in gone:
            self._rows("DELETE FROM results WHERE lab = ? AND student = ?", lab, name)
        return [_decoded(name) for name, status in gone.items() if status != "missing"]

    def context(self, lab: str) -> Context | None:
        """The context of the last run, to say what changed."""
        rows = self._rows("SELECT context FROM contexts WHERE lab = ?", lab)
        with self._database_errors():
            return next((Context(**json.loads(text)) for (text,) in rows), None)

    def put_context(self, context: Context) -> None:
        """Store the context of this run."""
        self._rows("INSERT OR REPLACE INTO contexts VALUES (?, ?)", context.lab, json.dumps(asdict(context)))

    def _rows(self, query: str, *values: str) -> list[tuple[str, ...]]:
        with self._database_errors():
            return self._db.execute(query, values).fetchall()

    @contextmanager
    def _database_errors(self) -> Iterator[None]:
        """Raise the database's errors as a GradingError that says what to do."""
        try:
            yield
        # A truncated or foreign row raises the first three.
        except (ValueError, KeyError, TypeError, sqlite3.Error, OSError) as error:
            raise database_error(f"The file of results {self.path}", error) from error


def _result(text: str) -> SubmissionResult:
    return SubmissionResult.from_dict(json.loads(text))


def text_of(result: SubmissionResult) -> str:
    """A result as it is stored."""
    return json.dumps(result.as_dict())


def digest_of(text: str) -> str:
    """The digest that ``all_with_digests`` yields with a result that is stored as ``text``."""
    return hashlib.sha256(text.encode()).hexdigest()


def _encoded(name: str) -> str:
    """A student's or file's name in a form that SQLite can store: names that are not UTF-8 have lone surrogates."""
    plain = name.isprintable() and not name.startswith('"')
    return name if plain else json.dumps(name)


def _decoded(stored: str) -> str:
    name: str = json.loads(stored) if stored.startswith('"') else stored
    return name
