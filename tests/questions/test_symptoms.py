"""Symptoms: true words about how a wrong value differs from the right one."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from coursekit.checks.values import values_match

from autograder.judging.run import run_question, student_with_answer
from autograder.judging.time_guard import JudgeClock
from autograder.questions.engine.as_tests import outcomes_seen
from autograder.questions.engine.cause import cause_of, where_wrong
from autograder.questions.engine.symptoms import find_symptom, symptom_of

RNG = np.random.default_rng(5)
TABLE = RNG.normal(size=(4, 6))
SHARES = np.exp(TABLE) / np.exp(TABLE).sum(-1, keepdims=True)
MASK = np.tril(np.ones((5, 5), dtype=bool))


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)


@pytest.mark.parametrize(
    ("actual", "expected", "name"),
    [
        (None, TABLE, "nothing returned"),
        (TABLE.T, TABLE, "transposed"),
        (TABLE[:, :, None], TABLE, "axis too many"),
        (TABLE.sum(1), TABLE.sum(1, keepdims=True), "axis dropped"),
        (TABLE.ravel(), TABLE, "shape only"),
        (TABLE[:, 1:], TABLE, "one place more or less"),
        (-TABLE, TABLE, "sign"),
        (2 * TABLE, TABLE, "factor"),
        (-17.25 * TABLE, TABLE, "factor"),
        (TABLE / 17.25, TABLE, "factor"),
        (TABLE / np.log(2), TABLE, "factor"),
        (TABLE + 1, TABLE, "off by one"),
        (TABLE + 0.3, TABLE, "offset"),
        (TABLE.astype(np.float32), TABLE, "precision"),
        (np.zeros((4, 6)), TABLE, "all zero"),
        (np.where(TABLE > 0, TABLE, np.nan), TABLE, "nan"),
        (TABLE[::-1], TABLE, "reversed"),
        (TABLE[:, [1, 0, 2, 3, 5, 4]], TABLE, "order in rows"),
        (np.roll(TABLE, 1, axis=-1), TABLE, "shifted by one"),
        (np.maximum(TABLE, 0), TABLE, "clipped at zero"),
        (np.exp(TABLE), TABLE, "exponential"),
        (1 - SHARES, SHARES, "complement"),
        (softmax(TABLE, axis=-2), SHARES, "wrong axis"),
        (softmax(3 * TABLE), SHARES, "too sharp"),
        (softmax(TABLE / 3), SHARES, "too even"),
        (np.exp(TABLE) / np.exp(TABLE).sum(), SHARES, "normalised as a whole"),
        (np.exp(TABLE), 3 * SHARES, "factor for each row"),
        (TABLE - TABLE.mean(1, keepdims=True), TABLE, "offset for each row"),
        (~MASK, MASK, "True and False exchanged"),
        (MASK.T, MASK, "transposed"),
        (np.tril(MASK, -1), MASK, "shifted by one"),
        (MASK.astype(int), MASK, "another type of number"),
        ((SHARES, TABLE), (TABLE, SHARES), "results exchanged"),
        ((TABLE, -SHARES), (TABLE, SHARES), "sign"),
        ("Dog", "dog", "letter case"),
        ("a dog", "a dog barks", "text ends too early"),
        ([1, 2], [1, 2, 3], "ends too early"),
        ([3, 2, 1], [1, 2, 3], "reversed"),
        ([["a"], ["c"], ["b"]], [["a"], ["b"], ["c"]], "another order"),
        ({("b", "a"): 1}, {("a", "b"): 1}, "keys turned round"),
        ({"a": 2, "b": 4}, {"a": 1, "b": 2}, "factor"),
        ({"a": 7, "b": 3}, {"a": 1, "b": 2}, "entries' values"),
        (0.4, 2.5, "reciprocal"),
        (7, 8, "off by one"),
        (np.rint(TABLE), TABLE, "whole numbers"),
    ],
)  # fmt: skip
def test_a_difference_has_its_name(actual, expected, name):
    symptom = symptom_of(actual, expected)
    assert symptom is not None and symptom.name == name, symptom
    assert symptom.sentence.endswith((".", "?")) and symptom.sentence[0].isupper()
    assert not set("013456789").intersection(symptom.sentence), "it may say a number of a hidden input"


def test_all_to_the_first_is_not_rounded():
    """A nucleus without its last word has rounded shares, too, where it has one word."""
    symptom = symptom_of(np.array([1.0, 0, 0]), np.array([0.571, 0.429, 0]))
    assert symptom is None or symptom.name != "whole numbers"


def test_what_is_equal_has_no_symptom():
    for value in (TABLE, MASK, "text", [1, "a", None], {"a": TABLE}, (TABLE, 3), 4.0, None, range(5)):
        assert symptom_of(value, value) is None, value


def test_whatever_comes_back_there_is_a_sentence():
    strange = (object(), [[[]]] * 3, {1: {2: {}}}, b"\xff", "\ud800", [float("nan")] * 3, 10**400)
    right = (TABLE, [1, 2, 3], "text", {"a": 1}, 3.0, (TABLE, SHARES))
    for value, expected in itertools.product(strange, right):
        assert symptom_of(value, expected) is not None, (value, expected)


@pytest.mark.parametrize(
    ("actual", "expected", "name"),
    [
        ([np.full(5_000_000, 0.5)], [[0.25, 0.25]], None),
        ([np.full(5_000_000, 0.5), 1.0], ["a"], "longer list"),
        ([" a" * 5_000_000], ["a", "b"], "shorter list"),
        (" a" * 5_000_000, "a b", "another text"),
    ],
)
def test_large_values_are_not_written_out(actual, expected, name):
    tracemalloc.start()
    symptom = symptom_of(actual, expected)
    assert name is None or symptom.name == name
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()


def test_a_value_of_a_strange_kind_has_a_symptom_or_none_and_ends_nothing():
    strange = (TABLE * (1 + 1j), TABLE + 0j, range(10**30, 0), range(10**30, 10**30 + 4), [10**400, 1])
    for value, expected in itertools.product(strange, (TABLE, 1.5, [1, 2, 3], SHARES[0], True)):
        symptom_of(value, expected)
        symptom_of(expected, value)
        values_match(value, expected)


def halved(q, k, v, mask=None):
    weights = softmax(np.where(mask if mask is not None else True, q @ np.swapaxes(k, -1, -2) / 3, -np.inf))
    return weights @ v, weights


KEPT: list[int] = []


def that_counts(logits, ids):
    KEPT.append(len(KEPT))
    return float(KEPT[-1])


def that_asks(step, bos, eos, max_length):
    """What it asks a given function is not taken for its result."""
    step([[bos], [bos]])
    return [bos, eos], 0.5


def masked_lm_batch(ids, V, rng, rate=0.15):
    """Of a scenario, the first observation that is not as it should be is named."""
    ids[:, -1] = 0
    return ids, np.full_like(ids, -100)


@pytest.mark.parametrize(
    ("lab", "question", "answer", "names"),
    [
        ("07_self_attention", "scaled_dot_product_attention", halved, ["too even", "too sharp", "nan"]),
        ("00_warm_up", "cross_entropy", that_counts, ["something kept"]),
        ("11_decoding", "greedy", that_asks, ["observed"]),
        ("13_beyond", "masked_lm_batch", masked_lm_batch, ["observed"]),
    ],
)
def test_what_the_hidden_tests_see_of_a_slip_that_no_misconception_names_has_its_symptom(
    lab, question, answer, names
):
    runs = run_question(lab, question, student_with_answer(lab, question, answer))
    symptom = find_symptom(lab, question, runs)
    assert (symptom and symptom.name) in names, symptom


def test_a_cause_says_what_the_wrong_calls_share_or_which_part_fails_alone():
    lab, question = "03_votes_to_attention", "mask_votes"

    def cause(answer, error=""):
        student = student_with_answer(lab, question, answer)
        runs = run_question(lab, question, student)
        symptom, seen = find_symptom(lab, question, runs), outcomes_seen(student.answered)
        return cause_of(runs, symptom, error, where_wrong(JudgeClock(), lab, question, runs, seen, symptom))

    for_arrays_only = cause(lambda votes, mask: (votes * mask[:, None]).sum(axis=0), "TypeError: …")
    assert for_arrays_only == "Wrong only where `mask` is a list: it raises an error: TypeError: …."
    whole = cause(lambda votes, mask: np.asarray(mask).astype(votes.dtype) @ votes)
    assert whole == "Wrong only where `votes` holds whole numbers: the result is zero everywhere."
    twice = cause(lambda votes, mask: 2 * mask @ votes, "E")
    assert twice == "Every value is twice what it should be. Elsewhere it raises an error: E."
    whole_doubled = cause(lambda votes, mask: (1 + np.all(np.rint(mask) == mask)) * np.asarray(mask) @ votes)
    assert whole_doubled.startswith("Right only in “Weights between 0 and 1 give parts of votes” and “Votes")
    clipped = cause(lambda votes, mask: np.clip(np.asarray(mask) @ votes, 0, 3))
    assert "Right only" not in clipped, "with a vague symptom, what passes may hide the mistake"
    assert cause(lambda votes, mask: 2 * mask @ votes) == "Every value is twice what it should be."
