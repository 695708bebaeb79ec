"""Lab 02, choose_alpha: train, dev (…, V) counts, a grid of G numbers → the best number, the NLL of each (G,)."""

import math

import numpy as np

from autograder.questions.engine import Observed, Question
from autograder.questions.m02_dirichlet_map.common import rows_of, shares


def surprise(train, dev, alpha):
    """The NLL of dev, cell by cell."""
    P = rows_of(train, alpha)
    costs = [-n * math.log(p) for n, p in zip(np.ravel(dev).tolist(), P.ravel().tolist(), strict=True) if n]
    return math.fsum(costs) / float(np.sum(dev))


def chosen(train, dev, grid):
    costs = [surprise(train, dev, alpha) for alpha in grid]
    return grid[costs.index(min(costs))], costs


question = Question(chosen, uses=("dirichlet_map", "dirichlet_mean"))

GRID = [0.003, 0.03, 0.1, 0.4, 1.5, 12.0]


def split(rng, shape, tokens):
    """Counts of the same rows twice: few to learn from, some to judge by."""
    P = rng.dirichlet(np.full(shape[-1], 0.4), size=shape[:-1])
    heard = rng.integers(1, 2 * tokens, size=shape[:-1])
    return rng.multinomial(heard, P), rng.multinomial(2 * heard, P)


def telling_split(rng, shape, tokens):
    """A split with one best number in the middle of the grid, and another for who weighs all cells alike."""
    while True:
        train, dev = split(rng, shape, tokens)
        costs = np.array(_costs(train, dev, GRID))
        best, alike = GRID[costs.argmin()], GRID[np.argmin(_costs(train, dev > 0, GRID))]
        if best not in (alike, GRID[0], GRID[-1]) and np.sort(costs)[1] - costs.min() > 1e-3:
            return train, dev


def telling_splits(rng, shape, *tokens):
    """Splits of which no number is best for all."""
    while True:
        splits = [telling_split(rng, shape, heard) for heard in tokens]
        if len({np.argmin(_costs(*both, GRID)) for both in splits}) > 1:
            return splits


@question.family("The number with the lowest NLL on the unseen counts is chosen.", weight=2, only=0)
def the_best(rng):
    for train, dev in telling_splits(rng, (6, 9), 3, 8, 20):
        yield train, dev, GRID


@question.family("The best may stand anywhere in the grid, which need not be sorted.", only=0)
def anywhere(rng):
    for place, (train, dev) in enumerate(telling_splits(rng, (5, 7), 8, 8, 8)):
        best = GRID[np.argmin(_costs(train, dev, GRID))]
        others = [alpha for alpha in GRID if alpha != best]
        yield train, dev, ([best, *others], [*others, best], [*others[:3][::-1], best, *others[3:]])[place]


@question.family("The costs: each token counts, not each cell, on three axes and on one.", weight=2, only=1)
def costs(rng):
    train, dev = split(rng, (3, 4, 5), 6)
    dev[0, 0] = [200, 0, 0, 1, 0]
    dev[2] = 0
    for some, judged in ((train, dev), (train[1, 1], dev[1, 1])):
        for grid in ([0.2, 0.05, 7, 0.9], [2.5, 8], [2.5]):
            yield some, judged, grid


@question.family(
    "Where train has seen nothing of dev, a tiny α costs more than ten nats a token.", weight=0.5, rtol=2e-4
)
def never_seen(rng):
    train, dev = rng.integers(500, 900, size=(4, 6)), rng.integers(1, 9, size=(4, 6))
    train[:, 3:], dev[:, :3] = 0, 0
    train[0], dev[0] = train[0] // 8, 9 * dev[0]
    yield train, dev, [2e-4, 2e-3, 5e-4]


@question.scenario("Of equally good numbers the first one is chosen.", weight=0.5)
def equally_good(student, rng):
    train, dev = np.full((3, 4), int(rng.integers(1, 9))), rng.integers(1, 20, size=(3, 4))
    for grid in ([7.0, 1.0, 3.0], [0.5, 2.0, 8.0, 4.0]):
        best, costs = student(train, dev, grid)
        costs = np.asarray(costs)
        # Who rounds the costs another way may see no tie: the first of the student's own lowest costs counts.
        ties = [alpha for alpha, cost in zip(grid, costs.tolist(), strict=True) if cost == costs.min()]
        place = ties.index(best)
        yield Observed("the costs are alike", bool(np.ptp(costs) < 1e-4 * abs(costs[0])))
        yield Observed("the place of the chosen one", place if costs.dtype == np.float64 else 0)


