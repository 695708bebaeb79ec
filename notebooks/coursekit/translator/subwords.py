"""One subword vocabulary for both languages of the translator: lab 04's byte-pair encoding, shifted by four.

Tokens: ``PAD``, ``BOS``, ``EOS``, ``UNKNOWN`` (which never occurs: bytes spell everything), then the 256 bytes, then
the merges in the order learned, and last a tag for each language to translate into.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coursekit.data.vocabulary import SPECIALS
from coursekit.errors import UserError
from coursekit.provided.p04_tokenizer import decode, encode_all, pre_tokenize, train_bpe

LANGUAGES = ("en", "de")
_FIRST = len(SPECIALS)


@dataclass(frozen=True)
class Subwords:
    """Lab 04's merges ``{(left, right): new id}``, and whether sentences are put in lower case first."""

    merges: Mapping[tuple[int, int], int]
    lower: bool = False

    @classmethod
    def learn(cls, sentences: Iterable[str], size: int, lower: bool = False) -> Subwords:
        """Learn merges from sentences until the vocabulary has ``size`` entries, including special tokens."""
        words = Counter(chunk for sentence in sentences for chunk in pre_tokenize(_prepared(sentence, lower)))
        spelled = {tuple(word.encode("utf-8")): count for word, count in words.items()}
        return cls(train_bpe(spelled, size - _FIRST - 256 - len(LANGUAGES)), lower)

    def __len__(self) -> int:
        return _FIRST + 256 + len(self.merges) + len(LANGUAGES)

    def tag(self, language: str) -> int:
        """The token before a source sentence that selects the target language."""
        return len(self) - len(LANGUAGES) + LANGUAGES.index(language)

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Sentences as lists of tokens, without special tokens."""
        texts = [_prepared(sentence, self.lower) for sentence in sentences]
        return [[_FIRST + token for token in tokens] for tokens in encode_all(texts, self.merges)]

    def decode(self, tokens: Iterable[int]) -> str:
        """Tokens as a sentence, without special tokens."""
        last = _FIRST + 256 + len(self.merges)
        return decode([n - _FIRST for n in tokens if _FIRST <= n < last], self.merges).strip()

    @property
    def state(self) -> dict[str, object]:
        """The merges in order, and ``lower``, for a checkpoint's entry "subwords"."""
        return {"lower": self.lower, "merges": [list(pair) for pair in self.merges]}

    @classmethod
    def of_checkpoint(cls, stored: Mapping[str, Any]) -> Subwords:
        """The subwords in a checkpoint or exported file. Raises UserError if it has none."""
        if "subwords" not in stored:
            raise UserError("This checkpoint holds no subwords: it is no translator of sentences.")
        pairs = enumerate(stored["subwords"]["merges"], start=256)
        return cls({(left, right): new for new, (left, right) in pairs}, stored["subwords"]["lower"])


def _prepared(sentence: str, lower: bool) -> str:
    """The sentence with a blank before the first word, so that a word has the same tokens everywhere."""
    return " " + (sentence.lower() if lower else sentence).strip()
