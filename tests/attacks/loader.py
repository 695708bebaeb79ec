"""Turns a case into a submission: a solved or untouched notebook with the case's cells and answers in it.

A table of ``cases/HEADING.toml`` is a case; what its heading's cases have in common stands in ``usual``. It holds ``what`` (a
sentence), ``status`` (a list where a slow machine may come to another: with that the score may be less) and ``score``
(a number, or ``"less"`` than full), and may hold

- ``cell``, an added cell (``times``: how often), and ``answers`` by question; ``before``: the names of texts that stand above the one or the others;
- ``like``: the case whose cell it has, too;
- ``lab`` (default 01), ``student`` (the folder's name);
- ``base``: ``solved``, ``untouched``, or ``emptied``: nothing in the answer cells, so that the case's cell defines all;
- ``after``: the grade id after which the cell goes (default: before the first question);
- ``never``: texts that must stand in nothing that a student or a teacher gets, nor may a hidden sentence of lab 01;
- ``never_on_the_page``: texts that must not stand so in the feedback page's HTML;
- ``forbidden``: the question whose answer is to be flagged, for a person to look at (none other is);
- ``note``: a text that the result's notes must hold; ``question``: where the points are to be lost;
- ``held_by``: what holds the same, so that it is graded at ``make proof`` alone.

What ``hand_ins`` has under the case's name changes the notebook, or writes what it likes in its place.
"""

import copy
import json
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

from autograder.course.build import released_notebook
from autograder.course.masters import lab_name, solution_sources
from autograder.course.policy_file import spec
from autograder.questions.engine.draw import PUBLIC, trials_of
from autograder.questions.engine.question import questions_of
from autograder.results import SubmissionResult
from tests.fixtures.frozen_course import SALT

from . import hand_ins

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """One attack, or one honest mishap, with what must come of it."""

    name: str
    expected: dict[str, Any]
    cell: str
    answers: dict[str, str]

    @property
    def lab(self) -> str:
        """The full name of the lab it is handed in for."""
        return lab_name(self.expected.get("lab", "01"))

    @property
    def statuses(self) -> list[str]:
        """The statuses of which it has to get one."""
        status = self.expected["status"]
        return status if isinstance(status, list) else [status]

    @property
    def student(self) -> str:
        """The name of the student's folder."""
        return str(self.expected.get("student", self.name))

    @property
    def is_written_otherwise(self) -> bool:
        """Whether it is more than a cell and answers."""
        return hand_ins.changes(self.name)

    def faults(self, result: SubmissionResult, ends_otherwise: bool = False) -> list[str]:
        """Where the result is not what the case's file expects; ``ends_otherwise``: with another status, and perhaps fewer points."""
        expected = self.expected
        lost = {q.name: q.points for q in result.questions if q.points < q.max_points}
        flagged = [question.name for question in result.questions if question.forbidden]
        if expected["score"] == "less":
            earned = lost.keys() == {expected["question"]}
        elif ends_otherwise or result.status != self.statuses[0]:
            earned = result.score <= expected["score"] + 1e-9
        else:
            earned = abs(result.score - expected["score"]) < 1e-6
        said = self.said_of_hidden(json.dumps(result.as_dict()))
        asked = [(question.name, question.max_points) for question in result.questions]
        held = {
            "the grader failed": not result.fault,
            f"it lost {lost}": earned,
            f"flagged are {flagged}": flagged == ([expected["forbidden"]] if "forbidden" in expected else []),
            f"the questions are {asked}": asked == list(spec(self.lab).questions),
            f"it says {said}": not said,
            "the status": ends_otherwise or result.status in self.statuses,
            "the notes": ends_otherwise or expected.get("note", "") in " ".join(result.notes),
        }
        wrong = [what for what, right in held.items() if not right]
        return [f"{self.name} ({result.status}, {result.notes}): {'; '.join(wrong)}"] if wrong else []

    def said_of_hidden(self, words: str) -> list[str]:
        """The texts that must stand in nothing and do stand in these words."""
        never = [*self.expected["never"], *hidden_sentences()] if "never" in self.expected else []
        return [text for text in never if text in words]

    def notebook(self) -> nbformat.NotebookNode:
        """The notebook that the student saved."""
        untouched, right = _made(self.lab)
        notebook = copy.deepcopy(untouched)
        base = self.expected.get("base", "solved")
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in self.answers:
                cell.source = self.answers[name]
            elif name in right and base != "untouched":
                cell.source = right[name] if base == "solved" else "# See above."
        if self.cell:
            names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
            after, times = self.expected.get("after"), self.expected.get("times", 1)
            place = names.index(after) + 1 if after else names.index(next(iter(right)))
            notebook.cells[place:place] = [nbformat.v4.new_code_cell(self.cell) for _ in range(times)]
        return notebook

    def hand_in(self, submitted: Path) -> None:
        """Write the submission into the class's folder."""
        path = submitted / self.student / self.lab / f"{self.lab}.ipynb"
        path.parent.mkdir(parents=True)
        hand_ins.hand_in(self.name, json.loads(nbformat.writes(self.notebook())), path)


@cache
def hidden_sentences() -> tuple[str, ...]:
    """The sentences that only the hidden inputs of lab 01 hold, under the salt of the tests."""

    def drawn(salt: str) -> set[str]:
        questions = questions_of(lab_name("01"))
        names = ("transition_matrix", "second_order")
        cases = (trial.case for name in names for trial in trials_of(questions[name], salt) if trial.case)
        said = {text for case in cases for text in case.args[0] if isinstance(text, str)}
        return {text for text in said if len(text) > 11}

    public = " / ".join(drawn(PUBLIC))
    return tuple(sorted(text for text in drawn(SALT) if text not in public))


@cache
def _made(lab: str) -> tuple[nbformat.NotebookNode, dict[str, str]]:
    """The released notebook, and the right answers."""
    return released_notebook(lab), solution_sources(lab)


def all_cases() -> list[Case]:
    """Every case, by name."""
    return sorted((case for path in CASES.glob("*.toml") for case in _read(path)), key=lambda case: case.name)


def _read(path: Path) -> list[Case]:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    usual, texts = tables.pop("usual"), tables.pop("before", {})
    cases = []
    for name, own in tables.items():
        expected = {**usual, **tables.get(own.get("like"), {}), **own}
        above = "".join(texts[text] + "\n" for text in expected.pop("before", ()))
        cell, answers = expected.pop("cell", ""), expected.pop("answers", {})
        answers = {question: answer if cell else above + answer for question, answer in answers.items()}
        cases.append(Case(f"{path.stem}_{name}", expected, cell and above + cell, answers))
    return cases
