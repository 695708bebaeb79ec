"""Lab 11: wrong answers that students give, with their hints, and correct answers in other styles."""

from __future__ import annotations

import heapq
import math

import numpy as np
import torch

from autograder.answers import alternative, misconception


def _softmax(scores):
    e = np.exp(scores - np.max(scores))
    return e / e.sum()


# ------------------------------------------------------------------------------------------------------- greedy


@misconception("greedy", title="the end is left out of the tokens")
def greedy_without_eos(step, bos, eos, max_length):
    """Your sentence is right but for its last token: eos was chosen like any other word, so it belongs into the list (its
    log-probability is in your sum already)."""
    tokens: list[int] = []
    total = 0.0
    for _ in range(max_length):
        row = step([[bos, *tokens]])[0]
        best = int(np.argmax(row))
        total += float(row[best])
        if best == eos:
            break
        tokens.append(best)
    return tokens, total


@misconception("greedy", title="the beginning is kept among the tokens")
def greedy_with_bos(step, bos, eos, max_length):
    """Your tokens begin with bos. It is the empty page that the model is given, not a word that was chosen; return what
    comes after it."""
    tokens, total = [bos], 0.0
    while len(tokens) <= max_length and (len(tokens) == 1 or tokens[-1] != eos):
        row = step([tokens])[0]
        tokens.append(int(np.argmax(row)))
        total += float(np.max(row))
    return tokens, total


@misconception("greedy", title="one word too few")
def greedy_counts_bos(step, bos, eos, max_length):
    """A model that does not end is stopped one word too early: max_length counts the chosen words, and bos is not one of
    them."""
    prefix, total = [bos], 0.0
    while len(prefix) < max_length and (len(prefix) == 1 or prefix[-1] != eos):
        row = step([prefix])[0]
        prefix = [*prefix, int(np.argmax(row))]
        total += float(np.max(row))
    return prefix[1:], total


@misconception("greedy", title="the probability instead of its logarithm")
def greedy_returns_the_probability(step, bos, eos, max_length):
    """Your number is the probability of the sentence. Its logarithm is asked for: the plain sum of what step gives."""
    tokens, total = _greedy(step, bos, eos, max_length)
    return tokens, math.exp(total)


@misconception("greedy", title="only the last word's log-probability")
def greedy_scores_the_last_word(step, bos, eos, max_length):
    """Your number is the log-probability of the last word alone. A sentence's probability is a product over all its words,
    so the log-probabilities are added up along the way."""
    tokens: list[int] = []
    total = 0.0
    while len(tokens) < max_length and tokens[-1:] != [eos]:
        row = step([[bos, *tokens]])[0]
        tokens.append(int(np.argmax(row)))
        total = float(np.max(row))
    return tokens, total


@misconception("greedy", title="the end is not counted in the sum")
def greedy_does_not_pay_for_eos(step, bos, eos, max_length):
    """Your sum leaves out the last word when it is eos. Ending is a choice as well, and the model gave it a probability."""
    tokens: list[int] = []
    total = 0.0
    while len(tokens) < max_length and tokens[-1:] != [eos]:
        row = step([[bos, *tokens]])[0]
        tokens.append(int(np.argmax(row)))
        total += float(np.max(row)) if tokens[-1] != eos else 0.0
    return tokens, total


@misconception("greedy", title="the model only sees the last word")
def greedy_forgets_the_prefix(step, bos, eos, max_length):
    """Your prefix is bos and the last word only. The model predicts from everything that was said: give it the whole prefix."""
    tokens: list[int] = []
    total = 0.0
    while len(tokens) < max_length and tokens[-1:] != [eos]:
        row = step([[bos, *tokens[-1:]]])[0]
        tokens.append(int(np.argmax(row)))
        total += float(np.max(row))
    return tokens, total


