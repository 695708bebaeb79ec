"""A diagnosis names the mistake that was made, and not another one with the same values."""

from __future__ import annotations

import torch

from autograder.course.masters import solution
from autograder.judging.run import run_question, student_with_answer
from autograder.questions.engine.answers import answers_of, fresh_answers
from autograder.questions.engine.diagnosis import diagnose


def _named(lab, question, function):
    found = diagnose(lab, question, run_question(lab, question, student_with_answer(lab, question, function)))
    return found and found.name


def test_right_values_of_a_wrong_type_are_not_taken_for_a_changed_argument():
    lab, question = "10_training", "shift_targets"
    right = solution(lab)[question]

    def of_another_type(sentences, bos, eos, pad):
        return tuple(part.int() for part in right(sentences, bos, eos, pad))

    def that_changes_its_argument(sentences, bos, eos, pad):
        result = right(sentences, bos, eos, pad)
        sentences[0].insert(0, bos)
        return result

    assert _named(lab, question, of_another_type) is None
    assert _named(lab, question, that_changes_its_argument) == "targets_that_append"


def test_an_answer_that_keeps_something_is_named_however_often_it_was_asked_before():
    lab, question = "10_training", "adam_step"
    loaded, fresh = (
        next(a for a in known if a.name == "adam_that_counts_by_itself")
        for known in (
            answers_of(lab)["misconception"][question],
            fresh_answers(lab, question)["misconception"],
        )
    )
    one = torch.ones(1, dtype=torch.float64)
    for _ in range(2000):  # by then its correction of the means has faded, and its mistake would be another
        loaded.function(one, one, one, one, 1, 0.1)
    assert _named(lab, question, fresh.function) == fresh.name
