"""Lab 11, beam_search: step, k, length_penalty, bos, eos, max_length → the k best hypotheses, as pairs (tokens, score)."""

import math
from operator import add

import numpy as np

from autograder.questions.engine import Observed, Question
from autograder.questions.m11_decoding.common import Model, random_model, small_tree, tree


def beam(step, k, length_penalty, bos, eos, max_length):
    """The recipe of the text, word for word: all V candidates of every live hypothesis, sorted."""
    kept: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    for _ in range(max_length):
        live = [said for said, _ in kept if eos not in said]
        if not live:
            break
        rows = dict(zip(live, step([[bos, *said] for said in live]), strict=True))
        candidates: list[tuple[tuple[int, ...], float]] = []
        for said, log_p in kept:
            if said in rows:
                candidates += [((*said, word), log_p + float(p)) for word, p in enumerate(rows[said])]
            else:
                candidates.append((said, log_p))
        possible = [candidate for candidate in candidates if candidate[1] > -math.inf]
        kept = sorted(possible, key=lambda one: -one[1] / len(one[0]) ** length_penalty)[:k]
    return [(list(said), log_p / len(said) ** length_penalty) for said, log_p in kept]


question = Question(beam)


def seen(student, model, k, alpha, bos, max_length, scores=True):
    found = [
        (list(said), np.reshape(score, ()))
        for said, score in student(model, k, alpha, bos, model.eos, max_length)
    ]
    possible = [one for one in found if one[1] != -np.inf]
    yield Observed("the hypotheses", [said for said, _ in possible])
    yield Observed("how many have the probability zero", len(found) - len(possible))
    if scores:
        yield Observed("their scores", np.array([score for _, score in possible]))


@question.scenario(
    "The lecture's trees: two beams find what greedy missed, and the four sums after two words.", weight=0.6
)
def the_lectures_trees(student, rng):
    yield from seen(student, small_tree(), 2, 0.0, 3, 10)
    yield from seen(student, small_tree(), 1, 0.0, 3, 10)
    first = [0.05, 0.4, 0.2, 0.09, 0.08, 0.07, 0.06, 0.05]
    after = {
        (): first,
        (1,): [0.02, 0.01, 0.01, 0.5, 0.3, 0.12, 0.02, 0.02],
        (2,): [0.05, 0.05, 0.04, 0.1, 0.5, 0.11, 0.08, 0.07],
    }
    for k in (2, 4):
        yield from seen(student, tree(after, [0.93] + 7 * [0.01]), k, 0.0, 8, 2)


@question.scenario(
    "Models in which all sentences end after the same number of words, without a penalty.", weight=0.7
)
def of_one_length(student, rng):
    for V, k, words in ((5, 2, 4), (6, 3, 3), (4, 5, 5)):
        yield from seen(student, random_model(rng, V, 0, ends_after=words), k, 0.0, V, 9)


@question.scenario(
    "Who has ended keeps a place; with other numbers for the first and the last word.", weight=1.4
)
def ended_early_or_late(student, rng):
    first = {(): [0.4, 0.35, 0.25], (1,): [0.0, 0.6, 0.4], (1, 1): [0.0, 0.55, 0.45]}
    yield from seen(student, tree(first, [1.0, 0, 0]), 2, 0.0, 3, 9)
    for V, bos, eos, k in ((5, 0, 3, 2), (6, 5, 2, 3), (4, 17, 1, 5), (5, 5, 4, 4)):
        yield from seen(student, random_model(rng, V, eos, [bos] if bos < V else []), k, 0.0, bos, 7)


@question.scenario("The score with a length penalty, where all sentences have the same length.", weight=0.5)
def penalty_of_one_length(student, rng):
    for V, k, alpha, words in ((5, 3, 1.0, 3), (6, 4, 0.6, 2), (4, 2, 2.0, 4), (5, 1, 1.0, 3)):
        yield from seen(student, random_model(rng, V, 0, ends_after=words), k, alpha, V, 8)


