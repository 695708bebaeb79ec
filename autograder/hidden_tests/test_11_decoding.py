"""Hidden tests of lab 11. The references are slow and obvious: sorted lists of Python numbers, every sentence tried.

Top-k and top-p may lean on the student's own temperature: where that is wrong, a test that fails is tried again
with a right one.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from autograder.testing import (
    as_array,
    expect,
    expect_close,
    expect_equal,
    expect_unchanged,
    follow_through,
    hidden_test,
)

#: Mutants of the master's solutions that compute the same.
EQUIVALENT_MUTANTS = {
    "greedy: while len(tokens) != max_length and tokens[-1:] != [eos]:": "the length grows by one and stops there",
    "greedy: log_probabilities = step([[bos, *tokens]])[ -1]  # (V,)": "there is only one row",
    "top_p: kept = order if p >= 1 else order[before <= p]  # near 1 the sums are rounded, and would lose the rarest words": (
        "differs only when a sum equals p exactly, which the text leaves open"
    ),
    "top_p: kept = order if p == 1 else order[before < p]  # near 1 the sums are rounded, and would lose the rarest words": (
        "p is at most 1"
    ),
    "beam_search: if row[word] != -np.inf:": "nothing is below −∞",
    "beam_search: continue": "once all have ended, the loop has nothing left to do",
}


# ---------------------------------------------------------------------------------------------- models to decode


class _Model:
    """A ``step`` that counts its calls; a strict one refuses prefixes that have ended, or that differ in length.

    One that is not strict answers them, so that who asks too much pays for it in one test and not in all.
    """

    def __init__(self, row_after, bos, eos, strict=False):
        self.row_after, self.bos, self.eos, self.strict = row_after, bos, eos, strict
        self.calls = self.largest = 0

    def __call__(self, prefixes):
        expect(isinstance(prefixes, (list, tuple, np.ndarray)), "step takes a list of prefixes")
        rows = []
        for prefix in prefixes:
            expect(
                np.ndim(prefix) == 1, "step takes a list of prefixes, and each prefix is a list of numbers"
            )
            rows.append([int(token) for token in prefix])
        expect(
            all(row and row[0] == self.bos for row in rows), "each prefix given to step should begin with bos"
        )
        if self.strict:
            expect(not any(self.eos in row[1:] for row in rows), "step was asked what comes after eos")
            expect(
                len({len(row) for row in rows}) <= 1, "all prefixes of one call of step have the same length"
            )
        self.calls += 1
        self.largest = max(self.largest, len(rows))
        with np.errstate(divide="ignore"):
            return np.log(np.array([self.row_after(tuple(row[1:])) for row in rows], dtype=float))


def _random_model(rng, V, bos, eos, sharpness=1.5, never_ends=False, forbidden=(), ends_after=None):
    """A model with its own random distribution after every prefix, always the same one after the same prefix.

    ``ends_after`` is the number of words after which it says eos for certain, and never before.
    """
    known = {}

    def row_after(said):
        if said not in known:
            weights = np.exp(sharpness * rng.normal(size=V))
            weights[list(forbidden)] = 0
            if never_ends or ends_after is not None:
                weights[eos] = 0
            if ends_after is not None and len(said) >= ends_after:
                weights = np.eye(V)[eos]
            known[said] = weights / weights.sum()
        return known[said]

    return _Model(row_after, bos, eos)


def _small_tree(strict=False):
    after = {(): [0.1, 0.4, 0.5], (2,): [0.3, 0.3, 0.4], (1,): [0.1, 0.7, 0.2]}
    return _Model(lambda said: after.get(said, [1.0, 0, 0]), 3, 0, strict)


def _lecture_tree():
    """The lecture's log-probabilities: −.92 and −1.6 first, then −.69, −1.2 and −.69, −2.3."""
    rest = [0.05, 0.08, 0.08, 0.08, 0.06, 0.05]
    after = {
        (): [0.05, 0.4, 0.2, *rest[1:5], 0.1],
        (1,): [0.02, 0.01, 0.01, 0.5, 0.3, 0.12, 0.02, 0.02],
        (2,): [0.05, 0.05, 0.04, 0.1, 0.5, 0.09, 0.09, 0.08],
    }
    return _Model(lambda said: after.get(said, [0.93] + 7 * [0.01]), 8, 0)


def _log(model, said):
    return [math.log(p) if p > 0 else -math.inf for p in model.row_after(tuple(said))]


def _greedy(model, max_length):
    said: list[int] = []
    total = 0.0
    while len(said) < max_length and (not said or said[-1] != model.eos):
        row = _log(model, said)
        best = row.index(max(row))
        said.append(best)
        total += row[best]
    return said, total


