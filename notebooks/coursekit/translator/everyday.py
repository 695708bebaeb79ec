"""Loads the course's translator of everyday sentences into a student's class, with lab 04's subwords."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping

from torch import nn

from coursekit import data
from coursekit.translator.model import Build
from coursekit.translator.subwords import LANGUAGES
from coursekit.translator.translator import Translator


def load_everyday(build: Build) -> tuple[nn.Module, Mapping[tuple[int, int], int], dict[str, int]]:
    """The trained model as an instance of ``build``, the merges of its subwords, and the tag of each language.

    A token is lab 04's number plus four, because of the four special tokens. Both languages share one table.
    """
    machine = Translator.load(data.path("tatoeba/translator.pt"), build)
    subwords = machine.subwords
    return machine.model, subwords.merges, {language: subwords.tag(language) for language in LANGUAGES}


def test_pairs() -> list[tuple[str, str]]:
    """(English, German) sentences of Tatoeba that the model was not trained on, shortest first."""
    with gzip.open(data.path("tatoeba/test.tsv.gz"), "rt", encoding="utf-8", newline="") as file:
        return [(english, german) for english, german in csv.reader(file, delimiter="\t")]
