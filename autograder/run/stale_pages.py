"""Tells which files of a graded class are current, so that only outdated files are made again.

A file is current if its sources (the result, entered marks, the lab, the code and templates that write it) have not changed
since it was made, and neither has the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from autograder.course.masters import master_path, questions_folder
from autograder.course.policy_file import settings, spec
from autograder.files import digest_of
from autograder.grading.cache_keys import digest
from autograder.pages.places import demo_names
from autograder.run.store import ResultStore


class Files:
    """The files of one lab under ``out``. ``save`` keeps their digests in the store."""

    def __init__(self, lab: str, out: Path, store: ResultStore):
        self.lab = lab
        self.out = out
        self.store = store
        self._lab_digest = _lab_digest(lab)
        self._made = store.made(lab)

    def source(self, *parts: str) -> str:
        """The digest of a file's sources: these parts, the lab, and the code that writes it."""
        return digest(self._lab_digest, *parts)

    def are_current(self, paths: Iterable[Path], source: str) -> bool:
        """Whether these files were made from ``source`` and have not changed since (or are absent, if none was made)."""
        return all(self._made.get(self._name(path)) == (source, _content_digest(path)) for path in paths)

    def made(self, paths: Iterable[Path], source: str) -> None:
        """Note that these files have just been made from ``source``."""
        self._made |= {self._name(path): (source, _content_digest(path)) for path in paths}

    def save(self) -> None:
        """Write the notes into the store."""
        self.store.put_made(self.lab, self._made)

    def _name(self, path: Path) -> str:
        return path.relative_to(self.out).as_posix()


def _content_digest(path: Path) -> str:
    """The digest of a file's content; "" if there is no such file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _lab_digest(lab: str) -> str:
    """The digest of the sources that all pages of a lab share: master, points, misconceptions, the code that writes them."""
    texts = [path for path in (master_path(lab), questions_folder(lab)) if path.exists()]
    graded = repr((spec(lab).questions, spec(lab).written, settings().site, demo_names(lab)))
    package = Path(__file__).resolve().parents[1]
    return digest(graded, digest_of(texts), digest_of(package / name for name in _WRITERS))


#: The modules that write the pages, and those that they may import.
_WRITERS = (
    "errors.py", "files.py", "results.py", "statuses.toml", "course", "gradebook", "pages", "run/recorder.py",
)  # fmt: skip
