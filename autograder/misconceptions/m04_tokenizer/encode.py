"""Lab 04, ``encode``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import numpy as np

from autograder.misconceptions.m04_tokenizer.common import _vocabulary, reference
from autograder.testing import alternative, misconception


def _encode(text, merges, order, chunks=None, start=None):
    """Encoding with one part exchanged; ``order`` picks the pair to merge next."""
    ids = []
    for chunk in reference.pre_tokenize(text) if chunks is None else chunks:
        word = tuple(start(chunk) if start else chunk.encode("utf-8"))
        while known := [pair for pair in pairwise(word) if pair in merges]:
            pair = order(known, merges)
            word = reference.merge_pair(word, pair, merges[pair])
        ids += word
    return ids


def _earliest(known, merges):
    return min(known, key=merges.get)


@misconception("encode", title="the longest token that fits")
def longest_token_first(text, merges):
    """You take the longest token that fits, from the left. That often looks the same, but the model was
    trained on text that was merged in the order learned, and would see pieces that it does not know."""
    spelled = _vocabulary(merges)
    longest = sorted(spelled, key=lambda token: (-len(spelled[token]), token))
    ids = []
    for chunk in reference.pre_tokenize(text):
        rest = chunk.encode("utf-8")
        while rest:
            token = next(token for token in longest if rest.startswith(spelled[token]))
            ids.append(token)
            rest = rest[len(spelled[token]) :]
    return ids


@misconception("encode", title="the leftmost pair first")
def leftmost_pair_first(text, merges):
    """You merge the first pair that has a merge, from the left. An earlier merge further right must come first: among
    all pairs that have a merge take the one with the smallest new id."""
    return _encode(text, merges, lambda known, _: known[0])


@misconception("encode", title="the latest merge first")
def latest_merge_first(text, merges):
    """You apply the merges in reverse: the last one learned comes first. In training the first one came first, and the
    later ones were learned on what it left over."""
    return _encode(text, merges, lambda known, merges: max(known, key=merges.get))


@misconception("encode", title="the pair that is frequent in the new text first")
def frequent_pair_first(text, merges):
    """You count the pairs of the *new* text and merge the most frequent one. Then the same word would be cut
    differently in different texts. When encoding nothing is counted any more: the order learned decides."""
    return _encode(text, merges, lambda known, _: max(known, key=known.count))


@misconception("encode", title="a single pass")
def one_pass_only(text, merges):
    """You go through each chunk once and merge what you find. The new tokens can be merged again: repeat until no
    pair has a merge."""
    ids = []
    for chunk in reference.pre_tokenize(text):
        word, at, out = tuple(chunk.encode("utf-8")), 0, []
        while at < len(word):
            new = merges.get(word[at : at + 2])
            out.append(word[at] if new is None else new)
            at += 1 if new is None else 2
        ids += out
    return ids


@misconception("encode", title="characters instead of bytes", keeps="right for English text")
def characters_instead_of_bytes(text, merges):
    """You start from the characters' code points. é is then 233 and 海 is 28023, which collides with the new ids. Start
    from the bytes of the chunk, chunk.encode("utf-8")."""
    return _encode(text, merges, _earliest, start=lambda chunk: map(ord, chunk))


@misconception("encode", title="the text is not cut into chunks", keeps="right for single words")
def no_chunks(text, merges):
    """Your merges reach across the borders of words. In training they never did. Cut the text with pre_tokenize first
    and encode each chunk by itself."""
    return _encode(text, merges, _earliest, chunks=[text])


@misconception("encode", title="a list for each chunk")
def list_for_each_chunk(text, merges):
    """Your ids are right, but they lie in a list for each chunk. A model reads one list of numbers: put the ids of each chunk behind
    the others with += or extend; append puts the list itself there."""
    return [_encode(chunk, merges, _earliest, chunks=[chunk]) for chunk in reference.pre_tokenize(text)]


@misconception(
    "encode", title="only the last chunk comes back", keeps="right for texts of one chunk, such as a word"
)
def last_chunk_only(text, merges):
    """Only the ids of the last chunk come back: your list begins anew for each chunk. Begin it once, before the loop over the
    chunks; then the empty text gives an empty list, too."""
    for chunk in reference.pre_tokenize(text):
        ids = _encode(chunk, merges, _earliest, chunks=[chunk])
    return ids


@misconception(
    "encode",
    title="a chunk of two tokens is never merged",
    keeps="right but for chunks that could become a single token",
)
def two_tokens_never_merged(text, merges):
    """When a chunk has only two tokens left, you stop, though the two may have a merge. A single token has no pair; two tokens have
    one: go on while the chunk has more than one."""
    ids = []
    for chunk in reference.pre_tokenize(text):
        word = tuple(chunk.encode("utf-8"))
        while len(word) > 2 and (known := [pair for pair in pairwise(word) if pair in merges]):
            pair = _earliest(known, merges)
            word = reference.merge_pair(word, pair, merges[pair])
        ids += word
    return ids


#: As a student's cache of chunks keeps them.
_known: dict[str, list[int]] = {}


@misconception(
    "encode", title="the ids of an earlier call are kept", keeps="right as long as the merges stay the same"
)
def chunks_of_an_earlier_call(text, merges):
    """What you keep of a chunk outlives the call: with other merges the same chunk still gets its old ids. Keep such a table inside
    the function, or make the merges part of its key."""
    ids = []
    for chunk in reference.pre_tokenize(text):
        if chunk not in _known:
            _known[chunk] = _encode(chunk, merges, _earliest, chunks=[chunk])
        ids += _known[chunk]
    return ids


@misconception(
    "encode",
    title="the text is normalized first",
    keeps="right for texts whose accents are no characters of their own",
)
def normalized_first(text, merges):
    """An e and an accent, two characters, come out as the one character é. It looks the same, but is another text, so decode no longer
    gives back what went in. Encode the text as it is, without normalizing it."""
    return _encode(unicodedata.normalize("NFC", text), merges, _earliest)


@alternative("encode")
def merge_after_merge(text, merges):
    ids = []
    for chunk in reference.pre_tokenize(text):
        tokens = list(chunk.encode())
        for (left, right), new in merges.items():
            i = 0
            while i < len(tokens) - 1:
                if tokens[i] == left and tokens[i + 1] == right:
                    tokens[i : i + 2] = [new]
                i += 1
        ids.extend(tokens)
    return ids


@alternative("encode")
def one_place_at_a_time_in_an_array(text, merges):
    found = []
    for chunk in reference.pre_tokenize(text):
        tokens = [int(byte) for byte in bytearray(chunk, "utf-8")]
        while True:
            ranked = [(merges[pair], i) for i, pair in enumerate(pairwise(tokens)) if pair in merges]
            if not ranked:
                break
            new, i = min(ranked)
            tokens = [*tokens[:i], new, *tokens[i + 2 :]]
        found += tokens
    return np.array(found, dtype=np.int32)
