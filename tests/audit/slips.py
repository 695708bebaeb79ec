"""Slips: answers that are wrong in one branch only, or where two features meet.

A slip keeps most of its points and not all of them, and its card is red.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.course.masters import lab_name, solution
from autograder.questions.engine.answers import answers_of

# What becomes of a right answer, where that takes more than a line.

_kept: dict[Any, Any] = {}


def of_master(lab: str, name: str) -> Any:
    """A function of a lab's master."""
    return solution(lab_name(lab))[name]


def _shares(weight, axis):
    total = weight.sum(axis=axis, keepdims=True)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def _usual_eps(right, self, x):
    other = copy.copy(self)
    other.eps = 1e-5
    return right(other, x)


def _late_betas(right, parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    step = right(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    late = parameter - rate * step[1] / (1 - 0.9**t) / ((step[2] / (1 - 0.98**t)).sqrt() + eps)
    return (late, *step[1:])


def _by_greedy(right, step, k, length_penalty, bos, eos, max_length):
    tokens, total = of_master("11", "greedy")(step, bos, eos, max_length)
    return [(tokens, total)] if total > -np.inf else []


# When it becomes so.


def _again(sentences, weights):
    return any(list(sentences).count(sentence) > 2 for sentence in sentences)


def _listed_twice(sentences, weights):
    return len(set(sentences)) < len(sentences)


def _sizes_differ(x, memory, Q, K, V, O, h, mask=None):
    return mask is not None and Q.shape != V.shape


def _one_sentence(x, memory, Q, K, V, O, h, mask=None):
    return mask is not None and len(x) == 1


def _as_long_as_the_memory(x, memory, Q, K, V, O, h, mask=None):
    return mask is not None and x.shape == memory.shape


def _one_shape(self, x, memory, self_mask=None, memory_mask=None):
    return self_mask is not None and memory_mask is not None and self_mask.shape == memory_mask.shape


def _table_a_sentence(self, x, memory, self_mask=None, memory_mask=None):
    return self_mask is not None and self_mask.dim() == 3


_SCALED = "heads_scaled_otherwise (scaled by the model's size, not the head's)"

#: A lab's number -> a slip -> the question; one of its misconceptions, or what becomes of the right answer and the arguments; and
#: when it does so (None: always).
SLIPS: dict[str, dict[str, tuple[str, str | Callable[..., Any], Callable[..., Any] | None]]] = {
    "00": {
        "of four axes": ("one_hot", "squeezed", lambda ids, V: np.ndim(ids) > 2),
        "a long vocabulary, of a table": ("one_hot", "words_in_columns", lambda ids, V: V > 256 and np.ndim(ids) > 1),
        "two words": ("one_hot", "ids_from_one", lambda ids, V: V == 2),
        "negative weights in a batch": ("lookup", "negative_weights_left_out", lambda H, E: H.ndim > 2),
        "small weights in a batch": ("lookup", "small_weights_for_zero", lambda H, E: H.ndim > 2),
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
    },
    "01": {
        "a single row": ("normalise_rows", "empty_row_even", lambda N: len(N) == 1),
        "fractions": ("normalise_rows", "first_empty_row_only", lambda N: N.dtype.kind == "f" and len(N) < N.shape[1]),
        "thousands": ("normalise_rows", "divided_by_the_largest", lambda N: N.max() > 10_000 and N.shape != (28, 28)),
        "listed three times": ("transition_matrix", "weights_in_a_dictionary", _again),
        "an array of weights": ("transition_matrix", "weights_ignored", lambda s, w: isinstance(w, np.ndarray)),
        "large weights": ("transition_matrix", "a_pair_counts_once", lambda s, w: max(w) > 100),
        "of one word, again": ("transition_matrix", "vocabulary_of_the_pairs", _listed_twice),
        "split at each space": ("transition_matrix", lambda right, s, w: right([one.replace("  ", " _ ") for one in s], w), None),
        "of earlier weights": ("transition_matrix", lambda right, s, w: _kept.setdefault(tuple(s), right(s, w)), None),
        "short and listed again": ("second_order", "second_order_without_short_sentences", _listed_twice),
        "a long name": ("bigram_counts", "overlaps_missed", lambda words: max(map(len, words), default=0) > 20),
        "empty names": ("bigram_counts", "distinct_names_only", lambda words: list(words).count("") > 1),
        "even": ("average_nll", "in_bits", lambda P, words: np.unique(P).size == 1),
        "empty names, again": ("average_nll", "averaged_over_names", lambda P, words: list(words).count("") > 1),
        "ruled out, alone": ("average_nll", "impossible_steps_left_out", lambda P, words: len(words) == 1),
        "without starts": ("sample_name", lambda right, P, rng: right(P, rng).replace("<S>", ""), None),
        "drawn from an urn": ("sample_name", lambda right, P, rng: right(_shares(np.round(100 * P), 1), rng), None),
    },
    "02": {
        "over axis 1 for arrays": (
            "dirichlet_map", lambda right, N, alpha: _shares(N + np.asarray(alpha) - 1.0, 1), lambda N, alpha: np.ndim(alpha) > 0
        ),
        "squeezed costs": ("choose_alpha", lambda right, *given: (right(*given)[0], np.squeeze(right(*given)[1])), None),
        "nan for a single row never seen": (
            "interpolate", lambda right, *given: right(*given) * np.nan, lambda counts, *_: np.ndim(counts) == 1 and not np.any(counts)
        ),
    },
    "03": {
        "square tables by columns": (
            "mask_lookup", lambda right, query, masks: query @ masks.T, lambda query, masks: np.ndim(query) > 1 and len(masks) == masks.shape[1]
        ),
        "sign dropped from whole numbers": ("pair_features", lambda right, x, W: np.abs(x @ W), lambda x, W: (x @ W).dtype.kind == "i"),
        "cut at the end for a table of one row": (
            "feed_forward", lambda right, x, W1, W2: np.maximum(x @ W1 @ W2, 0), lambda x, W1, W2: x.shape[:-1] == (1,)
        ),
    },
    "04": {
        "merged tokens sorted": (
            "count_pairs", lambda right, words: dict(sorted(right(words).items())), lambda words: any(max(pair) > 255 for pair in of_master("04", "count_pairs")(words))
        ),
    },
    "05": {
        "itself where five are too many": (
            "nearest", lambda right, word, *given, **named: [*right(word, *given, **named), (word, 1.0)],
            lambda word, vectors, words, k=5: k == 5 and len(words) <= 5,
        ),
    },
    "06": {
        "eight bits in a table": ("binary_code", lambda right, p, bits: right(np.asarray(p) % 256, bits), lambda p, bits: np.ndim(p) > 1),
        "usual base for odd columns": ("sinusoidal", lambda right, T, D, base=1e4: right(T, D), lambda T, D, base=1e4: D % 2 and base > 200),
        "parts of a step back lost": (
            "shift_matrix", lambda right, c, *given, **named: right(int(c), *given, **named), lambda c, D, base=1e4: c < 0 and D > 2
        ),
        "whole numbers of a batch cut": (
            "rope", lambda right, x, *given, **named: right(x, *given, **named).astype(x.dtype),
            lambda x, positions, base=1e4: x.ndim > 2 and x.shape[-1] > 2,
        ),
    },
    "08": {
        "scaled by the model, one sentence": ("multi_head_attention", _SCALED, _one_sentence),
        "merged by reshape, other sizes": ("multi_head_attention", "heads_merged_by_reshape", _sizes_differ),
        "a memory as long as the listener": ("multi_head_attention", "heads_that_ignore_the_memory", _as_long_as_the_memory),
    },
    "09": {
        "eps for a word alone": ("LayerNorm", _usual_eps, lambda self, x: x.dim() != 1),
        "no bend in a word": (
            "FeedForward", lambda right, self, x: self.linear2(self.linear1(x)), lambda self, x: x.dim() == 1 and x.min() < 0
        ),
        "no mask for one sentence": ("EncoderBlock", lambda right, self, x, mask=None: right(self, x), lambda self, x, mask=None: len(x) == 1),
        "one mask for both": (
            "DecoderBlock", lambda right, self, x, memory, self_mask, memory_mask: right(self, x, memory, self_mask, self_mask), _one_shape
        ),
        "no memory mask beside tables": (
            "DecoderBlock", lambda right, self, x, memory, self_mask, memory_mask=None: right(self, x, memory, self_mask), _table_a_sentence
        ),
    },
    "10": {
        "floats of sentences of other lengths": (
            "shift_targets", lambda right, *given: [part.float() for part in right(*given)], lambda sentences, *_: len({*map(len, sentences)}) > 1
        ),
        "three axes at most": (
            "label_smoothing", lambda right, *given: right(*given).flatten(0, -3), lambda targets, V, epsilon: targets.dim() > 3
        ),
        "no gradient from three axes": (
            "masked_cross_entropy", lambda right, *given, **named: right(*given, **named).detach(), lambda logits, targets, *_, **__: targets.dim() > 2
        ),
        "corrections of late steps by the usual betas": ("adam_step", _late_betas, lambda p, g, m, v, t, *_, **__: t > 10),
        "step zero of a warm-up of one": ("noam_rate", lambda *_: 0.0, lambda step, d_model, warmup: step < warmup == 1),
    },
    "11": {
        "temperature with something below": ("temperature_probs", lambda right, logits, T: right(logits, T + 1e-6), None),
        "temperature for possible words only": (
            "temperature_probs", lambda right, logits, T: right(logits, 1), lambda logits, T: not np.isfinite(logits[0])
        ),
        "best alone without places": ("top_k", lambda right, logits, *_: np.eye(len(logits))[0], lambda logits, k, T=1.0: k == 1 and T != 1),
        "impossible as zero when it is hot": (
            "top_k", lambda right, logits, k, T: right(np.where(np.isinf(logits), 0, logits), k, T), lambda logits, k, T=1.0: T > 1
        ),
        "at most twenty": (
            "top_p", lambda right, logits, p, T=1.0: right(np.where(of_master("11", "top_k")(logits, 20, T) > 0, logits, -np.inf), p, T),
            lambda logits, p, T=1.0: p != 1,
        ),
        "one beam by greedy": ("beam_search", _by_greedy, lambda step, k, *_: k == 1),
    },
}  # fmt: skip


def slips_of(lab: str, question: str) -> dict[str, Any]:
    """The slips of a question (lab by full name): the functions or classes by name."""
    rows = SLIPS.get(lab[:2], {})
    return {
        name: _slip(lab, question, wrong, when) for name, (of, wrong, when) in rows.items() if of == question
    }


def _slip(lab: str, question: str, wrong: Any, when: Callable[..., Any] | None) -> Any:
    right = solution(lab)[question]
    of = right.forward if isinstance(right, type) else right
    known = {one.name: one.function for one in answers_of(lab)["misconception"][question]}

    def answer(*given: Any, **named: Any) -> Any:
        if when is not None and not when(*given, **named):
            return of(*given, **named)
        return known[wrong](*given, **named) if isinstance(wrong, str) else wrong(of, *given, **named)

    return type(question, (right,), {"forward": answer}) if isinstance(right, type) else answer
