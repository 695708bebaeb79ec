"""Lab 11, ``beam_search``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import heapq
import math

import numpy as np

from autograder.testing import alternative, misconception


def _search(
    step,
    k,
    alpha,
    bos,
    eos,
    max_length,
    *,
    per_hypothesis=None,
    rank=None,
    final=None,
    finished_stay=True,
    keep_impossible=False,
    reverse=True,
    count_eos=True,
    start=0.0,
    add=lambda total, log_p: total + log_p,
    more=0,
    order=lambda row: np.argsort(-row, kind="stable"),
):
    """Beam search with a parameter for each mistake."""

    def score(hypothesis, power=alpha):
        tokens, log_p = hypothesis
        length = len(tokens) if count_eos or tokens[-1:] != [eos] else max(1, len(tokens) - 1)
        length += more
        return log_p / length**power

    rank = rank or score
    beam: list = [([], start)]
    aside: list = []
    for _ in range(max_length):
        live = [tokens for tokens, _ in beam if tokens[-1:] != [eos]]
        if not live:
            break
        rows, candidates = iter(step([[bos, *tokens] for tokens in live])), []
        for tokens, log_p in beam:
            if tokens[-1:] == [eos]:
                if finished_stay:
                    candidates.append((tokens, log_p))
                continue
            row = next(rows)
            for word in order(row)[: per_hypothesis or k]:
                if keep_impossible or row[word] > -np.inf:
                    candidates.append(([*tokens, int(word)], add(log_p, float(row[word]))))
        beam = sorted(candidates, key=rank, reverse=reverse)[:k]
        if not finished_stay:
            aside += [one for one in beam if one[0][-1] == eos]
            beam = [one for one in beam if one[0][-1] != eos]
            if not beam:
                break
    if not finished_stay:
        beam = sorted(aside + beam, key=score, reverse=True)[:k]
    final = final or score
    return [(tokens, final((tokens, log_p))) for tokens, log_p in beam]


@misconception("beam_search", title="each hypothesis is extended by its best word only")
def beam_of_greedy_paths(step, k, length_penalty, bos, eos, max_length):
    """Your beam starts with the k best first words and then goes on greedily from each. Every hypothesis gets V candidates at every step, and the k
    best of all of them stay, even if they grew from the same one."""
    beam = _search(step, k, 0.0, bos, eos, 1)
    beam = [(tokens, log_p) for tokens, log_p in beam]
    for _ in range(max_length - 1):
        live = [tokens for tokens, _ in beam if tokens[-1] != eos]
        if not live:
            break
        rows = iter(step([[bos, *tokens] for tokens in live]))
        grown = []
        for tokens, log_p in beam:
            if tokens[-1] == eos:
                grown.append((tokens, log_p))
                continue
            row = next(rows)
            grown.append(([*tokens, int(np.argmax(row))], log_p + float(np.max(row))))
        beam = grown
    scored = [(tokens, log_p / len(tokens) ** length_penalty) for tokens, log_p in beam]
    return sorted(scored, key=lambda one: one[1], reverse=True)


@misconception("beam_search", title="the last word's probability instead of the sum")
def beam_that_forgets_the_sum(step, k, length_penalty, bos, eos, max_length):
    """Your candidates are ranked by the log-probability of their last word alone. What counts is the whole sentence: carry the sum along."""
    return _search(step, k, length_penalty, bos, eos, max_length, add=lambda total, log_p: log_p)


@misconception(
    "beam_search",
    title="finished sentences leave the beam and make room",
    keeps="another beam search that is used in practice",
)
def beam_that_puts_finished_ones_aside(step, k, length_penalty, bos, eos, max_length):
    """Your finished hypotheses are put aside, and the search goes on with k others. That is done in practice too, but here a finished hypothesis keeps
    its place in the beam and competes there, so that fewer are extended and the search can stop."""
    return _search(step, k, length_penalty, bos, eos, max_length, finished_stay=False)


@misconception(
    "beam_search",
    title="finished sentences take no place in the beam",
    keeps="another beam search that is used in practice",
)
def beam_with_k_live_ones(step, k, length_penalty, bos, eos, max_length):
    """Your finished hypotheses take no place in the beam: k others go on at every step. That is done in practice too, but here a finished hypothesis is one
    of the k, so that fewer are extended and the search can stop."""

    def score(hypothesis):
        return hypothesis[1] / len(hypothesis[0]) ** length_penalty

    beam: list = [([], 0.0)]
    finished: list = []
    for _ in range(max_length):
        if not beam:
            break
        rows = step([[bos, *tokens] for tokens, _ in beam])
        grown = [
            ([*tokens, word], log_p + float(p))
            for (tokens, log_p), row in zip(beam, rows, strict=True)
            for word, p in enumerate(row)
            if p > -np.inf
        ]
        finished += [one for one in grown if one[0][-1] == eos]
        beam = sorted([one for one in grown if one[0][-1] != eos], key=score, reverse=True)[:k]
    return [(one[0], score(one)) for one in sorted(finished + beam, key=score, reverse=True)[:k]]


@misconception(
    "beam_search",
    title="the model is asked about finished sentences",
    keeps="the hypotheses and their scores are right; step is asked for rows that nobody uses",
)
def beam_that_asks_about_all(step, k, length_penalty, bos, eos, max_length):
    """Your hypotheses are right, but step is called with those that have ended, too: prefixes of different lengths in one call, which a model cannot treat
    as one batch. Give it those that have not ended."""

    def score(hypothesis):
        return hypothesis[1] / len(hypothesis[0]) ** length_penalty

    beam: list = [([], 0.0)]
    for _ in range(max_length):
        if all(tokens[-1:] == [eos] for tokens, _ in beam):
            break
        candidates = []
        for (tokens, log_p), row in zip(beam, step([[bos, *tokens] for tokens, _ in beam]), strict=True):
            if tokens[-1:] == [eos]:
                candidates.append((tokens, log_p))
            else:
                candidates += [
                    ([*tokens, word], log_p + float(p)) for word, p in enumerate(row) if p > -np.inf
                ]
        beam = sorted(candidates, key=score, reverse=True)[:k]
    return [(one[0], score(one)) for one in beam]


@misconception(
    "beam_search",
    title="finished sentences go first among equals",
    keeps="only equal scores are ordered otherwise",
)
def beam_with_finished_ones_first(step, k, length_penalty, bos, eos, max_length):
    """Where scores are equal, your finished hypotheses go before the others: they are listed first among the candidates. Go through the beam in its order, and add
    each hypothesis' candidates in its turn."""

    def score(hypothesis):
        return hypothesis[1] / len(hypothesis[0]) ** length_penalty

    beam: list = [([], 0.0)]
    for _ in range(max_length):
        live = [one for one in beam if one[0][-1:] != [eos]]
        if not live:
            break
        candidates = [one for one in beam if one[0][-1:] == [eos]]
        for (tokens, log_p), row in zip(live, step([[bos, *tokens] for tokens, _ in live]), strict=True):
            candidates += [([*tokens, word], log_p + float(p)) for word, p in enumerate(row) if p > -np.inf]
        beam = sorted(candidates, key=score, reverse=True)[:k]
    return [(one[0], score(one)) for one in beam]