def _costs(train, dev, grid, cost=None, model=None):
    cost = cost or (lambda P: -(dev * np.log(P)).sum() / dev.sum())
    with np.errstate(all="ignore"):
        return np.array(
            [cost((model or (lambda N, alpha: shares(N + alpha)))(train, alpha)) for alpha in grid]
        )


def _pick(costs, grid):
    return grid[int(np.argmin(costs))], costs


@question.misconception("judged on what it learned from", costs=2)
def judged_on_train(train, dev, grid):
    """Your costs are measured on the counts that the model learned from. There the smallest α always wins. Judge by dev, the names that were
    not seen."""
    return _pick(_costs(train, train, grid), grid)


@question.misconception("the roles of train and dev are exchanged", costs=2.5)
def roles_exchanged(train, dev, grid):
    """Your model is built from dev and judged on train. It learns from train and is judged on dev."""
    return _pick(_costs(dev, train, grid), grid)


@question.misconception("the place in the grid instead of α", costs=1.5)
def place_in_the_grid(train, dev, grid):
    """You return where in the grid the best α stands. Return the number that stands there."""
    costs = _costs(train, dev, grid)
    return int(np.argmin(costs)), costs


@question.misconception("the highest cost wins", costs=1.5)
def highest_cost_wins(train, dev, grid):
    """You return the α with the *highest* cost. The NLL measures surprise: less is better."""
    costs = _costs(train, dev, grid)
    return grid[int(np.argmax(costs))], costs


@question.misconception(
    "the sum instead of the average",
    costs=1.5,
    cost=lambda dev, P: -(dev * np.log(P)).sum(),
    hint="Your costs are sums over all tokens. Divide by dev.sum(), so that lists of different length can be compared.",
)
@question.misconception(
    "the sign of the costs",
    costs=1,
    cost=lambda dev, P: (dev * np.log(P)).sum() / dev.sum(),
    pick=np.argmax,
    hint="Your costs are negative: they are log-likelihoods. Your choice is right, but the NLL has the opposite sign.",
)
def judged_otherwise(train, dev, grid, *, cost, pick=np.argmin):
    costs = _costs(train, dev, grid, lambda P: cost(dev, P))
    return grid[int(pick(costs))], costs


@question.misconception("α − 1 is added for α", costs=2)
def chosen_for_the_map(train, dev, grid):
    """Your grid is read as the knobs of the MAP, which adds α − 1. The model to judge is dirichlet_mean."""
    return _pick(
        _costs(train, dev, grid, model=lambda N, alpha: shares(np.maximum(N + alpha - 1.0, 1e-12))), grid
    )


@question.misconception("the MAP is judged", costs=2)
def judged_the_map(train, dev, grid):
    """Your costs are those of dirichlet_map, which adds α − 1 and knows nothing of an α below one. The model to judge is dirichlet_mean."""
    return _pick(_costs(train, dev, grid, model=lambda N, alpha: shares(N + (alpha - 1.0))), grid)


@question.misconception("the last of equally good numbers", costs=0.5)
def last_of_equals(train, dev, grid):
    """When several numbers of the grid cost the same, you take the last of them. The text asks for the first: a later number must be better,
    not just as good."""
    costs = _costs(train, dev, grid)
    return grid[max(i for i, cost in enumerate(costs) if cost <= min(costs))], costs


@question.misconception("best and costs are exchanged", costs=1.5, because="both are right, and exchanged")
def results_exchanged(train, dev, grid):
    """Your two results are right, but they come in another order: first the best number of the grid, then the costs."""
    return chosen(train, dev, grid)[::-1]


@question.alternative
def cell_by_cell(train, dev, grid):
    best, lowest, costs = None, float("inf"), []
    rows, judged = train.reshape(-1, train.shape[-1]), dev.reshape(-1, dev.shape[-1])
    for alpha in grid:
        cost = 0.0
        for i, j in zip(*np.nonzero(judged), strict=True):
            p = (rows[i, j] + alpha) / (rows[i].sum() + alpha * rows.shape[1])
            cost -= judged[i, j] * float(np.log(p))
        costs.append(cost / dev.sum())
        if costs[-1] < lowest:
            best, lowest = alpha, costs[-1]
    return [best, costs]


@question.alternative
def whole_grid_at_once_in_float32(train, dev, grid):
    alphas = np.asarray(grid, dtype=np.float32).reshape(-1, *[1] * train.ndim)
    weight = train.astype(np.float32)[None] + alphas
    log_p = np.log(weight) - np.log(weight.sum(-1, keepdims=True))
    costs = -np.tensordot(log_p, dev.astype(np.float32), axes=train.ndim) / np.float32(dev.sum())
    return np.float64(grid[costs.argmin()]), costs
