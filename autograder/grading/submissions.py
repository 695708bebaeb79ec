"""Finds the class's notebooks in nbgrader's layout, ``<submitted>/<student>/<lab>/<lab>.ipynb``, and reads each once."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from autograder.course.lists import summarize_names
from autograder.course.masters import all_labs, other_lab, source_of_import
from autograder.course.policy_file import settings
from autograder.errors import Unreadable, UserError
from autograder.files import letters_of, names_a_zone, parse_time, timestamp_in

_Notebook = TypeVar("_Notebook")

#: A notebook larger than this is not read.
MAX_BYTES = 64 * 1024 * 1024

#: Among several notebooks, one larger than this counts as answered without being searched.
LARGEST_UNTOUCHED = 4 * 1024 * 1024
#: Of several notebooks in a folder, at most this many are searched for answers.
MOST_COMPARED = 10
#: The suffixes that systems append to a copy's name, in several languages.
_COPY = re.compile(r"([-_ ]+(copy|kopie|copie|copia|cópia|kopia)[-_ ]*\d*| ?\(\d+\))+")

#: The most files and levels of folders searched for a student's misplaced notebook.
MOST_LOOKED_AT, DEEPEST = 1000, 4

_NOTEBOOK = re.compile(r"\.ipynb(\.txt|\.json)?( ?\(\d+\))?$")

#: The digest of a missing notebook.
MISSING = "missing"


@dataclass(frozen=True)
class Submission:
    """One student's notebook. ``path`` is None if it is missing; ``notes`` tell what was unusual about finding it."""

    student: str
    path: Path | None
    submitted_at: str = ""
    notes: tuple[str, ...] = ()
    #: The notes on unclear choices of which notebook counts; teachers also read them.
    choices: tuple[str, ...] = ()


#: The note for students whose names look the same.
_TWICE = "Another folder of the class has the same name in other letters or other bytes: they are graded as two students."


def find_submissions(submitted: Path, lab: str) -> list[Submission]:
    """One submission for each student's folder, sorted by name."""
    if not submitted.is_dir():
        raise UserError(
            f"The folder {submitted} does not exist: give the folder that holds one folder a student."
        )
    names, loose = set(), dict[str, str]()
    for entry in os.scandir(submitted):
        if _is_a_students(entry):
            # A hidden folder counts as a student's if it looks like one.
            if not entry.name.startswith(".") or os.path.isdir(submitted / entry.name / lab):
                names.add(entry.name)
        elif is_notebook(entry.name):
            loose[_NOTEBOOK.sub("", entry.name, count=1)] = entry.name
    if not names:
        raise UserError(f"The folder {submitted} holds no student folders: nothing to grade.")
    beside = {name: file for name, file in loose.items() if name not in all_labs()}
    same = Counter(map(letters_of, names | set(beside)))
    submissions = []
    for name in sorted(names | set(beside)):
        submission = _find_safely(submitted / name, name, lab) if name in names else Submission(name, None)
        place = f"its place is {name}/{lab}/"
        notes = {
            "The student's folder is a hidden one.": name.startswith("."),
            f"{beside.get(name)} lies beside the students' folders and was not graded: {place}.": name
            in beside,
            _TWICE: same[letters_of(name)] > 1,
        }
        told = (note for note, holds in notes.items() if holds)
        submissions.append(replace(submission, notes=(*submission.notes, *told)))
    if not any(submission.path for submission in submissions):
        odd = next((f" {one.student}: {one.notes[0]}" for one in submissions if one.notes), "")
        raise UserError(f"No student folder in {submitted} holds a submission of {lab}.{odd}")
    return submissions


