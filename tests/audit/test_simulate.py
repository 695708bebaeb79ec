"""A simulated class holds the submissions that it says it holds."""

from __future__ import annotations

import json
import random

import pytest

from autograder.audit.simulate import kinds_of, pick, simulate
from autograder.course.masters import lab_name, solution_sources
from autograder.errors import UserError
from autograder.questions.engine.answers import answers_of

LAB = lab_name("01")


def sources(text: str) -> dict[str, str]:
    """Question -> what the notebook has in its solution cell."""
    cells = json.loads(text)["cells"]
    return {
        c["metadata"]["nbgrader"]["grade_id"]: "".join(c["source"])
        for c in cells
        if c["cell_type"] == "code" and c["metadata"].get("nbgrader", {}).get("solution")
    }


def test_two_misconceptions_are_about_two_questions_and_each_may_be_met():
    kinds, right = kinds_of(LAB), solution_sources(LAB)
    for seed in range(3):
        for name, count in (("one misconception", 1), ("two misconceptions", 2)):
            written = sources(kinds[name](random.Random(seed)))
            assert sum(written[question] != right[question] for question in right) == count, (name, seed)
    wrong = {
        question: [a.name for a in answers] for question, answers in answers_of(LAB)["misconception"].items()
    }
    met = {answer for seed in range(400) for answer in pick(wrong, 2, random.Random(seed)).values()}
    assert met == {name for names in wrong.values() for name in names}


def test_a_class_has_as_many_different_students_as_asked_for_and_is_the_same_for_the_same_seed(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("autograder.audit.simulate.kinds_of", lambda lab: {"honest": lambda rng: "{}"})
    first = simulate(LAB, 400, tmp_path / "one", seed=1)
    assert len(first) == 400
    assert list(first) == list(simulate(LAB, 400, tmp_path / "two", seed=1))
    assert list(first) != list(simulate(LAB, 400, tmp_path / "three", seed=2))
    with pytest.raises(UserError, match="not empty"):
        simulate(LAB, 3, tmp_path / "one")
