"""Says why an answer could not be tested: an error stopped its cell, or the stub's line is still in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from autograder.grading.cell_text import defines, makes
from autograder.grading.repair import Template
from autograder.grading.repaired import Cell, Repaired
from autograder.judging.run import NOT_DEFINED, NOT_WRITTEN
from autograder.results import CellOutcome, QuestionResult, TestResult, whole_sentences

#: The message for a written answer that raises the stub's error.
STILL_THERE = "the line “raise NotImplementedError()” still stands in its cell: delete it"
CALLS_UNWRITTEN = "it calls a function that is not written yet"
#: The message for an answer whose cell did not run.
DID_NOT_RUN = "the cell that should define it did not run"
_MISSING_NAME = re.compile(r"NameError: name '(\w+)' is not defined")
_PLACE = re.compile(r"(?s)(.*) \(line (\d+): (.*)\)")

#: The beginning of the sandbox's sentence about a cell that it ended.
STOPPED = "This cell was stopped: "
#: The most stopped cells that are named, and the most characters of their first lines.
MOST_NAMED, LONGEST_LINE = 5, 80
#: The most cells that are read for a name that the sandbox lacks.
MOST_READ = 20


def stopped_cells(failed: Sequence[tuple[Cell, str]]) -> list[str]:
    """Sentences about the cells that stopped with an error: the first line of each, and the error."""
    notes = []
    for cell, error in failed[:MOST_NAMED]:
        first = next((line for line in cell.run.splitlines() if line.strip()), "").strip().replace("`", "'")
        how = whole_sentences(error, 300)
        how = how.removeprefix("This cell ") if how.startswith(STOPPED) else f"stopped: {how}"
        notes.append(f"The cell that begins `{first[:LONGEST_LINE]}` {how}")
    more = len(failed) - MOST_NAMED
    return [*notes, *([f"{more} more of your cells stopped with an error."] if more > 0 else [])]


def failed_cells(repaired: Repaired, outcomes: Sequence[CellOutcome]) -> list[tuple[Cell, str]]:
    """The cells that stopped, each with its error. ``outcomes`` belong to the cells that run, in order."""
    ran = (cell for cell in repaired.cells if cell.run)
    return [(cell, outcome.error) for cell, outcome in zip(ran, outcomes, strict=True) if outcome.error]


def with_cell_error(
    question: QuestionResult, repaired: Repaired, template: Template, failed: Sequence[tuple[Cell, str]]
) -> QuestionResult:
    """The question. If its name is undefined, it gets the error of the cell that should define it, one of ``failed``.

    The cells' process was asked no hidden input.
    """
    answers = template.tested.get(template.test_of[question.name], ())
    question = _with_written(question, repaired, answers)
    messages = [test.message for test in question.tests]
    lacking = set(_MISSING_NAME.findall("\n".join([question.error, *messages])))
    if NOT_DEFINED in messages:
        lacking = lacking.union(*(template.names[answer] for answer in answers))
    cell, error = next(((c, e) for c, e in failed if defines(c.run, lacking)), (None, ""))
    if cell is None:
        return question
    label, place = cell.grade_id or f"cell number {cell.number}", _PLACE.fullmatch(error)
    whose = "A cell that it needs" if set(answers).isdisjoint(cell.answers) else "Its cell"
    return replace(
        question,
        tests=_told(question, NOT_DEFINED, DID_NOT_RUN),
        misconception=None,
        hint=None,
        cause=whole_sentences(f"{whose} did not run: {error}"),
        error=f"in {label}, line {place[2]}: {place[3]}\n{place[1]}" if place else f"in {label}\n{error}",
        did_not_run=True,
    )


def names_not_made(questions: Sequence[QuestionResult], repaired: Repaired) -> list[str]:
    """Sentences about answers that lack a name which only a cell makes that does not run, such as a figure's."""
    unrun = [c.source for c in repaired.cells if c.run != c.source and c.node.cell_type == "code"]
    return [
        f"“{question.name}” uses `{name}`, which only a cell makes that does not run in grading: make it in a cell of your own."
        for question in questions
        for name in _MISSING_NAME.findall(question.error)
        if any(makes(source, name) for source in islice((s for s in unrun if name in s), MOST_READ))
    ]


def _with_written(question: QuestionResult, repaired: Repaired, answers: Sequence[str]) -> QuestionResult:
    """The question, where “not written” is false and a leftover stub line or an unwritten helper is the cause."""
    if repaired.written.isdisjoint(answers) or all(test.message != NOT_WRITTEN for test in question.tests):
        return question
    own = [cell.run for cell in repaired.cells if not set(answers).isdisjoint(cell.answers)]
    words = STILL_THERE if any("raise NotImplementedError" in code for code in own) else CALLS_UNWRITTEN
    unknown = (question.cause or "").strip(".").lower() == NOT_WRITTEN
    cause = f"{words[0].upper()}{words[1:]}." if unknown else question.cause
    return replace(question, tests=_told(question, NOT_WRITTEN, words), cause=cause)


def _told(question: QuestionResult, message: str, instead: str) -> tuple[TestResult, ...]:
    return tuple(
        replace(test, message=instead) if test.message == message else test for test in question.tests
    )
