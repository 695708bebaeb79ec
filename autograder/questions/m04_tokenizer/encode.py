"""Lab 04, encode: a text, merges {(left, right): new id} in the order learned → its token ids."""

from itertools import islice, pairwise

import numpy as np

from autograder.questions.engine import Case, Question
from autograder.questions.m04_tokenizer.common import (
    TOY,
    chunks_of,
    cut,
    letter,
    merged,
    random_words,
    spelled,
    token,
    trained,
    vocabulary,
)


def encoded(text, merges):
    """Merge after merge in the order learned, each at all places of a chunk."""
    ids = []
    for chunk in chunks_of(text):
        word = spelled(chunk.encode("utf-8"))
        for pair, new in merges.items():
            word = word.replace(spelled(pair), letter(new))
        ids += map(token, word)
    return ids


question = Question(
    encoded,
    uses=("pre_tokenize", "utf8_encode", "count_pairs"),
    forbidden=("tokenizers.Tokenizer", "tokenizers.ByteLevelBPETokenizer", "tiktoken.get_encoding"),
)


def telling_words(rng, letters, merges, count):
    """Random words that show it when a merge is applied out of turn, in whichever way that is usually done."""
    drawn = ("".join(rng.choice(list(letters), size=rng.integers(5, 20))) for _ in range(500))
    others = longest_token_first, leftmost_pair_first, latest_merge_first, frequent_pair_first
    return list(
        islice((w for w in drawn if all(other(w, merges) != encoded(w, merges) for other in others)), count)
    )


@question.family(
    "The cases by hand; in a new word the merge that was learned earliest is applied first.", weight=3.5
)
def in_the_order_learned(rng):
    yield Case("aaabdaaabac", TOY, gives=[258, 100, 258, 97, 99])
    yield Case("baab", TOY, gives=[98, 256, 98])
    for letters, count in (("ab", 8), ("abc", 15)):
        words: list[str] = []
        while not words:
            merges = trained(random_words(rng, 20, letters, longest=12), count)[0]
            words = telling_words(rng, letters, merges, 3)
        for word in words:
            yield word, merges


@question.family("An earlier merge wins over a longer token, and over a pair further left.")
def neither_longest_nor_leftmost(rng):
    a, b, c, d = rng.permutation(list(b"abcdwxyz"))[:4].tolist()
    merges = {(b, c): 256, (a, b): 257, (257, c): 258, (c, d): 259, (258, d): 260, (256, d): 261}
    for word in (
        [a, b, c],
        [a, b, c, d],
        [a, b, a, b, c, c, d],
        [c, d, b, c, d],
        [a, b, c, b, c, a, b],
        [d, c],
    ):
        yield bytes(word).decode(), merges


@question.family("Every chunk is encoded by itself: no merge reaches from one into the next.")
def inside_a_chunk(rng):
    m, u, o = rng.permutation(list(b"abcfghijkmnopquvwxyz"))[:3].tolist()
    merges = {(m, 32): 256, (32, m): 257, (257, u): 258, (o, 258): 259, (u, 33): 260}
    for text in ("om muo muom mu! m", "m m m", "o mu", "muu! muo"):
        yield "".join({"m": chr(m), "u": chr(u), "o": chr(o)}.get(c, c) for c in text), merges


@question.family("Without merges a text is its UTF-8 bytes, in any script.", weight=1.5)
def begins_as_its_bytes(rng):
    for text in ("größer", "лодки 山", "see 😀!", "", "ß"):
        yield text + chr(int(rng.integers(0xE0, 0xF6))) * bool(text), {}
    yield "schön", {(195, 182): 256, (256, 110): 257}


@question.family("Any text: in chunks, as bytes, in the order learned, and nothing is lost.")
def any_text(rng):
    pieces = ["sea", "sailor", "ship", "thing", "лодка", "海", "ü", "é"]
    words = {tuple("".join(rng.choice(pieces, size=3)).encode()): int(rng.integers(1, 99)) for _ in range(20)}
    merges = trained(words, 25)[0]
    for pair in ((122, 32), (97, 39), (39, 115)):
        merges[pair] = 256 + len(merges)
    for _ in range(2):
        some = ["".join(rng.choice(pieces, size=rng.integers(1, 4))) for _ in range(4)]
        yield f"{some[0]}!ü jazz {some[1]}  {some[2]}'s the {some[3]} sea's 's'", merges
    yield "'s", merges


@question.family("The same text with other merges has other ids.", weight=3)
def merges_of_its_own(rng):
    a, b, c = rng.permutation(list(b"abcdefghijkmnopqruvwxyz"))[:3].tolist()
    for merges in ({(a, b): 256}, {(b, c): 256}, {}):
        yield bytes([a, b, c]).decode(), merges


@question.family(
    "An accent that is a character of its own stays one, and so does every other character.", weight=0.5
)
def odd_characters(rng):
    merges, word = {(99, 97): 256, (195, 169): 257}, "".join(rng.permutation(list("cabde")))
    for text in ("cab cafe\u0301 ", "cab ve\u0301lo vélo Å \u212b ﬁ ① ² ", "cab\r\nb\tc\u0301 "):
        yield text + word, merges


def _encode(text, merges, order=None, chunks=None, start=None):
    """Encoding with one part exchanged; ``order`` picks the pair to merge next."""
    ids = []
    for chunk in cut(text) if chunks is None else chunks:
        word = tuple(start(chunk) if start else chunk.encode("utf-8"))
        while known := [pair for pair in pairwise(word) if pair in merges]:
            pair = order(known, merges) if order else min(known, key=merges.get)
            word = merged(word, pair, merges[pair])
        ids += word
    return ids


