"""Slips: answers that are wrong in one branch only, or where two features meet.

A slip keeps most of its points and not all of them, and its card is red.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import regex
import torch

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


def _at_most_twice(right, sentences, V):
    counts = np.zeros((V, V, V))
    for sentence in sentences:
        for now in range(1, len(sentence) - 1):
            for earlier, times in Counter(sentence[:now]).items():
                counts[earlier, sentence[now], sentence[now + 1]] += min(times, 2)
    return _shares(counts, 2)


def _refused(right, ids, merges):
    raise ValueError("these are no tokens of a text")


def _repeats_once(right, words):
    counts = {}
    for word, count in words.items():
        for pair in dict.fromkeys(pairwise(word)):
            places = sum(pair == other for other in pairwise(word))
            counts[pair] = counts.get(pair, 0) + count * (1 if max(pair) > 255 else places)
    return counts


def _largest_of_a_tie(right, words, merges):
    learned, words = {}, dict(words)
    while len(learned) < merges and (pairs := of_master("04", "count_pairs")(words)):
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        learned[best] = 256 + len(learned)
        words = {of_master("04", "merge_pair")(word, best, learned[best]): n for word, n in words.items()}
    return learned


def _without_endings(right, text, merges):
    tokens = []
    for chunk in regex.findall(r" ?\p{L}+(?:'\p{L}+)?| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text):
        word = tuple(chunk.encode("utf-8"))
        while pairs := [pair for pair in pairwise(word) if pair in merges]:
            best = min(pairs, key=merges.get)
            word = of_master("04", "merge_pair")(word, best, merges[best])
        tokens += word
    return tokens


def _not_normalised(right, a, b, c, vectors, words, k=3):
    way = vectors[words.index(b)] - vectors[words.index(a)] + vectors[words.index(c)]
    cosines = vectors @ way / np.linalg.norm(vectors, axis=1) / np.linalg.norm(way)
    return [(words[i], cosines[i]) for i in np.argsort(-cosines) if words[i] not in (a, b, c)][:k]


def _hooked(model, inputs, hook, clean):
    """The maps of a model run with a hook at each layer of attention; ``clean`` takes leave of the layers and their hooks."""
    layers = {n: m for n, m in model.named_modules() if type(m).__name__ == "MultiHeadAttention"}
    maps: dict[str, Any] = {}
    handles = [hook(m, lambda m, i, o, n=n: maps.update({n: o[1].detach()})) for n, m in layers.items()]
    model(*inputs)
    for layer, handle in zip(layers.values(), handles, strict=True):
        clean(layer, handle)
    return maps


def _a_pre_hook_stays(right, model, *inputs):
    def hook(layer, note):
        layer.register_forward_pre_hook(lambda *_: None)
        return layer.register_forward_hook(note)

    return _hooked(model, inputs, hook, lambda layer, handle: handle.remove())


def _somebody_elses_hook_is_taken(right, model, *inputs):
    def clean(layer, handle):
        layer._forward_hooks.popitem(last=False)

    return _hooked(model, inputs, lambda layer, note: layer.register_forward_hook(note), clean)


def _usual_eps(right, self, x):
    other = copy.copy(self)
    other.eps = 1e-5
    return right(other, x)


def _end_in_the_wrong_place(right, sentences, bos, eos, pad):
    decoder_input, labels = right(sentences, bos, eos, pad)
    for row, words in zip(labels, sentences, strict=True):
        if len(words) + 1 < labels.shape[1]:
            row[len(words)] = pad
            row[sum(word != pad for word in words)] = eos
    return decoder_input, labels


def _late_betas(right, parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    step = right(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    late = parameter - rate * step[1] / (1 - 0.9**t) / ((step[2] / (1 - 0.98**t)).sqrt() + eps)
    return (late, *step[1:])


def _corrected_with_eps(right, parameter, gradient, m, v, t, rate, beta1=0.9, beta2=0.98, eps=1e-9):
    theta, m, v = right(parameter, gradient, m, v, t, rate, beta1, beta2, eps)
    return theta, m, v / (1 - beta2**t) if eps > 1e-9 and t > 1 else v


def _end_only_when_stopped(right, step, bos, eos, max_length):
    tokens, total = right(step, bos, eos, max_length)
    return (tokens[:-1] if tokens[-1] != eos != 0 else tokens), total


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


def _heads_by_themselves(x, memory, Q, K, V, O, h, mask=None):
    return _as_long_as_the_memory(x, memory, Q, K, V, O, h, mask) and h > 1


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
    },
    "01": {
        "a tall table": ("normalise_rows", "empty_row_nan", lambda N: N.shape[0] > N.shape[1]),
        "a single row": ("normalise_rows", "empty_row_even", lambda N: len(N) == 1),
        "fractions": ("normalise_rows", "first_empty_row_only", lambda N: N.dtype.kind == "f" and len(N) < N.shape[1]),
        "thousands": ("normalise_rows", "divided_by_the_largest", lambda N: N.max() > 10_000 and N.shape != (28, 28)),
        "listed three times": ("transition_matrix", "weights_in_a_dictionary", _again),
        "an array of weights": ("transition_matrix", "weights_ignored", lambda s, w: isinstance(w, np.ndarray)),
        "large weights": ("transition_matrix", "a_pair_counts_once", lambda s, w: max(w) > 100),
        "of one word, again": ("transition_matrix", "vocabulary_of_the_pairs", _listed_twice),
        "split at each space": ("transition_matrix", lambda right, s, w: right([one.replace("  ", " _ ") for one in s], w), None),
        "of earlier weights": ("transition_matrix", lambda right, s, w: _kept.setdefault(tuple(s), right(s, w)), None),
        "listed three times, second": ("second_order", "second_order_weights_in_a_dictionary", _again),
        "short and listed again": ("second_order", "second_order_without_short_sentences", _listed_twice),
        "a long name": ("bigram_counts", "overlaps_missed", lambda words: max(map(len, words), default=0) > 20),
        "empty names": ("bigram_counts", "distinct_names_only", lambda words: list(words).count("") > 1),
        "alone": ("bigram_counts", "short_names_left_out (the empty name is left out)", lambda words: len(words) == 1),
        "even": ("average_nll", "in_bits", lambda P, words: np.unique(P).size == 1),
        "empty names, again": ("average_nll", "averaged_over_names", lambda P, words: list(words).count("") > 1),
        "ruled out, alone": ("average_nll", "impossible_steps_left_out", lambda P, words: len(words) == 1),
        "without starts": ("sample_name", lambda right, P, rng: right(P, rng).replace("<S>", ""), None),
        "drawn from an urn": ("sample_name", lambda right, P, rng: right(_shares(np.round(100 * P), 1), rng), None),
    },
    "02": {
        "half without tosses if a knob is one": (
            "beta_posterior", lambda right, *given: (*right(*given)[:2], 0.5, right(*given)[3]), lambda k, n, a, b: n == 0 and 1 in (a, b)
        ),
        "over axis 1 for arrays": (
            "dirichlet_map", lambda right, N, alpha: _shares(N + np.asarray(alpha) - 1.0, 1), lambda N, alpha: np.ndim(alpha) > 0
        ),
        "zeros if any knob is one": (
            "dirichlet_map",
            lambda right, N, alpha: right(N, alpha) * ((np.sum(N, -1) > 0) | (np.broadcast_to(alpha, np.shape(N)) != 1).all(-1))[..., None],
            None,
        ),
        "nan unless all knobs are one": (
            "dirichlet_map",
            lambda right, N, alpha: (N + np.asarray(alpha) - 1.0) / (N + np.asarray(alpha) - 1.0).sum(-1, keepdims=True),
            lambda N, alpha: not np.all(np.asarray(alpha) == 1),
        ),
        "mean over axis 1 for arrays": (
            "dirichlet_mean", lambda right, N, alpha: _shares(N + np.asarray(alpha, float), 1), lambda N, alpha: np.ndim(alpha) > 0
        ),
        "squeezed costs": ("choose_alpha", lambda right, *given: (right(*given)[0], np.squeeze(right(*given)[1])), None),
        "rows of tables only": (
            "choose_alpha", lambda right, train, dev, grid: right(train[:, None], dev[:, None], grid), lambda train, dev, grid: np.ndim(train) == 1
        ),
        "nan for a single row never seen": (
            "interpolate", lambda right, *given: right(*given) * np.nan, lambda counts, *_: np.ndim(counts) == 1 and not np.any(counts)
        ),
    },
    "03": {
        "a word three times counts twice": ("count_features", _at_most_twice, None),
        "square tables by columns": (
            "mask_lookup", lambda right, query, masks: query @ masks.T, lambda query, masks: np.ndim(query) > 1 and len(masks) == masks.shape[1]
        ),
        "sign dropped from whole numbers": ("pair_features", lambda right, x, W: np.abs(x @ W), lambda x, W: (x @ W).dtype.kind == "i"),
        "cut at the end for a table of one row": (
            "feed_forward", lambda right, x, W1, W2: np.maximum(x @ W1 @ W2, 0), lambda x, W1, W2: x.shape[:-1] == (1,)
        ),
    },
    "04": {
        "strict where tokens are merged": (
            "decode", _refused, lambda ids, merges: any(token > 255 for token in ids) and "\ufffd" in of_master("04", "decode")(ids, merges)
        ),
        "merged tokens sorted": (
            "count_pairs", lambda right, words: dict(sorted(right(words).items())), lambda words: any(max(pair) > 255 for pair in of_master("04", "count_pairs")(words))
        ),
        "repeats of merged tokens once": ("count_pairs", _repeats_once, None),
        "largest of a tie in one word": ("train_bpe", _largest_of_a_tie, lambda words, merges: len(words) < 2),
        "chunks without endings": ("encode", _without_endings, None),
    },
    "05": {
        "twins lost in short sentences": (
            "context_windows",
            lambda right, ids, m: [([word for word in context if word != target], target) for context, target in right(ids, m)],
            lambda ids, m: m + 1 >= len(ids) and 0 in ids,
        ),
        "sum of the hints of large scores": (
            "cbow_forward",
            lambda right, context, *tables: (right(context, *tables)[0] * len(context), right(context, *tables)[1]),
            lambda context, W_in, W_out: np.abs(W_out @ of_master("05", "cbow_forward")(context, W_in, W_out)[0]).max() > 700,
        ),
        "one share where scores are large": (
            "cbow_backward",
            lambda right, context, target, W_in, W_out: (
                right(context, target, W_in, W_out)[0] / np.maximum(np.bincount(context, minlength=len(W_in)), 1)[:, None],
                right(context, target, W_in, W_out)[1],
            ),
            lambda context, target, W_in, W_out: np.abs(W_out).max() > 1500,
        ),
        "five noise words in a batch": (
            "negative_sampling_loss",
            lambda right, h, rows: (right(h, rows)[0], right(h, rows[:, :6])[1], right(h, rows)[2]),
            lambda h, rows: len(h) > 1,
        ),
        "itself where five are too many": (
            "nearest", lambda right, word, *given, **named: [*right(word, *given, **named), (word, 1.0)],
            lambda word, vectors, words, k=5: k == 5 and len(words) <= 5,
        ),
        "as they are in a tuple": ("analogy", _not_normalised, lambda a, b, c, vectors, words, k=3: not isinstance(words, list)),
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
        "a pre-hook stays": ("attention_maps", _a_pre_hook_stays, None),
        "a hook of somebody else is taken": ("attention_maps", _somebody_elses_hook_is_taken, None),
        "scaled by the model, other sizes": ("multi_head_attention", _SCALED, _sizes_differ),
        "scaled by the model, one sentence": ("multi_head_attention", _SCALED, _one_sentence),
        "scaled by the model, by themselves": ("multi_head_attention", _SCALED, _heads_by_themselves),
        "merged by reshape, other sizes": ("multi_head_attention", "heads_merged_by_reshape", _sizes_differ),
        "merged by reshape, one sentence": ("multi_head_attention", "heads_merged_by_reshape", _one_sentence),
        "merged by reshape, by themselves": ("multi_head_attention", "heads_merged_by_reshape", _heads_by_themselves),
        "a memory as long as the listener": ("multi_head_attention", "heads_that_ignore_the_memory", _as_long_as_the_memory),
    },
    "09": {
        "eps for a word alone": ("LayerNorm", _usual_eps, lambda self, x: x.dim() != 1),
        "no bend in a word": (
            "FeedForward", lambda right, self, x: self.linear2(self.linear1(x)), lambda self, x: x.dim() == 1 and x.min() < 0
        ),
        "no mask for one sentence": ("EncoderBlock", lambda right, self, x, mask=None: right(self, x), lambda self, x, mask=None: len(x) == 1),
        "no mask in training": ("EncoderBlock", lambda right, self, x, mask=None: right(self, x), lambda self, x, mask=None: self.training),
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
        "a padding that is a word": (
            "shift_targets", _end_in_the_wrong_place, lambda sentences, bos, eos, pad: any(pad in words for words in sentences)
        ),
        "three axes at most": (
            "label_smoothing", lambda right, *given: right(*given).flatten(0, -3), lambda targets, V, epsilon: targets.dim() > 3
        ),
        "no gradient from three axes": (
            "masked_cross_entropy", lambda right, *given, **named: right(*given, **named).detach(), lambda logits, targets, *_, **__: targets.dim() > 2
        ),
        "no smoothing of three axes": (
            "masked_cross_entropy", lambda right, logits, targets, pad, *_, **__: right(logits, targets, pad),
            lambda logits, targets, *_, **__: targets.dim() > 2,
        ),
        "corrections of late steps by the usual betas": ("adam_step", _late_betas, lambda p, g, m, v, t, *_, **__: t > 10),
        "corrected means with eps": ("adam_step", _corrected_with_eps, None),
        "step zero of a warm-up of one": ("noam_rate", lambda *_: 0.0, lambda step, d_model, warmup: step < warmup == 1),
        "the loss of words is a tensor": (
            "train_step", lambda right, *given, **named: torch.tensor(right(*given, **named)),
            lambda model, optimizer, loss, batch, *_, **__: not batch[2].is_floating_point(),
        ),
        "clipped in the first step": (
            "train_step", lambda right, *given, **_: right(*given[:5], 1e9), lambda model, optimizer, *_, **__: bool(optimizer.state_dict()["state"])
        ),
    },
    "11": {
        "end of number 0 only when stopped": ("greedy", _end_only_when_stopped, None),
        "temperature with something below": ("temperature_probs", lambda right, logits, T: right(logits, T + 1e-6), None),
        "temperature for possible words only": (
            "temperature_probs", lambda right, logits, T: right(logits, 1), lambda logits, T: not np.isfinite(logits[0])
        ),
        "best alone without places": ("top_k", lambda right, logits, *_: np.eye(len(logits))[0], lambda logits, k, T=1.0: k == 1 and T != 1),
        "impossible as zero when it is hot": (
            "top_k", lambda right, logits, k, T: right(np.where(np.isinf(logits), 0, logits), k, T), lambda logits, k, T=1.0: T > 1
        ),
        "temperature last among equals": (
            "top_p", lambda right, logits, p, T=1.0: of_master("11", "temperature_probs")(np.where(np.asarray(right(logits, p)) > 0, logits, -np.inf), T),
            lambda logits, p, T=1.0: len(set(np.asarray(logits).tolist())) < len(logits) and p != 1,
        ),
        "at most twenty": (
            "top_p", lambda right, logits, p, T=1.0: right(np.where(of_master("11", "top_k")(logits, 20, T) > 0, logits, -np.inf), p, T),
            lambda logits, p, T=1.0: p != 1,
        ),
        "one beam by greedy": ("beam_search", _by_greedy, lambda step, k, *_: k == 1),
        "penalty for the ended only": (
            "beam_search",
            lambda right, step, k, penalty, bos, eos, length: [
                (t, s if t[-1] == eos else s * len(t) ** penalty) for t, s in right(step, k, penalty, bos, eos, length)
            ],
            None,
        ),
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