@misconception("greedy", title="of equal words the last is taken")
def greedy_takes_the_last_of_equals(step, bos, eos, max_length):
    """When two words are equally probable you take the one with the higher number. Ties go to the lower number in this course."""
    return _greedy(step, bos, eos, max_length, pick=lambda row: len(row) - 1 - int(np.argmax(row[::-1])))


def _greedy(step, bos, eos, max_length, pick=lambda row: int(np.argmax(row))):
    tokens: list[int] = []
    total = 0.0
    while len(tokens) < max_length and tokens[-1:] != [eos]:
        row = step([[bos, *tokens]])[0]
        tokens.append(pick(row))
        total += float(row[tokens[-1]])
    return tokens, total


@alternative("greedy")
def greedy_with_a_for_loop_and_an_array(step, bos, eos, max_length):
    prefixes = np.array([[bos]])
    log_p = np.zeros(1)
    for _ in range(max_length):
        rows = step(prefixes)
        word = rows.argmax(axis=-1)
        log_p = log_p + rows.max(axis=-1)
        prefixes = np.hstack([prefixes, word[:, None]])
        if word[0] == eos:
            break
    return prefixes[0, 1:], log_p[0]


@alternative("greedy")
def greedy_by_recursion(step, bos, eos, max_length):
    def go(said):
        row = step([(bos, *said)])[0].tolist()
        word = row.index(max(row))
        now = (*said, word)
        if word == eos or len(now) == max_length:
            return now, row[word]
        end, below = go(now)
        return end, row[word] + below

    return go(())


# -------------------------------------------------------------------------------------------- temperature_probs


@misconception("temperature_probs", title="multiplied by T")
def temperature_upside_down(logits, T):
    """Your cold dice are hot and your hot dice cold: the logits are multiplied by T. They are divided by it, so that a small T makes
    the differences large."""
    return _softmax(logits * T)


@misconception("temperature_probs", title="the probabilities are divided, not the logits")
def temperature_after_the_softmax(logits, T):
    """Your probabilities do not depend on T (or do not sum to one): the temperature acts after the softmax. Divide the logits, before it."""
    probabilities = _softmax(logits) / T
    return probabilities / probabilities.sum()


@misconception("temperature_probs", title="a softmax of probabilities")
def temperature_of_probabilities(logits, T):
    """Your result is much too flat: you take the softmax of probabilities divided by T. What is divided by T and exponentiated are the
    logits themselves."""
    return _softmax(_softmax(logits) / T)


@misconception("temperature_probs", title="an exponential that overflows")
def temperature_that_overflows(logits, T):
    """With large logits, or a very small T, your result is not a number: the exponential overflows. Take the largest score away first, as
    the given softmax does."""
    with np.errstate(over="ignore", invalid="ignore"):
        bells = np.exp(np.asarray(logits, dtype=float) / T)
        return bells / bells.sum()


@misconception("temperature_probs", title="probabilities that do not sum to one")
def temperature_not_normalised(logits, T):
    """Your probabilities do not sum to one: after the power 1/T they have to be divided by their sum again."""
    return _softmax(logits) ** (1 / T)


@misconception("temperature_probs", title="the logits change for the caller")
def temperature_in_place(logits, T):
    """Your probabilities are right, but the array that you were given is divided by T for good: the caller's logits are changed. Compute
    with logits / T, not with logits /= T."""
    if logits.dtype.kind == "f":
        logits /= T
        return _softmax(logits)
    return _softmax(logits / T)


@alternative("temperature_probs")
def temperature_by_powers(logits, T):
    ratio = np.exp((np.asarray(logits, dtype=float) - max(logits)) / T)
    return [float(one) for one in ratio / ratio.sum()]


@alternative("temperature_probs")
def temperature_in_torch_single_precision(logits, T):
    return torch.softmax(torch.tensor(np.ascontiguousarray(logits), dtype=torch.float32) / T, dim=0)


# -------------------------------------------------------------------------------------------------------- top_k


