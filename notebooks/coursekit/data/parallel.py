"""Loads the built-in English-German corpus and cuts its sentences into words and back.

docs/parallel_corpus.md describes the corpus and what each split tests.
"""

import gzip
import re

from coursekit import data
from coursekit.errors import UserError

SPLITS = ("train", "valid", "test_sentences", "test_combinations", "test_coreference")

# Words that keep their capital at the start of a sentence, on either side of the corpus.
ALWAYS_CAPITAL = frozenset({"I", "Anna", "Maria", "Peter", "Thomas"})

_TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")
_NO_SPACE_BEFORE = re.compile(r"\s+([.,!?;:])")


def load(split: str) -> list[tuple[str, str]]:
    """All pairs of a split as (English sentence, German sentence), in the corpus's order.

    ``split`` is one of ``SPLITS``. Raises UserError for another name.
    """
    if split not in SPLITS:
        raise UserError(f"There is no split {split!r}; choose one of {', '.join(SPLITS)}.")
    with gzip.open(data.path(f"parallel/{split}.tsv.gz"), "rt", encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split("\t") for line in file]
    return [(english, german) for english, german in pairs]


def tokenize(sentence: str) -> list[str]:
    """Split a sentence into words and punctuation marks. Only the first word is put in lower case.

    The first word's capital only marks the start of the sentence: *Die* and *die* are one word. Words that always have a
    capital keep it: ``tokenize("I am Anna.") == ["I", "am", "Anna", "."]``.
    """
    tokens = _TOKEN.findall(sentence)
    if tokens and tokens[0] not in ALWAYS_CAPITAL:
        tokens[0] = tokens[0][0].lower() + tokens[0][1:]
    return tokens


def detokenize(tokens: list[str]) -> str:
    """Join tokens to a sentence: with a capital first, and no space before a punctuation mark.

    This is the inverse of ``tokenize`` on every sentence of the corpus.
    """
    text = _NO_SPACE_BEFORE.sub(r"\1", " ".join(tokens))
    return text[:1].upper() + text[1:]
