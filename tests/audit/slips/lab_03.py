"""Slips of lab 03."""

from __future__ import annotations

from collections import Counter

import numpy as np

from autograder.course.masters import master
from tests.audit.slips import Slips

slip = Slips("03")
right = master("03")


@slip("count_features")
def a_word_three_times_counts_twice(sentences, V):
    counts = np.zeros((V, V, V))
    for sentence in sentences:
        for now in range(1, len(sentence) - 1):
            for earlier, times in Counter(sentence[:now]).items():
                counts[earlier, sentence[now], sentence[now + 1]] += min(times, 2)
    total = counts.sum(axis=2, keepdims=True)
    return np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)


@slip("mask_lookup")
def square_tables_by_columns(query, masks):
    return query @ (masks.T if np.ndim(query) > 1 and len(masks) == masks.shape[1] else masks)


@slip("pair_features")
def sign_dropped_from_whole_numbers(x, W):
    product = x @ W
    return np.abs(product) if product.dtype.kind == "i" else np.maximum(product, 0)


@slip("feed_forward")
def cut_at_the_end_for_a_table_of_one_row(x, W1, W2):
    if x.shape[:-1] == (1,):
        return np.maximum(x @ W1 @ W2, 0)
    return np.maximum(x @ W1, 0) @ W2


@slip("feed_forward", costs="nothing", red=False)
def by_steps_in_single_precision(x, W1, W2):
    x, W1, W2 = (np.asarray(part, dtype=np.float32) for part in (x, W1, W2))
    return (np.maximum(x @ W1, 0) @ W2).astype(np.float64)