def _beam(model, k, alpha, max_length):
    """The recipe of the text, word for word: all V candidates of every live hypothesis, sorted."""
    beam: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    for length in range(1, max_length + 1):
        if all(said and said[-1] == model.eos for said, _ in beam):
            break
        candidates: list[tuple[tuple[int, ...], float]] = []
        for said, log_p in beam:
            if said and said[-1] == model.eos:
                candidates.append((said, log_p))
            else:
                candidates += [((*said, word), log_p + p) for word, p in enumerate(_log(model, said))]
        candidates = [c for c in candidates if c[1] > -math.inf and len(c[0]) <= length]
        beam = sorted(candidates, key=lambda c: -c[1] / len(c[0]) ** alpha)[:k]
    return [(list(said), log_p / len(said) ** alpha) for said, log_p in beam]


def _every_sentence(model, V, alpha, max_length):
    """All that the model can say within ``max_length`` tokens, best first."""
    found = []
    for length in range(1, max_length + 1):
        for said in itertools.product(range(V), repeat=length):
            ends = said[-1] == model.eos
            if model.eos in said[:-1] or (not ends and length < max_length):
                continue
            log_p = math.fsum(_log(model, said[:i])[word] for i, word in enumerate(said))
            if log_p > -math.inf:
                found.append((list(said), log_p / length**alpha))
    return sorted(found, key=lambda one: -one[1])


# ------------------------------------------------------------------------------------------------- expectations


def _tokens(value):
    expect(value is not None and np.ndim(value) == 1, "the tokens should be a list of word numbers")
    array = as_array(value, "the tokens")
    expect(
        array.size == 0 or bool(np.all(array == np.round(array.astype(float)))),
        "the tokens should be whole numbers",
    )
    return [int(token) for token in array]


def _expect_pair(result, expected, what="the result"):
    expect(result is not None, "your function returns None: does it end with a return?")
    expect(
        isinstance(result, (tuple, list)) and len(result) == 2,
        f"{what} should be two things: tokens and a number",
    )
    expect_equal(_tokens(result[0]), expected[0], f"the list of tokens in {what}")
    expect_close(
        np.reshape(as_array(result[1], "the number"), ()), expected[1], f"the number in {what}", atol=1e-9
    )


def _expect_beam(result, expected):
    expect(result is not None, "your function returns None: does it end with a return?")
    expect(isinstance(result, (tuple, list)), "a list of pairs (tokens, score) should be returned")
    expect(
        len(result) == len(expected),
        f"{len(expected)} hypotheses should be returned here, and there are {'more' if len(result) > len(expected) else 'fewer'}",
    )
    for rank, (one, wanted) in enumerate(zip(result, expected, strict=True), start=1):
        _expect_pair(one, wanted, f"hypothesis {rank}")


# ------------------------------------------------------------------------------------------------------- greedy


@hidden_test("greedy", weight=0.15)
def test_yes_yes_has_probability_one_fifth(student):
    """The lecture's tree: yes, yes, the end, with .5 · .4 · 1 = .20."""
    _expect_pair(student(_small_tree(), 3, 0, 10), ([2, 2, 0], math.log(0.5 * 0.4 * 1.0)))


@hidden_test("greedy", weight=0.25)
def test_greedy_follows_other_models(student, rng):
    """Other models, of other sizes, which end after some words for certain."""
    for V, bos, words in ((5, 5, 3), (9, 8, 6), (4, 17, 1)):
        model = _random_model(rng, V, bos, 0, forbidden=[bos] if bos < V else [], ends_after=words)
        _expect_pair(student(model, bos, 0, 12), _greedy(model, 12))


@hidden_test("greedy", weight=0.8)
def test_the_end_has_a_price(student):
    """The end may come first, or with the very last word allowed, and its log-probability counts."""
    model = _Model(lambda said: [0.7, 0.1, 0.2], 3, 0)
    _expect_pair(student(model, 3, 0, 5), ([0], math.log(0.7)))
    model = _Model(lambda said: [0.7, 0.1, 0.2] if len(said) == 2 else [0.2, 0.5, 0.3], 3, 0)
    _expect_pair(student(model, 3, 0, 3), ([1, 1, 0], math.log(0.5 * 0.5 * 0.7)))


@hidden_test("greedy", weight=0.8)
def test_the_first_and_the_last_word_may_have_other_numbers(student, rng):
    """Models with other numbers for the first and the last word."""
    for V, bos, eos in ((5, 0, 3), (9, 8, 2), (4, 17, 1), (2, 0, 1)):
        model = _random_model(
            rng, V, bos, eos, forbidden=[bos] if bos < V else [], ends_after=3 if V > 2 else 0
        )
        _expect_pair(student(model, bos, eos, 12), _greedy(model, 12))


@hidden_test("greedy", weight=0.2)
def test_greedy_stops_after_max_length(student, rng):
    """A model that never ends is stopped after the words allowed, be it one or many."""
    for max_length in (1, 2, 7):
        model = _random_model(rng, 6, 6, 0, never_ends=True)
        _expect_pair(student(model, 6, 0, max_length), _greedy(model, max_length))
        expect(model.calls <= max_length, "step is called more often than there are words")


