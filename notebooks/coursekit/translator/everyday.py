"""Loads the course's translator of everyday sentences into a student's class, with lab 04's subwords."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from coursekit import data
from coursekit.translator.files import copy_weights
from coursekit.translator.model import tie
from coursekit.translator.subwords import LANGUAGES, Subwords

__all__ = ["CHECKPOINT", "TEST", "load_everyday", "test_pairs"]

CHECKPOINT, TEST = "tatoeba/translator.pt", "tatoeba/test.tsv.gz"
_SIZES = ("d_model", "heads", "d_ff", "layers")


def load_everyday(
    build: Callable[..., nn.Module],
) -> tuple[nn.Module, Mapping[tuple[int, int], int], dict[str, int]]:
    """The trained model as an instance of ``build``, the merges of its subwords, and the tag of each language.

    A token is lab 04's number plus four, because of the four special tokens. Both languages share one table.
    """
    stored: dict[str, Any] = torch.load(data.path(CHECKPOINT), weights_only=True)
    subwords = Subwords.of_checkpoint(stored)
    size = len(subwords)
    model = tie(build(size, size, *(stored["plan"][name] for name in _SIZES)))
    copy_weights(stored["weights"], model)
    return model.eval(), subwords.merges, {language: subwords.tag(language) for language in LANGUAGES}


def test_pairs() -> list[tuple[str, str]]:
    """(English, German) sentences of Tatoeba that the model was not trained on, shortest first."""
    with gzip.open(data.path(TEST), "rt", encoding="utf-8", newline="") as file:
        return [(english, german) for english, german in csv.reader(file, delimiter="\t")]