@misconception("beam_search", title="the search ends with the first finished sentence")
def beam_that_stops_too_early(step, k, length_penalty, bos, eos, max_length):
    """Your search stops as soon as one hypothesis has ended. The others may still overtake it (with a length penalty they often do): go on until all of
    the beam has ended."""
    beam: list = [([], 0.0)]
    for length in range(1, max_length + 1):
        beam = _search(step, k, 0.0, bos, eos, length)
        if any(tokens[-1] == eos for tokens, _ in beam):
            break
    scored = [(tokens, log_p / len(tokens) ** length_penalty) for tokens, log_p in beam]
    return sorted(scored, key=lambda one: one[1], reverse=True)


@misconception(
    "beam_search",
    title="the length penalty is ignored",
    keeps="right without a length penalty; one argument is not used",
)
def beam_without_penalty(step, k, length_penalty, bos, eos, max_length):
    """Your scores are plain log-probabilities whatever the length penalty is: divide by n to the power α."""
    return _search(step, k, 0.0, bos, eos, max_length)


@misconception(
    "beam_search",
    title="the length penalty acts only at the very end",
    keeps="right without a length penalty",
)
def beam_with_penalty_at_the_end(step, k, length_penalty, bos, eos, max_length):
    """Your beam is pruned by plain log-probabilities, and the length penalty only orders the final list. By then the long sentences may be gone: rank by
    the score in every pruning."""
    beam = _search(step, k, 0.0, bos, eos, max_length)
    scored = [(tokens, log_p / len(tokens) ** length_penalty) for tokens, log_p in beam]
    return sorted(scored, key=lambda one: one[1], reverse=True)


@misconception(
    "beam_search",
    title="the length is multiplied, not raised to a power",
    keeps="right without a length penalty",
)
def beam_with_a_linear_penalty(step, k, length_penalty, bos, eos, max_length):
    """Your length penalty multiplies the length (or leaves the score alone where α is 0): it is an exponent, n to the power α."""

    def score(hypothesis):
        tokens, log_p = hypothesis
        return log_p / (len(tokens) * length_penalty) if length_penalty else log_p

    return _search(step, k, 0.0, bos, eos, max_length, rank=score, final=score)


