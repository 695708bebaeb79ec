"""Chooses one student's notebook and writes it, with its time, into nbgrader's layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from autograder.collect.entries import Entry, first_of, inner_entries
from autograder.collect.names import TYPED, Owned, may_contain_notebook
from autograder.collect.people import Download, Student
from autograder.course.masters import other_lab
from autograder.course.policy_file import settings
from autograder.errors import Unreadable, UserError
from autograder.files import parse_time, timestamp_in, write_atomically
from autograder.grading.submissions import is_notebook, only_answered

#: The most zips of one student. They stay in memory until the student is done.
MAX_ZIPS = 5


def place(student: Student, job: Download) -> bool:
    """``collect_student``, where an error in one submission does not stop the class."""
    try:
        return collect_student(student, job)
    except UserError:  # a full disk, for example, concerns everybody
        raise
    except Exception as error:
        why = type(error).__name__
        job.notes.append(f"{student.name}: what was handed in could not be collected ({why}).")
        return False


def make_folder(student: Student, job: Download) -> None:
    """Make the folder of a student without a notebook, so that the results show them as ``missing``."""
    first = student.files[0]
    if job.kind == "plain":  # the folder may contain other files beside the students' folders
        is_theirs = any(len(one.entry.parts) > 1 or may_contain_notebook(one.file) for one in student.files)
        if first.entry.parts[0].startswith(".") or not is_theirs:
            return
    folder = job.folder(student.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / f"{job.lab}.ipynb").exists():
            job.notes.append(
                f"{student.name}: the notebook that was collected before stays, with its own time."
            )
    except OSError as error:
        job.notes.append(f"{student.name}: no folder could be made ({error.strerror}).")


def collect_student(student: Student, job: Download) -> bool:
    """Write one student's notebook, if there is one. Returns whether there is."""
    name, lab, notes = student.name, job.lab, job.notes
    notebooks = _notebooks(student.files, job)
    if not notebooks:
        typed = any(one.file in TYPED for one in student.files)
        notes.append(f"{name} handed in {'a typed text but ' if typed else ''}no notebook of {lab}.")
        return False
    chosen, why = _choose(notebooks, lab)
    notes += [f"{name}{why}"] if why else []
    try:
        content = chosen.entry.read()
    except Unreadable as refused:
        notes.append(f"{name}: {refused}")
        return False
    if other := other_lab(content, lab):
        notes.append(f"{name}: {chosen.entry.path} is a notebook of {other}, not of {lab}.")
    if chosen.late:
        notes.append(f"{name}: Canvas marks the submission as late, but not by how much.")
    _write(student, job, content)
    return True


def _write(student: Student, job: Download, content: bytes) -> None:
    """Write the notebook and its time, unless the notebook collected before is known to be newer."""
    target = job.folder(student.name) / f"{job.lab}.ipynb"
    stamp, before = target.with_name("timestamp.txt"), target.read_bytes() if target.is_file() else None
    if before is not None and before != content:
        old, new = (
            parse_time(time, settings().timezone) for time in (timestamp_in(target.parent), student.time)
        )
        if old and new and old > new:
            job.notes.append(f"{student.name}: the notebook collected before is newer and stays.")
            return
        job.notes.append(f"{student.name}: replaced the notebook collected before.")
    if before != content:
        # The old time is removed first: if the disk is full, the next collection finds the notebook without a wrong time.
        stamp.unlink(missing_ok=True)
    write_atomically(target, content)
    if student.time:
        write_atomically(stamp, student.time + "\n")


def _notebooks(files: Sequence[Owned], job: Download) -> list[Owned]:
    """The student's notebooks of this lab, also inside zips."""
    readable = [one for one in files if one.entry.content is not None]  # a note speaks of the others already
    zips = [one for one in readable if one.file.casefold().endswith(".zip")]
    held = [one for one in readable if one not in zips]
    for one in zips[:MAX_ZIPS]:
        inner = inner_entries(one.entry, job.notes)
        held += [replace(one, entry=entry, file=entry.parts[-1]) for entry in inner]
    unread = [
        f"Not read: {one.entry.path}; of one student {MAX_ZIPS} zips are opened." for one in zips[MAX_ZIPS:]
    ]
    job.notes += first_of(unread)
    return [one for one in held if is_notebook(one.file) and not _of_another_lab(one.entry, job.lab)]


def _of_another_lab(entry: Entry, lab: str) -> bool:
    """Whether the notebook lies in another lab's folder of nbgrader's layout: folder and notebook have the same name."""
    stem = entry.parts[-1].rsplit(".", 1)[0]
    is_a_labs = stem[:2].isdigit() and stem[2:3] == "_"  # a student's folder may be a number
    return len(entry.parts) > 1 and entry.parts[-2] == stem != lab and is_a_labs


def _choose(notebooks: Sequence[Owned], lab: str) -> tuple[Owned, str]:
    """Choose one of several notebooks. Returns it, and a sentence about the choice and its reason.

    The only notebook with an answer counts, else the one with the right name; with several or none of these, the last.
    """
    right = [one for one in notebooks if one.file == f"{lab}.ipynb"]
    answered = only_answered(notebooks, lab, lambda one: one.entry.read())
    candidates = [answered] if answered else right or notebooks
    orders: dict[str, Callable[[Owned], Any]] = {
        "the last attempt": lambda one: one.attempt,
        "the last that was uploaded": lambda one: one.upload,
        "the newest by the files' own dates": lambda one: one.entry.modified,
        "the last by name, for nothing says which is the newest": lambda one: one.entry.path,
    }
    chosen = max(candidates, key=lambda one: tuple(order(one) for order in orders.values()))
    if len(notebooks) == 1:
        return chosen, "" if right else f": {chosen.file} was taken as {lab}.ipynb."
    why = "the only one with an answer in it" if answered else "the one with the right name"
    if len(candidates) > 1:
        why = next(
            (words for words, order in orders.items() if len({order(one) for one in candidates}) > 1),
            "which nothing tells from the others",
        )
    return chosen, f" handed in {len(notebooks)} notebooks: {chosen.entry.path}, {why}, was taken."
