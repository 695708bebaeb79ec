"""Sentences for the teacher beside the grades: unknown times, students who are not on the list or are missing."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from autograder.course.lists import summarize_names
from autograder.course.policy_file import class_list, extension_of, settings, unknown_extensions
from autograder.gradebook.final_points import TeacherMarks
from autograder.gradebook.writer import marks_of
from autograder.pages.render import plain
from autograder.results import SubmissionResult

#: The most students whose notes on unclear choices are shown in full.
MOST_CHOICES = 20


def remarks(
    lab: str, results: Collection[SubmissionResult], marks: Mapping[str, TeacherMarks]
) -> tuple[str, ...]:
    """The sentences, for the terminal and the class report."""
    policy, people = settings(), class_list()
    students = [result.student for result in results]
    sentences = []
    dated = [result for result in results if result.readable]
    undated = [result.student for result in dated if not result.submitted_at]
    if undated and policy.due(lab) is not None:
        sentences.append(
            f"Lateness was not counted for {len(undated)} of {len(dated)} submissions, since nobody knows when they "
            f"came in: {summarize_names(undated)}. Give the times to `autograder collect --times`, then regrade."
        )
    sentences += about_outdated_grades(results)
    entered = {name: marks_of(marks, name) for name in students}
    closed = [name for name, own in entered.items() if policy.is_closed(lab, own.seconds_late, own.due)]
    if closed:
        sentences.append(
            f"{len(closed)} came in after the lab had closed and get no points unless you give them an extension: "
            f"{summarize_names(closed)}."
        )
    if people:
        whose = people.of_folders(students)
        strangers = [name for name in students if name not in whose]
        if strangers:
            sentences.append(f"Not on the class list: {summarize_names(strangers)}.")
        for person, folders in people.claimed_twice(students).items():
            longer = (
                ", and all have that student's extension" if extension_of(lab, person) is not None else ""
            )
            sentences.append(
                f"{summarize_names(folders)} all match {person} on the class list{longer}: exports leave them all out until all but one "
                "are removed or renamed."
            )
    sentences += [
        f"These names look alike but have different letters: {summarize_names([ascii(name) for name in names])}. Is it one student?"
        for names in look_alikes(students)
    ]
    sentences += [
        f"{file} gives an extension to nobody of this class: {summarize_names(sorted(names))}."
        for file, names in unknown_extensions(lab, students).items()
    ]
    elsewhere = [result.student for result in results if result.status == "missing" and result.notes]
    if elsewhere:
        sentences.append(
            f"Nothing was graded of {summarize_names(elsewhere)}, although there are files (see their notes)."
        )
    chosen = [(result.student, choice) for result in results for choice in result.choices]
    sentences += [f"{student}: {choice}" for student, choice in chosen[:MOST_CHOICES]]
    if len(chosen) > MOST_CHOICES:
        rest = list(dict.fromkeys(student for student, _ in chosen[MOST_CHOICES:]))
        sentences.append(
            f"What counts was also unclear for {summarize_names(rest)} (see the notes on their pages)."
        )
    others = [
        result.student for result in results if any("This is a notebook of " in note for note in result.notes)
    ]
    if others:
        sentences.append(
            f"Another lab's notebook was handed in by {summarize_names(others)} (see their notes)."
        )
    return tuple(sentences)


def what_is_wrong(result: SubmissionResult) -> list[str]:
    """The causes of lost points, and the forbidden functions, each with its questions; or why a notebook without any stopped."""
    questions_of: dict[str, list[int]] = {}
    for number, question in enumerate(result.questions if result.readable else (), 1):
        lost = question.points < question.max_points
        causes = [plain(question.cause)] if question.cause and (lost or question.misconception) else []
        place = re.split("[,\n]", question.error)[0].removeprefix("in ").replace("cell number", "cell")
        causes = [cause.replace("A cell that it needs did not run", f"{place} stopped") for cause in causes]
        causes += [f"uses {', '.join(question.forbidden)}"] if question.forbidden else []
        if causes:
            questions_of.setdefault(", ".join(causes).rstrip("."), []).append(number)
    notes = result.notes[:1] if result.status != "graded" else ()
    return [
        f"{_numbered(numbers)}: {cause.removeprefix('It raises an error: ')}"
        for cause, numbers in questions_of.items()
    ] or [plain(note).removeprefix("The cell that begins ") for note in notes]


def _numbered(numbers: list[int]) -> str:
    """Questions by their numbers: "Q1, Q3"; "Q2–Q6" for three or more in a row."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"Q{numbers[0]}–Q{numbers[-1]}"
    return ", ".join(f"Q{number}" for number in numbers)


def about_outdated_grades(results: Iterable[SubmissionResult]) -> list[str]:
    """A sentence about students whose grade is from an earlier notebook or earlier tests; none if there are none."""
    names = [result.student for result in results if result.is_outdated]
    return (
        [
            f"The grader itself failed on {summarize_names(names)}, whose points are from an earlier run: regrade."
        ]
        if names
        else []
    )


def look_alikes(names: Iterable[str]) -> list[list[str]]:
    """Groups of different names that look alike: variants of a letter, capitals, invisible characters."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        seen = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
        groups[" ".join(unicodedata.normalize("NFKC", seen).casefold().split())].append(name)
    return [group for group in groups.values() if len(group) > 1]
