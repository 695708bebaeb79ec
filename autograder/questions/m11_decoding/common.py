"""What several questions of lab 11 are made of."""

import math

import numpy as np


class Model:
    """A ``step``: rows of log-probabilities after prefixes. It notes how it is called.

    ``row_after`` gives the probabilities after the words said, a tuple without bos.
    """

    def __init__(self, row_after, eos):
        self.row_after, self.eos = row_after, eos
        self.calls = self.largest = 0
        self.asked_about_the_ended = self.lengths_differed = False

    def __call__(self, prefixes):
        rows = [tuple(int(token) for token in prefix) for prefix in prefixes]
        self.calls += 1
        self.largest = max(self.largest, len(rows))
        self.asked_about_the_ended |= any(self.eos in row[1:] for row in rows)
        self.lengths_differed |= len({len(row) for row in rows}) > 1
        with np.errstate(divide="ignore"):
            return np.log(np.array([self.row_after(row[1:]) for row in rows], dtype=float))


def tree(after, otherwise, eos=0):
    """A model with these rows, and the same one after all other words."""
    return Model(lambda said: after.get(said, otherwise), eos)


def random_model(rng, V, eos, never=(), ends_after=None):
    """A model with a random distribution of its own after every prefix, and words that it ``never`` says.

    ``ends_after`` is the number of words after which it says eos for certain, and never before.
    """
    seed = int(rng.integers(2**32))

    def row_after(said):
        weights = np.exp(1.5 * np.random.default_rng([seed, len(said), *said]).normal(size=V))
        weights[list(never)] = 0
        if ends_after is not None:
            weights[eos] = 0
            weights = np.eye(V)[eos] if len(said) >= ends_after else weights
        return weights / weights.sum()

    return Model(row_after, eos)


def small_tree():
    """The lecture's: yes, yes has .5 · .4, and no, yes .4 · .7."""
    return tree({(): [0.1, 0.4, 0.5], (2,): [0.3, 0.3, 0.4], (1,): [0.1, 0.7, 0.2]}, [1.0, 0, 0])


# ------------------------------------------------------------------------------------------ of the references


def softened(logits, T):
    scaled = [float(z) / T for z in logits]
    bells = [math.exp(z - max(scaled)) for z in scaled]
    return [bell / math.fsum(bells) for bell in bells]


def cut(probabilities, keep):
    """``keep`` counts how many of the sorted probabilities stay."""
    order = sorted(range(len(probabilities)), key=lambda i: (-probabilities[i], i))
    kept = order[: keep([probabilities[i] for i in order])]
    total = math.fsum(probabilities[i] for i in kept)
    return np.array([p / total if i in kept else 0.0 for i, p in enumerate(probabilities)])


# ---------------------------------------------------------------------------------------- of the wrong answers


def softmax(scores):
    with np.errstate(invalid="ignore"):
        e = np.exp(scores - np.max(scores))
    return e / e.sum()
