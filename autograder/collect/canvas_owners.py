"""Whose a file of Canvas's is whose name can be read in two ways: a student's name there is what they say it is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autograder.collect.entries import entries, first_of, shortened
from autograder.collect.names import TYPED, Owned, may_hold_one, owned, without_wrapper
from autograder.course.class_list import ClassList, Person
from autograder.course.lists import same_name


def certain(files: Sequence[Owned], people: ClassList) -> tuple[list[Owned], list[Owned], list[str]]:
    """The files whose owner is certain, each reading of the others, and sentences that name those that may hold a notebook.

    The class list decides where it knows the number of one reading only, and its name agrees. A file of one reading goes
    before one of two; of several that claim one student by the list none is taken, for one may be a classmate's.
    """
    kept = [one for one in files if not one.others]
    doubtful = [one for one in files if one.others]
    sure = {one.number for one in kept if may_hold_one(one.file)}
    claims: dict[Owned, tuple[Owned, Person]] = {}
    for one in doubtful:
        known = [(each, person) for each in (one, *one.others) if (person := people.of_canvas(each.number))]
        if len(known) == 1 and (not known[0][1].name or same_name(known[0][1].name, known[0][0].name)):
            claims[one] = known[0]
    count = Counter(reading.number for one, (reading, _) in claims.items() if may_hold_one(one.file))
    refused: list[Owned] = []
    notes: dict[str, list[str]] = defaultdict(list)  # by the first reading: one's do not hide the others'
    for one in doubtful:
        readings = (one, *one.others)
        if one in claims and claims[one][0].number not in sure and count[claims[one][0].number] <= 1:
            reading, person = claims[one]
            kept.append(replace(reading, others=()))
            said = f"has a name that can be read in two ways: by the class list it is {person.student}'s."
        else:
            refused.extend(readings)
            each = " or ".join(f"{reading.student}'s" for reading in readings[:3])
            said = f"is not collected: its name can be read as {each}. Rename it, or have Canvas's numbers on the class list."
        notes[one.student] += [f"{shortened(one.entry.path)} {said}"] if may_hold_one(one.file) else []
    return kept, refused, [note for some in notes.values() for note in first_of(some)]


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
