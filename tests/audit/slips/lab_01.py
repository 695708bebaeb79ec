"""Slips of lab 01."""

from __future__ import annotations

import numpy as np

from autograder.course.masters import master
from tests.audit.slips import Slips

slip = Slips("01")
right = master("01")


def _again(sentences):
    return any(list(sentences).count(sentence) > 2 for sentence in sentences)


slip.where({
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
    "alone": ("bigram_counts", "short_names_left_out (the empty name is left out)", lambda words: len(words) == 1),
    "even": ("average_nll", "in_bits", lambda P, words: np.unique(P).size == 1),
    "empty names, again": ("average_nll", "averaged_over_names", lambda P, words: list(words).count("") > 1),
    "ruled out, alone": ("average_nll", "impossible_steps_left_out", lambda P, words: len(words) == 1),
})  # fmt: skip


@slip("sample_name")
def without_starts(P, rng):
    return right.sample_name(P, rng).replace("<S>", "")


@slip("sample_name")
def drawn_from_an_urn(P, rng):
    per_cent = np.round(100 * P)
    return right.sample_name(per_cent / np.maximum(per_cent.sum(axis=1, keepdims=True), 1), rng)


@slip("transition_matrix")
def split_at_each_space(sentences, weights):
    return right.transition_matrix([s.replace("  ", " _ ") for s in sentences], weights)


@slip("transition_matrix")
def of_earlier_weights(sentences, weights, kept={}):  # noqa: B006
    key = tuple(sentences)
    if key not in kept:
        kept[key] = right.transition_matrix(sentences, weights)
    return kept[key]
