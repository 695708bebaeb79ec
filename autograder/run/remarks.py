"""Sentences for the teacher beside the grades: unknown times, students who are not on the list or are missing."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from autograder.course.lists import sentences_about, summarize_names
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
    return tuple(_remarks(lab, results, marks))


def _remarks(
    lab: str, results: Collection[SubmissionResult], marks: Mapping[str, TeacherMarks]
) -> Iterator[str]:
    policy, people = settings(), class_list()
    students = [result.student for result in results]
    dated = [result for result in results if result.readable]
    undated = [result.student for result in dated if not result.submitted_at]
    if undated and policy.due(lab) is not None:
        yield (
            f"Lateness was not counted for {len(undated)} of {len(dated)} submissions, since nobody knows when they "
            f"came in: {summarize_names(undated)}. Give the times to `autograder collect --times`, then regrade."
        )
    yield from about_outdated_grades(results)
    entered = {name: marks_of(marks, name) for name in students}
    closed = [name for name, own in entered.items() if policy.is_closed(lab, own.seconds_late, own.due)]
    whose = people.of_folders(students)
    too_late = "came in after the lab had closed and get no points unless you give them an extension"
    yield from sentences_about(
        {
            f"{len(closed)} {too_late}": closed,
            "Not on the class list": [name for name in students if people and name not in whose],
        }
    )
    for person, folders in people.claimed_twice(students).items():
        longer = ", and all have that student's extension" if extension_of(lab, person) is not None else ""
        yield (
            f"{summarize_names(folders)} all match {person} on the class list{longer}: exports leave them all out until all but one "
            "are removed or renamed."
        )
    for names in look_alikes(students):
        shown = summarize_names([ascii(name) for name in names])
        yield f"These names look alike but have different letters: {shown}. Is it one student?"
    nobodys = unknown_extensions(lab, students)
    yield from sentences_about(
        {
            f"{file} gives an extension to nobody of this class": sorted(names)
            for file, names in nobodys.items()
        }
    )
    if elsewhere := [result.student for result in results if result.status == "missing" and result.notes]:
        yield f"Nothing was graded of {summarize_names(elsewhere)}, although there are files (see their notes)."
    chosen = [(result.student, choice) for result in results for choice in result.choices]
    yield from (f"{student}: {choice}" for student, choice in chosen[:MOST_CHOICES])
    if rest := list(dict.fromkeys(student for student, _ in chosen[MOST_CHOICES:])):
        yield f"What counts was also unclear for {summarize_names(rest)} (see the notes on their pages)."
    if others := [r.student for r in results if any("This is a notebook of " in note for note in r.notes)]:
        yield f"Another lab's notebook was handed in by {summarize_names(others)} (see their notes)."


def what_is_wrong(result: SubmissionResult) -> list[str]:
    """The causes of lost points, and the forbidden functions, each with its questions; or why a notebook without any stopped."""
    questions_of: dict[str, list[int]] = {}
    notes = [plain(note).removeprefix("The cell that begins ") for note in result.notes]
    for number, question in enumerate(result.questions if result.readable else (), 1):
        lost = question.points < question.max_points
        cause = plain(question.cause or "") if lost or question.misconception else ""
        _, needed, error = cause.partition("A cell that it needs did not run: ")
        stopped = [note for note in notes if needed and note.endswith(error.removeprefix("This cell "))]
        causes = [*stopped, cause][:1] if cause else []
        causes += [f"uses {', '.join(question.forbidden)}"] if question.forbidden else []
        if causes:
            questions_of.setdefault(", ".join(causes).rstrip("."), []).append(number)
    kept = [question.points - question.max_points for question in result.questions]
    dearest = sorted(questions_of.items(), key=lambda cause: sum(kept[n - 1] for n in cause[1]))
    return [
        f"{_numbered(numbers)}: {cause.removeprefix('It raises an error: ').removesuffix('. Your function raised an error')}"
        for cause, numbers in dearest
    ] or [note.replace(": (", " (") for note in notes[:1] if result.status != "graded"]


def _numbered(numbers: list[int]) -> str:
    """Questions by their numbers: "Q1, Q3"; "Q2–Q6" for three or more in a row."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"Q{numbers[0]}–Q{numbers[-1]}"
    return ", ".join(f"Q{number}" for number in numbers)


def about_outdated_grades(results: Iterable[SubmissionResult]) -> list[str]:
    """A sentence about students whose grade is from an earlier notebook or earlier tests; none if there are none."""
    names = [result.student for result in results if result.is_outdated]
    said = f"The grader itself failed on {summarize_names(names)}, whose points are from an earlier run: regrade."
    return [said] if names else []


def look_alikes(names: Iterable[str]) -> list[list[str]]:
    """Groups of different names that look alike: variants of a letter, capitals, invisible characters."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        seen = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
        groups[" ".join(unicodedata.normalize("NFKC", seen).casefold().split())].append(name)
    return [group for group in groups.values() if len(group) > 1]
