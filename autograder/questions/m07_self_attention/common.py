"""What several questions of lab 07 are made of."""

import math

import numpy as np

# ------------------------------------------------------------------------------------------ of the references


def softmax_row(scores):
    """Softmax of a list in plain Python; a score of −∞ gets weight 0."""
    largest = max(scores)
    exponentials = [math.exp(score - largest) for score in scores]
    return [e / math.fsum(exponentials) for e in exponentials]


def attention_by(score, q, k, v, mask):
    """Output and weights, one query and one key at a time, for any number of leading axes."""
    lead = q.shape[:-2]
    mask = np.broadcast_to(True if mask is None else mask, (*lead, q.shape[-2], k.shape[-2]))
    weights = np.zeros(mask.shape)
    for place in np.ndindex(*lead, q.shape[-2]):
        scores = [
            score(q[place], key) if allowed else -math.inf
            for key, allowed in zip(k[place[:-1]], mask[place], strict=True)
        ]
        weights[place] = softmax_row(scores)
    output = np.zeros((*lead, q.shape[-2], v.shape[-1]))
    for place in np.ndindex(weights.shape):
        output[place[:-1]] += weights[place] * v[(*place[:-2], place[-1])]
    return output, weights


def some_mask(rng, *shape):
    """A random mask in which every query may attend to something, and something is hidden."""
    mask = rng.random(shape) < 0.5
    mask[..., 0] |= ~mask.any(axis=-1)
    if mask.all():
        mask.flat[-1] = False
    return mask


# ---------------------------------------------------------------------------------------- of the wrong answers


def softmax(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def swap(a):
    return np.swapaxes(a, -1, -2)


def attend(scores, v, mask, axis=-1):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis)
    return weights @ v, weights
