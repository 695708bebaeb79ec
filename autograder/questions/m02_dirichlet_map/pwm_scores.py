"""Lab 02, pwm_scores: sites (n strings of length L), a sequence of length T, alpha → log-odds of each window (T − L + 1,)."""

import math

import numpy as np

from autograder.questions.engine import Observed, Question


def log_odds(sites, sequence, alpha):
    """One window and one position at a time, with Python's own counting."""
    scores = []
    for start in range(len(sequence) - len(sites[0]) + 1):
        score = 0.0
        for j in range(len(sites[0])):
            count = [site[j] for site in sites].count(sequence[start + j])
            score += math.log((count + alpha) / (len(sites) + 4 * alpha)) + math.log(4)
        scores.append(score)
    return np.array(scores)


question = Question(log_odds, uses=("dirichlet_map", "dirichlet_mean"))


def dna(rng, length, p=None):
    return "".join(rng.choice(list("ACGT"), size=length, p=p))


def different(rng, count, length, p=None):
    """Sites of which no two are the same."""
    known: list[str] = []
    while len(known) < count:
        known = list(dict.fromkeys([*known, dna(rng, length, p)]))
    return known


def even(rng, quarter):
    """A sequence in which all four letters occur equally often."""
    return "".join(rng.permutation(list("ACGT" * quarter)))


@question.family(
    "A window's score is its log-odds against even DNA, in nats; T − L + 1 windows fit.", weight=2
)
def windows(rng):
    for length, count, quarter, alpha in ((6, 9, 6, 1), (4, 14, 4, 0.3), (9, 5, 5, 2.5)):
        yield different(rng, count, length, [0.5, 0.1, 0.3, 0.1]), even(rng, quarter), alpha


@question.family(
    "Whatever letters the sequence has, each is compared with 1/4, also one that no site has.", weight=1.5
)
def rare_letters(rng):
    known = different(rng, 8, 5, [0.5, 0, 0.5, 0])
    yield known, dna(rng, 12, [0.7, 0, 0.3, 0]), 1
    for alpha in (0.01, 4):
        yield known, dna(rng, 12, [0.1, 0.4, 0.1, 0.4]) + "CCCTA", alpha


@question.family("A site that stands in the list twice counts twice, and one site is enough.", weight=1.5)
def repeated_sites(rng):
    site, other = different(rng, 2, 7)
    for known in ([site, site, other], [site], [other, site, other, other]):
        yield known, even(rng, 4), 0.7


@question.family("One window fits exactly, or none, also in a sequence that is much shorter.", weight=1.5)
def tight_fits(rng):
    known = different(rng, 2, 8)
    for sequence in (even(rng, 2), known[0][:7], known[0][:2]):
        yield known, sequence, 0.7
    yield ["A", "C"], "ACCACAAC", 1


@question.family("A site may have hundreds of letters: a sum of logarithms stays finite.", weight=0.5)
def long_sites(rng):
    known = [dna(rng, 700) for _ in range(2)]
    yield known, known[0] + "AC", 0.5


@question.scenario("How windows compare: from window to window the scores change as they should.", weight=4)
def differences(student, rng):
    for alpha in (1, 0.3):
        scores = np.asarray(student(different(rng, 6, 5, [0.5, 0.1, 0.3, 0.1]), even(rng, 5), alpha))
        yield Observed("the changes between the first fifteen windows", np.diff(scores[:15]), atol=1e-4)


def _windows(sites, sequence, alpha, score, background=(0.25,) * 4, last=1):
    """``score`` turns (L,) probabilities of the window's letters and their background into a number."""
    N = np.array([[[site[j] for site in sites].count(a) for a in "ACGT"] for j in range(len(sites[0]))])
    P, L = (N + alpha) / (len(sites) + 4 * alpha), len(N)
    ids = ["ACGT".index(letter) for letter in sequence]
    starts = range(max(0, len(ids) - L + last))
    with np.errstate(all="ignore"):
        return np.array(
            [score(P[np.arange(L), ids[s : s + L]], np.array(background)[ids[s : s + L]]) for s in starts]
        )


