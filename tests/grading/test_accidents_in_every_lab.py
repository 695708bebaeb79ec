"""Every lab: a class of which each notebook has an ordinary accident, and each answer once is missing, endless or no Python."""

from __future__ import annotations

import nbformat
import pytest

from autograder.course.masters import all_labs, solution_sources
from autograder.grading.repair import Template
from autograder.run.pipeline import run
from tests.fixtures.frozen_course import hand_in
from tests.grading import accidents
from tests.grading.accidents import answer, delete, forget_ids, forget_names, insert, position, put, stub
from tests.grading.test_ordinary_accidents import BEGINS, ENDS, LOOP

#: The grader's rules are one for all labs, and ``test_ordinary_accidents`` breaks each of them in lab 01.
pytestmark = pytest.mark.proof


def accidents_in(lab: str) -> dict[tuple[str, str], list[accidents.Accident]]:
    """(accident, the question that it costs) -> what was done to the solved lab."""
    questions, check_of = list(solution_sources(lab)), Template.of(lab).test_of
    first, middle, last = questions[0], questions[len(questions) // 2], questions[-1]
    of_torch = (
        "import torch\ntorch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)\ntorch = None"
    )
    harmless = {
        **{f"ends with {name}": [insert(code)] for name, code in {**ENDS, "torch": of_torch}.items()},
        "begins badly": [insert(code, before=first) for code in BEGINS.values()],
        "a new last cell": [stub(middle), insert(answer(middle))],
        "in the check cell": [stub(middle), put(check_of[middle], lambda c: f"{answer(middle)}\n\n{c}")],
        "in place of the check": [stub(first), put(check_of[first], answer(first))],
        "cells gone": [delete(middle, check_of[middle]), insert(answer(middle))],
        "tabs and line ends": [
            put(middle, lambda c: (c.replace("    ", "\t") + "\n   ").replace("\n", "\r\n")),
            put(last, lambda c: "%%time\n" + c),
        ],
        "no names": [forget_names],
        "no names, from back to front": [forget_names, lambda made: made.cells.reverse()],
        "no ids": [forget_ids],
        "all at the end": [*map(stub, questions), insert("\n\n\n".join(map(answer, questions)))],
        "a loop below": [put(middle, lambda c: f"{c}\n\n\nwhile True:\n    pass")],
        "an exit below": [put(middle, lambda c: c + "\nimport os\nos._exit(0)")],
        "a line left": [put(middle, lambda c: c + "\n    raise NotImplementedError()")],
        "moved": [lambda made: made.cells.append(made.cells.pop(position(made, first)))],
    }
    costs = {
        "nothing returned": lambda name: [put(name, f"def {name}(*a, **k):\n    return None")],
        "endless": lambda name: [put(name, f"def {name}(*a, **k):\n{LOOP}")],
        "no Python": lambda name: [put(name, lambda c: c + "\n\n\nx = 3 − 1")],
        "deleted": lambda name: [delete(name)],
    }
    return {(name, ""): done for name, done in harmless.items()} | {
        (name, question): of(question) for question in questions for name, of in costs.items()
    }


@pytest.mark.parametrize("lab", all_labs())
def test_an_accident_costs_what_the_answer_loses_and_no_more(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(accidents, "LAB", lab)
    class_ = accidents_in(lab)
    for number, done in enumerate(class_.values()):
        hand_in(tmp_path / "submitted", f"s{number:03}", nbformat.writes(accidents.notebook(*done)), lab)
    results = run(lab, tmp_path / "submitted", tmp_path / "out", jobs=2).results
    for result, (name, question) in zip(results, class_, strict=True):
        less = [q.name for q in result.questions if q.points < q.max_points]
        assert less == ([question] if question else []), (name, result.notes)
