"""A wrong answer that nobody foresaw is named by what an edit of a right answer does."""

from __future__ import annotations

import ast
import inspect

import pytest

from autograder.course.masters import solution, solution_source
from autograder.questions.engine import edits, mutants
from autograder.questions.engine.edits import edits_of
from autograder.questions.engine.mutants import generated_name, profiles_of
from autograder.questions.engine.question import questions_of
from autograder.testing import run

LAB, SALT = "07_self_attention", "a salt"
SCALED = '''
@decorated
def scaled(x, sigma, mask=None):
    """Its docstring."""
    if mask is not None:
        x = np.where(mask, x, 0)
    total = 0
    for row in x:
        total += softmax(-row / (2 * sigma**2), axis=-1)
    return total, sigma < 1
'''


def test_edits_say_what_the_answer_does_without_its_lines():
    does = {edit.does for edit in edits_of(SCALED, "scaled", ["softmax"])}
    assert does >= {
        "ignores `mask`",
        "leaves out a power",
        "leaves out a multiplication that has to do with `sigma`",
        "leaves out a division that has to do with `sigma`",
        "multiplies where it should divide",
        "has the other sign in one place",
        "takes `softmax` along another axis",
        "overwrites what it should add to",
        "returns its results in the other order",
        "takes the border itself to the other side of a comparison",
        "takes `x` for `sigma` in one place",
        "does not look at a special case that has to do with `mask`",
    }
    assert not any("`row`" in words or "`total`" in words for words in does)


def test_each_edit_is_another_source_that_can_be_compiled():
    sources = [edit.source for edit in edits_of(SCALED, "scaled")]
    assert len(set(sources)) == len(sources) > 20
    for source in sources:
        assert ast.parse(source).body[0].decorator_list == []


def test_edits_come_in_the_same_order_each_time():
    source = solution_source(LAB, "scaled_dot_product_attention")
    assert edits_of(source, "scaled_dot_product_attention") == edits_of(
        source, "scaled_dot_product_attention"
    )


@pytest.fixture(autouse=True)
def salt():
    before = run.salt()
    run.set_salt(SALT)
    yield
    run.set_salt(before)


def _runs(name, function):
    return run.run_question(LAB, name, run.student_with_answer(LAB, name, function))


def _said(name, function):
    return generated_name(LAB, name, _runs(name, function))


def _without(title):
    return next(
        one.function for one in questions_of(LAB)["padding_mask"].misconceptions if one.title == title
    )


def test_a_slip_that_is_an_edit_of_the_master_has_a_sentence():
    assert _said("padding_mask", _without("one padding position counts as a word")) == (
        "On our inputs your results are those of a right answer that takes the border itself to the other side of a comparison."
    )


def test_a_right_answer_and_one_that_is_no_edit_have_none():
    assert _said("padding_mask", solution(LAB)["padding_mask"]) == ""
    assert _said("padding_mask", _without("the sentences are sorted")) == ""


def test_edits_that_say_different_things_say_nothing(monkeypatch):
    runs = _runs("padding_mask", _without("one padding position counts as a word"))
    found, seen = profiles_of(LAB, "padding_mask", SALT), mutants.seen_in(runs)
    same = mutants.Profile(0, 1, "ignores `T`", seen)
    monkeypatch.setattr(mutants, "profiles_of", lambda *_: (*found, same))
    assert generated_name(LAB, "padding_mask", runs) == ""
    of_another = mutants.Profile(1, 0, "ignores `T`", seen)
    monkeypatch.setattr(mutants, "profiles_of", lambda *_: (*found, of_another))
    assert "takes the border itself" in generated_name(LAB, "padding_mask", runs)


def test_an_edit_without_end_is_left_out(monkeypatch):
    question = questions_of(LAB)["padding_mask"]

    def for_ever(lengths, T):
        while True:
            pass

    monkeypatch.setattr(mutants, "SECONDS", 0.05)
    monkeypatch.setattr(mutants, "_edited", lambda question: [(0, 1, "has no end", for_ever)])
    mutants.signal.signal(mutants.signal.SIGVTALRM, mutants._ring)
    assert list(mutants._tried(question)) == []


@pytest.mark.parametrize("module", [edits])
def test_the_examples_of_the_docstrings_hold(module):
    import doctest

    result = doctest.testmod(module)
    assert result.attempted and not result.failed and inspect.getdoc(module)