@question.scenario("A length penalty counts in every pruning and in the order of the list.", weight=1.6)
def penalty(student, rng):
    first = {(): [0.4, 0.6, 0.0], (1,): [0.0, 0.52, 0.48]}
    yield from seen(student, tree(first, [1.0, 0, 0]), 2, 1.0, 3, 8)
    for V, k, alpha in ((5, 3, 1.0), (6, 4, 0.6), (4, 2, 2.0), (5, 5, 1)):
        yield from seen(student, random_model(rng, V, 1), k, alpha, V, 7)


@question.scenario("A wide beam finds what trying every sentence finds.", weight=0.4)
def a_wide_beam(student, rng):
    for V, length in ((3, 3), (3, 4)):
        yield from seen(student, random_model(rng, V, 0), V ** (length - 1), 0.0, V, length)


@question.scenario(
    "A beam of width 1 does what greedy does, and a model that never ends is stopped.", weight=0.3
)
def one_beam(student, rng):
    for max_length in (1, 3, 6):
        yield from seen(student, random_model(rng, 5, 0, ends_after=4), 1, 0.0, 5, max_length)
    yield from seen(student, random_model(rng, 5, 0, ends_after=99), 3, 0.0, 5, 4)


@question.scenario(
    "Words of probability zero never appear, even if fewer than k hypotheses remain.", weight=0.5
)
def nothing_impossible(student, rng):
    yield from seen(student, random_model(rng, 6, 0, never=rng.permutation(5)[:3] + 1), 20, 0.0, 6, 2)
    yield from seen(student, tree({(): [0.0, 1, 0], (1,): [0.0, 1, 0]}, [1.0, 0, 0]), 4, 0.0, 9, 7)


@question.scenario(
    "A hypothesis after which nothing is possible drops out; when none is left, the list is empty.",
    weight=0.3,
)
def dead_ends(student, rng):
    p = float(rng.uniform(0.55, 0.7))
    after = {(): [0.0, p, 1 - p, 0.0], (2,): [0.0, 0.0, 0.0, 1.0], (2, 3): [1.0, 0.0, 0.0, 0.0]}
    for k, alpha in ((2, 0.0), (3, 0.0), (1, 0.0), (1, 1.0)):
        yield from seen(student, tree(after, [0.0] * 4), k, alpha, 4, 9)


@question.scenario(
    "The model is asked once for each word, about all that have not ended, and no more.", weight=0.7
)
def one_call_for_each_word(student, rng):
    for model, k, bos in (
        (random_model(rng, 6, 0, ends_after=4), 4, 6),
        (small_tree(), 2, 3),
        (small_tree(), 9, 3),
    ):
        list(seen(student, model, k, 0.0, bos, 7))
        yield Observed("the model is asked", model.calls > 0)
        yield Observed("calls for each word at most one", model.calls <= (5 if bos == 6 else 3))
        yield Observed("prefixes at once at most k", model.largest <= k)
        yield Observed("asked about a finished one", model.asked_about_the_ended)
        yield Observed("prefixes of different lengths at once", model.lengths_differed)


@question.scenario(
    "Of equal scores the one that came first stays first: earlier hypothesis, then lower number.", weight=0.5
)
def equals(student, rng):
    model = tree({(): [0.0, 0.5, 0.5], (1,): [0.0, 0.5, 0.5], (2,): [0.0, 0.5, 0.5]}, [1.0, 0.0, 0.0])
    yield from seen(student, model, 2, 0.0, 3, 1)
    yield from seen(student, model, 3, 0.0, 3, 5)
    for k, alpha in ((1, 0.6), (2, 1), (4, 2.0)):
        yield from seen(student, Model(lambda said: [0.5, 0.5, 0.0], 2), k, alpha, 3, 2, scores=False)
    after = {(): [0.5, 0.5, 0.0], (0, 0): [0.0, 0.0, 1.0]}
    yield from seen(student, tree(after, [0.5, 0.0, 0.5], eos=2), 2, 0.0, 3, 5)


