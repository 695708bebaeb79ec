"""Keeps finished results on disk, so that a killed run resumes and a regrade redoes only what changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from autograder.errors import GradingError
from autograder.results import SubmissionResult

_SCHEMA = """
CREATE TABLE IF NOT EXISTS results (
    lab TEXT NOT NULL, student TEXT NOT NULL, raw TEXT NOT NULL, context TEXT NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (lab, student)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS contexts (lab TEXT PRIMARY KEY, context TEXT NOT NULL);
"""


class ResultStore:
    """The finished results of an output folder. A result is stored last, after everything made from it."""

    def __init__(self, path: Path):
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=20, isolation_level=None)
            self._db.executescript(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise GradingError(
                f"The results in {path} cannot be opened ({error}): check the folder, or move the file away."
            ) from error

    def __enter__(self) -> ResultStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def fingerprints(self, lab: str) -> dict[str, tuple[str, str]]:
        """student -> (digest of the notebook's bytes, digest of the context) of all finished results."""
        rows = self._db.execute("SELECT student, raw, context FROM results WHERE lab = ?", (lab,))
        return {student: (raw, context) for student, raw, context in rows}

    def get(self, lab: str, student: str) -> SubmissionResult | None:
        """The finished result of a student, if there is one."""
        row = self._db.execute(
            "SELECT result FROM results WHERE lab = ? AND student = ?", (lab, student)
        ).fetchone()
        return SubmissionResult.from_dict(json.loads(row[0])) if row else None

    def all(self, lab: str) -> Iterator[SubmissionResult]:
        """All finished results of a lab, by student."""
        for (text,) in self._db.execute("SELECT result FROM results WHERE lab = ? ORDER BY student", (lab,)):
            yield SubmissionResult.from_dict(json.loads(text))

    def put(self, result: SubmissionResult) -> None:
        """Keep a finished result."""
        text = json.dumps(result.as_dict())
        row = (result.lab, result.student, result.keys.get("raw", ""), result.keys.get("context", ""), text)
        try:
            self._db.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            raise GradingError(
                f"The results in {self.path} cannot be written ({error}): make room and try again."
            ) from error

    def forget_others(self, lab: str, students: set[str]) -> None:
        """Drop results of students who are not in the class any more."""
        gone = [(lab, student) for student in self.fingerprints(lab) if student not in students]
        self._db.executemany("DELETE FROM results WHERE lab = ? AND student = ?", gone)

    def context(self, lab: str) -> dict | None:
        """The context of the last run, to say what changed."""
        row = self._db.execute("SELECT context FROM contexts WHERE lab = ?", (lab,)).fetchone()
        return json.loads(row[0]) if row else None

    def put_context(self, lab: str, context: dict) -> None:
        """Keep the context of this run."""
        self._db.execute("INSERT OR REPLACE INTO contexts VALUES (?, ?)", (lab, json.dumps(context)))
