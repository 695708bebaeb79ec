"""Public checks of lab 11: the worked cases of the text, and hints that say which slip makes what came out."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from coursekit.checks.api import close, ensure, equal, public_check
from coursekit.checks.break_it import impostor

_EOS, _BOS = 0, 3
_AFTER: dict[tuple[int, ...], list[float]] = {
    (): [0.1, 0.4, 0.5],
    (2,): [0.3, 0.3, 0.4],
    (1,): [0.1, 0.7, 0.2],
}
#: A model that says 1 or 2 with these probabilities, whatever came before, and never ends.
_ENDLESS = [0.0, 0.4, 0.6]


class _Model:
    """The small tree (or the endless model) as a ``step`` that looks at what it is asked.

    Only a strict one refuses sentences that have ended: a search that asks about them too fails one check, not all.
    """

    def __init__(
        self,
        after: dict[tuple[int, ...], list[float]] | None = None,
        otherwise: tuple[float, ...] = (1.0, 0.0, 0.0),
        strict: bool = False,
    ) -> None:
        self.strict = strict
        self.after = _AFTER if after is None else after
        self.otherwise = otherwise
        self.calls = 0

    def __call__(self, prefixes: Any) -> np.ndarray:
        self.calls += 1
        prefixes = [[int(token) for token in prefix] for prefix in prefixes]
        ensure(
            all(prefix and prefix[0] == _BOS for prefix in prefixes),
            "step was given a prefix that does not begin with bos: each prefix is [bos, *tokens]",
        )
        ensure(
            not self.strict or all(_EOS not in prefix for prefix in prefixes),
            "step was asked what comes after eos: call it with the hypotheses that have not ended, and only with these",
        )
        ensure(
            not self.strict or len({len(prefix) for prefix in prefixes}) <= 1,
            "step was given prefixes of different lengths in one call",
        )
        rows = [self.after.get(tuple(prefix[1:]), self.otherwise) for prefix in prefixes]
        with np.errstate(divide="ignore"):
            logprobs: np.ndarray = np.log(np.array(rows, dtype=float).reshape(len(prefixes), 3))
        return logprobs


def _hypothesis(result: Any, what: str) -> tuple[list[int], float]:
    """Tokens as integers and the number that goes with them, or a hint."""
    ensure(result is not None, "your function returns None: does it end with a return?")
    ensure(
        isinstance(result, (tuple, list)) and len(result) == 2,
        f"{what} should be a pair: the tokens, and a number",
    )
    tokens, number = result
    ensure(np.ndim(tokens) == 1, f"the first part of {what} should be the list of tokens")
    ensure(np.ndim(number) == 0, f"the second part of {what} should be a single number")
    return [int(token) for token in tokens], float(number)


# ------------------------------------------------------------------------------------------------------ greedy


@public_check("greedy")
def yes_yes(greedy: Any) -> None:
    """The small model: yes, yes, the end, with probability .5 · .4 · 1 = .20."""
    tokens, number = _hypothesis(greedy(_Model(), _BOS, _EOS, 10), "the result")
    ensure(tokens[:1] != [_BOS], "your tokens begin with bos: it belongs to the prefix, not to the result")
    ensure(
        tokens != [2, 2], "eos is missing at the end of your tokens: it was chosen too, so it belongs there"
    )
    equal(tokens, [2, 2, 0], f"the tokens should be [2, 2, 0], but yours are {tokens}")
    ensure(not math.isclose(number, 0.2, rel_tol=1e-6), "0.2 is the probability; its logarithm is asked for")
    close(number, math.log(0.2), f"the log-probability should be log 0.2 = −1.609, but yours is {number:.4g}")


@public_check("greedy")
def it_stops_in_time(greedy: Any) -> None:
    """A model that never says eos is stopped after max_length words."""
    tokens, number = _hypothesis(greedy(_Model({}, tuple(_ENDLESS)), _BOS, _EOS, 4), "the result")
    ensure(len(tokens) <= 4, f"with max_length = 4 there should be 4 tokens, but there are {len(tokens)}")
    ensure(
        len(tokens) == 4,
        f"with max_length = 4 there should be 4 tokens, but there are {len(tokens)}: bos does not count",
    )
    equal(tokens, [2, 2, 2, 2], "the best word is 2 every time")
    close(number, 4 * math.log(0.6), "the log-probability is the sum over all the chosen words")


@public_check("greedy")
def the_end_at_once(greedy: Any) -> None:
    """A model that wants to end at once gives [eos]; the lower number wins a tie."""
    tokens, number = _hypothesis(greedy(_Model({(): [0.8, 0.1, 0.1]}), _BOS, _EOS, 5), "the result")
    equal(tokens, [0], f"the tokens should be just [eos], but they are {tokens}")
    close(number, math.log(0.8), "the log-probability of eos counts")
    tokens, _ = _hypothesis(greedy(_Model({(): [0.2, 0.4, 0.4]}), _BOS, _EOS, 5), "the result")
    ensure(tokens[:1] == [1], "of two equally probable words the one with the lower number is taken")


@public_check("greedy")
def other_models(greedy: Any) -> None:
    """Other numbers for bos and eos, and a sentence of a hundred words."""
    after = {(): [0.1, 0.2, 0.7], (2,): [0.9, 0.05, 0.05]}

    def other_step(prefixes: Any) -> np.ndarray:
        logprobs: np.ndarray = np.log(
            [after.get(tuple(map(int, one))[1:], [0.9, 0.05, 0.05]) for one in prefixes]
        )
        return logprobs

    tokens, _ = _hypothesis(greedy(other_step, 5, 2, 8), "the result")
    ensure(
        tokens != [2, 0],
        "here the argument eos is 2, so [2] is the whole sentence, but yours is [2, 0]: stop at `eos`, not at the "
        "notebook's EOS",
    )
    equal(tokens, [2], f"with eos = 2 the tokens should be [2] here, but they are {tokens}")
    tokens, _ = _hypothesis(greedy(other_step, 5, 1, 3), "the result")
    equal(
        tokens,
        [2, 0, 0],
        f"with eos = 1 and max_length = 3 the tokens should be [2, 0, 0] here, but they are {tokens}",
    )
    asked: list[int] = []

    def noting(prefixes: Any) -> np.ndarray:
        asked.extend(int(one[0]) for one in prefixes)
        return other_step(prefixes)

    greedy(noting, 5, 2, 8)
    ensure(
        set(asked) == {5},
        f"here the argument bos is 5, but a prefix begins with {next((one for one in asked if one != 5), None)}: begin with `bos`, not with "
        "the notebook's BOS",
    )
    row = np.full(10001, 1e-4)
    row[[0, 7]] = 1e-5, 2e-4
    tokens, number = _hypothesis(greedy(lambda prefixes: np.log([row]), 20000, 0, 100), "the result")
    equal(
        tokens, 100 * [7], "of 10 001 words number 7 is the best every time here, for max_length = 100 words"
    )
    ensure(
        number != -math.inf,
        "a sentence of 100 words has a log-probability of −852, but yours is −∞: the product of so many small "
        "probabilities is too small for a computer, so add their logarithms",
    )
    close(number, 100 * math.log(2e-4), "the log-probability is the sum over all the chosen words")


# ------------------------------------------------------------------------------------------- temperature_probs


def _three() -> np.ndarray:
    return np.log([0.5, 0.3, 0.2])


@public_check("temperature_probs")
def three_temperatures(temperature_probs: Any) -> None:
    """The table of the text: T = ½, 1 and 2."""
    logits = _three()
    cold = temperature_probs(logits, 0.5)
    ensure(cold is not None, "your function returns None: does it end with a return?")
    ensure(
        not np.allclose(np.ravel(cold)[:1], 0.415, atol=1e-3),
        "T = ½ gave what T = 2 should give: divide the logits by T, do not multiply",
    )
    close(cold, [0.6579, 0.2368, 0.1053], "T = ½ should give .658, .237, .105", atol=1e-4)
    ensure(
        np.array_equal(logits, _three()),
        "the logits you were given have changed: compute logits / T, not logits /= T",
    )
    close(temperature_probs(_three(), 1.0), [0.5, 0.3, 0.2], "T = 1 should change nothing", atol=1e-6)
    close(
        temperature_probs(_three(), 2.0),
        [0.4154, 0.3218, 0.2628],
        "T = 2 should give .415, .322, .263",
        atol=1e-4,
    )


@public_check("temperature_probs")
def freezing(temperature_probs: Any) -> None:
    """Nearly frozen, with large logits: the best word gets everything."""
    probabilities = temperature_probs(np.array([990.0, 1000.0, -np.inf]), 0.001)
    ensure(
        np.isfinite(np.asarray(probabilities, dtype=float)).all(),
        "large logits, or a small T, make nan: use the safe softmax",
    )
    close(probabilities, [0, 1, 0], "at T = 0.001 the largest logit should get probability 1")


@public_check("temperature_probs")
def close_and_far(temperature_probs: Any) -> None:
    """Nearly equal logits at T = 0.001, and far ones at T = 400."""
    tiny = 2.0**-10
    near = np.asarray(temperature_probs(np.array([2.0, 2.0 + tiny, 2.0 + tiny, 2.0]), tiny), dtype=float)
    ensure(
        np.isfinite(near).all(),
        "four nearly equal logits at T = 0.001 make nan: has something become 0 (powers of probabilities, say), and is "
        "0 divided by 0? Divide the logits by T, then take the safe softmax",
    )
    ensure(
        not np.allclose(near, [0.2378, 0.2622, 0.2622, 0.2378], atol=3e-4),
        "four nearly equal logits at T = 0.001 get what they should get at T = 0.01: use T as it is, however small",
    )
    close(
        near,
        [0.1345, 0.3655, 0.3655, 0.1345],
        "logits that differ by T should get .134 and .366: divide them by T, then take the softmax",
        atol=1e-3,
    )
    far = temperature_probs(np.array([0.0, -800.0]), 400.0)
    close(
        far,
        [0.8808, 0.1192],
        "logits 0 and −800 at T = 400 should get .881 and .119: divide the logits by T before the softmax",
        atol=1e-3,
    )
    for T, shares in ((0.5, [0, 4 / 13, 9 / 13]), (2.0, [0, 0.4495, 0.5505])):
        close(
            temperature_probs(np.array([-np.inf, *np.log([0.2, 0.3])]), T),
            shares,
            f"an impossible word (logit −∞) keeps the probability 0, the others share the rest: with T = {T:g}, too",
            atol=1e-4,
        )


# ------------------------------------------------------------------------------------------------------- top_k


def _four() -> np.ndarray:
    return np.log([0.4, 0.3, 0.2, 0.1])


@public_check("top_k")
def the_two_best(top_k: Any) -> None:
    """Of .4, .3, .2, .1 the two best become .571 and .429; with T = ½ they become .64 and .36."""
    kept = top_k(_four(), 2)
    ensure(kept is not None, "your function returns None: does it end with a return?")
    ensure(
        np.shape(kept) != (2,),
        "you return only the k kept probabilities: all V words keep their place, the others with 0",
    )
    ensure(
        not np.allclose(kept, [0.4, 0.3, 0, 0]),
        "the kept probabilities should sum to 1: divide them by their sum",
    )
    ensure(
        not np.allclose(np.ravel(kept)[:1], 0.525, atol=1e-3),
        "you take the softmax of probabilities (the lecture's slip): it belongs on the logits",
    )
    close(kept, [0.5714, 0.4286, 0, 0], "the result should be .571, .429, 0, 0", atol=1e-4)
    close(top_k(_four(), 2, 0.5), [0.64, 0.36, 0, 0], "with T = ½ it should be .64, .36, 0, 0", atol=1e-4)


@public_check("top_k")
def places_and_ties(top_k: Any) -> None:
    """Words keep their places; of equal logits the first ones stay; a large k keeps all."""
    close(
        top_k(np.log([0.1, 0.2, 0.4, 0.3]), 2),
        [0, 0, 0.5714, 0.4286],
        "the words should stay in their places, not be sorted",
        atol=1e-4,
    )
    many = np.asarray(top_k(np.tile([0.0, 1.0], 100), 60), dtype=float)
    ensure(
        int((many > 0).sum()) != 60 or np.allclose(many[1:120:2], 1 / 60),
        'of a hundred equal logits the 60 with the lowest numbers should stay, and yours are others: sort with kind="stable"',
    )
    tied = top_k(np.array([1.0, 2.0, 1.0, 1.0]), 2)
    ensure(
        int((np.asarray(tied) > 0).sum()) == 2,
        "exactly k words stay, also when the k-th and the next are equal",
    )
    close(tied, [0.2689, 0.7311, 0, 0], "of equal logits the one with the lower number stays", atol=1e-4)
    close(top_k(_four(), 99), [0.4, 0.3, 0.2, 0.1], "with k larger than V every word stays", atol=1e-6)
    low = np.asarray(top_k(np.array([-3e12, -2e12, -4e12, -2e12]), 2), dtype=float)
    ensure(
        not (low[[0, 2]] > 0).any(),
        "of the logits −3e12, −2e12, −4e12, −2e12 the first and the third should be out, but a share is left to them: a "
        "logit of −∞ gives the probability 0, a very low number need not",
    )
    close(low, [0, 0.5, 0, 0.5], "of −3e12, −2e12, −4e12, −2e12 the two best should have ½ each", atol=1e-6)
    for k in (4, 99):
        close(
            top_k(_four(), k, 0.5),
            [16 / 30, 9 / 30, 4 / 30, 1 / 30],
            f"with k = {k} of 4 words all stay, but the temperature acts all the same: .4, .3, .2, .1 become .533, .3, .133, .033 "
            "with T = ½",
            atol=1e-4,
        )
    with_impossible = np.array([-np.inf, *np.log([0.1, 0.2, 0.3])])
    for k, T, squares in ((2, 0.5, [0, 0, 4, 9]), (4, 0.5, [0, 1, 4, 9]), (4, 2, [0, 1, 2**0.5, 3**0.5])):
        close(
            top_k(with_impossible, k, T),
            np.array(squares) / sum(squares),
            f"an impossible word (logit −∞) keeps the probability 0, the others share the rest: with k = {k} and T = {T:g}, too",
            atol=1e-4,
        )
    close(
        top_k(np.log([0.1, 0.2, 0.4, 0.3]), 1, 0.5),
        [0, 0, 1, 0],
        "with k = 1 the best word, number 2 here, should have all, at T = ½, too",
        atol=1e-6,
    )


@public_check("top_k")
def the_logits_of_top_k_stay(top_k: Any) -> None:
    """The logits that were handed in are not changed."""
    logits = _four()
    top_k(logits, 2, 0.5)
    equal(
        logits,
        _four(),
        "the caller's logits have changed: compute with new arrays, logits / T and not logits /= T",
    )


# ------------------------------------------------------------------------------------------------------- top_p


@public_check("top_p")
def the_nucleus(top_p: Any) -> None:
    """Of .4, .3, .2, .1: two words for p = .6, three for p = .8."""
    kept = top_p(_four(), 0.6)
    ensure(kept is not None, "your function returns None: does it end with a return?")
    ensure(np.shape(kept) == (4,), f"the result should have shape (4,), not {np.shape(kept)}")
    ensure(
        not np.allclose(kept, [1, 0, 0, 0]),
        "only .4 is left, which is less than p = .6: the word that carries the sum over p stays",
    )
    ensure(not np.allclose(kept, [0.4, 0.3, 0, 0]), "divide the kept probabilities by their sum")
    close(kept, [0.5714, 0.4286, 0, 0], "for p = .6 it should be .571, .429, 0, 0", atol=1e-4)
    close(
        top_p(_four(), 0.8),
        [0.4444, 0.3333, 0.2222, 0],
        "for p = .8 it should be .444, .333, .222, 0",
        atol=1e-4,
    )


@public_check("top_p")
def at_least_one_at_most_all(top_p: Any) -> None:
    """A tiny p keeps the best word, and the temperature comes first."""
    tiny = top_p(_four()[::-1], 0.01)
    ensure(
        not np.allclose(tiny, [1, 0, 0, 0]),
        "for p = .01 word 3, the best, should stay, but yours is word 0: look at the words from the best on, and put "
        "each back in its place",
    )
    close(tiny, [0, 0, 0, 1], "for p = .01 the best word alone should stay", atol=1e-6)
    equal_words = top_p(np.log([0.2, 0.4, 0.4]), 0.01)
    close(
        equal_words,
        [0, 1, 0],
        "of two equally probable words the one with the lower number goes first",
        atol=1e-6,
    )
    close(
        top_p(_four(), 0.6, 0.25),
        [1, 0, 0, 0],
        "at T = ¼ the first word alone has .72, so it alone should stay: temperature first, then the cut",
        atol=1e-6,
    )
    close(
        top_p(np.log([0.2, 0.4, 0.4]), 0.42, 0.5),
        [0, 1, 0],
        "at T = ½ .2, .4, .4 become .11, .44, .44, so for p = .42 word 1 alone should stay: temperature first, then the cut",
        atol=1e-6,
    )


@public_check("top_p")
def one_keeps_all(top_p: Any) -> None:
    """p = 1 keeps all that are possible, however the running sum is rounded."""
    close(top_p(_four(), 1.0), [0.4, 0.3, 0.2, 0.1], "for p = 1 all the words should stay", atol=1e-6)
    ten = np.asarray(top_p(np.zeros(10), 1.0), dtype=float)
    ensure(
        np.shape(ten) == (10,) and (ten > 0).sum() == 10,
        f"of ten equally probable words all should stay for p = 1, but {int((ten > 0).sum())} of them did: the running "
        "sum ends at 0.9999999999999999",
    )
    close(ten, np.full(10, 0.1), "ten equally probable words should have .1 each for p = 1", atol=1e-6)
    rare = np.asarray(top_p(np.array([-45.0, 1.0, -np.inf, 0.0]), 1.0), dtype=float)
    ensure(
        rare[0] > 0,
        "for p = 1 the word with logit −45 should stay, too: it is rare, but possible, and the running sum is rounded "
        "to 1 before it",
    )
    close(rare, [0, 0.7311, 0, 0.2689], "for p = 1 the probabilities should be the softmax", atol=1e-4)
    close(
        top_p(np.log([0.5, 0.25, 0.25]), 1.0, 0.5),
        [2 / 3, 1 / 6, 1 / 6],
        "for p = 1 all the words stay, but the temperature acts all the same: .5, .25, .25 become ⅔, ⅙, ⅙ with T = ½",
        atol=1e-4,
    )
    for p, kept in ((0.7, [0, 0, 4 / 13, 9 / 13]), (1.0, [0, 1 / 14, 4 / 14, 9 / 14])):
        close(
            top_p(np.array([-np.inf, *np.log([0.1, 0.2, 0.3])]), p, 0.5),
            kept,
            f"an impossible word (logit −∞) keeps the probability 0, the others share the rest: with p = {p:g} and T = ½, too",
            atol=1e-4,
        )


@public_check("top_p")
def the_logits_of_top_p_stay(top_p: Any) -> None:
    """The logits that were handed in are not changed."""
    logits = _four()
    top_p(logits, 0.6, 0.5)
    equal(
        logits,
        _four(),
        "the caller's logits have changed: compute with new arrays, logits / T and not logits /= T",
    )


# ------------------------------------------------------------------------------------------------- beam_search


def _beam(result: Any) -> list[tuple[list[int], float]]:
    ensure(result is not None, "your function returns None: does it end with a return?")
    ensure(isinstance(result, (list, tuple)), "the result should be a list of pairs (tokens, score)")
    return [_hypothesis(one, "each hypothesis") for one in result]


def _matches(beam: list[tuple[list[int], float]], expected: list[tuple[list[int], float]], hint: str) -> None:
    equal([tokens for tokens, _ in beam], [tokens for tokens, _ in expected], hint)
    for (tokens, got), (_, wanted) in zip(beam, expected, strict=True):
        ensure(
            math.isclose(got, wanted, rel_tol=1e-5),
            f"the score of {tokens} should be {wanted:.4f}, but yours is {got:.4f}",
        )


@public_check("beam_search")
def the_best_is_found(beam_search: Any) -> None:
    """Two beginnings in play find .28, which greedy missed."""
    beam = _beam(beam_search(_Model(), 2, 0.0, _BOS, _EOS, 10))
    ensure(len(beam) <= 2, f"at most k = 2 hypotheses are kept, but there are {len(beam)}")
    ensure(beam and beam[0][0][:1] != [_BOS], "your tokens begin with bos: it belongs to the prefix only")
    _matches(
        beam,
        [([1, 1, 0], math.log(0.28)), ([2, 2, 0], math.log(0.2))],
        "k = 2 should give [1, 1, 0] and then [2, 2, 0]",
    )


@public_check("beam_search")
def one_beam_is_greedy(beam_search: Any) -> None:
    """A beam of width 1 is greedy, and stops in time."""
    _matches(
        _beam(beam_search(_Model(), 1, 0.0, _BOS, _EOS, 10)),
        [([2, 2, 0], math.log(0.2))],
        "k = 1 should give what greedy gives: [2, 2, 0]",
    )
    _matches(
        _beam(beam_search(_Model({}, tuple(_ENDLESS)), 1, 0.0, _BOS, _EOS, 3)),
        [([2, 2, 2], 3 * math.log(0.6))],
        "after max_length = 3 tokens the hypotheses are returned as they are",
    )


@public_check("beam_search")
def nine_beams_try_everything(beam_search: Any) -> None:
    """Nine beams find all the seven sentences, and nothing impossible."""
    model = _Model()
    beam = _beam(beam_search(model, 9, 0.0, _BOS, _EOS, 10))
    ensure(
        all(math.isfinite(score) for _, score in beam),
        "a hypothesis of probability 0 (score −∞) is in your list: such candidates are never kept",
    )
    equal(len(beam), 7, f"the small model can say 7 sentences, but your list has {len(beam)}")
    close(
        sorted(math.exp(score) for _, score in beam),
        [0.04, 0.08, 0.1, 0.15, 0.15, 0.2, 0.28],
        "the probabilities of the seven sentences are wrong: does a finished one keep its score?",
    )
    ensure(
        all(a[1] >= b[1] - 1e-12 for a, b in itertools.pairwise(beam)),
        "the best hypothesis should come first",
    )


@public_check("beam_search")
def who_has_ended_keeps_its_place(beam_search: Any) -> None:
    """A sentence that has ended keeps its place in the beam."""
    after = {(): [0.4, 0.35, 0.25], (1,): [0.0, 0.6, 0.4], (1, 1): [0.0, 0.6, 0.4]}
    beam = _beam(beam_search(_Model(after), 2, 0.0, _BOS, _EOS, 10))
    ensure(
        [tokens for tokens, _ in beam] not in ([[0], [2, 0]], [[0], [1, 2, 0]]),
        f"{beam[-1][0]} should not be found: [0] has ended, but it still holds one of the k = 2 places, so that only one "
        "other hypothesis is kept at each step",
    )
    _matches(
        beam,
        [([0], math.log(0.4)), ([1, 1, 1, 0], math.log(0.126))],
        "k = 2 should give [0] (which has ended at once) and [1, 1, 1, 0] here",
    )


@public_check("beam_search")
def of_equals_the_first(beam_search: Any) -> None:
    """Of equal scores the candidate that came first stays first."""
    after = {(): [0.25, 0.5, 0.25], (1,): [0.5, 0.5, 0.0]}
    tokens = [tokens for tokens, _ in _beam(beam_search(_Model(after), 2, 0.0, _BOS, _EOS, 5))]
    ensure(
        tokens != [[0], [1, 0]],
        "[0] stayed, where [1, 0] and [1, 1] should: all three have .25, but [1] was the better hypothesis before, so "
        "what grew from it comes first. Go through the beam in its order, whether a hypothesis has ended or not",
    )
    equal(
        tokens,
        [[1, 0], [1, 1, 0]],
        "k = 2 should give [1, 0] and [1, 1, 0] here: of equal scores the earlier hypothesis comes first, then the lower "
        "word number",
    )


@public_check("beam_search")
def one_call_in_each_round(beam_search: Any) -> None:
    """step is called once in each round, about the hypotheses that have not ended."""
    model = _Model(strict=True)
    beam_search(model, 9, 0.0, _BOS, _EOS, 10)
    ensure(
        model.calls <= 3,
        f"step was called {model.calls} times; one call for each position, with all the live prefixes, makes 3",
    )


@public_check("beam_search")
def dead_ends_drop_out(beam_search: Any) -> None:
    """A hypothesis after which nothing is possible drops out; when none is left, the list is empty."""
    model = _Model({(): [0.0, 0.6, 0.4], (1,): [0.0, 0.0, 0.0]})
    _matches(
        _beam(beam_search(model, 2, 0.0, _BOS, _EOS, 10)),
        [([2, 0], math.log(0.4))],
        "after word 1 every word is impossible here, so of k = 2 hypotheses only [2, 0] should be left",
    )
    equal(
        _beam(beam_search(model, 1, 0.0, _BOS, _EOS, 10)),
        [],
        "with k = 1 the only hypothesis, [1], has no continuation: the result should be an empty list",
    )


@public_check("beam_search")
def length_is_paid_for(beam_search: Any) -> None:
    """With α = 1 the score is the mean log-probability of a token."""
    beam = _beam(beam_search(_Model(), 9, 1.0, _BOS, _EOS, 10))
    ensure(
        beam[0][0] == [1, 1, 0] and len(beam) == 7,
        "with α = 1 the best sentence is still [1, 1, 0], of seven",
    )
    ensure(
        not math.isclose(beam[0][1], math.log(0.28), rel_tol=1e-6),
        "your score is the plain log-probability: divide it by n to the power α",
    )
    close(
        beam[0][1], math.log(0.28) / 3, "its score should be log(.28)/3: eos counts as a token, bos does not"
    )
    at_once = {tuple(tokens): score for tokens, score in beam}.get((0,), 0.0)
    ensure(
        not math.isclose(at_once, math.log(0.1) / 3, rel_tol=1e-6),
        "[0] has one token, so its score is log(.1)/1, but yours is log(.1)/3: divide each hypothesis by the number of its own tokens",
    )
    equal(
        beam[-1][0],
        [0],
        "with α = 1 the empty sentence [0] comes last: rank by the score, not by the log-probability",
    )
    root = _beam(beam_search(_Model(), 2, 0.5, _BOS, _EOS, 10))[0][1]
    ensure(
        not math.isclose(root, math.log(0.28) / (3 * 0.5), rel_tol=1e-6),
        "α is an exponent: divide by n to the power α, not by α times n",
    )
    close(root, math.log(0.28) / 3**0.5, "with α = ½ the score of [1, 1, 0] should be log(.28)/√3")
    for k, rounds, best in ((1, 10, ([2, 2, 0], math.log(0.2) / 3)), (1, 2, ([2, 2], math.log(0.2) / 2))):
        _matches(
            _beam(beam_search(_Model(), k, 1.0, _BOS, _EOS, rounds)),
            [best],
            f"k = {k} with α = 1 and max_length = {rounds} should give {best[0]}, with its log-probability divided by its length",
        )


@public_check("beam_search")
def the_score_decides_at_every_step(beam_search: Any) -> None:
    """Whoever falls out of the beam is decided by the score, after every step."""
    model = _Model({(): [0.4, 0.6, 0.0], (1,): [0.0, 0.5, 0.5]})
    beam = _beam(beam_search(model, 2, 1.0, _BOS, _EOS, 10))
    ensure(
        [tokens for tokens, _ in beam] != [[1, 1, 0], [0]],
        "with α = 1, [0] should have lost its place: after two steps [1, 1] and [1, 2] have the better scores, "
        "log(.3)/2 against log(.4)",
    )
    _matches(
        beam,
        [([1, 1, 0], math.log(0.3) / 3), ([1, 2, 0], math.log(0.3) / 3)],
        "with α = 1, k = 2 should give [1, 1, 0] and [1, 2, 0] here",
    )
    beam = _beam(beam_search(_Model(), 3, 1.0, _BOS, _EOS, 10))
    ensure(
        [tokens for tokens, _ in beam] != [[1, 1, 0], [2, 2, 0], [2, 1, 0]],
        "[2, 1, 0] should not be found with k = 3: keep k of all the candidates after every step, not k of each hypothesis",
    )
    equal(
        [tokens for tokens, _ in beam],
        [[1, 1, 0], [2, 2, 0], [2, 0]],
        "with α = 1, k = 3 should give [1, 1, 0], [2, 2, 0] and [2, 0] on the small tree",
    )


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("top_k")
def keeps_ties(right: Any, logits: Any, k: Any, T: Any = 1.0) -> Any:
    """It keeps every word whose logit is not below the k-th largest, so more than k where some are equal.

    One survives: a word has to be out whose logit equals the k-th largest (at a T where theirs is more than 0).
    """
    return right(logits, int((logits >= np.sort(logits)[-min(k, len(logits))]).sum()), T)


@impostor("top_k")
def forgets_the_temperature(right: Any, logits: Any, k: Any, T: Any = 1.0) -> Any:
    """It ignores the temperature.

    One survives: it takes a temperature other than 1 that changes the shares of the words that stay.
    """
    return right(logits, k)


@impostor("top_k")
def prefers_the_higher_number(right: Any, logits: Any, k: Any, T: Any = 1.0) -> Any:
    """Of equal logits it lets the higher number go first.

    One survives: of equal words some have to stay and some not (at a T where theirs is more than 0).
    """
    return np.asarray(right(logits[::-1], k, T))[::-1]


@impostor("top_k")
def overflows(right: Any, logits: Any, k: Any, T: Any = 1.0) -> Any:
    """Its exponential overflows, and it answers nan.

    One survives: it takes a positive logit that is above about 700 after the division by T.
    """
    kept = np.asarray(right(logits, k, T))
    return np.full(kept.shape, np.nan) if np.max(logits / T) > 709 else kept


@impostor("top_k")
def stumbles_over_minus_infinity(right: Any, logits: Any, k: Any, T: Any = 1.0) -> Any:
    """It answers nan where a word is impossible.

    One survives: all words of your input are possible.
    """
    return np.where(np.isinf(logits), np.nan, right(logits, k, T))
