"""Whose a file of Canvas's is whose name can be read in two ways: a student's name there is what they say it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autograder.collect.entries import entries, first_of, shortened
from autograder.collect.names import TYPED, Owned, may_hold_one, owned, without_wrapper
from autograder.course.class_list import ClassList
from autograder.course.lists import same_name


def certain(files: Sequence[Owned], people: ClassList) -> tuple[list[Owned], list[Owned], list[str]]:
    """The files whose owner is certain, each reading of the others, and sentences that name those that may hold a notebook.

    The class list decides where it knows the number of one reading only, and its name agrees. A file of one reading goes
    before one of two; of several that claim one student by the list none is taken, for one may be a classmate's.
    """
    kept = [one for one in files if not one.others]
    refused: list[Owned] = []
    notes: dict[str, list[str]] = defaultdict(
        list
    )  # by the first reading: one student's do not hide the others'
    claims: dict[str, list[tuple[Owned, Owned]]] = defaultdict(list)

    def refuse(one: Owned, why: str) -> None:
        refused.extend((one, *one.others))
        if _may_hold_one(one):
            notes[one.student].append(
                f"{shortened(one.entry.path)} is not collected: its name can be read as {_each(one)}. {why}"
            )

    for one in files:
        listed = [reading for reading in (one, *one.others) if people.of_canvas(reading.number) is not None]
        if one.others and len(listed) == 1 and _agrees(listed[0], people):
            claims[listed[0].number].append((one, listed[0]))
        elif one.others:
            refuse(
                one, "Rename it, or have Canvas's numbers on the class list." if not listed else "Rename it."
            )
    sure = {one.number for one in kept if _may_hold_one(one)}
    for number, some in claims.items():
        for one, reading in some:
            if number in sure:
                refuse(one, f"{_student(number, people)} has another whose name is certain, which was kept.")
            elif sum(map(_may_hold_one, (each for each, _ in some))) > 1:
                refuse(one, f"Others claim to be {_student(number, people)}'s, too: rename the right one.")
            else:
                kept.append(replace(reading, others=()))
                if _may_hold_one(one):
                    notes[one.student].append(
                        f"{shortened(one.entry.path)} has a name that can be read in two ways: "
                        f"by the class list it is {_student(number, people)}'s."
                    )
    return kept, refused, [note for some_notes in notes.values() for note in first_of(some_notes)]


def canvas_names(source: Path, lab: str, people: ClassList) -> list[tuple[str, str, str]]:
    """Canvas's name and number of the student, and the path, of each file in a bulk download whose owner is certain.

    Anonymous ones are left out, and those that Canvas itself, which takes the first numbers, would take for another's.
    """
    mine, _ = owned(without_wrapper(entries(source, []), lab, "canvas")[0], "canvas")
    first = {one.entry.path: one.number for one in mine}
    return [
        (one.name, one.number, one.entry.path)
        for one in certain(mine, people)[0]
        if one.number == first[one.entry.path] != "" and one.file not in ("", *TYPED)
    ]


def _agrees(reading: Owned, people: ClassList) -> bool:
    person = people.of_canvas(reading.number)
    return person is not None and (not person.name or same_name(person.name, reading.name))


def _student(number: str, people: ClassList) -> str:
    person = people.of_canvas(number)
    return person.student if person is not None else number


def _may_hold_one(one: Owned) -> bool:
    return may_hold_one(one.file)


def _each(one: Owned) -> str:
    return " or ".join(f"{reading.student}'s" for reading in (one, *one.others[:2]))
