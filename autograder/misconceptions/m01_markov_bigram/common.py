"""What the answers to several questions of lab 01 are made of."""

from __future__ import annotations

import string

from autograder.testing import master

ALPHABET = ["<S>", *string.ascii_lowercase, "<E>"]


INDEX = {token: i for i, token in enumerate(ALPHABET)}


reference = master("01_markov_bigram")
