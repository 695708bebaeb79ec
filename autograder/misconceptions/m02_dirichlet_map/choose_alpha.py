"""Lab 02, ``choose_alpha``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.misconceptions.m02_dirichlet_map.common import _shares, reference
from autograder.testing import alternative, misconception

#: What ``model_of_an_earlier_call`` keeps.
_MODELS: dict[float, np.ndarray] = {}


def _costs(train, dev, grid, cost=None, model=None):
    model = model or reference.dirichlet_mean
    cost = cost or (lambda P: -(dev * np.log(P)).sum() / dev.sum())
    with np.errstate(all="ignore"):
        return np.array([cost(model(train, alpha)) for alpha in grid])


def _pick(costs, grid):
    return grid[int(np.argmin(costs))], costs


@misconception("choose_alpha", title="judged on what it learned from")
def judged_on_train(train, dev, grid):
    """Your costs are measured on the counts that the model learned from. There the smallest α always wins. Judge
    by dev, the names that were not seen."""
    return _pick(_costs(train, train, grid), grid)


@misconception("choose_alpha", title="the roles of train and dev are exchanged")
def roles_exchanged(train, dev, grid):
    """Your model is built from dev and judged on train. It learns from train and is judged on dev."""
    return _pick(_costs(dev, train, grid), grid)


@misconception("choose_alpha", title="the place in the grid instead of α")
def place_in_the_grid(train, dev, grid):
    """You return where in the grid the best α stands. Return the number that stands there."""
    costs = _costs(train, dev, grid)
    return int(np.argmin(costs)), costs


@misconception("choose_alpha", title="the highest cost wins")
def highest_cost_wins(train, dev, grid):
    """You return the α with the *highest* cost. The NLL measures surprise: less is better."""
    costs = _costs(train, dev, grid)
    return grid[int(np.argmax(costs))], costs


@misconception(
    "choose_alpha",
    title="the sum instead of the average",
    keeps="the choice is right; the scale of the costs is not",
)
def summed_costs(train, dev, grid):
    """Your costs are sums over all tokens. Divide by the number of unseen tokens, dev.sum(), so that the cost
    compares between lists of different length."""
    return _pick(_costs(train, dev, grid, lambda P: -(dev * np.log(P)).sum()), grid)


@misconception("choose_alpha", title="the average runs over cells")
def averaged_over_cells(train, dev, grid):
    """Your average gives each cell of the table the same weight. A step that occurs a hundred times among the
    unseen names counts a hundred times: weigh −ln P by the counts of dev."""
    return _pick(_costs(train, dev, grid, lambda P: -np.log(P[dev > 0]).mean()), grid)


@misconception("choose_alpha", title="the average runs over rows")
def averaged_over_rows(train, dev, grid):
    """Your cost averages each row first and then the rows, so a rare context weighs as much as a frequent one.
    Sum over all cells, then divide once by dev.sum()."""

    def cost(P):
        n = dev.sum(axis=-1)
        return (-(dev * np.log(P)).sum(axis=-1)[n > 0] / n[n > 0]).mean()

    return _pick(_costs(train, dev, grid, cost), grid)


@misconception(
    "choose_alpha", title="the sign of the costs", keeps="the choice is right; the sign of the costs is not"
)
def positive_log_likelihood(train, dev, grid):
    """Your costs are negative: they are log-likelihoods. Your choice is right, but the NLL has the opposite
    sign."""
    costs = _costs(train, dev, grid)
    return grid[int(np.argmin(costs))], -costs


@misconception("choose_alpha", title="α − 1 is added for α")
def chosen_for_the_map(train, dev, grid):
    """Your grid is read as the knobs of the MAP, which adds α − 1. The model to judge is dirichlet_mean."""

    def clipped(N, alpha):
        return _shares(np.maximum(N + alpha - 1.0, 1e-12))

    return _pick(_costs(train, dev, grid, model=clipped), grid)


@misconception("choose_alpha", title="the MAP is judged")
def judged_the_map(train, dev, grid):
    """Your costs are those of dirichlet_map, which adds α − 1 and knows nothing of an α below one. The model to judge is
    dirichlet_mean."""
    return _pick(_costs(train, dev, grid, model=lambda N, alpha: _shares(N + (alpha - 1.0))), grid)


@misconception(
    "choose_alpha",
    title="the sum is divided by the number of cells",
    keeps="the choice is right; the scale of the costs is not",
)
def divided_by_cells(train, dev, grid):
    """Your choice is right, but your costs are sums divided by the number of cells of the table (.mean() does that). An
    average surprise is for each token: divide by dev.sum()."""
    return _pick(_costs(train, dev, grid, lambda P: -(dev * np.log(P)).mean()), grid)


@misconception(
    "choose_alpha", title="the smallest of equally good numbers", keeps="only ties are decided otherwise"
)
def smallest_of_equals(train, dev, grid):
    """When several numbers of the grid cost the same, you take the smallest of them. The text asks for the one that stands
    first in the grid; min(zip(costs, grid)) compares the second parts when the first are equal."""
    costs = _costs(train, dev, grid)
    return min(zip(costs, grid, strict=True))[1], costs


@misconception(
    "choose_alpha", title="the last of equally good numbers", keeps="only ties are decided otherwise"
)
def last_of_equals(train, dev, grid):
    """When several numbers of the grid cost the same, you take the last of them. The text asks for the first: a later
    number must be better, not just as good."""
    costs = _costs(train, dev, grid)
    return grid[max(i for i, cost in enumerate(costs) if cost <= min(costs))], costs


@misconception(
    "choose_alpha", title="best and costs are exchanged", keeps="the results are right; their order is not"
)
def results_exchanged(train, dev, grid):
    """Your two results are right, but they come in another order: first the best number of the grid, then the costs."""
    return reference.choose_alpha(train, dev, grid)[::-1]


@misconception(
    "choose_alpha",
    title="the costs stand in another order than the grid",
    keeps="right where the grid is sorted",
)
def costs_of_a_sorted_grid(train, dev, grid):
    """Your costs belong to a sorted grid: the first is not that of grid[0]. Leave the grid in its order; which number stands first also
    decides between equally good ones."""
    return reference.choose_alpha(train, dev, sorted(grid))


@misconception(
    "choose_alpha",
    title="a small number is added before the logarithm",
    keeps="right unless a probability is very small",
)
def something_added_before_the_logarithm(train, dev, grid):
    """You add a small number to P before the logarithm. It hides how dear a very small probability is, and nothing needs it: with α above
    0 no probability is 0."""
    return _pick(_costs(train, dev, grid, lambda P: -(dev * np.log(P + 1e-8)).sum() / dev.sum()), grid)


@misconception(
    "choose_alpha", title="no α is found when all costs are high", keeps="right unless all costs are high"
)
def search_begins_at_ten(train, dev, grid):
    """Your search for the lowest cost begins at a number that you took for large enough, such as 10. Costs may be higher, and then none
    of the grid is found: begin at np.inf, or with the first cost."""
    costs = _costs(train, dev, grid)
    return (_pick(costs, grid)[0] if min(costs) < 10 else 0), costs


@misconception(
    "choose_alpha",
    title="the model of an earlier call",
    keeps="right where each α is asked of one table only",
)
def model_of_an_earlier_call(train, dev, grid):
    """Your function keeps the model of each α, and uses it again when it is called with other counts. Learn it anew in each call: it depends
    on train, too."""
    if any(model.shape != np.shape(train) for model in _MODELS.values()):
        _MODELS.clear()

    def kept(N, alpha):
        return _MODELS.setdefault(alpha, reference.dirichlet_mean(N, alpha))

    return _pick(_costs(train, dev, grid, model=kept), grid)


@alternative("choose_alpha")
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


@alternative("choose_alpha")
def whole_grid_at_once_in_float32(train, dev, grid):
    alphas = np.asarray(grid, dtype=np.float32).reshape(-1, *[1] * train.ndim)
    weight = train.astype(np.float32)[None] + alphas
    log_p = np.log(weight) - np.log(weight.sum(-1, keepdims=True))
    costs = -np.tensordot(log_p, dev.astype(np.float32), axes=train.ndim) / np.float32(dev.sum())
    return np.float64(grid[costs.argmin()]), costs
