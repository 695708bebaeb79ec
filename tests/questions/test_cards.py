"""The cards that are made of the labs' question files: what they say of every known answer, and that they hold none."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from functools import lru_cache
from types import FunctionType

import matplotlib.pyplot as plt
import numpy as np
import pytest
from coursekit.checks import questions

from autograder.course.masters import all_labs
from autograder.course.student_files import kit_files, kit_folder
from autograder.questions.engine.card import MAX_BYTES, card_drift, card_file, data_of, is_stored
from autograder.questions.engine.card_code import ReachesAnAnswer, card_code
from autograder.questions.engine.draw import outcome_of, student_answering, trials_of
from autograder.questions.engine.question import questions_of

pytestmark = pytest.mark.xdist_group("answers")

LABS = [lab for lab in all_labs() if card_file(lab).exists()]
QUESTIONS = [pytest.param(lab, name, id=f"{lab[:2]} {name}") for lab in LABS for name in questions_of(lab)]


@pytest.mark.parametrize("lab", LABS)
def test_the_data_are_those_of_the_questions_files_and_no_earlier_lab_gets_them(lab):
    assert card_drift(lab) == "" and card_file(lab).stat().st_size < MAX_BYTES
    earlier = max((other for other in all_labs() if other < lab), default="")
    assert card_file(lab) in kit_files(lab) and card_file(lab) not in kit_files(earlier)


@pytest.mark.parametrize(
    "lab", [pytest.param(lab, marks=[pytest.mark.proof] if lab > "01" else []) for lab in LABS]
)
def test_the_data_hold_what_the_questions_files_make(lab):
    """Of the other labs the digest says so, and the audit judges every answer by these data."""
    assert is_stored(lab, data_of(lab))


@lru_cache
def _functions_of_the_kit(lab):
    """Functions and methods of the kit's modules, except earlier labs' answers, and the lab's scenarios and impostors."""
    files = [file.relative_to(kit_folder().parent) for file in kit_files(lab) if file.suffix == ".py"]
    names = [".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files]
    names = [name for name in names if not re.search(r"__main__|\.provided", name)]
    found = [value for name in names for value in vars(importlib.import_module(name)).values()]
    found = [value for value in found if getattr(value, "__module__", "") in names]
    found += [method for kind in found if inspect.isclass(kind) for method in vars(kind).values()]
    found += [value for card in questions.questions_of(lab).values() for value in card.code.values()]
    return [one for one in found if isinstance(one, FunctionType)]


def _takes(function, count):
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    return True


@pytest.mark.parametrize(("lab", "name"), QUESTIONS)
def test_nothing_of_the_kit_computes_the_answer(lab, name):
    """Every function and method of the kit, and every scenario and impostor, stands in for the answer."""
    question = questions_of(lab)[name]
    parameters = inspect.signature(question.reference).parameters.values()
    count = sum(one.default is one.empty for one in parameters)
    trials = trials_of(question, "a salt")[:3]
    for function in _functions_of_the_kit(lab):
        if _takes(function, count):
            student = student_answering(question, function)
            assert any(trial.difference(outcome_of(trial, student)) for trial in trials), function
    plt.close("all")


FILE = """
import numpy as np
from autograder.questions.engine import Case, Observed, Question
from autograder.judging.run import NOT_THE_SAME_AGAIN

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
    assert "SIZES = (2, 3)" in code and "reference" not in code
    assert ("np" in seen) is ("import numpy as np" in code)
    names = {}
    exec(code, names)
    assert len(list(names["play"](lambda x: np.asarray(x) * 2, None))) == 2
