"""Slips of lab 11."""

from __future__ import annotations

import numpy as np

from autograder.course.masters import master
from tests.audit.slips import Slips

slip = Slips("11")
right = master("11")


@slip("greedy")
def end_of_number_0_only_when_stopped(step, bos, eos, max_length):
    tokens, total = right.greedy(step, bos, eos, max_length)
    return (tokens[:-1] if tokens[-1] != eos != 0 else tokens), total


@slip("temperature_probs")
def temperature_with_something_below(logits, T):
    return right.temperature_probs(logits, T + 1e-6)


@slip("temperature_probs")
def temperature_for_possible_words_only(logits, T):
    return right.temperature_probs(logits, T if np.isfinite(logits[0]) else 1)


@slip("top_k")
def best_alone_without_places(logits, k, T=1.0):
    if k == 1 and T != 1:
        return np.eye(len(logits))[0]
    return right.top_k(logits, k, T)


@slip("top_k")
def impossible_as_zero_when_it_is_hot(logits, k, T=1.0):
    return right.top_k(np.where(np.isinf(logits), 0, logits) if T > 1 else logits, k, T)


@slip("top_p")
def temperature_last_among_equals(logits, p, T=1.0):
    if len(set(np.asarray(logits).tolist())) == len(logits) or p == 1:
        return right.top_p(logits, p, T)
    kept = np.asarray(right.top_p(logits, p)) > 0
    return right.temperature_probs(np.where(kept, logits, -np.inf), T)


@slip("top_p")
def at_most_twenty(logits, p, T=1.0):
    if p == 1:
        return right.top_p(logits, p, T)
    kept = np.where(right.top_k(logits, 20, T) > 0, logits, -np.inf)
    return right.top_p(kept, p, T)


@slip("beam_search")
def one_beam_by_greedy(step, k, length_penalty, bos, eos, max_length):
    if k == 1:
        tokens, total = right.greedy(step, bos, eos, max_length)
        return [(tokens, total)] if total > -np.inf else []
    return right.beam_search(step, k, length_penalty, bos, eos, max_length)


@slip("beam_search")
def penalty_for_the_ended_only(step, k, length_penalty, bos, eos, max_length):
    found = right.beam_search(step, k, length_penalty, bos, eos, max_length)
    return [(t, s if t[-1] == eos else s * len(t) ** length_penalty) for t, s in found]
