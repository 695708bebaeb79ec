"""Lab 03: slips in one branch only, or where two features meet, lose one test and turn the card red."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from .slips import loses_a_little, points_kept

LAB = "03_votes_to_attention"


def _a_word_three_times_counts_twice(sentences, V):
    counts = np.zeros((V, V, V))
    for sentence in sentences:
        for now in range(1, len(sentence) - 1):
            for earlier, times in Counter(sentence[:now]).items():
                counts[earlier, sentence[now], sentence[now + 1]] += min(times, 2)
    total = counts.sum(axis=2, keepdims=True)
    return np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)


def _square_tables_by_columns(query, masks):
    return query @ (masks.T if np.ndim(query) > 1 and len(masks) == masks.shape[1] else masks)


def _sign_dropped_from_whole_numbers(x, W):
    product = x @ W
    return np.abs(product) if product.dtype.kind == "i" else np.maximum(product, 0)


def _cut_at_the_end_for_a_table_of_one_row(x, W1, W2):
    if x.shape[:-1] == (1,):
        return np.maximum(x @ W1 @ W2, 0)
    return np.maximum(x @ W1, 0) @ W2


SLIPS = [
    ("count_features", _a_word_three_times_counts_twice),
    ("mask_lookup", _square_tables_by_columns),
    ("pair_features", _sign_dropped_from_whole_numbers),
    ("feed_forward", _cut_at_the_end_for_a_table_of_one_row),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("question", "slip"), SLIPS, ids=lambda value: getattr(value, "__name__", value))
def test_a_slip_in_one_branch_loses_a_little_and_turns_the_card_red(question, slip):
    loses_a_little(LAB, question, slip)


def _by_steps_in_single_precision(x, W1, W2):
    x, W1, W2 = (np.asarray(part, dtype=np.float32) for part in (x, W1, W2))
    return (np.maximum(x @ W1, 0) @ W2).astype(np.float64)


@pytest.mark.parametrize("salt", ["x", "s1", "s2", "s3"])
def test_single_precision_and_back_costs_nothing(salt, monkeypatch):
    monkeypatch.setattr("autograder.testing.run._salt", salt)
    assert points_kept(LAB, "feed_forward", _by_steps_in_single_precision) == 1
