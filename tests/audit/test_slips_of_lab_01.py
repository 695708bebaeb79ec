"""Lab 01: a slip that is made where two features meet only loses a little, and its card is red."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.course.masters import solution
from autograder.testing.catalogue import answers_of

from .slips import loses_a_little

LAB = "01_markov_bigram"


def _again(sentences):
    return any(list(sentences).count(sentence) > 2 for sentence in sentences)


#: Question, wrong answer, and where it is given; elsewhere the answer is right.
SLIPS = {
    "a tall table": ("normalise_rows", "empty_row_nan", lambda N: N.shape[0] > N.shape[1]),
    "a single row": ("normalise_rows", "empty_row_even", lambda N: len(N) == 1),
    "fractions": ("normalise_rows", "first_empty_row_only", lambda N: N.dtype.kind == "f" and len(N) < N.shape[1]),
    "thousands": ("normalise_rows", "divided_by_the_largest", lambda N: N.max() > 10_000 and N.shape != (28, 28)),
    "listed three times": ("transition_matrix", "weights_in_a_dictionary", lambda s, w: _again(s)),
    "an array of weights": ("transition_matrix", "weights_ignored", lambda s, w: isinstance(w, np.ndarray)),
    "large weights": ("transition_matrix", "a_pair_counts_once", lambda s, w: max(w) > 100),
    "of one word, again": ("transition_matrix", "vocabulary_of_the_pairs", lambda s, w: len(set(s)) < len(s)),
    "listed three times, second": ("second_order", "second_order_weights_in_a_dictionary", lambda s, w: _again(s)),
    "short and listed again": ("second_order", "second_order_without_short_sentences", lambda s, w: len(set(s)) < len(s)),
    "a long name": ("bigram_counts", "overlaps_missed", lambda words: max(map(len, words), default=0) > 20),
    "empty names": ("bigram_counts", "distinct_names_only", lambda words: list(words).count("") > 1),
    "alone": ("bigram_counts", "empty_name_left_out", lambda words: len(words) == 1),
    "even": ("average_nll", "in_bits", lambda P, words: np.unique(P).size == 1),
    "empty names, again": ("average_nll", "averaged_over_names", lambda P, words: list(words).count("") > 1),
    "ruled out, alone": ("average_nll", "impossible_steps_left_out", lambda P, words: len(words) == 1),
}  # fmt: skip


def _without_starts(P, rng):
    return solution(LAB)["sample_name"](P, rng).replace("<S>", "")


def _urn(P, rng):
    per_cent = np.round(100 * P)
    return solution(LAB)["sample_name"](per_cent / np.maximum(per_cent.sum(axis=1, keepdims=True), 1), rng)


def _split_at_each_space(sentences, weights):
    vocabulary, P = solution(LAB)["transition_matrix"]([s.replace("  ", " _ ") for s in sentences], weights)
    return vocabulary, P


def _of_earlier_weights(sentences, weights, kept={}):  # noqa: B006
    key = tuple(sentences)
    if key not in kept:
        kept[key] = solution(LAB)["transition_matrix"](sentences, weights)
    return kept[key]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("question", "name", "when"), SLIPS.values(), ids=SLIPS)
def test_a_slip_in_one_branch_loses_a_little(question, name, when):
    right = solution(LAB)[question]
    wrong = next(slip.function for slip in answers_of(LAB)["misconception"][question] if slip.name == name)

    def answer(*given):
        return (wrong if when(*given) else right)(*given)

    loses_a_little(LAB, question, answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("sample_name", _without_starts),
        ("sample_name", _urn),
        ("transition_matrix", _split_at_each_space),
        ("transition_matrix", _of_earlier_weights),
    ],
)
def test_what_no_test_saw_loses_a_little(question, answer):
    loses_a_little(LAB, question, answer)
