"""Slips of lab 00."""

from __future__ import annotations

import numpy as np

from tests.audit.slips import Slips

slip = Slips("00")

slip.where({
    "of four axes": ("one_hot", "squeezed", lambda ids, V: np.ndim(ids) > 2),
    "a long vocabulary, of a table": ("one_hot", "words_in_columns", lambda ids, V: V > 256 and np.ndim(ids) > 1),
    "two words": ("one_hot", "ids_from_one", lambda ids, V: V == 2),
    "negative weights in a batch": ("lookup", "negative_weights_left_out", lambda H, E: H.ndim > 2),
    "small weights in a batch": ("lookup", "small_weights_for_zero", lambda H, E: H.ndim > 2),
    "a whole table and a single row": ("lookup", "as_whole_as_the_table", lambda H, E: H.ndim == 1),
    "one column": ("lookup", "only_the_heaviest_row", lambda H, E: E.shape[1] == 1),
    "columns far apart": ("logsumexp", "maximum_of_the_whole_table", lambda x, axis=-1: x.ndim == 2 and axis == 0),
    "−∞ in three axes": ("logsumexp", "impossible_counted_as_zero", lambda x, axis=-1: x.ndim > 2),
    "whole scores, far apart": ("logsumexp", "naive_logsumexp", lambda x, axis=-1: x.dtype.kind == "i"),
    "an axis of length one": ("logsumexp", "axis_kept", lambda x, axis=-1: x.ndim > 1 and x.shape[axis] == 1),
    "−∞ and far apart": ("softmax", "naive_softmax", lambda x, axis=-1: np.isneginf(x).any()),
    "the last of three axes": ("softmax", "softmax_with_one_maximum", lambda x, axis=-1: x.ndim > 2 and axis == -1),
    "rows and columns alike": ("softmax", "each_score_for_itself", lambda x, axis=-1: x.ndim > 1 and len(set(x.shape)) == 1),
    "whole and far": ("cross_entropy", "scores_cut_off", lambda logits, ids: logits.dtype.kind == "i" and len(ids) > 1),
    "one word": ("cross_entropy", "without_the_minus", lambda logits, ids: len(ids) > 2 and logits.shape[1] > 1 and ids[0] == ids[1]),
    "several mistakes": ("cross_entropy", "small_number_added", lambda logits, ids: len(ids) > 2),
})  # fmt: skip
