"""What lab 04 taught, for later labs: UTF-8, cutting text into chunks, and byte-pair encoding that trains in seconds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import regex

Pair = tuple[int, int]
Word = tuple[int, ...]

#: GPT-2's pattern: endings, words, numbers, signs (each with the blank before it), white space.
PATTERN = regex.compile(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")


def utf8_encode(codepoint: int) -> list[int]:
    """The one to four bytes that UTF-8 writes for a code point. ValueError outside of 0 … 0x10FFFF."""
    return list(chr(codepoint).encode("utf-8"))


def pre_tokenize(text: str) -> list[str]:
    """The chunks of a text, nothing lost; merges never reach from one into the next."""
    chunks: list[str] = PATTERN.findall(text)
    return chunks


def count_pairs(words: Mapping[Word, int]) -> dict[Pair, int]:
    """How often two tokens stand side by side, each word taken as often as it occurs; in the order first met."""
    counts: dict[Pair, int] = {}
    for word, count in words.items():
        for pair in pairwise(word):
            counts[pair] = counts.get(pair, 0) + count
    return counts


def train_bpe(words: Mapping[Word, int], merges: int) -> dict[Pair, int]:
    """Learn up to ``merges`` merges: ``{(left, right): new id}``, ids from 256 on in the order learned.

    The most frequent pair wins; on a tie the one that a fresh count would meet first. Counts are kept up to
    date: a merge touches only the words that hold the pair.
    """
    spelled = [list(word) for word in words]
    counts = list(words.values())
    pairs: dict[Pair, int] = defaultdict(int)
    holders: dict[Pair, set[int]] = defaultdict(set)  # the words that hold a pair, by number
    for number, word in enumerate(spelled):
        _change(pairs, holders, number, word, counts[number])
    learned: dict[Pair, int] = {}
    while len(learned) < merges and pairs:
        best = _most_frequent(pairs, holders, spelled)
        learned[best] = 256 + len(learned)
        for number in list(holders[best]):
            _change(pairs, holders, number, spelled[number], -counts[number])
            spelled[number] = _merged(spelled[number], best, learned[best])
            _change(pairs, holders, number, spelled[number], counts[number])
    return learned


def _change(
    pairs: dict[Pair, int], holders: dict[Pair, set[int]], number: int, word: list[int], by: int
) -> None:
    """Add (or take away, when ``by`` is negative) the pairs of one word."""
    for pair in pairwise(word):
        pairs[pair] += by
        if by > 0:
            holders[pair].add(number)
        else:
            holders[pair].discard(number)
            if not pairs[pair]:
                del pairs[pair]


def _most_frequent(
    pairs: Mapping[Pair, int], holders: Mapping[Pair, set[int]], spelled: Sequence[list[int]]
) -> Pair:
    highest = max(pairs.values())
    tied = [pair for pair, count in pairs.items() if count == highest]
    if len(tied) == 1:
        return tied[0]

    def first_place(pair: Pair) -> tuple[int, int]:
        number = min(holders[pair])
        return number, list(pairwise(spelled[number])).index(pair)

    return min(tied, key=first_place)


def _merged(word: Sequence[int], pair: Pair, new: int) -> list[int]:
    """``word`` with every occurrence of ``pair`` replaced, from the left, without overlap."""
    merged: list[int] = []
    place = 0
    while place < len(word):
        here = tuple(word[place : place + 2]) == pair
        merged.append(new if here else word[place])
        place += 2 if here else 1
    return merged


def encode(text: str, merges: Mapping[Pair, int]) -> list[int]:
    """The token ids of a text: bytes, then in every chunk the merge learned earliest, again and again."""
    return encode_all([text], merges)[0]


def encode_all(texts: Iterable[str], merges: Mapping[Pair, int]) -> list[list[int]]:
    """``encode`` of many texts; each different chunk is worked out once."""
    known: dict[str, list[int]] = {}
    encoded = []
    for text in texts:
        ids: list[int] = []
        for chunk in pre_tokenize(text):
            if chunk not in known:
                known[chunk] = _encode_chunk(chunk, merges)
            ids += known[chunk]
        encoded.append(ids)
    return encoded


def _encode_chunk(chunk: str, merges: Mapping[Pair, int]) -> list[int]:
    word = list(chunk.encode("utf-8"))
    while len(word) > 1:
        new, pair = min((merges.get(pair, len(merges) + 256), pair) for pair in pairwise(word))
        if pair not in merges:
            break
        word = _merged(word, pair, new)
    return word


def decode(ids: Iterable[int], merges: Mapping[Pair, int]) -> str:
    """The text that token ids spell; bytes that are no valid UTF-8 become the replacement character."""
    spelled = {byte: bytes([byte]) for byte in range(256)}
    for (left, right), new in merges.items():
        spelled[new] = spelled[left] + spelled[right]
    return b"".join(spelled[token] for token in ids).decode("utf-8", errors="replace")
