"""Lab 11: slips where two features meet (a penalty and one beam, many words and a temperature) lose one or two tests."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.course.masters import solution

from .slips import loses_a_little

LAB = "11_decoding"


def _right(question):
    return solution(LAB)[question]


def _end_of_number_0_only_when_stopped(step, bos, eos, max_length):
    tokens, total = _right("greedy")(step, bos, eos, max_length)
    return (tokens[:-1] if tokens[-1] != eos != 0 else tokens), total


def _temperature_with_something_below(logits, T):
    return _right("temperature_probs")(logits, T + 1e-6)


def _temperature_for_possible_words_only(logits, T):
    return _right("temperature_probs")(logits, T if np.isfinite(logits[0]) else 1)


def _best_alone_without_places(logits, k, T=1.0):
    if k == 1 and T != 1:
        return np.eye(len(logits))[0]
    return _right("top_k")(logits, k, T)


def _impossible_as_zero_when_it_is_hot(logits, k, T=1.0):
    return _right("top_k")(np.where(np.isinf(logits), 0, logits) if T > 1 else logits, k, T)


def _temperature_last_among_equals(logits, p, T=1.0):
    if len(set(np.asarray(logits).tolist())) == len(logits) or p == 1:
        return _right("top_p")(logits, p, T)
    kept = np.asarray(_right("top_p")(logits, p)) > 0
    return _right("temperature_probs")(np.where(kept, logits, -np.inf), T)


def _at_most_twenty(logits, p, T=1.0):
    if p == 1:
        return _right("top_p")(logits, p, T)
    kept = np.where(_right("top_k")(logits, 20, T) > 0, logits, -np.inf)
    return _right("top_p")(kept, p, T)


def _one_beam_by_greedy(step, k, length_penalty, bos, eos, max_length):
    if k == 1:
        tokens, total = _right("greedy")(step, bos, eos, max_length)
        return [(tokens, total)] if total > -np.inf else []
    return _right("beam_search")(step, k, length_penalty, bos, eos, max_length)


def _penalty_for_the_ended_only(step, k, length_penalty, bos, eos, max_length):
    found = _right("beam_search")(step, k, length_penalty, bos, eos, max_length)
    return [(t, s if t[-1] == eos else s * len(t) ** length_penalty) for t, s in found]


SLIPS = [
    ("greedy", _end_of_number_0_only_when_stopped),
    ("temperature_probs", _temperature_with_something_below),
    ("temperature_probs", _temperature_for_possible_words_only),
    ("top_k", _best_alone_without_places),
    ("top_k", _impossible_as_zero_when_it_is_hot),
    ("top_p", _temperature_last_among_equals),
    ("top_p", _at_most_twenty),
    ("beam_search", _one_beam_by_greedy),
    ("beam_search", _penalty_for_the_ended_only),
]
#: Slips that a card of a few small cases leaves green.
ONLY_UNSEEN = (_temperature_with_something_below, _at_most_twenty)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("question", "slip"), SLIPS, ids=lambda value: getattr(value, "__name__", value))
def test_a_slip_in_one_branch_loses_a_little(question, slip):
    loses_a_little(LAB, question, slip, red=slip not in ONLY_UNSEEN)
