"""Slips of lab 04."""

from __future__ import annotations

from itertools import pairwise

import regex

from autograder.course.masters import master
from tests.audit.slips import Slips

slip = Slips("04")
right = master("04")


@slip("decode")
def strict_where_tokens_are_merged(ids, merges):
    text = right.decode(ids, merges)
    if any(token > 255 for token in ids) and "\ufffd" in text:
        raise ValueError("these are no tokens of a text")
    return text


@slip("count_pairs")
def merged_tokens_sorted(words):
    counts = right.count_pairs(words)
    return dict(sorted(counts.items())) if any(max(pair) > 255 for pair in counts) else counts


@slip("count_pairs")
def repeats_of_merged_tokens_once(words):
    counts = {}
    for word, count in words.items():
        for pair in dict.fromkeys(pairwise(word)):
            places = sum(pair == other for other in pairwise(word))
            counts[pair] = counts.get(pair, 0) + count * (1 if max(pair) > 255 else places)
    return counts


@slip("train_bpe")
def largest_of_a_tie_in_one_word(words, merges):
    if len(words) > 1:
        return right.train_bpe(words, merges)
    learned, words = {}, dict(words)
    while len(learned) < merges and (pairs := right.count_pairs(words)):
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        learned[best] = 256 + len(learned)
        words = {right.merge_pair(word, best, learned[best]): n for word, n in words.items()}
    return learned


@slip("encode")
def chunks_without_endings(text, merges):
    chunks = regex.findall(r" ?\p{L}+(?:'\p{L}+)?| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text)
    return [token for chunk in chunks for token in _of_one_chunk(chunk, merges)]


def _of_one_chunk(chunk, merges):
    word = tuple(chunk.encode("utf-8"))
    while pairs := [pair for pair in pairwise(word) if pair in merges]:
        best = min(pairs, key=merges.get)
        word = right.merge_pair(word, best, merges[best])
    return word
