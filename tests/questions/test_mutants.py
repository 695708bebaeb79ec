"""A wrong answer that nobody foresaw is named by what an edit of a right answer does."""

from __future__ import annotations

import pytest
import torch

from autograder.course.masters import solution
from autograder.judging import run
from autograder.questions.engine import mutants
from autograder.questions.engine.as_tests import outcomes_seen
from autograder.questions.engine.draw import trials_of
from autograder.questions.engine.edits import edits_of
from autograder.questions.engine.mutants import sentence_of_edit
from autograder.questions.engine.question import questions_of

LAB, SALT, NAME = "07_self_attention", "a salt", "padding_mask"
SCALED = '''
@decorated
def scaled(x, sigma, mask=None):
    """Its docstring."""
    if mask is not None:
        x = np.where(mask, x, 0)
    total = 0
    for row in x:
        far = row / (2 * sigma**2)
        total += softmax(-far, axis=-1)[1:]
    return total, sigma < 1
'''
LAYER = """
class Layer(nn.Module):
    def forward(self, x, mask=None):
        return torch.softmax(x + 1, dim=-1)
"""


def test_edits_say_what_the_answer_does_without_its_lines():
    found = edits_of(SCALED, "scaled", ["softmax"])
    does = {edit.behaviour for edit in found}
    assert does >= {
        "ignores `mask`",
        "leaves out a power of 2 in a place that has to do with `sigma`",
        "takes `softmax` along another axis",
        "has a number too large by one in an index or a slice of something that has to do with `softmax` and `sigma`",
        "returns its results in the other order",
        "puts equal values on the wrong side of a comparison that has to do with `sigma`",
    }
    assert not any(word in words for words in does for word in ("`row`", "`total`", "`far`"))
    assert len({edit.source for edit in found}) == len(found) > 20
    assert not any("decorated" in edit.source or "docstring" in edit.source for edit in found)
    layers = {edit.behaviour for edit in edits_of(LAYER, "Layer")}
    assert layers >= {"ignores `mask`", "takes `torch.softmax` along another axis"}


@pytest.fixture(autouse=True)
def salt():
    before = run.salt()
    run.set_salt(SALT)
    yield
    run.set_salt(before)
    mutants.end_process()


def _seen(function, lab=LAB, name=NAME):
    student = run.student_with_answer(lab, name, function)
    run.run_question(lab, name, student)
    return outcomes_seen(student.answered)


def _without(title):
    found = (one.function for one in questions_of(LAB)[NAME].misconceptions if one.title == title)
    return _seen(next(found))


def test_a_slip_that_is_an_edit_of_the_master_has_a_sentence_and_the_next_one_costs_no_call(monkeypatch):
    seen = _without("one padding position counts as a word")
    said = sentence_of_edit(LAB, NAME, seen)
    assert said == (
        "On our inputs your results are those of a right answer that puts equal values "
        "on the wrong side of a comparison that has to do with `T` and `lengths`."
    )
    tried = mutants._edit_outcomes(LAB, NAME)
    assert len(tried.outcomes) < len(trials_of(questions_of(LAB)[NAME], SALT)) * len(tried.edits) / 2
    mutants.end_process()
    monkeypatch.setattr(mutants, "_process", None)
    assert sentence_of_edit(LAB, NAME, seen) == said


def test_a_right_answer_and_one_that_is_no_edit_have_none_and_one_of_tensors_has_a_sentence():
    assert sentence_of_edit(LAB, NAME, _seen(solution(LAB)[NAME])) == ""
    assert sentence_of_edit(LAB, NAME, _without("the sentences are sorted")) == ""
    assert sentence_of_edit(LAB, NAME, {}) == ""

    def label_smoothing(targets, V, epsilon):
        return (1 - epsilon) * torch.nn.functional.one_hot(targets, V) + epsilon

    seen = _seen(label_smoothing, "10_training", "label_smoothing")
    said = sentence_of_edit("10_training", "label_smoothing", seen)
    assert said.endswith("leaves out a division that has to do with `V`.")


def test_edits_that_say_different_things_say_nothing(monkeypatch):
    seen = _without("one padding position counts as a word")

    class Two:
        edits = [(0, 1, "ignores `T`"), (0, 1, "ignores `lengths`"), (1, 0, "sorts")]  # noqa: RUF012

        def in_trial(self, place, numbers):
            return dict.fromkeys(numbers, seen[place])

    monkeypatch.setattr(mutants, "_edit_outcomes", lambda *_: Two())
    assert sentence_of_edit(LAB, NAME, seen) == ""
    Two.edits[1] = (0, 2, "ignores `lengths`")
    assert "ignores `T`" in sentence_of_edit(LAB, NAME, seen)


def test_an_edit_without_end_is_like_nothing_and_a_process_that_ends_is_asked_no_more(monkeypatch):
    def for_ever(lengths, T):
        while True:
            pass

    before = mutants.signal.signal(mutants.signal.SIGVTALRM, mutants._raise_too_long)
    try:
        assert mutants._outcome(questions_of(LAB)[NAME], 0, for_ever, 0.05) is None
    finally:
        mutants.signal.signal(mutants.signal.SIGVTALRM, before)
    seen = _without("one padding position counts as a word")
    mutants._process()[0].kill()
    with pytest.raises((EOFError, OSError)):
        sentence_of_edit(LAB, NAME, seen)
    monkeypatch.setattr(mutants, "_process", None)
    with pytest.raises(EOFError):
        sentence_of_edit(LAB, NAME, seen)