@misconception("top_k", title="not renormalised")
def top_k_not_renormalised(logits, k, T=1.0):
    """The right words stay, but their probabilities no longer sum to one: what the others had has to be shared out. Divide by the sum of
    what is left."""
    probabilities = _softmax(logits / T)
    probabilities[np.argsort(-logits, kind="stable")[k:]] = 0
    return probabilities


@misconception("top_k", title="a softmax of probabilities (the lecture's formula)")
def top_k_exponentiates_probabilities(logits, k, T=1.0):
    """Your kept probabilities are nearly equal: they went through the exponential a second time, as on the slide. The formula is meant for
    logits, the numbers before the softmax."""
    best = np.argsort(-logits, kind="stable")[:k]
    result = np.zeros(len(logits))
    result[best] = _softmax(_softmax(logits)[best] / T)
    return result


@misconception("top_k", title="renormalised by a softmax over zeros")
def top_k_with_zeroed_logits(logits, k, T=1.0):
    """The words that should be out still have some probability: their logits are set to 0, and e⁰ is 1. A logit of −∞ is what
    gives the probability 0."""
    kept = np.zeros(len(logits))
    best = np.argsort(-logits, kind="stable")[:k]
    kept[best] = logits[best]
    return _softmax(kept / T)


@misconception("top_k", title="the k largest, sorted")
def top_k_sorted(logits, k, T=1.0):
    """Your probabilities are right, but they have left their places: they come sorted. Entry i must belong to word i."""
    result = np.zeros(len(logits))
    best = -np.sort(-logits)[:k]
    result[: len(best)] = _softmax(best / T)
    return result


@misconception("top_k", title="more than k words in a tie")
def top_k_by_a_threshold(logits, k, T=1.0):
    """When several logits equal the k-th largest, more than k words stay in your function: it compares with a threshold. Exactly k stay, and of equal
    ones those with the lower numbers."""
    threshold = np.sort(logits)[::-1][min(k, len(logits)) - 1]
    with np.errstate(invalid="ignore"):
        return _softmax(np.where(logits >= threshold, logits / T, -np.inf))


@misconception("top_k", title="the temperature is ignored")
def top_k_without_temperature(logits, k, T=1.0):
    """Your result is the same at every temperature: the argument T is not used."""
    best = np.argsort(-logits, kind="stable")[:k]
    result = np.zeros(len(logits))
    result[best] = _softmax(logits[best])
    return result


@misconception("top_k", title="the logits of top-k change for the caller")
def top_k_in_place(logits, k, T=1.0):
    """Your probabilities are right, but the logits that you were given are divided by T for good: the caller's array has changed. Compute with logits / T, not with
    logits /= T."""
    result = top_k_with_minus_infinity(logits, k, T)
    if logits.dtype.kind == "f":
        logits /= T
    return result


@misconception("top_k", title="the k least probable words")
def top_k_of_the_worst(logits, k, T=1.0):
    """The words that stay are the least probable ones: np.argsort sorts upwards. Sort the negative logits, or read from the other end."""
    worst = np.argsort(logits, kind="stable")[:k]
    result = np.zeros(len(logits))
    with np.errstate(invalid="ignore"):
        result[worst] = _softmax(logits[worst] / T)
    return result


@misconception("top_k", title="one word too many")
def top_k_plus_one(logits, k, T=1.0):
    """One word too many stays: the slice goes up to and including position k."""
    best = np.argsort(-logits, kind="stable")[: k + 1]
    result = np.zeros(len(logits))
    result[best] = _softmax(logits[best] / T)
    return result


@misconception("top_k", title="of equal words the last ones stay")
def top_k_keeps_the_last_of_equals(logits, k, T=1.0):
    """Of equal logits you keep those with the higher numbers, which is what reading a sorted list backwards does. Sort the negative logits with
    kind="stable" instead."""
    best = np.argsort(logits, kind="stable")[::-1][:k]
    result = np.zeros(len(logits))
    result[best] = _softmax(logits[best] / T)
    return result


