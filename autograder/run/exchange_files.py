"""Writes the two files that nbgrader's exchange needs beside a feedback page: the submission's time and secret.

A submission through the exchange contains ``submission_secret.txt``. Feedback is released under a name made from this
secret, which nobody else knows. Other submissions have no secret. A random one is made for them: it keeps the release
from stopping, and nobody can find their page.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from autograder.course.policy_file import settings
from autograder.files import read_plain, write_atomically

SECRET, TIME = "submission_secret.txt", "timestamp.txt"
#: The most characters of a secret that are read; nbgrader's has 128.
_LONGEST = 4096


def secret_of(lab: str, student: str, submitted: Path | None) -> str:
    """The secret in the submission's folder, or a new one if there is none or it cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        text = read_plain(submitted / SECRET, _LONGEST + 1).decode("ascii") if submitted else ""
        if text.strip() and len(text) <= _LONGEST:
            return text
    return hashlib.sha256(f"{settings().salt}\0{lab}\0{student}".encode("utf-8", "surrogatepass")).hexdigest()


def write_beside(folder: Path, secret: str, submitted_at: str) -> None:
    """Write both files into a student's folder; an unknown time is written as "unknown"."""
    write_atomically(folder / SECRET, secret)
    write_atomically(folder / TIME, (submitted_at or "unknown") + "\n")