def _is_a_students(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder or a link to anything but a file. A broken link is reported for its student."""
    try:
        return entry.is_dir() or (entry.is_symlink() and not entry.is_file())
    except OSError:
        return True


def is_notebook(name: str) -> bool:
    """Whether a file's name is a notebook's, even with a suffix that a browser or system appended.

    Downloads are saved as ``lab.ipynb.txt`` or ``lab.ipynb.json``; macOS puts ``._lab.ipynb`` beside what it copies.
    """
    return _NOTEBOOK.search(name.casefold()) is not None and not name.startswith(".")


def _find_safely(home: Path, student: str, lab: str) -> Submission:
    """``_find``, where an error in one student's folder does not end the run."""
    path, alone = home / lab / f"{lab}.ipynb", False
    try:
        if not home.is_symlink():
            if (source := source_of_import(lab)) and not path.parent.is_dir():
                path, alone = home / f"{source}.ipynb", True
            return _find(path, student, lab, alone)
        trouble = "The student's folder is a link to another."
    except Exception as error:
        reason = error.strerror if isinstance(error, OSError) else type(error).__name__
        trouble = f"The student's folder could not be read: {reason}."
    return Submission(student, path, notes=(trouble,))


def _find(expected: Path, student: str, lab: str, alone: bool) -> Submission:
    """The notebook at ``expected`` or one near it. If ``alone``, only copies count: other notebooks there are other labs."""
    folder, notes, choices = expected.parent, list[str](), list[str]()
    there = sorted(p for p in folder.iterdir() if is_notebook(p.name)) if folder.is_dir() else []
    if alone:
        there = [p for p in there if p == expected or _is_copy(p.name, expected.name)]
    shown, found = f"{folder.name}/{expected.name}", list[str]()
    if is_misplaced := not there:
        there, found = _one_step_off(expected, alone)
    if only := only_answered(there, lab, _bytes_of):
        path, why = only, "the only one with an answer in it"
    elif expected in there:
        path, why = expected, "for it has the right name"
    elif there and not is_misplaced:
        path, why = max(there, key=lambda path: path.lstat().st_mtime), "the newest"
    elif len(there) == 1:
        path, why = there[0], ""
    else:
        unsure = f"There was no {shown}, and none that is surely meant by: {summarize_names(found)}."
        return Submission(student, None, notes=(unsure,) if found else ())
    if others := [p.name for p in there if p != path]:
        choices.append(f"{path.name} was graded, {why}; these were not graded: {summarize_names(others)}.")
    if is_misplaced:
        inside = path.relative_to(folder.parent)
        folder = folder.with_name(inside.parts[0]) if len(inside.parts) > 1 else folder.parent
        notes.append(f"There was no {shown}; {inside.as_posix()} was graded in its place.")
    elif path != expected and not others:
        notes.append(f"There was no {expected.name}; {path.name} was graded in its place.")
    submitted_at = timestamp_in(folder)
    if submitted_at and (parse_time(submitted_at) is None or not names_a_zone(submitted_at)):
        zone = settings().timezone
        time = parse_time(submitted_at, zone)
        if time is None:
            notes.append("timestamp.txt holds no valid time: nobody knows when this came in.")
        elif not names_a_zone(submitted_at):
            notes.append(f"The time in timestamp.txt names no zone: it was taken for {zone} (course.toml).")
        submitted_at = f"{time:%Y-%m-%d %H:%M:%S} UTC" if time is not None else ""
    return Submission(student, path, submitted_at, (*notes, *choices), tuple(choices))


def only_answered(
    notebooks: Sequence[_Notebook], lab: str, read: Callable[[_Notebook], bytes]
) -> _Notebook | None:
    """The only notebook with an answer in it; None if there are none or several.

    ``read`` returns a notebook's bytes. A notebook for which it raises ``Unreadable`` does not count.
    """
    if not 1 < len(notebooks) <= MOST_COMPARED:
        return None
    answered = []
    for notebook in notebooks:
        try:
            answered += [notebook] if is_answered(read(notebook), lab) else []
        except Unreadable:
            continue
    return answered[0] if len(answered) == 1 else None


def is_answered(raw: bytes, lab: str) -> bool:
    """Whether a notebook holds an answer to this lab; true if it is too large to search."""
    from autograder.grading.repair import Template, parse, repair  # slow to load and rarely needed

    if len(raw) > LARGEST_UNTOUCHED:
        return True
    template = Template.of(lab)
    try:
        names = {cell["grade_id"] for cell in parse(raw)} - {None}
        is_another_labs = 2 * len(names & template.named.keys()) < len(names)
        return not is_another_labs and bool(repair(raw, template).written)
    except Unreadable:
        return False


def _is_copy(name: str, original: str) -> bool:
    """Whether a notebook's name is that of a copy: ``lab-Copy1``, ``lab (1)``, ``lab - Kopie``."""
    stem, wanted = (_NOTEBOOK.sub("", one.casefold(), count=1) for one in (name, original))
    return stem.startswith(wanted) and _COPY.fullmatch(stem[len(wanted) :]) is not None


def _one_step_off(expected: Path, alone: bool) -> tuple[list[Path], list[str]]:
    """The candidates for a misplaced notebook, and the names of all files found.

    Candidates lie directly in the student's folder under the right name, or a few folders deep in the lab's folder, whose
    name may differ in capitals. Links are not followed.
    """
    home, wanted = expected.parent.parent, letters_of(expected.parent.name)
    candidates, found, right = list[Path](), list[str](), list[Path]()
    names = sorted(os.listdir(home), reverse=True) if home.is_dir() else []
    waiting = [(home / name, 0) for name in names if letters_of(name) == wanted or is_notebook(name)]
    for _ in range(MOST_LOOKED_AT):
        if not waiting:
            return right or candidates, found
        path, depth = waiting.pop()
        if path.is_dir() and not path.is_symlink() and depth < DEEPEST:
            below = sorted(os.listdir(path), reverse=True)
            waiting += [(path / name, depth + 1) for name in below if not name.startswith(".")]
            continue
        found.append(path.relative_to(home).as_posix())
        if is_notebook(path.name) and not path.is_symlink():
            candidates += [path] if depth and not alone else []
            right += [path] if letters_of(path.name).startswith(letters_of(expected.name)) else []
    return [], found  # a file that was not searched may be the right one


@dataclass(frozen=True)
class Notebook:
    """A submission's file. ``raw`` holds its bytes.

    ``raw`` is None if there is no file, if it cannot be read (``trouble`` says why), or if the bytes were dropped to save
    memory (``with_bytes`` reads them again).
    """

    submission: Submission
    lab: str
    raw: bytes | None = None
    #: SHA-256 of the bytes, ``MISSING`` with a digest of the notes, or "" if the file cannot be read.
    digest: str = ""
    trouble: str = ""

    def with_bytes(self) -> Notebook:
        """The notebook with its bytes, read again if they were dropped."""
        let_go = self.raw is None and self.digest and self.submission.path is not None
        return read(self.submission, self.lab) if let_go else self


def read_class(submissions: Iterable[Submission], lab: str) -> list[Notebook]:
    """Read each notebook and drop its bytes, so that a large class needs no more memory."""
    return [replace(read(submission, lab), raw=None) for submission in submissions]


def read(submission: Submission, lab: str) -> Notebook:
    """Read a submission's notebook."""
    if submission.path is None:
        notes_digest = hashlib.sha256(repr(submission.notes).encode()).hexdigest()[:16]
        return Notebook(submission, lab, digest=f"{MISSING} {notes_digest}" if submission.notes else MISSING)
    try:
        raw = _bytes_of(submission.path)
        if other := other_lab(raw, lab):
            note = f"This is a notebook of {other}, not of {lab}."
            submission = replace(submission, notes=(*submission.notes, note))
    except Unreadable as reason:
        return Notebook(submission, lab, trouble=str(reason))
    except Exception as error:  # one student's file must not end the run
        return Notebook(submission, lab, trouble=f"The notebook could not be read ({type(error).__name__}).")
    return Notebook(submission, lab, raw, digest=hashlib.sha256(raw).hexdigest())


def _bytes_of(path: Path) -> bytes:
    """The file's bytes. Raises ``Unreadable``, in one sentence."""
    try:
        if any(place.is_symlink() for place in (path, *path.parents[:2])) or not path.is_file():
            raise Unreadable("The notebook is not a plain file.")
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise Unreadable(
                f"The notebook is {size / 2**20:,.0f} MB; at most {MAX_BYTES // 2**20} MB are read."
            )
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(f"The notebook could not be read: {error.strerror}.") from None
