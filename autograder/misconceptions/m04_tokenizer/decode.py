"""Lab 04, ``decode``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

from autograder.misconceptions.m04_tokenizer.common import _vocabulary
from autograder.testing import alternative, misconception


@misconception("decode", title="each token is decoded by itself")
def token_by_token(ids, merges):
    """Characters whose bytes lie in two tokens come out as �. Half a character is not valid UTF-8. Join the bytes of
    all tokens first, and decode once at the end."""
    spelled = _vocabulary(merges)
    return "".join(spelled[token].decode("utf-8", errors="replace") for token in ids)


@misconception("decode", title="right part before left")
def right_before_left(ids, merges):
    """Your merged tokens are spelled backwards: the right part stands before the left one. A merge (left, right) stands
    for the bytes of left followed by those of right."""
    spelled = {byte: bytes([byte]) for byte in range(256)}
    for (left, right), new in merges.items():
        spelled[new] = spelled[right] + spelled[left]
    return b"".join(spelled[token] for token in ids).decode("utf-8", errors="replace")


@misconception("decode", title="a byte is taken for a character")
def bytes_as_characters(ids, merges):
    """é comes out as Ã©: each byte was turned into a character of its own (with chr, or as Latin-1). A byte is only a
    part of a character; join them and read them as UTF-8."""
    return b"".join(_vocabulary(merges)[token] for token in ids).decode("latin-1")


@misconception(
    "decode", title="broken bytes raise an error", keeps="right for every valid text; a broken end is rare"
)
def strict_decoding(ids, merges):
    """Half an emoji makes your function fail. A language model may stop in the middle of a character, and the reader
    still wants to see the rest: errors="replace" puts a � there."""
    return b"".join(_vocabulary(merges)[token] for token in ids).decode("utf-8")


@misconception(
    "decode", title="broken bytes are swallowed", keeps="right for every valid text; a broken end is rare"
)
def ignored_bytes(ids, merges):
    """Bytes that are no valid UTF-8 vanish without a trace. A sign that something was broken is more honest: the � of
    errors="replace"."""
    return b"".join(_vocabulary(merges)[token] for token in ids).decode("utf-8", errors="ignore")


#: As the lab's first card leaves it.
_kept: dict[int, bytes] = {256: b"aa", 257: b"aaa", 258: b"aaab"}


@misconception(
    "decode", title="the table of an earlier call is kept", keeps="right whenever it is called once"
)
def table_of_an_earlier_call(ids, merges):
    """Your function is right the first time that it is called, and then no longer: its table of tokens stands outside of it and
    keeps the merges of the call before. Build the table inside the function, from the merges that come with the call."""
    for byte in range(256):
        _kept.setdefault(byte, bytes([byte]))
    for (left, right), new in merges.items():
        _kept.setdefault(new, _kept[left] + _kept[right])
    return b"".join(_kept[token] for token in ids).decode("utf-8", errors="replace")


@misconception("decode", title="merges are spelled one level deep")
def one_level_deep(ids, merges):
    """Tokens made of merged tokens are not spelled to the end: a part that is itself a merged token is missing. Go
    through the merges in the order learned; then the bytes of both parts are always known."""
    parts = {new: pair for pair, new in merges.items()}
    found = [part for token in ids for part in parts.get(token, (token,)) if part < 256]
    return bytes(found).decode("utf-8", errors="replace")


@misconception(
    "decode",
    title="merged tokens are decoded by themselves",
    keeps="right wherever no character reaches from a merged token into its neighbour",
)
def merged_tokens_by_themselves(ids, merges):
    """You read single bytes together, but each merged token by itself. A character may begin in a merged token and end in the byte
    behind it. Join the bytes of all tokens first, and decode once."""
    spelled, text, single = _vocabulary(merges), "", b""
    for token in ids:
        if token < 256:
            single += spelled[token]
            continue
        text += single.decode("utf-8", errors="replace") + spelled[token].decode("utf-8", errors="replace")
        single = b""
    return text + single.decode("utf-8", errors="replace")


@misconception("decode", title="merges are taken apart in the wrong order")
def first_merges_taken_apart_first(ids, merges):
    """Tokens made of merged tokens are not taken apart to the end: you go once through the merges, from the first to the last, and a
    late merge brings back tokens of early ones. Go from the last to the first."""
    tokens = list(ids)
    for pair, new in merges.items():
        tokens = [part for token in tokens for part in (pair if token == new else (token,))]
    return bytes(tokens).decode("utf-8", errors="replace")


@misconception(
    "decode",
    title="merges are taken apart ten times only",
    keeps="right for tokens that are made of few merges",
)
def ten_levels_deep(ids, merges):
    """Tokens that are made of many merges, one in the other, are not taken apart to the end: your function stops after a fixed number of
    rounds. Nobody knows how deep merges lie in merges; go on until only bytes are left."""
    parts, tokens = {new: pair for pair, new in merges.items()}, list(ids)
    for _ in range(10):
        tokens = [part for token in tokens for part in parts.get(token, (token,))]
    return bytes(tokens).decode("utf-8", errors="replace")


@misconception(
    "decode",
    title="the list of ids is changed",
    keeps="the text is right; the caller's list is not what it was",
)
def ids_taken_apart_in_place(ids, merges):
    """Your function takes the caller's list of ids apart. Whoever decodes the same ids again has other ones then. Work on a copy,
    list(ids)."""
    parts, i = {new: pair for pair, new in merges.items()}, 0
    while i < len(ids):
        if ids[i] in parts:
            ids[i : i + 1] = parts[ids[i]]
        else:
            i += 1
    return bytes(ids).decode("utf-8", errors="replace")


@alternative("decode")
def by_recursion(ids, merges):
    parts = {new: pair for pair, new in merges.items()}

    def spell(token):
        return [token] if token not in parts else [*spell(parts[token][0]), *spell(parts[token][1])]

    return bytearray(byte for token in ids for byte in spell(token)).decode("utf8", "replace")


@alternative("decode")
def undoing_the_merges_from_the_last(ids, merges):
    tokens = list(ids)
    for pair, new in reversed(list(merges.items())):
        tokens = [part for token in tokens for part in (pair if token == new else (token,))]
    return str(bytes(tokens), "utf-8", errors="replace")
