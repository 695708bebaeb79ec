"""What several questions of lab 01 are made of: tokens, chains counted one step at a time, names and sentences."""

import string
from itertools import pairwise

import numpy as np

ALPHABET = ["<S>", *string.ascii_lowercase, "<E>"]
INDEX = {token: place for place, token in enumerate(ALPHABET)}

#: A right ``normalise_rows`` that takes lists, too, as a student's own may.
TAKES_LISTS = """
import numpy as np


def normalise_rows(N):
    N = np.array(N, dtype=float)
    total = N.sum(axis=1)
    total[total == 0] = 1
    return (N.T / total).T
"""


def normalised(N):
    """Each row by its own sum, one number at a time; an empty row stays zero."""
    rows = [[cell / sum(row) if sum(row) > 0 else 0.0 for cell in row] for row in np.asarray(N).tolist()]
    return np.array(rows, dtype=float).reshape(np.shape(N))


def words_of(sentences):
    return sorted({word for sentence in sentences for word in sentence.split()})


def windows(sentences, weights, length):
    """``length`` neighbours of a sentence, and its weight."""
    for sentence, weight in zip(sentences, weights, strict=True):
        words = sentence.split()
        for at in range(len(words) - length + 1):
            yield tuple(words[at : at + length]), float(weight)


def added_up(rows, columns, steps):
    """The weights of steps (row, column, weight), added up in their cells."""
    N = np.zeros((len(rows), len(columns)))
    for row, column, weight in steps:
        N[rows.index(row), columns.index(column)] += weight
    return N


def steps_of(word):
    """The steps of a name, as rows and columns of the table."""
    tokens = [INDEX[token] for token in ("<S>", *word, "<E>")]
    return list(pairwise(tokens))


# ------------------------------------------------------------------------------------------- of the families


def some_names(rng, count, letters=string.ascii_lowercase, longest=9, shortest=1):
    return [
        "".join(rng.choice(list(letters), size=rng.integers(shortest, longest + 1))) for _ in range(count)
    ]


def some_sentences(rng, count):
    """Sentences of different lengths from few words, so that words repeat, end and go on."""
    words = ["zebra", "owl", "a", "the", "I", "mole", "and"]
    return [" ".join(rng.choice(words, size=rng.integers(3, 9))) for _ in range(count)]


def all_kinds(rng):
    """Sentences and weights: one and many, long and short, listed again, with blanks; equal, small and large ones."""

    def said(words, *lengths):
        return [" ".join(rng.choice(words, size=length)) for length in lengths]

    few, letters = ["to", "be", "or"], list("abcdefghijkl")
    yield [*said(few, 9, 1, 2, 4), "to be or to be or to be to to to be"], rng.uniform(1e-5, 1e-4, 5)
    long = said(letters, 14, 12)
    yield [long[0], *long, long[0], "go"], tuple(rng.integers(200, 900, size=5).tolist())
    yield ["go go go go go", "go", *said(few, 3)], [0.5] * 3
    yield said(letters, 1, 1), [1, 1]
    blanks = [f"  {sentence.replace(' ', '  ')} " for sentence in said(few, 3, 8, 5)]
    yield 3 * blanks, 10.0 ** rng.integers(-3, 4, size=9)
