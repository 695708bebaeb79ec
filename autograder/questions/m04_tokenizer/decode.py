"""Lab 04, decode: token ids, merges {(left, right): new id} → the text that they spell."""

from autograder.questions.engine import Case, Question
from autograder.questions.m04_tokenizer.common import TOY, bytes_of, vocabulary


def text_of(ids, merges):
    parts = {new: pair for pair, new in merges.items()}
    return b"".join(bytes_of(token, parts) for token in ids).decode("utf-8", errors="replace")


question = Question(text_of)

MANY_BYTES = "naïve Übung: 3 € für θάλασσα, 海 und 😀!"


def random_merges(rng, count):
    """Merges, the later ones of earlier ones."""
    merges: dict[tuple[int, int], int] = {}
    tokens = list(b"abcdefgh ")
    while len(merges) < count:
        left, right = (
            tokens[-int(i) if i <= 4 else int(i) % len(tokens)] for i in rng.integers(1, 40, size=2)
        )
        if (left, right) not in merges and len(vocabulary({**merges, (left, right): 999})[999]) < 20:
            merges[left, right] = 256 + len(merges)
            tokens.append(merges[left, right])
    return merges


@question.family("The lecture's five tokens; tokens made of merged tokens are spelled out, left part first.")
def merged_tokens(rng):
    yield Case([258, 100, 258, 97, 99], TOY, gives="aaabdaaabac")
    for count in (5, 12):
        merges = random_merges(rng, count)
        yield [*rng.integers(97, 105, 4).tolist(), *rng.integers(256, 256 + count, 12).tolist()], merges


@question.family("A character may lie in two tokens: all bytes are joined before they are read.", weight=0.5)
def many_bytes(rng):
    yield list("".join(rng.permutation(list(MANY_BYTES))).encode("utf-8")), {}


@question.family("Merges in merges in merges are spelled out to the end.", weight=0.5)
def deep_merges(rng):
    a, b = rng.permutation(range(97, 123))[:2].tolist()
    yield [290, b, 280], {(a, a): 256, **{(token, a): token + 1 for token in range(256, 290)}}


@question.family("A character may begin in a merged token and end behind it.")
def across_tokens(rng):
    letter = int(rng.integers(97, 123))
    merges = {(letter, 195): 256, (256, 169): 257, (169, letter): 258, (195, 258): 259}
    for ids in ([256, 169], [257, 195, 258, 256, 169, 259], [195, 258]):
        yield ids, merges


@question.family("Bytes that are no valid UTF-8 become �, and no token at all the empty text.", weight=0.75)
def broken_bytes(rng):
    for cut in (5, 6, 7):
        yield list("see 😀 sea".encode()[:cut]), {}
    yield rng.permutation(256).tolist(), {}
    yield [115, 256, 32], {(0xF0, 0x9F): 256}
    yield [], TOY


@question.misconception("each token is decoded by itself", costs=1)
def token_by_token(ids, merges):
    """Characters whose bytes lie in two tokens come out as �. Half a character is not valid UTF-8. Join the bytes of all tokens first, and
    decode once at the end."""
    known = vocabulary(merges)
    return "".join(known[token].decode("utf-8", errors="replace") for token in ids)


@question.misconception("right part before left", costs=1.5)
def right_before_left(ids, merges):
    """Your merged tokens are spelled backwards: the right part stands before the left one. A merge (left, right) stands for the bytes of
    left followed by those of right."""
    return text_of(ids, {(right, left): new for (left, right), new in merges.items()})


def _decoded(ids, merges, encoding="utf-8", errors="strict"):
    return b"".join(vocabulary(merges)[token] for token in ids).decode(encoding, errors)


@question.misconception("a byte is taken for a character", costs=1.5)
def bytes_as_characters(ids, merges):
    """é comes out as Ã©: each byte was turned into a character of its own (with chr, or as Latin-1). A byte is only a part of a character;
    join them and read them as UTF-8."""
    return _decoded(ids, merges, "latin-1")


@question.misconception("broken bytes raise an error", costs=0.5)
def strict_decoding(ids, merges):
    """Half an emoji makes your function fail. A language model may stop in the middle of a character, and the reader still wants to see the
    rest: errors="replace" puts a � there."""
    return _decoded(ids, merges)


@question.misconception("broken bytes are swallowed", costs=0.5)
def ignored_bytes(ids, merges):
    """Bytes that are no valid UTF-8 vanish without a trace. A sign that something was broken is more honest: errors="replace"."""
    return _decoded(ids, merges, errors="ignore")


_kept: dict[int, bytes] = {256: b"aa", 257: b"aaa", 258: b"aaab"}


@question.misconception("the table of an earlier call is kept", costs=1, because="the first call is right")
def table_of_an_earlier_call(ids, merges):
    """Your function is right the first time that it is called, and then no longer: its table of tokens stands outside of it and keeps the
    merges of the call before. Build the table inside the function, from the merges that come with the call."""
    for byte in range(256):
        _kept.setdefault(byte, bytes([byte]))
    for (left, right), new in merges.items():
        _kept.setdefault(new, _kept[left] + _kept[right])
    return b"".join(_kept[token] for token in ids).decode("utf-8", errors="replace")


@question.misconception("merges are spelled one level deep", costs=1)
def one_level_deep(ids, merges):
    """Tokens made of merged tokens are not spelled to the end: a part that is itself a merged token is missing. Go through the merges in the
    order learned; then the bytes of both parts are always known."""
    parts = {new: pair for pair, new in merges.items()}
    found = [part for token in ids for part in parts.get(token, (token,)) if part < 256]
    return bytes(found).decode("utf-8", errors="replace")


@question.alternative
def undoing_the_merges_from_the_last(ids, merges):
    tokens = list(ids)
    for pair, new in reversed(list(merges.items())):
        tokens = [part for token in tokens for part in (pair if token == new else (token,))]
    return str(bytes(tokens), "utf-8", errors="replace")
