"""Lab 02, ``pwm_scores``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.misconceptions.m02_dirichlet_map.common import reference
from autograder.testing import alternative, misconception


def _windows(sites, sequence, alpha, score, background=(0.25,) * 4, last=1):
    """``score`` turns (L,) probabilities of the window's letters and their background into a number."""
    N = np.array([[[site[j] for site in sites].count(a) for a in "ACGT"] for j in range(len(sites[0]))])
    P, L = (N + alpha) / (len(sites) + 4 * alpha), len(N)
    ids = ["ACGT".index(letter) for letter in sequence]
    starts = range(max(0, len(ids) - L + last))
    return np.array(
        [score(P[np.arange(L), ids[s : s + L]], np.array(background)[ids[s : s + L]]) for s in starts]
    )


@misconception("pwm_scores", title="no background")
def no_background(sites, sequence, alpha):
    """Your scores are the log-probability of a site alone, far below zero everywhere. Divide each probability by
    1/4, what even DNA would give it: only then does zero mean “no evidence either way”."""
    return _windows(sites, sequence, alpha, lambda p, b: np.log(p).sum())


@misconception("pwm_scores", title="the sites' own letters as background")
def background_from_the_sites(sites, sequence, alpha):
    """Your background is how frequent the letters are among the sites. The other explanation is plain DNA, where
    this lab gives each letter 1/4."""
    joined = "".join(sites)
    background = [(joined.count(a) + 1) / (len(joined) + 4) for a in "ACGT"]
    return _windows(sites, sequence, alpha, lambda p, b: np.log(p / b).sum(), background)


@misconception("pwm_scores", title="the ratio without its logarithm")
def ratio_without_logarithm(sites, sequence, alpha):
    """Your scores are products of ratios, always positive. The score is their logarithm: a sum over positions,
    above zero for a site and below zero for the rest."""
    return _windows(sites, sequence, alpha, lambda p, b: np.prod(p / b))


@misconception("pwm_scores", title="scores in bits")
def scores_in_bits(sites, sequence, alpha):
    """Your scores are in bits, with the logarithm to base 2. The course measures in nats: np.log."""
    return _windows(sites, sequence, alpha, lambda p, b: np.log2(p / b).sum())


@misconception("pwm_scores", title="the last window is missing", keeps="the scores are right; one is missing")
def last_window_missing(sites, sequence, alpha):
    """Your result is one short: the window that ends with the last letter is missing. T − L + 1 windows fit."""
    return _windows(sites, sequence, alpha, lambda p, b: np.log(p / b).sum(), last=0)


@misconception("pwm_scores", title="α is counted once below the line in a column")
def pwm_alpha_once_below(sites, sequence, alpha):
    """Each column of your matrix sums to more than one: four letters gain α, so 4α joins the number of sites."""
    scale = (len(sites) + 4 * alpha) / (len(sites) + alpha)
    return _windows(sites, sequence, alpha, lambda p, b: np.log(scale * p / b).sum())


@misconception("pwm_scores", title="one distribution for all positions")
def one_distribution_for_all_positions(sites, sequence, alpha):
    """You use the same four probabilities at every position, so the order of the letters does not matter. Each
    column of the sites has a distribution of its own."""
    joined, L = "".join(sites), len(sites[0])
    P = {a: (joined.count(a) + alpha) / (len(joined) + 4 * alpha) for a in "ACGT"}
    single = np.array([np.log(P[letter] / 0.25) for letter in sequence])
    return np.array([single[s : s + L].sum() for s in range(len(sequence) - L + 1)])


@misconception("pwm_scores", title="repeated sites count once", keeps="right unless a site is listed twice")
def repeated_sites_once(sites, sequence, alpha):
    """A site that stands in the list twice counts once in your matrix. The list says how often it was observed."""
    return reference.pwm_scores(sorted(set(sites)), sequence, alpha)


@misconception("pwm_scores", title="the average over the window")
def averaged_over_the_window(sites, sequence, alpha):
    """Your scores are averages over the window's positions. The evidence of the positions adds up: sum it."""
    return _windows(sites, sequence, alpha, lambda p, b: np.log(p / b).mean())


