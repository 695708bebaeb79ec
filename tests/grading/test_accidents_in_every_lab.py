"""Every lab: a class of which each notebook has an ordinary accident, and each answer once is missing or endless."""

from __future__ import annotations

import nbformat
import pytest

from autograder.course.masters import all_labs, solution_sources
from autograder.grading.repair import Template
from autograder.run.pipeline import run
from tests.fixtures.frozen_course import hand_in
from tests.grading import accidents
from tests.grading.accidents import delete, insert, put, stub
from tests.grading.test_ordinary_accidents import ENDS, LOOP, forget_ids, forget_names

#: The grader's rules are one for all labs, and ``test_ordinary_accidents`` breaks each of them in lab 01.
pytestmark = pytest.mark.proof

ENDS_OF_TORCH = (
    "import torch\ntorch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)\ntorch = None"
)


def accidents_in(lab: str) -> dict[tuple[str, str], list[accidents.Accident]]:
    """(accident, the question that it costs) -> what was done to the solved lab."""
    answers, check_of = solution_sources(lab), Template.of(lab).test_of
    questions = list(answers)
    middle = questions[len(questions) // 2]
    harmless = {
        **{f"ends with {name}": [insert(code)] for name, code in {**ENDS, "torch": ENDS_OF_TORCH}.items()},
        "in the check cell": [stub(middle), put(check_of[middle], lambda c: f"{answers[middle]}\n\n{c}")],
        "cells gone": [delete(middle, check_of[middle]), insert(answers[middle])],
        "no names, from back to front": [forget_names, lambda made: made.cells.reverse()],
        "no ids": [forget_ids],
        "all at the end": [*map(stub, questions), insert("\n\n\n".join(answers.values()))],
    }
    costs = {
        "endless": lambda name: [put(name, f"def {name}(*a, **k):\n{LOOP}")],
        "deleted": lambda name: [delete(name)],
    }
    return {(name, ""): done for name, done in harmless.items()} | {
        (name, question): of(question) for question in questions for name, of in costs.items()
    }


@pytest.mark.parametrize("lab", all_labs())
def test_an_accident_costs_what_the_answer_loses_and_no_more(lab, tmp_path, monkeypatch):
    for name, value in {"LAB": lab, "SOLVED": solution_sources(lab), "TEMPLATE": Template.of(lab)}.items():
        monkeypatch.setattr(accidents, name, value)
    class_ = accidents_in(lab)
    for number, done in enumerate(class_.values()):
        hand_in(tmp_path / "submitted", f"s{number:03}", nbformat.writes(accidents.notebook(*done)), lab)
    results = run(lab, tmp_path / "submitted", tmp_path / "out", jobs=2).results
    for result, (name, question) in zip(results, class_, strict=True):
        less = [q.name for q in result.questions if q.points < q.max_points]
        assert less == ([question] if question else []), (name, result.notes)
