"""Knows which of the files that grading makes are current, so that only the others are made again.

A file is current when it was made from what there is now (the result, what people entered, the lab, the code and the
templates that write it), and when it has been left alone since then.
"""

from __future__ import annotations

import hashlib
import json
from collections import ChainMap
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path

from autograder.course.masters import course_root, master_path
from autograder.course.policy_file import settings, spec
from autograder.files import digest_of
from autograder.gradebook.final_points import TeacherMarks
from autograder.grading.cache_keys import digest
from autograder.pages.places import demo_names
from autograder.run.store import ResultStore


class Files:
    """The files of one lab under ``out``. What was made is kept in the store by ``save``."""

    def __init__(self, lab: str, out: Path, store: ResultStore):
        self.lab = lab
        self.out = out
        self.store = store
        self._lab_digest = _lab_digest(lab)
        self._earlier = store.made(lab)
        self._noted: dict[str, tuple[str, str]] = {}

    def source(self, *parts: str) -> str:
        """The digest of what a file is made from: these parts, the lab, and the code that writes it."""
        return digest(self._lab_digest, *parts)

    def are_current(self, paths: Iterable[Path], source: str) -> bool:
        """Whether these files were made from ``source`` and are as they were written (or absent, if none was)."""
        known = ChainMap(self._noted, self._earlier)
        return all(known.get(self._name(path)) == (source, _content_digest(path)) for path in paths)

    def made(self, paths: Iterable[Path], source: str) -> None:
        """Take note that these files have just been made from ``source``."""
        self._noted |= {self._name(path): (source, _content_digest(path)) for path in paths}

    def save(self) -> None:
        """Keep what was noted."""
        self.store.put_made(self.lab, self._noted)
        self._earlier |= self._noted
        self._noted = {}

    def _name(self, path: Path) -> str:
        return path.relative_to(self.out).as_posix()


def digest_of_marks(marks: TeacherMarks) -> str:
    """The digest of the marks that people entered."""
    return digest(json.dumps(asdict(marks), sort_keys=True, default=str))


def _content_digest(path: Path) -> str:
    """The digest of a file's content; "" when there is no such file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _lab_digest(lab: str) -> str:
    """The digest of what all pages of a lab depend on: master, points, misconceptions, and the code that writes them."""
    answers = course_root() / "autograder" / "questions" / f"m{lab}"
    texts = [path for path in (master_path(lab), answers) if path.exists()]
    graded = repr((spec(lab).questions, spec(lab).written, settings().site, demo_names(lab)))
    return digest(graded, digest_of(texts), _writers())


#: What writes the pages, and what it may import.
_WRITERS = (
    "errors.py",
    "files.py",
    "results.py",
    "course",
    "gradebook",
    "pages",
    "run/recorder.py",
    "run/exchange_files.py",
)


@cache
def _writers() -> str:
    package = Path(__file__).resolve().parents[1]
    return digest_of(package / name for name in _WRITERS)