@misconception("pwm_scores", title="the sequence's own letters as background")
def background_from_the_sequence(sites, sequence, alpha):
    """Your background is how frequent the letters are in the sequence itself. The other explanation is even DNA, where each
    letter has 1/4, whatever sequence is read."""
    with np.errstate(all="ignore"):
        background = [sequence.count(letter) / max(len(sequence), 1) for letter in "ACGT"]
        return _windows(sites, sequence, alpha, lambda p, b: np.log(p / b).sum(), background)


@misconception(
    "pwm_scores",
    title="a sequence shorter than the sites raises an error",
    keeps="only sequences shorter than the sites fail",
)
def no_room_for_a_window(sites, sequence, alpha):
    """A sequence that is much shorter than the sites makes your function fail: T − L + 1 is negative there. No window fits,
    so the result is an empty array."""
    scores = np.empty(len(sequence) - len(sites[0]) + 1)
    scores[:] = _windows(sites, sequence, alpha, lambda p, b: np.log(p / b).sum())
    return scores


@misconception(
    "pwm_scores",
    title="divided by 4 for 1/4",
    keeps="how the windows compare is right; all are off by one number",
)
def divided_by_four(sites, sequence, alpha):
    """You divide by 4 where 1/4 is meant: P / 1/4 is (P / 1) / 4. Write P / (1/4), or 4 * P."""
    return _windows(sites, sequence, alpha, lambda p, b: np.log(p / 1 / 4).sum())


@misconception(
    "pwm_scores",
    title="a letter that no site has raises an error",
    keeps="right for the letters that the sites have",
)
def letters_of_the_sites(sites, sequence, alpha):
    """Your table has only the letters that occur in the sites, so your function fails at a letter of the sequence that none of them has.
    That is the very case that α is for: all four letters have a row, whether they were seen or not."""
    index = {letter: i for i, letter in enumerate(sorted(set("".join(sites))))}
    N = np.zeros((len(sites[0]), len(index)))
    for site in sites:
        for j, letter in enumerate(site):
            N[j, index[letter]] += 1
    W = np.log((N + alpha) / (len(sites) + 4 * alpha) / 0.25)
    starts = range(len(sequence) - len(W) + 1)
    return np.array([sum(W[j, index[sequence[s + j]]] for j in range(len(W))) for s in starts])


@misconception(
    "pwm_scores",
    title="the product before the logarithm",
    keeps="right unless the sites are long",
)
def product_before_the_logarithm(sites, sequence, alpha):
    """You multiply the probabilities of a window and take the logarithm of the product. For long sites it is too small for the
    computer and becomes 0: add up logarithms instead."""
    with np.errstate(all="ignore"):
        return _windows(sites, sequence, alpha, lambda p, b: np.log(np.prod(p) / np.prod(b)))


@alternative("pwm_scores")
def with_dictionaries_and_strings(sites, sequence, alpha):
    columns = ["".join(column) for column in zip(*sites, strict=True)]
    table = [{a: np.log(4 * (c.count(a) + alpha) / (len(c) + 4 * alpha)) for a in "ACGT"} for c in columns]
    L, T = len(columns), len(sequence)
    return [sum(table[j][sequence[s + j]] for j in range(L)) for s in range(max(T - L + 1, 0))]


@alternative("pwm_scores")
def as_a_correlation_of_one_hot_rows(sites, sequence, alpha):
    hot = np.array([[letter == a for a in "ACGT"] for letter in sequence], dtype=np.float32)
    N = sum(np.array([[letter == a for a in "ACGT"] for letter in site], dtype=np.float32) for site in sites)
    W = np.log((N + np.float32(alpha)) / np.float32(len(sites) + 4 * alpha)) + np.float32(np.log(4))
    if len(sequence) < len(W):
        return np.zeros(0, dtype=np.float32)
    return sum(np.correlate(hot[:, a], W[:, a], mode="valid") for a in range(4))


@alternative("pwm_scores")
def as_a_torch_convolution(sites, sequence, alpha):
    import torch

    def hot(text):
        return torch.tensor(["ACGT".index(a) for a in text])

    N = torch.stack([torch.nn.functional.one_hot(hot(site), 4).double() for site in sites]).sum(0)
    W = torch.log((N + alpha) / (len(sites) + 4 * alpha) / 0.25)
    if len(sequence) < len(W):
        return torch.zeros(0)
    x = torch.nn.functional.one_hot(hot(sequence), 4).double()
    return torch.nn.functional.conv1d(x.T[None], W.T[None])[0, 0]
