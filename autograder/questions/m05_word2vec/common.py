"""What several questions of lab 05 are made of."""

import math

import numpy as np

# ------------------------------------------------------------------------------------------ of the references


def dot(a, b):
    return math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def answer(context, W_in, W_out):
    """The mean of the hints and the probabilities of all words, number by number."""
    h = [math.fsum(float(W_in[c][d]) for c in context) / len(context) for d in range(len(W_in[0]))]
    scores = [dot(row, h) for row in W_out]
    weights = [math.exp(score - max(scores)) for score in scores]
    return np.array(h), np.array([weight / math.fsum(weights) for weight in weights])


def cosine(a, b):
    return dot(a, b) / math.sqrt(dot(a, a) * dot(b, b))


def ranked(way, vectors, words, left_out, k):
    pairs = [
        (word, cosine(row, way)) for word, row in zip(words, vectors, strict=True) if word not in left_out
    ]
    return sorted(pairs, key=lambda pair: -pair[1])[:k]


# ------------------------------------------------------------------------------------------- of the families


def tables(rng, V, D):
    return rng.normal(size=(2, V, D))


def certain_tables(rng, V, D):
    """Tables with scores in the thousands, whichever the hint, of which one is certain; exact in single precision, too."""
    W_in, W_out = rng.integers(1, 9, size=(V, D)) / 8, np.zeros((V, D))
    W_in[:, 0], W_out[:, 0] = 1, 40 * rng.permutation(np.arange(V) * 20 - 5 * V)
    return W_in, W_out


def names(rng, V):
    words = [f"{a}{b}" for a in "bdgklmnprst" for b in ("a", "ea", "or", "ing")]
    return [words[i] for i in rng.permutation(len(words))[:V]]


def around(rng, cosines, lengths):
    """Vectors with these cosines to an axis and these lengths. Where a cosine is 1, the row lies on the axis."""
    across = rng.normal(size=(len(cosines), 3))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    cosines = np.array(cosines)[:, None]
    return np.hstack([cosines, np.sqrt(1 - cosines**2) * across]) * np.reshape(lengths, (-1, 1))


# ---------------------------------------------------------------------------------------- of the wrong answers


def softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def ranking(values, words, left_out, k):
    order = [i for i in np.argsort(-np.asarray(values)) if words[i] not in left_out]
    return [(words[i], float(values[i])) for i in order[:k]]