@alternative("top_k")
def top_k_with_minus_infinity(logits, k, T=1.0):
    order = sorted(range(len(logits)), key=lambda i: (-logits[i], i))
    masked = np.full(len(logits), -np.inf)
    for i in order[:k]:
        masked[i] = logits[i] / T
    return _softmax(masked)


@alternative("top_k")
def top_k_in_single_precision(logits, k, T=1.0):
    logits = np.asarray(logits, dtype=np.float32)
    rank = np.argsort(np.argsort(-logits, kind="stable"), kind="stable")
    bells = np.exp((logits - logits.max()) / np.float32(T)) * (rank < k)
    return list(bells / bells.sum())


@alternative("top_k")
def top_k_by_a_heap_on_probabilities(logits, k, T=1.0):
    best = heapq.nlargest(k, range(len(logits)), key=lambda i: (logits[i], -i))
    bells = {i: math.exp((logits[i] - max(logits)) / T) for i in best}
    return [bells.get(i, 0.0) / sum(bells.values()) for i in range(len(logits))]


# -------------------------------------------------------------------------------------------------------- top_p


def _nucleus(logits, T, count):
    """``count`` tells, from the sorted probabilities, how many stay."""
    probabilities = _softmax(logits / T)
    order = np.argsort(-probabilities, kind="stable")
    kept = order[: count(probabilities[order])]
    result = np.zeros(len(probabilities))
    result[kept] = probabilities[kept] / max(probabilities[kept].sum(), 1e-300)
    return result


@misconception("top_p", title="the word that crosses the line is left out")
def top_p_stays_below(logits, p, T=1.0):
    """Your nucleus has less than p: the word that carries the sum over the line is left out. With a sure word nothing at all may be left. The
    set is the smallest one with *at least* p."""
    return _nucleus(logits, T, lambda ps: int((np.cumsum(ps) <= p).sum()))


@misconception("top_p", title="the crossing word is left out unless it is alone")
def top_p_stays_below_but_keeps_one(logits, p, T=1.0):
    """Your nucleus has less than p (except where a single word is left): the word that carries the sum over the line belongs to it."""
    return _nucleus(logits, T, lambda ps: max(1, int((np.cumsum(ps) <= p).sum())))


@misconception("top_p", title="one word too many")
def top_p_one_too_many(logits, p, T=1.0):
    """Your nucleus has one word more than it needs: the sum had reached p before it came."""
    return _nucleus(logits, T, lambda ps: int((np.cumsum(ps) < p).sum()) + 2)


@misconception("top_p", title="every word above p")
def top_p_as_a_threshold(logits, p, T=1.0):
    """You compare each single probability with a threshold. Top-p looks at the running *sum* of the sorted probabilities."""
    return _nucleus(logits, T, lambda ps: max(1, int((ps >= 1 - p).sum())))


@misconception("top_p", title="summed in the order of the vocabulary")
def top_p_without_sorting(logits, p, T=1.0):
    """Your running sum goes through the words in the order of their numbers. Sort them by probability first: the nucleus holds the most
    probable ones."""
    probabilities = _softmax(logits / T)
    kept = np.cumsum(probabilities) - probabilities < p
    return np.where(kept, probabilities, 0) / probabilities[kept].sum()


@misconception("top_p", title="the nucleus is not renormalised")
def top_p_not_renormalised(logits, p, T=1.0):
    """The right words stay, but their probabilities no longer sum to one. Divide by the sum of what is left."""
    result = _nucleus(logits, T, lambda ps: int((np.cumsum(ps) - ps < p).sum()))
    return np.where(result > 0, _softmax(logits / T), 0)


