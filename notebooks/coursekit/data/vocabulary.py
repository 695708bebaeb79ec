"""Words and subwords as numbers: the special tokens, the vocabularies of lab 12, and the types of its batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from coursekit.data import parallel

#: The numbers of the special tokens in both vocabularies.
PAD, BOS, EOS, UNKNOWN = 0, 1, 2, 3
SPECIALS = ("<pad>", "<bos>", "<eos>", "<unk>")

Pair = tuple[list[int], list[int]]
Batch = tuple[Tensor, Tensor, Tensor]
MakeBatch = Callable[[list[Pair]], Batch]


@dataclass(frozen=True)
class Vocabulary:
    """Words and their numbers: ``SPECIALS`` first, then the words of the training set in alphabetical order."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> Vocabulary:
        """Every word that occurs in ``sentences`` (lists of words)."""
        return cls((*SPECIALS, *sorted({word for sentence in sentences for word in sentence})))

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, sentence: str) -> list[int]:
        """A sentence as word numbers. An unknown word becomes ``UNKNOWN``."""
        return [self.numbers.get(word, UNKNOWN) for word in parallel.tokenize(sentence)]

    def decode(self, numbers: Iterable[int]) -> str:
        """Word numbers as a sentence."""
        return parallel.detokenize([self.words[number] for number in numbers])

    def __len__(self) -> int:
        return len(self.words)


def vocabularies(pairs: Iterable[tuple[str, str]]) -> tuple[Vocabulary, Vocabulary]:
    """The vocabularies of both languages, from pairs of sentences."""
    english, german = zip(*pairs, strict=True)
    return Vocabulary.of(map(parallel.tokenize, english)), Vocabulary.of(map(parallel.tokenize, german))


def numbered(
    pairs: Iterable[tuple[str, str]], english: Vocabulary, german: Vocabulary
) -> list[tuple[list[int], list[int]]]:
    """Pairs of sentences as pairs of lists of word numbers."""
    return [(english.encode(source), german.encode(target)) for source, target in pairs]