@hidden_test("greedy", weight=0.4)
def test_a_long_sentence_has_a_finite_sum(student):
    """A sentence of a hundred improbable words, whose probability is too small for a computer."""
    row = np.full(10001, 1e-4)
    row[[0, 7]] = 0, 2e-4
    model = _Model(lambda said: row, 10001, 0)
    _expect_pair(student(model, 10001, 0, 100), (100 * [7], 100 * math.log(2e-4)))


@hidden_test("greedy", weight=0.4)
def test_greedy_ties_go_to_the_lower_number(student):
    """Of equally probable words the one with the lower number is taken."""
    model = _Model(lambda said: [1.0, 0, 0] if len(said) == 2 else [0.2, 0.4, 0.4], 3, 0)
    _expect_pair(student(model, 3, 0, 3), ([1, 1, 0], math.log(0.4 * 0.4)))


@hidden_test("greedy", weight=0.2)
def test_greedy_everything_at_once(student, rng):
    """All of it at once: other numbers for the first and the last word, one word or more, stopped or ended with the very last."""
    for V, bos, eos in ((5, 0, 3), (4, 2, 1), (6, 17, 5)):
        for length in (1, 2, 4, 30):
            for how in ({}, {"never_ends": True}, {"ends_after": length - 1}):
                model = _random_model(rng, V, bos, eos, forbidden=[bos] if bos < V else [], **how)
                _expect_pair(student(model, bos, eos, length), _greedy(model, length))
    model = _random_model(rng, 6, 2, 4, forbidden=[2], ends_after=40)
    _expect_pair(student(model, 2, 4, 90), _greedy(model, 90))
    # Of equally probable words the end may be one.
    model = _Model(lambda said: [0.2, 0.3, 0.5] if said else [0.2, 0.4, 0.4], 3, 2)
    _expect_pair(student(model, 3, 2, 5), ([1, 2], math.log(0.4 * 0.5)))
    model = _Model(lambda said: [0.2, 0.4, 0.4], 3, 1)
    _expect_pair(student(model, 3, 1, 5), ([1], math.log(0.4)))


# -------------------------------------------------------------------------------------------- temperature_probs


def _softened(logits, T):
    scaled = [float(z) / T for z in logits]
    largest = max(scaled)
    bells = [math.exp(z - largest) for z in scaled]
    return np.array([bell / math.fsum(bells) for bell in bells])


@hidden_test("temperature_probs", weight=0.4)
def test_at_one_the_softmax_stays(student, rng):
    """T = 1 changes nothing: .5, .3 and .2 stay."""
    expect_close(student(np.log([0.5, 0.3, 0.2]), 1), [0.5, 0.3, 0.2], "the probabilities at T = 1")
    logits = 3 * rng.normal(size=11)
    expect_close(student(logits, 1.0), _softened(logits, 1), "the probabilities at T = 1")


@hidden_test("temperature_probs", weight=0.2)
def test_the_table_of_temperatures(student, rng):
    """The table of the text, and other logits at cold and hot temperatures."""
    logits = np.log([0.5, 0.3, 0.2])
    expect_close(student(logits, 0.5), np.array([0.25, 0.09, 0.04]) / 0.38, "the probabilities at T = ½")
    roots = np.sqrt([0.5, 0.3, 0.2])
    expect_close(student(logits, 2.0), roots / roots.sum(), "the probabilities at T = 2")
    for T in (0.3, 0.9, 1.7, 40.0):
        logits = 3 * rng.normal(size=11)
        expect_close(student(logits, T), _softened(logits, T), "the probabilities")


@hidden_test("temperature_probs", weight=0.4)
def test_the_logits_stay_as_they_are(student, rng):
    """Views and whole numbers; arguments are left alone."""
    logits = 3 * rng.normal(size=22)[::2]
    expect_close(student(logits, 1.7), _softened(logits, 1.7), "the probabilities")
    expect_unchanged(student)
    expect_close(
        student(np.array([3, 0, 1, 1]), 2), _softened([3, 0, 1, 1], 2), "the probabilities of whole numbers"
    )
    expect_close(student(np.array([0.7]), 3.0), [1.0], "the probability of a single word")


@hidden_test("temperature_probs", weight=0.5)
def test_nearly_frozen_dice(student):
    """A temperature near zero: what is far apart freezes, what is nearly equal does not."""
    tiny = 1 / 1024
    logits = np.array([2.0, 2.0 + tiny, 2.0 + tiny, 2.0])
    expect_close(
        student(logits, tiny),
        _softened([0, 1, 1, 0], 1),
        "the probabilities of nearly equal words",
        rtol=1e-3,
    )
    tiny = tiny / 1024
    expect_close(
        student(np.array([0, tiny, 2 * tiny]), tiny),
        _softened([0, 1, 2], 1),
        "the probabilities of nearly equal words",
        rtol=1e-3,
    )