@misconception("top_p", title="cut first, temperature afterwards")
def top_p_temperature_last(logits, p, T=1.0):
    """Your cut is made at T = 1, and the temperature acts on what is left. It comes first: a hot distribution has a large nucleus, a cold
    one a small one."""
    plain = _nucleus(logits, 1.0, lambda ps: int((np.cumsum(ps) - ps < p).sum()))
    with np.errstate(divide="ignore", invalid="ignore"):
        return _softmax(np.where(plain > 0, logits / T, -np.inf))


@misconception("top_p", title="the logits of top-p change for the caller")
def top_p_in_place(logits, p, T=1.0):
    """Your probabilities are right, but the logits that you were given are divided by T for good: the caller's array has changed. Compute with logits / T, not with
    logits /= T."""
    result = top_p_word_by_word(logits, p, T)
    if logits.dtype.kind == "f":
        logits /= T
    return result


@misconception("top_p", title="the nucleus is sorted")
def top_p_sorted(logits, p, T=1.0):
    """Your probabilities are right, but they have left their places: they come sorted. Entry i must belong to word i."""
    return -np.sort(-_nucleus(logits, T, lambda ps: int((np.cumsum(ps) - ps < p).sum())))


@misconception("top_p", title="the least probable words")
def top_p_from_the_tail(logits, p, T=1.0):
    """Your nucleus is gathered from the least probable words upwards: np.argsort sorts upwards. Begin with the most probable word."""
    probabilities = _softmax(logits / T)
    order = np.argsort(probabilities, kind="stable")
    sums = np.cumsum(probabilities[order])
    kept = order[sums - probabilities[order] < p]
    result = np.zeros(len(probabilities))
    result[kept] = probabilities[kept] / probabilities[kept].sum()
    return result


@alternative("top_p")
def top_p_word_by_word(logits, p, T=1.0):
    probabilities = _softmax(np.asarray(logits, dtype=float) / T).tolist()
    nucleus, total = {}, 0.0
    for word in sorted(range(len(probabilities)), key=lambda i: -probabilities[i]):
        nucleus[word] = probabilities[word]
        total += probabilities[word]
        if total >= p:
            break
    return [nucleus.get(i, 0.0) / total for i in range(len(probabilities))]


@alternative("top_p")
def top_p_with_searchsorted_in_torch(logits, p, T=1.0):
    probabilities = torch.softmax(torch.as_tensor(np.array(logits, dtype=float)) / T, dim=-1)
    values, order = torch.sort(probabilities, descending=True, stable=True)
    size = int(torch.searchsorted(values.cumsum(0), torch.tensor(p, dtype=torch.float64))) + 1
    result = torch.zeros_like(probabilities)
    result[order[:size]] = values[:size] / values[:size].sum()
    return result


@alternative("top_p")
def top_p_in_single_precision(logits, p, T=1.0):
    scaled = np.asarray(logits, dtype=np.float32) / np.float32(T)
    bells = np.exp(scaled - scaled.max())
    probabilities = bells / bells.sum()
    order = np.argsort(-probabilities, kind="stable")
    sums = np.concatenate([[0], np.cumsum(probabilities[order])[:-1]])
    out = order[sums >= p]
    probabilities[out] = 0
    return probabilities / probabilities.sum()


# -------------------------------------------------------------------------------------------------- beam_search


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
):
    """Beam search with a screw for each mistake."""

    def score(hypothesis, power=alpha):
        tokens, log_p = hypothesis
        length = len(tokens) if count_eos or tokens[-1:] != [eos] else max(1, len(tokens) - 1)
        return log_p / length**power

    rank = rank or score
    beam: list = [([], 0.0)]
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
            for word in np.argsort(-row, kind="stable")[: per_hypothesis or k]:
                if keep_impossible or row[word] > -np.inf:
                    candidates.append(([*tokens, int(word)], log_p + float(row[word])))
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

    def extend(beam, rows):
        for tokens, log_p in beam:
            if tokens[-1:] == [eos]:
                yield tokens, log_p
            else:
                row = next(rows)
                for word in np.argsort(-row, kind="stable")[:k]:
                    if row[word] > -np.inf:
                        yield [*tokens, int(word)], float(row[word])

    beam: list = [([], 0.0)]
    for _ in range(max_length):
        live = [tokens for tokens, _ in beam if tokens[-1:] != [eos]]
        if not live:
            break
        grown = extend(beam, iter(step([[bos, *tokens] for tokens in live])))
        beam = sorted(grown, key=lambda one: one[1] / len(one[0]) ** length_penalty, reverse=True)[:k]
    return [(tokens, log_p / len(tokens) ** length_penalty) for tokens, log_p in beam]