def _sum_of_logs(p, b):
    return np.log(p / b).sum()


@question.misconception(
    "no background",
    costs=2,
    score=lambda p, b: np.log(p).sum(),
    hint="""Your scores are the log-probability of a site alone, far below zero everywhere. Divide each probability by 1/4, what even DNA would
    give it: only then does zero mean “no evidence either way”.""",
)
@question.misconception(
    "the ratio without its logarithm",
    costs=3,
    score=lambda p, b: np.prod(p / b),
    hint="""Your scores are products of ratios, always positive. The score is their logarithm: a sum over positions, above zero for a site and
    below zero for the rest.""",
)
@question.misconception(
    "scores in bits",
    costs=2.5,
    because="right but for the unit",
    score=lambda p, b: np.log2(p / b).sum(),
    hint="Your scores are in bits, with the logarithm to base 2. The course measures in nats: np.log.",
)
@question.misconception(
    "divided by 4 for 1/4",
    costs=1.5,
    because="all windows are off by one number",
    score=lambda p, b: np.log(p / 1 / 4).sum(),
    hint="You divide by 4 where 1/4 is meant: P / 1/4 is (P / 1) / 4. Write P / (1/4), or 4 * P.",
)
def scored_otherwise(sites, sequence, alpha, *, score):
    return _windows(sites, sequence, alpha, score)


@question.misconception("the sites' own letters as background", costs=3)
def background_from_the_sites(sites, sequence, alpha):
    """Your background is how frequent the letters are among the sites. The other explanation is plain DNA, where this lab gives each letter
    1/4."""
    joined = "".join(sites)
    background = [(joined.count(a) + 1) / (len(joined) + 4) for a in "ACGT"]
    return _windows(sites, sequence, alpha, _sum_of_logs, background)


@question.misconception("the last window is missing", costs=1.5, because="all scores but one are right")
def last_window_missing(sites, sequence, alpha):
    """Your result is one short: the window that ends with the last letter is missing. T − L + 1 windows fit."""
    return _windows(sites, sequence, alpha, _sum_of_logs, last=0)


@question.misconception("α is counted once below the line in a column", costs=2)
def pwm_alpha_once_below(sites, sequence, alpha):
    """Each column of your matrix sums to more than one: four letters gain α, so 4α joins the number of sites."""
    scale = (len(sites) + 4 * alpha) / (len(sites) + alpha)
    return _windows(sites, sequence, alpha, lambda p, b: np.log(scale * p / b).sum())


@question.misconception("one distribution for all positions", costs=3)
def one_distribution_for_all_positions(sites, sequence, alpha):
    """You use the same four probabilities at every position, so the order of the letters does not matter. Each column of the sites has a
    distribution of its own."""
    joined, L = "".join(sites), len(sites[0])
    P = {a: (joined.count(a) + alpha) / (len(joined) + 4 * alpha) for a in "ACGT"}
    single = np.array([np.log(P[letter] / 0.25) for letter in sequence])
    return np.array([single[s : s + L].sum() for s in range(len(sequence) - L + 1)])


@question.alternative
def with_dictionaries_and_strings(sites, sequence, alpha):
    columns = ["".join(column) for column in zip(*sites, strict=True)]
    table = [{a: np.log(4 * (c.count(a) + alpha) / (len(c) + 4 * alpha)) for a in "ACGT"} for c in columns]
    L, T = len(columns), len(sequence)
    return [sum(table[j][sequence[s + j]] for j in range(L)) for s in range(max(T - L + 1, 0))]


@question.alternative
def as_a_correlation_of_one_hot_rows(sites, sequence, alpha):
    hot = np.array([[letter == a for a in "ACGT"] for letter in sequence], dtype=np.float32)
    N = sum(np.array([[letter == a for a in "ACGT"] for letter in site], dtype=np.float32) for site in sites)
    W = np.log((N + np.float32(alpha)) / np.float32(len(sites) + 4 * alpha)) + np.float32(np.log(4))
    if len(sequence) < len(W):
        return np.zeros(0, dtype=np.float32)
    return sum(np.correlate(hot[:, a], W[:, a], mode="valid") for a in range(4))