@hidden_test("temperature_probs", weight=0.5)
def test_large_logits(student, rng):
    """Logits in the thousands, hot and cold, and impossible words."""
    logits = rng.normal(size=6)
    expect_close(
        student(logits + 1000, 1.3),
        _softened(logits, 1.3),
        "the probabilities when all logits are shifted",
        rtol=1e-3,  # single precision knows a logit of 1000 to four decimals
    )
    logits = np.array([5.0, -np.inf, 5.5, 4.0])
    expect_close(student(logits, 0.7), _softened(logits, 0.7), "the probabilities with an impossible word")
    expect_close(student(logits, 1e-4), [0, 0, 1, 0], "the probabilities when it is nearly frozen")
    logits = np.array([0.0, -800.0, 400.0])
    expect_close(
        student(logits, 400.0), _softened(logits, 400), "the probabilities of logits far apart at a high T"
    )


#: Single precision knows 1500/40 to five decimals.
_IN_SINGLE = {"rtol": 1e-4, "atol": 1e-5}


def _logits(rng, V):
    """Logits in eighths, which single precision knows exactly, in the thousands, too."""
    return np.round(8 * rng.normal(size=V)) / 8


def _with_impossible(logits, *places):
    """The same logits, but the words at these places are impossible."""
    logits = logits.copy()
    logits[list(places)] = -np.inf
    return logits