def _scored(kept, power):
    scored = [(tokens, log_p / max(1, len(tokens)) ** power) for tokens, log_p in kept]
    return sorted(scored, key=lambda one: one[1], reverse=True)


def by_length(tokens, log_p, alpha, eos):
    return log_p / max(1, len(tokens)) ** alpha


@question.misconception(
    "the last word's probability instead of the sum",
    costs=5.5,
    add=lambda total, log_p: log_p,
    hint="Your candidates are ranked by the log-probability of their last word alone. What counts is the whole sentence: carry the sum.",
)
@question.misconception(
    "the model is asked about finished sentences",
    costs=1,
    ask_all=True,
    hint="""Your hypotheses are right, but step is called with those that have ended, too: prefixes of different lengths in one call, which a
    model cannot treat as one batch. Give it those that have not ended.""",
)
@question.misconception(
    "the length is multiplied, not raised to a power",
    costs=2.5,
    score=lambda tokens, log_p, alpha, eos: log_p / (len(tokens) * alpha) if alpha else log_p,
    hint="Your length penalty multiplies the length (or leaves the score alone where α is 0): it is an exponent, n to the power α.",
)
@question.misconception(
    "the end does not count as a token",
    costs=2,
    score=lambda tokens, log_p, alpha, eos: log_p / max(1, len(tokens) - (tokens[-1] == eos)) ** alpha,
    hint="Your n leaves out eos. It is a token like the others: its log-probability is in the sum, so it counts in the length.",
)
@question.misconception(
    "the worst are kept",
    costs=5.5,
    reverse=False,
    hint="Your beam keeps the candidates with the lowest scores: the sorting goes upwards. The best have the highest score (nearest to 0).",
)
def searched(
    step, k, length_penalty, bos, eos, max_length, *, score=by_length, add=add, reverse=True, ask_all=False
):
    """The right answer, with a parameter for each mistake."""

    def rank(hypothesis):
        return score(*hypothesis, length_penalty, eos)

    kept: list = [([], 0.0)]
    for _ in range(max_length):
        ended = [one for one in kept if one[0][-1:] == [eos]]
        if len(ended) == len(kept):
            break
        rows = iter(step([[bos, *one[0]] for one in kept if ask_all or one not in ended]))
        candidates = []
        for one in kept:
            row = next(rows) if ask_all or one not in ended else ()
            if one in ended:
                candidates.append(one)
            else:
                grown = [([*one[0], w], add(one[1], float(p))) for w, p in enumerate(row)]
                candidates += [longer for longer, p in zip(grown, row, strict=True) if p > -np.inf]
        kept = sorted(candidates, key=rank, reverse=reverse)[:k]
    return [(tokens, rank((tokens, log_p))) for tokens, log_p in kept]


@question.misconception("each hypothesis is extended by its best word only", costs=5.5)
def beam_of_greedy_paths(step, k, length_penalty, bos, eos, max_length):
    """Your beam starts with the k best first words and then goes on greedily from each. Every hypothesis gets V candidates at every step, and
    the k best of all of them stay, even if they grew from the same one."""
    kept = searched(step, k, 0.0, bos, eos, 1)
    for _ in range(max_length - 1):
        live = [tokens for tokens, _ in kept if tokens[-1] != eos]
        if not live:
            break
        rows = iter(step([[bos, *tokens] for tokens in live]))
        grown = []
        for tokens, log_p in kept:
            row = next(rows) if tokens in live else None
            grown.append(
                (tokens, log_p)
                if row is None
                else ([*tokens, int(np.argmax(row))], log_p + float(np.max(row)))
            )
        kept = grown
    return _scored(kept, length_penalty)


