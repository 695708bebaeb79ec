"""The cards that are made of the labs' question files: what they say of every known answer, and that they hold none."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from types import FunctionType

import numpy as np
import pytest
from coursekit.checks import compare, encoding, local_student, questions, symptoms, values, words

from autograder.course.masters import all_labs
from autograder.course.policy_file import spec
from autograder.course.visible_files import kit_files
from autograder.questions.engine import Question
from autograder.questions.engine.card import MAX_BYTES, card_drift, card_file, data_of, is_stored
from autograder.questions.engine.card_code import ReachesAnAnswer, card_code
from autograder.questions.engine.draw import outcome_of, student_answering, trials_of
from autograder.questions.engine.question import questions_of

pytestmark = pytest.mark.xdist_group("answers")

LABS = [lab for lab in all_labs() if card_file(lab).exists()]
QUESTIONS = [
    pytest.param(lab, name, id=f"{lab[:2]} {name}")
    for lab in LABS
    for name, points in spec(lab).questions
    if points  # that these have files, and no others, is for the audit
]
each_question = pytest.mark.parametrize(("lab", "name"), QUESTIONS)


@pytest.mark.parametrize("lab", LABS)
def test_the_data_are_those_of_the_questions_files_and_no_earlier_lab_gets_them(lab):
    assert card_drift(lab) == "" and card_file(lab).stat().st_size < MAX_BYTES
    earlier = [other for other in all_labs() if other < lab]
    assert card_file(lab) in kit_files(lab) and card_file(lab) not in kit_files(
        earlier[-1] if earlier else ""
    )


@pytest.mark.parametrize(
    "lab", [pytest.param(lab, marks=[pytest.mark.proof] if lab > "01" else []) for lab in LABS]
)
def test_the_data_hold_what_the_questions_files_make(lab):
    """Of the other labs the digest says so, and the audit judges every answer by these data."""
    assert is_stored(lab, data_of(lab))


@each_question
def test_nothing_of_a_card_computes_the_answer(lab, name):
    """Every function and method that makes the cards, and every scenario and impostor, stands in for the answer."""
    modules = (compare, encoding, local_student, questions, symptoms, values, words)
    found = [value for module in modules for value in vars(module).values()]
    found = [value for value in found if str(getattr(value, "__module__", "")).startswith("coursekit.")]
    found += [method for kind in found if inspect.isclass(kind) for method in vars(kind).values()]
    found += [value for card in questions.questions_of(lab).values() for value in card.code.values()]
    trials = trials_of(questions_of(lab)[name], "a salt")
    for function in (one for one in found if isinstance(one, FunctionType)):
        student = student_answering(questions_of(lab)[name], function)
        wrong = (trial.difference(outcome_of(trial, student)) for trial in trials[:3])
        assert any(wrong), function


FILE = """
import numpy as np
from autograder.questions.engine import Case, Observed, Question
from autograder.judging.expect import NOT_THE_SAME_AGAIN

SIZES = (2, 3)

def reference(x):
    return doubled(x)

def doubled(x):
    return [number + number for number in x]

def lengths(x):
    return [len(part) for part in x]

question = Question(reference)

@question.scenario("Some sizes.")
def play(student, rng):
    for size in SIZES:
        yield Observed("the value", {seen})
"""


@pytest.mark.parametrize(
    ("seen", "refused"),
    [
        ("np.sum(student(np.ones(size)))", ""),
        ("lengths([student([1.0])])", ""),
        ("student([1.0]) == reference([1.0])", "“reference”, which is part of an answer"),
        ("student([1.0]) == doubled([1.0])", "“doubled”, which is part of an answer"),
        ("question.reference([1.0])", "“question”, which is part of an answer"),
        ("Case([1.0])", "of the harness"),
        ("NOT_THE_SAME_AGAIN", "of the harness"),
        ("student.scene('import autograder')", "name the harness"),
    ],
)
def test_what_knows_an_answer_does_not_get_into_the_kit(seen, refused, tmp_path, monkeypatch):
    file = tmp_path / "double.py"
    file.write_text(FILE.format(seen=seen))
    spec = importlib.util.spec_from_file_location(f"autograder.questions.m99_{abs(hash(seen))}.double", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    if refused:
        with pytest.raises(ReachesAnAnswer, match=refused):
            card_code(module.question)
        return
    code = card_code(module.question)
    assert (
        "SIZES = (2, 3)" in code
        and "reference" not in code
        and ("np" in seen) is ("import numpy as np" in code)
    )
    names = {}
    exec(code, names)
    assert len(list(names["play"](lambda x: np.asarray(x) * 2, None))) == 2


def test_a_question_without_scenarios_ships_no_code():
    assert card_code(Question(lambda x: x, name="same")) == ""
