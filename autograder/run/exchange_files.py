"""Writes the files that nbgrader's exchange needs beside a feedback page: the submission's time and its secret.

Whoever submits through the exchange hands in ``submission_secret.txt``; the page is released under a name made of it, which
nobody else can know. Who handed in another way has no secret: theirs is made here, so that the release does not stop at
them, and their page lies where nobody finds it.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from autograder.course.policy_file import settings
from autograder.files import read_plain, write_atomically

SECRET, TIME = "submission_secret.txt", "timestamp.txt"
#: nbgrader's has 128 characters.
_LONGEST = 4096


def secret_of(lab: str, student: str, submitted: Path | None) -> str:
    """The secret in the folder that was handed in, as it stands there; without one that can be read, a made one."""
    with contextlib.suppress(OSError, ValueError):
        text = read_plain(submitted / SECRET, _LONGEST + 1).decode("ascii") if submitted else ""
        if text.strip() and len(text) <= _LONGEST:
            return text
    return hashlib.sha256(f"{settings().salt}\0{lab}\0{student}".encode("utf-8", "surrogatepass")).hexdigest()


def write_beside(folder: Path, secret: str, submitted_at: str) -> None:
    """Write both files into a student's folder, the time as "unknown" where nobody knows it."""
    write_atomically(folder / SECRET, secret)
    write_atomically(folder / TIME, (submitted_at or "unknown") + "\n")