def _with_the_ended_aside(step, k, power, bos, eos, max_length, among):
    """The ended are put aside: those among the k best, or of all candidates before these are chosen."""
    kept, aside = [([], 0.0)], []
    for _ in range(max_length):
        if not kept:
            break
        grown = [
            ([*tokens, word], log_p + float(p))
            for (tokens, log_p), row in zip(kept, step([[bos, *tokens] for tokens, _ in kept]), strict=True)
            for word, p in enumerate(row)
            if p > -np.inf
        ]
        grown = sorted(grown, key=lambda one: one[1] / len(one[0]) ** power, reverse=True)[
            : k if among else None
        ]
        aside += [one for one in grown if one[0][-1] == eos]
        kept = [one for one in grown if one[0][-1] != eos][:k]
    return _scored(aside + kept, power)[:k]


@question.misconception("finished sentences leave the beam and make room", costs=3)
def beam_that_puts_finished_ones_aside(step, k, length_penalty, bos, eos, max_length):
    """Your finished hypotheses are put aside, and the search goes on with k others. That is done in practice too, but here a finished
    hypothesis keeps its place in the beam and competes there, so that fewer are extended and the search can stop."""
    return _with_the_ended_aside(step, k, length_penalty, bos, eos, max_length, among=True)


@question.misconception("finished sentences take no place in the beam", costs=3)
def beam_with_k_live_ones(step, k, length_penalty, bos, eos, max_length):
    """Your finished hypotheses take no place in the beam: k others go on at every step. That is done in practice too, but here a finished
    hypothesis is one of the k, so that fewer are extended and the search can stop."""
    return _with_the_ended_aside(step, k, length_penalty, bos, eos, max_length, among=False)


@question.misconception("the search ends with the first finished sentence", costs=3.5)
def beam_that_stops_too_early(step, k, length_penalty, bos, eos, max_length):
    """Your search stops as soon as one hypothesis has ended. The others may still overtake it (with a length penalty they often do): go on
    until all of the beam has ended."""
    for length in range(1, max_length + 1):
        kept = searched(step, k, 0.0, bos, eos, length)
        if any(tokens[-1] == eos for tokens, _ in kept):
            break
    return _scored(kept, length_penalty)


@question.misconception("the length penalty is ignored", costs=2.5)
def beam_without_penalty(step, k, length_penalty, bos, eos, max_length):
    """Your scores are plain log-probabilities whatever the length penalty is: divide by n to the power α."""
    return searched(step, k, 0.0, bos, eos, max_length)


@question.alternative
def beam_of_arrays(step, k, length_penalty, bos, eos, max_length):
    kept = [
        (np.array([bos]), 0.0, False)
    ]  # bos and the words said, their log-probability, and whether they have ended
    for _ in range(max_length):
        live = [said for said, _, ended in kept if not ended]
        if not live:
            break
        rows, grown = iter(np.asarray(step(np.array(live)))), []
        for said, total, ended in kept:
            words = [] if ended else np.ndenumerate(next(rows))
            grown += [(said, total, True)] if ended else []
            grown += [(np.append(said, w), total + p, w == eos) for (w,), p in words if p > -np.inf]
        grown.sort(key=lambda one: -one[1] / (len(one[0]) - 1) ** length_penalty)
        kept = grown[:k]
    return [(said[1:], total / (len(said) - 1) ** length_penalty) for said, total, _ in kept]


@question.alternative
def beam_in_single_precision(step, k, length_penalty, bos, eos, max_length):
    kept: list = [([], np.float32(0))]
    for _ in range(max_length):
        live = [h for h in kept if not h[0] or h[0][-1] != eos]
        if not live:
            break
        queue = list(zip(live, np.asarray(step([[bos] + h[0] for h in live]), dtype=np.float32), strict=True))
        candidates = []
        for h in kept:
            if queue and h is queue[0][0]:
                _, row = queue.pop(0)
                candidates += [(h[0] + [w], h[1] + p) for w, p in enumerate(row) if np.isfinite(p)]
            else:
                candidates.append(h)
        candidates.sort(key=lambda h: -(h[1] / np.float32(len(h[0])) ** np.float32(length_penalty)))
        kept = candidates[:k]
    return [(t, p / np.float32(len(t)) ** np.float32(length_penalty)) for t, p in kept]