@misconception(
    "beam_search", title="the end does not count as a token", keeps="right without a length penalty"
)
def beam_that_does_not_count_eos(step, k, length_penalty, bos, eos, max_length):
    """Your n leaves out eos. It is a token like the others here: its log-probability is in the sum, so it counts in the length."""
    return _search(step, k, length_penalty, bos, eos, max_length, count_eos=False)


@misconception(
    "beam_search", title="one length for all hypotheses of a round", keeps="right without a length penalty"
)
def beam_with_the_length_of_the_round(step, k, length_penalty, bos, eos, max_length):
    """All your hypotheses are divided by the length that the longest of them has, those that have ended, too. Each has a length of its own: n is the number of
    its tokens."""
    beam = _search(step, k, 0.0, bos, eos, max_length)
    longest = max((len(tokens) for tokens, _ in beam), default=1)
    return [(tokens, log_p / longest**length_penalty) for tokens, log_p in beam]


@misconception("beam_search", title="the beginning counts as a token", keeps="right without a length penalty")
def beam_that_counts_bos(step, k, length_penalty, bos, eos, max_length):
    """Your n is too large by one: it counts bos. That is the empty page, which nobody chose."""
    return _search(step, k, length_penalty, bos, eos, max_length, more=1)


@misconception(
    "beam_search", title="of equal words the last goes first", keeps="only equal scores are ordered otherwise"
)
def beam_that_takes_the_last_of_equals(step, k, length_penalty, bos, eos, max_length):
    """Of words with equal scores yours takes the higher number first, which is what reading a sorted list backwards does. Ties go to the earlier hypothesis, then
    to the lower word number."""
    return _search(
        *(step, k, length_penalty, bos, eos, max_length),
        order=lambda row: np.argsort(row, kind="stable")[::-1],
    )


@misconception(
    "beam_search", title="impossible sentences are kept", keeps="right wherever every word is possible"
)
def beam_with_impossible_words(step, k, length_penalty, bos, eos, max_length):
    """Your list holds sentences with a score of −∞: words of probability 0 fill up the beam. Leave such candidates out, even if fewer than k remain."""
    return _search(step, k, length_penalty, bos, eos, max_length, keep_impossible=True)


@misconception(
    "beam_search", title="dead ends are kept", keeps="right unless a hypothesis has no possible next word"
)
def beam_that_keeps_dead_ends(step, k, length_penalty, bos, eos, max_length):
    """A hypothesis after which every word is impossible stays in your beam as if it had ended. It has not: all its candidates have probability 0, so it
    drops out, and if none is left the list is empty."""
    beam: list = [([], 0.0)]
    for _ in range(max_length):
        live = [tokens for tokens, _ in beam if tokens[-1:] != [eos]]
        if not live:
            break
        rows, grown = iter(step([[bos, *tokens] for tokens in live])), []
        for tokens, log_p in beam:
            row = [-np.inf] if tokens[-1:] == [eos] else next(rows)
            if max(row) == -np.inf:
                grown.append((tokens, log_p))
            grown += [([*tokens, w], log_p + float(p)) for w, p in enumerate(row) if p > -np.inf]
        beam = sorted(grown, key=lambda one: one[1] / max(1, len(one[0])) ** length_penalty, reverse=True)[:k]
    return [(tokens, log_p / max(1, len(tokens)) ** length_penalty) for tokens, log_p in beam]


@misconception("beam_search", title="the worst are kept")
def beam_of_the_worst(step, k, length_penalty, bos, eos, max_length):
    """Your beam keeps the candidates with the lowest scores: the sorting goes upwards. The best are those with the highest score (nearest to 0)."""
    return _search(step, k, length_penalty, bos, eos, max_length, per_hypothesis=10**6, reverse=False)


@misconception(
    "beam_search",
    title="k candidates for each hypothesis, never pruned together",
    keeps="the sentences are right where the beam is wide enough; too much is kept",
)
def beam_that_never_prunes(step, k, length_penalty, bos, eos, max_length):
    """Your beam grows: each hypothesis keeps its own k best continuations, and nothing is thrown away until the end. Of all the candidates
    together only k stay, after every word."""
    beam: list = [([], 0.0)]
    for _ in range(min(max_length, 12)):
        live = [tokens for tokens, _ in beam if tokens[-1:] != [eos]]
        if not live or len(beam) > 300:
            break
        rows, grown = iter(step([[bos, *tokens] for tokens in live])), []
        for tokens, log_p in beam:
            if tokens[-1:] == [eos]:
                grown.append((tokens, log_p))
                continue
            row = next(rows)
            for word in np.argsort(-row, kind="stable")[:k]:
                if row[word] > -np.inf:
                    grown.append(([*tokens, int(word)], log_p + float(row[word])))
        beam = grown
    scored = [(tokens, log_p / len(tokens) ** length_penalty) for tokens, log_p in beam]
    return sorted(scored, key=lambda one: one[1], reverse=True)[:k]


