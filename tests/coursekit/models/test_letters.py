"""The letter model of names: what it counts."""

from __future__ import annotations

import numpy as np
import pytest
from coursekit.models.letters import BOS, EOS, TOKENS, LetterModel


def test_the_nll_is_that_of_its_own_probabilities_letter_by_letter():
    model = LetterModel(words=["anna", "ann", "bo"])
    logs = []
    for word in ("anna", "bob"):
        ids = [BOS, *(TOKENS.index(letter) for letter in word), EOS]
        logs += [model([ids[:place]])[0, ids[place]] for place in range(1, len(ids))]
    assert model.average_nll(["anna", "bob"]) == pytest.approx(-np.mean(logs))