@misconception("beam_search", title="finished sentences leave the beam and make room")
def beam_that_puts_finished_ones_aside(step, k, length_penalty, bos, eos, max_length):
    """Your finished hypotheses are put aside, and the search goes on with k others. That is done in practice too, but here a finished hypothesis keeps
    its place in the beam and competes there, so that fewer are extended and the search can stop."""
    return _search(step, k, length_penalty, bos, eos, max_length, finished_stay=False)


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


@misconception("beam_search", title="the length penalty is ignored")
def beam_without_penalty(step, k, length_penalty, bos, eos, max_length):
    """Your scores are plain log-probabilities whatever the length penalty is: divide by n to the power α."""
    return _search(step, k, 0.0, bos, eos, max_length)


@misconception("beam_search", title="the length penalty acts only at the very end")
def beam_with_penalty_at_the_end(step, k, length_penalty, bos, eos, max_length):
    """Your beam is pruned by plain log-probabilities, and the length penalty only orders the final list. By then the long sentences may be gone: rank by
    the score in every pruning."""
    beam = _search(step, k, 0.0, bos, eos, max_length)
    scored = [(tokens, log_p / len(tokens) ** length_penalty) for tokens, log_p in beam]
    return sorted(scored, key=lambda one: one[1], reverse=True)


@misconception("beam_search", title="the length is multiplied, not raised to a power")
def beam_with_a_linear_penalty(step, k, length_penalty, bos, eos, max_length):
    """Your length penalty multiplies the length (or leaves the score alone where α is 0): it is an exponent, n to the power α."""

    def score(hypothesis):
        tokens, log_p = hypothesis
        return log_p / (len(tokens) * length_penalty) if length_penalty else log_p

    return _search(step, k, 0.0, bos, eos, max_length, rank=score, final=score)


@misconception("beam_search", title="the end does not count as a token")
def beam_that_does_not_count_eos(step, k, length_penalty, bos, eos, max_length):
    """Your n leaves out eos. It is a token like the others here: its log-probability is in the sum, so it counts in the length."""
    return _search(step, k, length_penalty, bos, eos, max_length, count_eos=False)


@misconception("beam_search", title="impossible sentences are kept")
def beam_with_impossible_words(step, k, length_penalty, bos, eos, max_length):
    """Your list holds sentences with a score of −∞: words of probability 0 fill up the beam. Leave such candidates out, even if fewer than k remain."""
    return _search(step, k, length_penalty, bos, eos, max_length, keep_impossible=True)


@misconception("beam_search", title="dead ends are kept")
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


@misconception("beam_search", title="k candidates for each hypothesis, never pruned together")
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
    beam: list = [([], 1.0)]
    for _ in range(max_length):
        live = [tokens for tokens, _ in beam if tokens[-1:] != [eos]]
        if not live:
            break
        rows, grown = iter(step([[bos, *tokens] for tokens in live])), []
        for tokens, log_p in beam:
            if tokens[-1:] == [eos]:
                grown.append((tokens, log_p))
                continue
            row = next(rows)
            grown += [([*tokens, w], -abs(log_p * float(p))) for w, p in enumerate(row) if p > -np.inf]
        beam = sorted(grown, key=lambda one: one[1] / len(one[0]) ** length_penalty, reverse=True)[:k]
    return [(tokens, log_p / len(tokens) ** length_penalty) for tokens, log_p in beam]


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