@misconception("beam_search", title="log-probabilities are multiplied")
def beam_that_multiplies_logs(step, k, length_penalty, bos, eos, max_length):
    """Your log-probabilities are multiplied. Probabilities are multiplied; their logarithms are added."""
    return _search(
        *(step, k, length_penalty, bos, eos, max_length),
        per_hypothesis=10**6,
        start=1.0,
        add=lambda total, log_p: -abs(total * log_p),
    )


@alternative("beam_search")
def beam_with_all_candidates_in_one_table(step, k, length_penalty, bos, eos, max_length):
    live = np.array([[bos]])  # (n, t)
    done: list = []  # (place in the beam, tokens, log-probability)
    log_p, places = np.zeros(1), np.zeros(1, dtype=int)
    for n in range(1, max_length + 1):
        if not len(live):
            break
        table = log_p[:, None] + np.asarray(step(live))
        pool = [
            (table[i, w] / n**length_penalty, places[i], w, i)
            for i in range(len(live))
            for w in range(table.shape[1])
            if table[i, w] > -np.inf
        ]
        pool += [
            (total / len(tokens) ** length_penalty, place, -1, j)
            for j, (place, tokens, total) in enumerate(done)
        ]
        pool = sorted(pool, key=lambda c: (-c[0], c[1], c[2]))[:k]
        next_live, next_done, next_log_p, next_places = [], [], [], []
        for place, (_, _, word, i) in enumerate(pool):
            if word == -1:
                next_done.append((place, *done[i][1:]))
            elif word == eos:
                next_done.append((place, [*live[i, 1:].tolist(), int(word)], table[i, word]))
            else:
                next_live.append([*live[i], word])
                next_log_p.append(table[i, word])
                next_places.append(place)
        live, done = np.array(next_live), next_done
        log_p, places = np.array(next_log_p), np.array(next_places)
    everyone = done + [(p, live[i, 1:].tolist(), log_p[i]) for i, p in enumerate(places)]
    return [
        (tokens, total / len(tokens) ** length_penalty)
        for _, tokens, total in sorted(everyone, key=lambda h: h[0])
    ]


@alternative("beam_search")
def beam_with_tuples_and_a_heap(step, k, length_penalty, bos, eos, max_length):
    beam: tuple = ((0.0, ()),)

    def value(one):
        return one[0] / max(1, len(one[1])) ** length_penalty

    for _ in range(max_length):
        open_ones = [said for _, said in beam if not said or said[-1] != eos]
        if not open_ones:
            return tuple((said, value((log_p, said))) for log_p, said in beam)
        answer = dict(zip(open_ones, step([(bos, *said) for said in open_ones]), strict=True))
        candidates: list = []
        for log_p, said in beam:
            if said in answer:
                candidates += [(log_p + p, (*said, w)) for w, p in enumerate(answer[said].tolist())]
            else:
                candidates.append((log_p, said))
        numbered = [(value(c), -place, c) for place, c in enumerate(candidates) if not math.isinf(c[0])]
        beam = tuple(c for _, _, c in heapq.nlargest(k, numbered))
    return tuple((said, value((log_p, said))) for log_p, said in beam)


@alternative("beam_search")
def beam_in_single_precision(step, k, length_penalty, bos, eos, max_length):
    beam: list = [([], np.float32(0))]
    for _ in range(max_length):
        live = [h for h in beam if not h[0] or h[0][-1] != eos]
        if not live:
            break
        rows = np.asarray(step([[bos] + h[0] for h in live]), dtype=np.float32)
        queue = list(zip(live, rows, strict=True))
        candidates = []
        for h in beam:
            if queue and h is queue[0][0]:
                _, row = queue.pop(0)
                candidates += [(h[0] + [w], h[1] + p) for w, p in enumerate(row) if np.isfinite(p)]
            else:
                candidates.append(h)
        candidates.sort(key=lambda h: -(h[1] / np.float32(len(h[0])) ** np.float32(length_penalty)))
        beam = candidates[:k]
    return [(t, p / np.float32(len(t)) ** np.float32(length_penalty)) for t, p in beam]
