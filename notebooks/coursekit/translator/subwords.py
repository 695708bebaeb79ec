"""One vocabulary of subwords for both languages of the translator: lab 04's byte-pair encoding, shifted by four.

Tokens: ``PAD``, ``BOS``, ``EOS``, ``UNKNOWN`` (which never occurs: bytes spell everything), then the 256 bytes, then
the merges in the order learned, and last a tag for each language to translate into.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursekit.data.vocabulary import SPECIALS
from coursekit.errors import UserError
from coursekit.provided.p04_tokenizer import decode, encode_all, pre_tokenize, train_bpe
from coursekit.translator.files import write_text

__all__ = ["LANGUAGES", "Subwords"]

LANGUAGES = ("en", "de")
_FIRST = len(SPECIALS)


@dataclass(frozen=True)
class Subwords:
    """Merges ``{(left, right): new id}`` as lab 04 learns them, and whether sentences become lower case first."""

    merges: Mapping[tuple[int, int], int]
    lower: bool = False

    @classmethod
    def learn(cls, sentences: Iterable[str], size: int, lower: bool = False) -> Subwords:
        """Learn merges from sentences until the vocabulary has ``size`` entries, special ones included."""
        words = Counter(chunk for sentence in sentences for chunk in pre_tokenize(_prepared(sentence, lower)))
        spelled = {tuple(word.encode("utf-8")): count for word, count in words.items()}
        return cls(train_bpe(spelled, size - _FIRST - 256 - len(LANGUAGES)), lower)

    def __len__(self) -> int:
        return _FIRST + 256 + len(self.merges) + len(LANGUAGES)

    def tag(self, language: str) -> int:
        """The token that, before a source sentence, asks for a translation into ``language``."""
        return len(self) - len(LANGUAGES) + LANGUAGES.index(language)

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Sentences as lists of tokens, without special ones."""
        texts = [_prepared(sentence, self.lower) for sentence in sentences]
        return [[_FIRST + token for token in tokens] for tokens in encode_all(texts, self.merges)]

    def decode(self, tokens: Iterable[int]) -> str:
        """Tokens as a sentence; special ones are left out."""
        last = _FIRST + 256 + len(self.merges)
        return decode([n - _FIRST for n in tokens if _FIRST <= n < last], self.merges).strip()

    def save(self, path: Path) -> None:
        """Write the merges as JSON, whole or not at all."""
        write_text(path, json.dumps(self.state))

    @classmethod
    def load(cls, path: Path) -> Subwords:
        """Read what ``save`` wrote. UserError when the file is damaged."""
        try:
            return cls.from_state(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError):
            raise UserError(f"{path} cannot be read as subwords: it is damaged.") from None

    @property
    def state(self) -> dict[str, object]:
        """The merges in their order, and ``lower``: what ``from_state`` reads."""
        return {"lower": self.lower, "merges": [list(pair) for pair in self.merges]}

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Subwords:
        """From what ``state`` gives."""
        pairs: Iterable[tuple[int, int]] = state["merges"]  # type: ignore[assignment]
        merges = {(int(left), int(right)): new for new, (left, right) in enumerate(pairs, start=256)}
        return cls(merges, bool(state["lower"]))


def _prepared(sentence: str, lower: bool) -> str:
    """A blank before the first word, so that a word has one spelling wherever it stands."""
    return " " + (sentence.lower() if lower else sentence).strip()