@hidden_test("temperature_probs", weight=0.2)
def test_temperatures_everything_at_once(student, rng):
    """All of it at once: one word to many, impossible ones, hot and cold, large and low logits."""
    for V in (1, 2, 7, 80):
        for shift in (0, 1500, -1500):
            for T in (0.25, 1, 2, 40.0):
                logits = _logits(rng, V)
                expect_close(
                    student(logits + shift, T), _softened(logits, T), "the probabilities", **_IN_SINGLE
                )
                if V > 1:
                    logits = _with_impossible(logits, 0, V // 2 + 1) if V > 2 else _with_impossible(logits, 0)
                    expect_close(
                        student(logits + shift, T),
                        _softened(logits, T),
                        "the probabilities with an impossible word",
                        **_IN_SINGLE,
                    )


# -------------------------------------------------------------------------------------------------- top_k, top_p

_with_right_temperature = follow_through(
    """
import numpy as np


def temperature_probs(logits, T):
    scaled = np.asarray(logits, dtype=float) / T
    bells = np.exp(scaled - scaled.max())
    return bells / bells.sum()
""",
    "temperature_probs",
)


def _cut(probabilities, keep):
    """``keep`` counts how many of the sorted probabilities stay."""
    order = sorted(range(len(probabilities)), key=lambda i: (-probabilities[i], i))
    kept = order[: keep([probabilities[i] for i in order])]
    total = math.fsum(probabilities[i] for i in kept)
    return np.array([p / total if i in kept else 0.0 for i, p in enumerate(probabilities)])


def _top_k(logits, k, T=1.0):
    return _cut(list(_softened(logits, T)), lambda ps: k)


def _top_p(logits, p, T=1.0):
    def keep(ps):
        return next((n for n in range(1, len(ps) + 1) if math.fsum(ps[:n]) >= p), len(ps))

    return _cut(list(_softened(logits, T)), keep)


@hidden_test("top_k", weight=0.3)
@_with_right_temperature
def test_renormalised_logits_not_probabilities(student):
    """The lecture's .5, .3, .2 stay as they are with k = 3; .391, .320, .289 would be its slip."""
    logits = np.log([0.5, 0.3, 0.2])
    expect_close(student(logits, 3), [0.5, 0.3, 0.2], "the probabilities with k = 3 of 3")
    expect_close(student(logits, 2), [0.625, 0.375, 0], "the probabilities with k = 2 of 3")


@hidden_test("top_k", weight=0.5)
@_with_right_temperature
def test_top_k_of_other_logits(student, rng):
    """Other logits in any order, several k; each word keeps its place and arguments are left alone."""
    for V, k in ((9, 3), (12, 5), (7, 1), (5, 4)):
        logits = 2 * rng.normal(size=V) + 3
        expect_close(student(logits, k), _top_k(logits, k), "the probabilities")
        expect_unchanged(student)


@hidden_test("top_k", weight=0.9)
@_with_right_temperature
def test_top_k_with_a_temperature(student, rng):
    """The temperature acts before the renormalising."""
    for T in (0.4, 2.5):
        logits = rng.normal(size=13)
        expect_close(student(logits, 4, T), _top_k(logits, 4, T), "the probabilities")
        expect_unchanged(student)
    expect_close(student(logits, 3, T=1.5), _top_k(logits, 3, 1.5), "the probabilities")
    large = student(1000 + logits, 2, 0.5)
    expect_close(large, _top_k(logits, 2, 0.5), "the probabilities of large logits", rtol=1e-3, atol=1e-4)


@hidden_test("top_k", weight=1)
@_with_right_temperature
def test_top_k_with_ties(student):
    """Exactly k words stay, and of equal ones those with the lower numbers."""
    logits = np.array([0.0, 2.0, 1.0, 2.0, 1.0, 1.0])
    for k in (1, 3, 4):
        expect_close(student(logits, k), _top_k(logits, k), "the probabilities when some logits are equal")
    logits = np.tile([0.0, 1.0, 0.5, 1.0], 50)
    expect_close(student(logits, 70), _top_k(logits, 70), "the probabilities when many logits are equal")


@hidden_test("top_k", weight=0.5)
@_with_right_temperature
def test_a_k_larger_than_the_vocabulary(student, rng):
    """With k larger than V every word stays."""
    logits = rng.normal(size=4)
    expect_close(student(logits, 50), _softened(logits, 1), "the probabilities when k is larger than V")


@hidden_test("top_k", weight=0.3)
@_with_right_temperature
def test_where_every_word_stays_the_temperature_acts_as_ever(student, rng):
    """With k equal to V or larger nobody is out, and the temperature acts as it always does."""
    for T in (0.5, 2.0):
        logits = rng.normal(size=5)
        for k in (5, 6, 50):
            expect_close(
                student(logits, k, T), _softened(logits, T), "the probabilities when every word stays"
            )


@hidden_test("top_k", weight=0.2)
@_with_right_temperature
def test_top_k_of_large_logits_and_impossible_words(student, rng):
    """Large and negative logits, impossible words."""
    logits = rng.normal(size=4)
    single = {"rtol": 1e-3, "atol": 1e-4}  # single precision knows a logit of 1000 to four decimals
    for shift in (-1000, 1000):
        expect_close(
            student(logits + shift, 2),
            _top_k(logits, 2),
            "the probabilities when all logits are shifted",
            **single,
        )
    logits = np.array([-np.inf, -3.0, -np.inf, -2.0, -np.inf])
    expect_close(student(logits, 3), _softened(logits, 1), "the probabilities with impossible words")


@hidden_test("top_k", weight=0.4)
@_with_right_temperature
def test_who_is_out_is_out_however_low_the_logits(student):
    """Words that are out have probability 0, however low the logits of those that stay."""
    logits = np.array([-3e12, -2e12, -4e12, -2e12])
    expect_close(student(logits, 2), [0, 0.5, 0, 0.5], "the probabilities of very low logits")


@hidden_test("top_k", weight=0.3)
@_with_right_temperature
def test_top_k_everything_at_once(student, rng):
    """All of it at once: two words to many, equal and impossible ones, large logits, hot and cold, k from 1 to more than V."""
    for V, shift in ((2, 1500), (6, -1500), (6, 1500), (90, 0)):
        for T in (0.001, 0.25, 2, 40.0):
            for k in (1, 2, V // 2 + 1, V - 1, V, V + 3):
                logits = np.round(2 * _logits(rng, V)) / 2
                expect_close(
                    student(logits + shift, k, T),
                    _top_k(logits, k, T),
                    "the probabilities",
                    **_IN_SINGLE,
                )
                if V > 2:
                    logits = _with_impossible(logits, 0, V // 2)
                    expect_close(
                        student(logits + shift, k, T),
                        _top_k(logits, k, T),
                        "the probabilities with impossible words",
                        **_IN_SINGLE,
                    )


@hidden_test("top_p", weight=0.3)
@_with_right_temperature
def test_the_nucleus_by_hand(student):
    """The case of the text: .4, .3, .2, .1 with p = .6 and p = .8."""
    logits = np.log([0.4, 0.3, 0.2, 0.1])
    expect_close(student(logits, 0.6), [4 / 7, 3 / 7, 0, 0], "the probabilities for p = .6")
    expect_close(student(logits, 0.8), [4 / 9, 3 / 9, 2 / 9, 0], "the probabilities for p = .8")


@hidden_test("top_p", weight=0.6)
@_with_right_temperature
def test_top_p_of_other_logits(student, rng):
    """Other logits in any order, several p; each word keeps its place and arguments are left alone."""
    for V, p in ((11, 0.5), (8, 0.75), (15, 0.93), (6, 0.31)):
        logits = 1.5 * rng.normal(size=V) - 2
        expect_close(student(logits, p), _top_p(logits, p), "the probabilities")
        expect_unchanged(student)


@hidden_test("top_p", weight=0.6)
@_with_right_temperature
def test_top_p_when_it_is_hot(student):
    """A high temperature acts first, and lets more words in."""
    for order in (slice(None), slice(None, None, -1)):
        logits = np.log([0.05, 0.55, 0.25, 0.1, 0.03, 0.02])[order]
        expect_close(student(logits, 0.78, 3.0), _top_p(logits, 0.78, 3.0), "the probabilities")
        expect_unchanged(student)


@hidden_test("top_p", weight=0.8)
@_with_right_temperature
def test_top_p_when_it_is_cold(student):
    """A low temperature acts first: the best word alone has enough then."""
    for order in (slice(None), slice(None, None, -1)):
        logits = np.log([0.1, 0.4, 0.2, 0.3])[order]
        expect_close(student(logits, 0.6, 0.25), np.array([0, 1, 0, 0])[order], "the probabilities")
        expect_unchanged(student)


@hidden_test("top_p", weight=0.5)
@_with_right_temperature
def test_top_p_with_ties(student):
    """Of equally probable words those with the lower numbers are in."""
    logits = np.log([0.05, 0.3, 0.05, 0.3, 0.3])
    expect_close(student(logits, 0.01), [0, 1, 0, 0, 0], "the probabilities when some are equal")


@hidden_test("top_p", weight=0.2)
@_with_right_temperature
def test_top_p_at_the_edges(student, rng):
    """A tiny p keeps the best word; large logits, impossible words, one sure word."""
    logits = rng.normal(size=7)
    best = np.eye(7)[int(np.argmax(logits))]
    expect_close(student(logits, 1e-6), best, "the probabilities for a tiny p")
    expect_close(student(logits + 1000, 1e-3), best, "the probabilities of large logits")
    logits = np.array([-np.inf, 1.0, -np.inf, 0.0])
    expect_close(student(logits, 0.5), [0, 1, 0, 0], "the probabilities with impossible words")
    expect_close(student(np.array([-80.0, 80.0, -90.0]), 0.9), [0, 1, 0], "the probabilities of a sure word")


@hidden_test("top_p", weight=0.5)
@_with_right_temperature
def test_with_p_of_one_all_stay(student):
    """With p = 1 all words stay, also where the running sum is rounded to 0.9999999999999999."""
    for logits in (
        np.zeros(10),
        np.zeros(6),
        np.log([0.3, 0.1, 0.2, 0.4]),
        np.array([-np.inf, 1.0, -np.inf, 0.0]),
    ):
        expect_close(student(logits, 1.0), _softened(logits, 1), "the probabilities for p = 1")


@hidden_test("top_p", weight=0.5)
@_with_right_temperature
def test_with_p_of_one_the_temperature_acts_as_ever(student):
    """With p = 1 nobody is out, and the temperature acts as it always does."""
    logits = np.log([0.5, 0.25, 0.125, 0.125])
    for T in (0.5, 2.0):
        expect_close(
            student(logits, 1.0, T), _softened(logits, T), "the probabilities for p = 1 and another T"
        )


@hidden_test("top_p", weight=0.5)
@_with_right_temperature
def test_with_p_of_one_the_rarest_stay(student):
    """With p = 1 all words stay, also the rarest, before which the running sum is rounded to 1."""
    logits = np.array([-45.0, 1.0, -42.0, 0.0])
    result = student(logits, 1.0)
    expect_close(result, _softened(logits, 1), "the probabilities for p = 1")
    expect(
        bool(np.all(as_array(result, "the probabilities") > 0)),
        "with p = 1 a word that is possible has lost its probability",
    )


def _stays_away(logits, p, T):
    """Whether no running sum is near p, so that no rounding decides."""
    sums = np.cumsum(np.sort(_softened(logits, T))[::-1])
    return p == 1 or bool(np.all(np.abs(sums - p) > 1e-4))


@hidden_test("top_p", weight=0.4)
@_with_right_temperature
def test_top_p_everything_at_once(student, rng):
    """All of it at once: two words to many, equal and impossible ones, large logits, hot and cold, p small, large and 1."""
    for V, shift in ((2, 1500), (6, -1500), (6, 1500), (90, 0)):
        for T in (0.001, 0.25, 2, 40.0):
            for p in (0.05, 0.45, 0.8, 0.97, 1):
                logits = np.round(2 * _logits(rng, V)) / 2
                for some in (logits, _with_impossible(logits, 0, V // 2) if V > 2 else logits):
                    if _stays_away(some, p, T):
                        expect_close(
                            student(some + shift, p, T), _top_p(some, p, T), "the probabilities", **_IN_SINGLE
                        )


# -------------------------------------------------------------------------------------------------- beam_search


@hidden_test("beam_search", weight=0.2)
def test_a_beam_finds_what_greedy_missed(student):
    """The lecture's small tree: .28 with two beams, .20 with one."""
    model = _small_tree()
    _expect_beam(
        student(model, 2, 0.0, 3, 0, 10), [([1, 1, 0], math.log(0.4 * 0.7)), ([2, 2, 0], math.log(0.5 * 0.4))]
    )
    _expect_beam(student(model, 1, 0.0, 3, 0, 10), [([2, 2, 0], math.log(0.2))])


@hidden_test("beam_search", weight=0.2)
def test_the_lectures_four_sums(student):
    """The lecture's sums after two words: −1.6 and −2.1 stay, −2.3 and −3.9 go; with four beams all are there."""
    two = [math.log(0.4 * p) for p in (0.5, 0.3)]
    _expect_beam(student(_lecture_tree(), 2, 0.0, 8, 0, 2), [([1, 3], two[0]), ([1, 4], two[1])])
    wide = student(_lecture_tree(), 60, 0.0, 8, 0, 2)
    _expect_beam(wide, _beam(_lecture_tree(), 60, 0.0, 2))
    scores = {tuple(_tokens(tokens)): round(float(score), 1) for tokens, score in wide}
    sums = [scores.get(said) for said in ((2, 4), (2, 3), (1, 3), (1, 4))]
    expect_equal(sums, [-2.3, -3.9, -1.6, -2.1], "the list of the four sums")


@hidden_test("beam_search", weight=0.7)
def test_beams_of_sentences_of_one_length(student, rng):
    """Other models, in which all sentences end after the same number of words, without a penalty."""
    for V, k, words in ((5, 2, 4), (9, 3, 3), (4, 5, 5), (7, 4, 2)):
        model = _random_model(rng, V, V, 0, ends_after=words)
        _expect_beam(student(model, k, 0.0, V, 0, 9), _beam(model, k, 0.0, 9))


@hidden_test("beam_search", weight=1.4)
def test_who_has_ended_keeps_a_place(student, rng):
    """Models of other sizes whose sentences end early or late, with other numbers for the first and the last word."""
    first = {(): [0.4, 0.35, 0.25], (1,): [0.0, 0.6, 0.4], (1, 1): [0.0, 0.5, 0.5]}
    model = _Model(lambda said: first.get(said, [1.0, 0, 0]), 3, 0)
    _expect_beam(student(model, 2, 0.0, 3, 0, 9), _beam(model, 2, 0.0, 9))
    for V, bos, eos, k in ((5, 0, 3, 2), (9, 8, 2, 3), (4, 17, 1, 5), (7, 7, 6, 4)):
        model = _random_model(rng, V, bos, eos, forbidden=[bos] if bos < V else [])
        _expect_beam(student(model, k, 0.0, bos, eos, 9), _beam(model, k, 0.0, 9))


@hidden_test("beam_search", weight=0.4)
def test_scores_with_a_length_penalty(student, rng):
    """The score with a length penalty, where all sentences have the same length."""
    for V, k, alpha, words in ((5, 3, 1.0, 3), (6, 4, 0.6, 2), (4, 2, 2.0, 4)):
        model = _random_model(rng, V, V, 0, ends_after=words)
        _expect_beam(student(model, k, alpha, V, 0, 8), _beam(model, k, alpha, 8))


@hidden_test("beam_search", weight=1.6)
def test_beams_with_a_length_penalty(student, rng):
    """A length penalty counts in every pruning and in the order of the list."""
    first = {(): [0.4, 0.6, 0.0], (1,): [0.0, 0.5, 0.5]}
    model = _Model(lambda said: first.get(said, [1.0, 0, 0]), 3, 0)
    _expect_beam(student(model, 2, 1.0, 3, 0, 8), _beam(model, 2, 1.0, 8))
    for V, k, alpha in ((5, 3, 1.0), (6, 4, 0.6), (4, 2, 2.0), (8, 5, 1)):
        model = _random_model(rng, V, V, 1)
        _expect_beam(student(model, k, alpha, V, 1, 8), _beam(model, k, alpha, 8))


@hidden_test("beam_search", weight=0.4)
def test_a_wide_beam_tries_everything(student, rng):
    """A beam of V to the power L − 1 or more finds what trying every sentence finds, without a penalty."""
    for V, length in ((3, 3), (3, 4), (4, 3)):
        model = _random_model(rng, V, V, 0)
        width = V ** (length - 1)
        best = _every_sentence(model, V, 0.0, length)
        _expect_beam(student(model, width, 0.0, V, 0, length), best[:width])


@hidden_test("beam_search", weight=0.4)
def test_beams_of_everything_at_once(student, rng):
    """All of it at once: other numbers for the first and the last word, a penalty, narrow and wide beams, stopped or ended."""
    for V, bos, eos in ((4, 0, 2), (2, 9, 1), (3, 9, 0), (5, 4, 3)):
        for k, alpha, length in (
            (1, 0.7, 4),
            (V + 2, 0.5, 1),
            (V + 2, 2, 2),
            (30, 2, 3),
            (2, 0, 3),
            (3, 1.0, 4),
        ):
            for how in ({}, {"never_ends": True}, {"ends_after": 2}):
                model = _random_model(rng, V, bos, eos, forbidden=[bos] if bos < V else [], **how)
                _expect_beam(student(model, k, alpha, bos, eos, length), _beam(model, k, alpha, length))


@hidden_test("beam_search", weight=0.2)
def test_one_beam_is_greedy(student, rng):
    """A beam of width 1 does what greedy does, and a model that never ends is stopped."""
    for max_length in (1, 3, 6):
        model = _random_model(rng, 5, 5, 0, never_ends=max_length == 3, ends_after=4)
        _expect_beam(student(model, 1, 0.0, 5, 0, max_length), [_greedy(model, max_length)])
    model = _random_model(rng, 5, 5, 0, never_ends=True)
    _expect_beam(student(model, 3, 0.0, 5, 0, 4), _beam(model, 3, 0.0, 4))


@hidden_test("beam_search", weight=0.5)
def test_nothing_impossible_is_kept(student, rng):
    """Words of probability zero never appear, even if fewer than k hypotheses remain."""
    model = _random_model(rng, 6, 6, 0, forbidden=[1, 3, 4])
    _expect_beam(student(model, 20, 0.0, 6, 0, 2), _beam(model, 20, 0.0, 2))
    model = _Model(lambda said: [0.0, 1.0, 0.0] if len(said) < 2 else [1.0, 0.0, 0.0], 9, 0)
    _expect_beam(student(model, 4, 0.0, 9, 0, 7), [([1, 1, 0], 0.0)])


@hidden_test("beam_search", weight=0.3)
def test_what_cannot_go_on_drops_out(student):
    """A hypothesis after which nothing is possible drops out; when none is left, the list is empty."""
    after = {(): [0.0, 0.6, 0.4, 0.0], (2,): [0.0, 0.0, 0.0, 1.0], (2, 3): [1.0, 0.0, 0.0, 0.0]}
    model = _Model(lambda said: after.get(said, [0.0] * 4), 4, 0)
    for k in (2, 3):
        _expect_beam(student(model, k, 0.0, 4, 0, 9), [([2, 3, 0], math.log(0.4))])
    for alpha in (0.0, 1.0):
        _expect_beam(student(model, 1, alpha, 4, 0, 9), [])


@hidden_test("beam_search", weight=0.7)
def test_one_call_of_the_model_for_each_word(student, rng):
    """The model is asked once for each position, about those that have not ended, and no more when all have ended."""
    model = _random_model(rng, 6, 6, 0, ends_after=4)
    _expect_beam(student(model, 4, 0.0, 6, 0, 7), _beam(model, 4, 0.0, 7))
    expect(
        model.calls <= 7, "step should be called once for each position, with all the live prefixes together"
    )
    expect(model.largest <= 4, "step was asked about more than k prefixes at once")
    for k in (2, 9):
        model = _small_tree(strict=True)
        _expect_beam(student(model, k, 0.0, 3, 0, 50)[:1], [([1, 1, 0], math.log(0.28))])
        expect(model.calls <= 3, "step is still called after every hypothesis has ended")


@hidden_test("beam_search", weight=0.4)
def test_ties_keep_their_order(student):
    """Of equal scores the one that came first stays first: earlier hypothesis, then lower number."""
    model = _Model(lambda said: [0.0, 0.5, 0.5] if len(said) < 2 else [1.0, 0.0, 0.0], 3, 0)
    half, quarter = math.log(0.5), 2 * math.log(0.5)
    _expect_beam(student(model, 2, 0.0, 3, 0, 1), [([1], half), ([2], half)])
    _expect_beam(
        student(model, 3, 0.0, 3, 0, 5), [([1, 1, 0], quarter), ([1, 2, 0], quarter), ([2, 1, 0], quarter)]
    )
    after = {(): [0.25, 0.5, 0.25], (1,): [0.5, 0.5, 0.0]}
    model = _Model(lambda said: after.get(said, [1.0, 0.0, 0.0]), 3, 0)
    _expect_beam(student(model, 2, 0.0, 3, 0, 5), [([1, 0], quarter), ([1, 1, 0], quarter)])
    for k, alpha in ((1, 0.6), (2, 1), (4, 2.0)):
        model = _Model(lambda said: [0.5, 0.5, 0.0], 3, 2)
        result = student(model, k, alpha, 3, 2, 2)
        pairs = isinstance(result, (tuple, list)) and all(
            isinstance(one, (tuple, list)) and len(one) == 2 for one in result
        )
        expect(pairs, "a list of pairs (tokens, score) should be returned")
        tokens = [_tokens(one[0]) for one in result]
        expect_equal(
            tokens,
            [said for said, _ in _beam(model, k, alpha, 2)],
            "the list of hypotheses that are equally good",
        )
    after = {(): [0.5, 0.5, 0.0], (0, 0): [0.0, 0.0, 1.0]}
    model = _Model(lambda said: after.get(said, [0.5, 0.0, 0.5]), 3, 2)
    _expect_beam(student(model, 2, 0.0, 3, 2, 5), [([0, 0, 2], quarter), ([0, 2], quarter)])
