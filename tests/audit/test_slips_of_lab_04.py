"""Lab 04: slips where two features meet (broken bytes beside merges, an ending with merges, merged tokens in order) lose one test or two."""

from __future__ import annotations

from itertools import pairwise

import pytest
import regex

from autograder.course.masters import solution

from .slips import loses_a_little

LAB = "04_tokenizer"


def _right(question):
    return solution(LAB)[question]


def _strict_where_tokens_are_merged(ids, merges):
    text = _right("decode")(ids, merges)
    if any(token > 255 for token in ids) and "\ufffd" in text:
        raise ValueError("these are no tokens of a text")
    return text


def _merged_tokens_sorted(words):
    counts = _right("count_pairs")(words)
    return dict(sorted(counts.items())) if any(max(pair) > 255 for pair in counts) else counts


def _repeats_of_merged_tokens_once(words):
    counts = {}
    for word, count in words.items():
        for pair in dict.fromkeys(pairwise(word)):
            places = sum(pair == other for other in pairwise(word))
            counts[pair] = counts.get(pair, 0) + count * (1 if max(pair) > 255 else places)
    return counts


def _largest_of_a_tie_in_one_word(words, merges):
    if len(words) > 1:
        return _right("train_bpe")(words, merges)
    learned, words = {}, dict(words)
    while len(learned) < merges and (pairs := _right("count_pairs")(words)):
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        learned[best] = 256 + len(learned)
        words = {solution(LAB)["merge_pair"](word, best, learned[best]): n for word, n in words.items()}
    return learned


def _chunks_without_endings(text, merges):
    chunks = regex.findall(r" ?\p{L}+(?:'\p{L}+)?| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text)
    return [token for chunk in chunks for token in _of_one_chunk(chunk, merges)]


def _of_one_chunk(chunk, merges):
    word = tuple(chunk.encode("utf-8"))
    while pairs := [pair for pair in pairwise(word) if pair in merges]:
        best = min(pairs, key=merges.get)
        word = solution(LAB)["merge_pair"](word, best, merges[best])
    return word


SLIPS = [
    ("decode", _strict_where_tokens_are_merged),
    ("count_pairs", _merged_tokens_sorted),
    ("count_pairs", _repeats_of_merged_tokens_once),
    ("train_bpe", _largest_of_a_tie_in_one_word),
    ("encode", _chunks_without_endings),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("question", "slip"), SLIPS, ids=lambda value: getattr(value, "__name__", value))
def test_a_slip_in_one_branch_loses_a_little(question, slip):
    # The ties of the card's single word are few.
    loses_a_little(LAB, question, slip, red=slip is not _largest_of_a_tie_in_one_word)
