"""Chooses one notebook for each student and writes it, with its time, into nbgrader's layout."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.collect.entries import Entry, Refused, entries, inner_entries
from autograder.collect.names import KINDS, Owned, kind_of, owned, without_wrapper
from autograder.errors import GradingError
from autograder.files import folder_name, write_atomically
from autograder.grading.submissions import is_notebook

#: A zip stays in memory until its student is done.
MAX_ZIPS = 5

_TIME_FORMAT = "%Y-%m-%d %H:%M:%S UTC"


@dataclass(frozen=True)
class Collected:
    """Whose notebooks were collected, and sentences about what was refused, chosen or left alone."""

    students: tuple[str, ...]
    notes: tuple[str, ...]
    kind: str = "plain"


def collect(source: Path, submitted: Path, lab: str, *, kind: str = "auto") -> Collected:
    """Write ``submitted/<student>/<lab>/<lab>.ipynb`` and ``timestamp.txt`` for everybody in ``source``.

    ``source`` is a zip or a folder; ``kind`` one of ``canvas``, ``moodle``, ``classroom``, ``plain``, or
    ``auto`` to tell from the names. The time is that of the file (a zip's, which have no zone, are taken
    for UTC). Inside a zip that a student packed it is the zip's own: the times in there are the student's word.
    Only in nbgrader's layout (``plain``) a ``timestamp.txt`` beside the notebook says it. Raises GradingError when
    nothing can be collected.
    """
    if kind not in ("auto", *KINDS):
        raise GradingError(f"There is no kind of download “{kind}”: choose one of auto, {', '.join(KINDS)}.")
    notes: list[str] = []
    found = without_wrapper(entries(source, notes), lab)
    kind = kind_of(found) if kind == "auto" else kind
    mine, nobodys = owned(found, kind)
    notes += [f"Nobody's: {entry.path}." for entry in nobodys if entry.path.endswith((".ipynb", ".zip"))]
    by_student: dict[str, list[Owned]] = defaultdict(list)
    for one in mine:
        by_student[one.student].append(one)
    done = [
        student
        for student, files in sorted(by_student.items())
        if _collect_student(student, files, submitted, lab, notes, stamped=kind == "plain")
    ]
    if not done:
        reason = f" {notes[0]}" if notes else ""
        raise GradingError(f"{source} holds no notebook of {lab} that can be collected.{reason}")
    return Collected(tuple(done), tuple(notes), kind)


def collect_folder(
    folder: Path, submitted: Path, lab: str, *, student: str, submitted_at: str = ""
) -> Collected:
    """Collect the one notebook of one student from a folder; nothing there is no error but a note."""
    notes: list[str] = []
    files = [Owned(entry, student, entry.parts[-1]) for entry in entries(folder, notes)]
    done = _collect_student(student, files, submitted, lab, notes, submitted_at)
    return Collected((student,) if done else (), tuple(notes))


def _collect_student(
    student: str,
    files: Sequence[Owned],
    submitted: Path,
    lab: str,
    notes: list[str],
    submitted_at: str = "",
    stamped: bool = False,
) -> bool:
    """Write one student's notebook; says whether there was one."""
    notebooks = _notebooks(files, lab, notes)
    if not notebooks:
        notes.append(f"{student} handed in no notebook of {lab}.")
        return False
    chosen = _choose(student, notebooks, lab, notes)
    try:
        content = chosen.entry.read()
    except Refused as refused:
        notes.append(f"{student}: {refused}")
        return False
    if chosen.late:
        notes.append(f"{student}: Canvas marks the submission as late.")
    written = _timestamp(chosen, files) if stamped else ""
    time = submitted_at or written or chosen.entry.modified.strftime(_TIME_FORMAT)
    target = submitted / folder_name(student) / lab / f"{lab}.ipynb"
    if not _may_replace(target, content, time, student, notes):
        return True
    write_atomically(target, content)
    write_atomically(target.with_name("timestamp.txt"), time + "\n")
    return True


def _notebooks(files: Sequence[Owned], lab: str, notes: list[str]) -> list[Owned]:
    """The student's notebooks, those inside a zip that was handed in too, other labs' left out."""
    found: list[Owned] = []
    zips = 0
    for one in files:
        if one.file.casefold().endswith(".zip"):
            zips += 1
            if zips > MAX_ZIPS:
                notes.append(f"Not read: {one.entry.path}; of one student {MAX_ZIPS} zips are opened.")
                continue
            for entry in inner_entries(one.entry, notes):
                found.append(Owned(entry, one.student, entry.parts[-1], one.late, one.attempt))
        else:
            found.append(one)
    return [one for one in found if is_notebook(one.file) and not _of_another_lab(one.entry, lab)]


def _of_another_lab(entry: Entry, lab: str) -> bool:
    """nbgrader's layout has a folder of the same name around each lab's notebook."""
    stem = entry.parts[-1].rsplit(".", 1)[0]
    return len(entry.parts) > 1 and entry.parts[-2] == stem and stem != lab and stem[:2].isdigit()


def _choose(student: str, notebooks: Sequence[Owned], lab: str, notes: list[str]) -> Owned:
    """The notebook with the right name; among several, or without one, the newest. Says which."""
    right = [one for one in notebooks if one.file == f"{lab}.ipynb"]
    candidates = right or list(notebooks)
    chosen = max(candidates, key=lambda one: (one.attempt, one.entry.modified, one.entry.path))
    if len(notebooks) > 1:
        why = "the newest" if len(candidates) > 1 else "the one with the right name"
        notes.append(
            f"{student} handed in {len(notebooks)} notebooks: {chosen.entry.path}, {why}, was taken."
        )
    elif not right:
        notes.append(f"{student}: {chosen.file} was taken as {lab}.ipynb.")
    return chosen


def _timestamp(chosen: Owned, files: Sequence[Owned]) -> str:
    """The first line of a ``timestamp.txt`` beside the notebook, when nbgrader can read it as a time."""
    folder = chosen.entry.parts[:-1]
    for one in files:
        if one.entry.parts[:-1] == folder and one.entry.parts[-1] == "timestamp.txt":
            try:
                lines = one.entry.read()[:200].decode("utf-8").strip().splitlines()
                return parse_utc(lines[0]).strftime(_TIME_FORMAT) if lines else ""
            except (Refused, ValueError, OverflowError):
                return ""
    return ""


def _may_replace(target: Path, content: bytes, time: str, student: str, notes: list[str]) -> bool:
    """A notebook that is there already gives way to another one unless it is the newer of the two."""
    try:
        if not target.exists() or target.read_bytes() == content:
            return True
        old = parse_utc(target.with_name("timestamp.txt").read_text(encoding="utf-8").strip())
        if old > _naive(time):
            notes.append(f"{student}: the notebook collected before is newer and stays.")
            return False
    except (OSError, ValueError, OverflowError):
        pass  # without a time that can be read, the notebook that comes in now is the newer one
    notes.append(f"{student}: replaced the notebook collected before.")
    return True


def _naive(time: str) -> datetime:
    try:
        moment: datetime = parse_utc(time)
        return moment
    except (ValueError, OverflowError):
        return datetime.now(UTC).replace(tzinfo=None)