@question.misconception("the longest token that fits", costs=2.5)
def longest_token_first(text, merges):
    """You take the longest token that fits, from the left. That often looks the same, but the model was trained on text that was merged in
    the order learned, and would see pieces that it does not know."""
    known = vocabulary(merges)
    longest = sorted(known, key=lambda token: (-len(known[token]), token))
    ids = []
    for chunk in cut(text):
        rest = chunk.encode("utf-8")
        while rest:
            ids.append(next(token for token in longest if rest.startswith(known[token])))
            rest = rest[len(known[ids[-1]]) :]
    return ids


@question.misconception("the leftmost pair first", costs=2)
def leftmost_pair_first(text, merges):
    """You merge the first pair that has a merge, from the left. An earlier merge further right must come first: among all pairs that have a
    merge take the one with the smallest new id."""
    return _encode(text, merges, lambda known, _: known[0])


@question.misconception("the latest merge first", costs=2)
def latest_merge_first(text, merges):
    """You apply the merges in reverse: the last one learned comes first. In training the first one came first, and the later ones were learned
    on what it left over."""
    return _encode(text, merges, lambda known, merges: max(known, key=merges.get))


@question.misconception("the pair that is frequent in the new text first", costs=2)
def frequent_pair_first(text, merges):
    """You count the pairs of the *new* text and merge the most frequent one. Then the same word would be cut differently in different texts.
    When encoding nothing is counted any more: the order learned decides."""
    return _encode(text, merges, lambda known, _: max(known, key=known.count))


@question.misconception("a single pass", costs=3)
def one_pass_only(text, merges):
    """You go through each chunk once and merge what you find. The new tokens can be merged again: repeat until no pair has a merge."""
    ids = []
    for chunk in cut(text):
        word, at = tuple(chunk.encode("utf-8")), 0
        while at < len(word):
            new = merges.get(word[at : at + 2])
            ids.append(word[at] if new is None else new)
            at += 1 if new is None else 2
    return ids


@question.misconception("characters instead of bytes", costs=2)
def characters_instead_of_bytes(text, merges):
    """You start from the characters' code points. é is then 233 and 海 is 28023, which collides with the new ids. Start from the bytes of
    the chunk, chunk.encode("utf-8")."""
    return _encode(text, merges, start=lambda chunk: map(ord, chunk))


@question.misconception("the text is not cut into chunks", costs=1.5)
def no_chunks(text, merges):
    """Your merges reach across the borders of words. In training they never did. Cut the text with pre_tokenize first, and encode each chunk
    by itself."""
    return _encode(text, merges, chunks=[text])


@question.misconception("a list for each chunk", costs=1.5, because="every id is right")
def list_for_each_chunk(text, merges):
    """Your ids are right, but they lie in a list for each chunk. A model reads one list of numbers: put the ids of each chunk behind the others
    with += or extend; append puts the list itself there."""
    return [_encode(chunk, merges, chunks=[chunk]) for chunk in cut(text)]


@question.alternative
def merge_after_merge(text, merges):
    ids = []
    for chunk in cut(text):
        tokens = list(chunk.encode())
        for (left, right), new in merges.items():
            i = 0
            while i < len(tokens) - 1:
                if tokens[i] == left and tokens[i + 1] == right:
                    tokens[i : i + 2] = [new]
                i += 1
        ids.extend(tokens)
    return ids


@question.alternative
def one_place_at_a_time_in_an_array(text, merges):
    found = []
    for chunk in cut(text):
        tokens = [int(byte) for byte in bytearray(chunk, "utf-8")]
        while True:
            ranked = [(merges[pair], i) for i, pair in enumerate(pairwise(tokens)) if pair in merges]
            if not ranked:
                break
            new, i = min(ranked)
            tokens = [*tokens[:i], new, *tokens[i + 2 :]]
        found += tokens
    return np.array(found, dtype=np.int32)


@question.impostor
def lower_case_only(right, text, merges):
    """It writes the text in small letters first.
    One survives: your text has small letters only."""
    return right(text.lower(), merges)


@question.impostor
def drops_what_is_not_ascii(right, text, merges):
    """It drops every character beyond ASCII.
    One survives: your text could be typed on an English typewriter."""
    return right(text.encode("ascii", errors="ignore").decode(), merges)


@question.impostor
def merges_across_chunks(right, text, merges):
    """It merges the end of a chunk with the beginning of the next.
    One survives: it knows no chunks. Have a merge of a letter and the blank after it."""
    blank, letter = ord(" "), ord("q")  # written as a letter, a blank ends no chunk
    renamed = {tuple(letter if part == blank else part for part in pair): new for pair, new in merges.items()}
    return [blank if token == letter else token for token in right(text.replace(" ", "q"), renamed)]


@question.impostor
def learned_last_goes_first(right, text, merges):
    """It applies the merge that was learned last before the others.
    One survives: it does not care which merge was learned first. Let two merges want the same letter."""
    turned = {new: 511 + len(merges) - new for new in merges.values()}
    renamed = {tuple(turned.get(part, part) for part in pair): turned[new] for pair, new in merges.items()}
    back = {turned[new]: new for new in turned}
    return [
        back.get(token, token) for token in right(text, dict(sorted(renamed.items(), key=lambda m: m[1])))
    ]
