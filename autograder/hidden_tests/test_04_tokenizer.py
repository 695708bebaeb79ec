"""Hidden tests of lab 04: UTF-8, chunks, and byte-pair encoding.

The references work on strings: bits as text, and a token as one character of a large alphabet, so that a
merge is ``str.replace`` (from the left, without overlap). They share nothing with a solution on tuples.
"""

from __future__ import annotations

import contextlib
import unicodedata
from functools import cache, partial
from itertools import islice, pairwise

import numpy as np

from autograder.testing import as_array, expect, expect_equal, expect_raises, follow_through, hidden_test

EQUIVALENT_MUTANTS = {
    "train_bpe: while len(learned) != merges:": "one merge more each time, so equality comes first"
}

LINES = [
    "a sailor went to sea sea sea",
    "to see what he could see see see",
    "but all that he could see see see",
    "was the bottom of the deep blue sea sea sea",
]
TOY = {(97, 97): 256, (256, 97): 257, (257, 98): 258}
MARKERS = {1: ["0"], 2: ["110", "10"], 3: ["1110", "10", "10"], 4: ["11110", "10", "10", "10"]}


# What a later question may lean on when the student's own is wrong: see ``follow_through``.
_COUNTS = """
def count_pairs(words):
    counts = {}
    for word, count in words.items():
        for left, right in zip(word[:-1], word[1:]):
            counts[left, right] = counts.get((left, right), 0) + count
    return counts
"""
_CHUNKS = r"""
import regex


def pre_tokenize(text):
    rules = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    return [match.group() for match in regex.finditer(rules, text)]


def utf8_encode(codepoint):
    return list(chr(codepoint).encode("utf-8"))
"""
_with_right_counts = follow_through(_COUNTS, "count_pairs")
_with_right_chunks = follow_through(_CHUNKS + _COUNTS, "pre_tokenize", "utf8_encode", "count_pairs")


# ------------------------------------------------------------------------------------------------- references


def _utf8(codepoint: int) -> list[int]:
    """The bytes of a code point, from its bits as text."""
    length = 1 + sum(codepoint > limit for limit in (0x7F, 0x7FF, 0xFFFF))
    markers = MARKERS[length]
    bits = format(codepoint, "b").zfill(sum(8 - len(marker) for marker in markers))
    found = []
    for marker in markers:
        own, bits = bits[: 8 - len(marker)], bits[8 - len(marker) :]
        found.append(int(marker + own, 2))
    return found


def _kind(character: str) -> str:
    if character.isspace():
        return "space"
    return {"L": "letter", "N": "number"}.get(unicodedata.category(character)[0], "sign")


def _chunk_length(text: str) -> int:
    """How many characters the first chunk of a text takes, by the six rules."""
    for ending in ("'s", "'d", "'m", "'t", "'ll", "'ve", "'re"):
        if text.startswith(ending):
            return len(ending)
    start = 1 if text[0] == " " and len(text) > 1 and _kind(text[1]) != "space" else 0
    kind, length = _kind(text[start]), start
    while length < len(text) and _kind(text[length]) == kind:
        length += 1
    if kind == "space" and length > 1 and length < len(text):
        length -= 1
    return length


def _chunks(text: str) -> list[str]:
    found = []
    while text:
        length = _chunk_length(text)
        found.append(text[:length])
        text = text[length:]
    return found


def _letter(token: int) -> str:
    return chr(0x10000 + token)


def _text_of(word) -> str:
    return "".join(map(_letter, word))


def _count(words: dict[str, int]) -> dict[str, int]:
    """Pairs (two letters) and their counts, in the order first met."""
    counts: dict[str, int] = {}
    for word, count in words.items():
        for place in range(len(word) - 1):
            pair = word[place : place + 2]
            counts[pair] = counts.get(pair, 0) + count
    return counts


def _train(words, merges: int) -> tuple[dict, bool, dict[str, int]]:
    """The merges, whether any of them was decided by a tie, and the words as they are in the end."""
    spelled = {_text_of(word): count for word, count in words.items()}
    learned, tied = {}, False
    for new in range(256, 256 + merges):
        counts = _count(spelled)
        if not counts:
            break
        highest = max(counts.values())
        leaders = [pair for pair, count in counts.items() if count == highest]
        tied |= len(leaders) > 1
        best = leaders[0]
        learned[ord(best[0]) - 0x10000, ord(best[1]) - 0x10000] = new
        spelled = {word.replace(best, _letter(new)): count for word, count in spelled.items()}
    return learned, tied, spelled


def _history(words, learned) -> tuple[list[int], list[list[str]], list[int]]:
    """For each merge the highest count and the pairs that have it; and the types in use, before and after each merge."""
    spelled = {_text_of(word): count for word, count in words.items()}
    highest, leaders, types = [], [], [len(set("".join(spelled)))]
    for (left, right), new in sorted(learned.items(), key=lambda item: item[1]):
        counts = _count(spelled)
        highest.append(max(counts.values(), default=0))
        leaders.append([pair for pair, count in counts.items() if count == highest[-1]])
        spelled = {w.replace(_letter(left) + _letter(right), _letter(new)): n for w, n in spelled.items()}
        types.append(len(set("".join(spelled))))
    return highest, leaders, types


def _encode_chunk(chunk: str, merges) -> list[int]:
    word = _text_of(chunk.encode("utf-8"))
    for (left, right), new in merges.items():
        word = word.replace(_letter(left) + _letter(right), _letter(new))
    return [ord(letter) - 0x10000 for letter in word]


def _encode(text: str, merges) -> list[int]:
    return [token for chunk in _chunks(text) for token in _encode_chunk(chunk, merges)]


def _words_of(chunks) -> dict[tuple[int, ...], int]:
    words: dict[tuple[int, ...], int] = {}
    for chunk in chunks:
        words[tuple(chunk.encode("utf-8"))] = words.get(tuple(chunk.encode("utf-8")), 0) + 1
    return words


def _random_words(rng, count: int, letters: str = "abcde", longest: int = 8, most: int = 100_000) -> dict:
    """Different words of few letters, each with a large count of its own, so that ties are rare."""
    words: dict[tuple[int, ...], int] = {}
    while len(words) < count:
        word = "".join(rng.choice(list(letters), size=rng.integers(1, longest + 1)))
        words.setdefault(tuple(word.encode("ascii")), int(rng.integers(1, most)))
    return words


def _rhyme() -> dict[tuple[int, ...], int]:
    return _words_of(word + "_" for line in LINES for word in line.split())


@cache
def _syllable_merges() -> dict[tuple[int, int], int]:
    """Merges learned from made-up words of syllables."""
    rng = np.random.default_rng(4)
    syllables = ["sea", "sai", "lor", "see", "ship", "the", "tho", "ing", "ü", "é", "лод", "ка", "海"]
    chunks = ["".join(rng.choice(syllables, size=rng.integers(1, 5))) for _ in range(400)]
    return _train(_words_of(chunks), 70)[0]


# ------------------------------------------------------------------------------------------------- utf8_encode


def _bytes(result, what="the list of bytes"):
    if isinstance(result, (bytes, bytearray)):
        return list(result)
    array = as_array(result, what)
    expect(array.ndim == 1, f"{what} should be a list, also when there is only one byte")
    return array.tolist()


def _expect_bytes(student, codepoints, what: str, last: int = 0) -> None:
    """The bytes of each; with ``last`` only so many at the end, where other tests ask whether anything stands before them."""
    for codepoint in codepoints:
        expect_equal(_bytes(student(codepoint))[-last:], _utf8(codepoint), what)


@hidden_test("utf8_encode", weight=2.5)
def test_the_limits_of_one_two_three_and_four_bytes(student):
    """7F, 7FF, FFFF and 10FFFF are the last that take one, two, three and four bytes."""
    limits = (0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 17 * 2**16 - 1, 0)
    _expect_bytes(student, limits, "the encoding at a limit of the table")


@hidden_test("utf8_encode", weight=2)
def test_characters_of_one_and_two_bytes(student, rng):
    """Characters of one and two bytes are written bit by bit as the table says."""
    for low, high in ((0x20, 0x7F), (0x81, 0x100), (0x100, 0x7FF)):
        codepoints = rng.integers(low, high, size=12).tolist()
        _expect_bytes(student, codepoints, f"a character of {1 + (low > 0x7F)} bytes")


@hidden_test("utf8_encode")
def test_characters_of_three_bytes(student, rng):
    """Characters of three bytes are written bit by bit as the table says."""
    _expect_bytes(student, rng.integers(0x801, 0xD800, size=30).tolist(), "a character of 3 bytes", last=3)


@hidden_test("utf8_encode", weight=1.5)
def test_characters_of_four_bytes(student, rng):
    """Characters of four bytes, emoji and those far above them, are written bit by bit as the table says."""
    for low, high in ((0x10001, 0x20000), (0x20000, 0x40000), (0x40000, 0x10FFFF)):
        _expect_bytes(student, rng.integers(low, high, size=12).tolist(), "a character of 4 bytes", last=4)


@hidden_test("utf8_encode", weight=1.5)
def test_there_are_17_times_2_to_the_16_code_points(student, rng):
    """The last code point is 17·2¹⁶ − 1; what lies outside raises a ValueError."""
    last = 17 * 2**16 - 1
    _expect_bytes(student, rng.integers(0x20, 0x7F, size=3).tolist(), "the encoding of a letter")
    for number in (17 * 2**16, last + int(rng.integers(2, 10**6)), -1, -int(rng.integers(2, 300))):
        expect_raises(
            ValueError, partial(student, number), "a number that is no code point should raise a ValueError"
        )


# ------------------------------------------------------------------------------------------------ pre_tokenize

LETTERS = [*"abstmdlvrexyzSTM", "é", "ß", "Ж", "я", "θ", "海", "क", "한"]
NUMBERS = [*"0123456789", "½", "²", "٣", "Ⅳ"]
SIGNS = [*'.,;:!?()-_#@$+="“”…€°', "😀", "🌊", "\u0301"]
SPACES = [" ", " ", " ", "\n", "\t", "\r\n", "\u00a0", "\u3000"]


def _random_text(rng, length: int, *alphabets, runs: int = 3) -> str:
    """Runs of characters of one alphabet after another."""
    pieces = []
    for _ in range(length):
        alphabet = alphabets[rng.integers(len(alphabets))]
        pieces += [alphabet[i] for i in rng.integers(len(alphabet), size=rng.integers(1, runs + 1))]
    return "".join(pieces)


def _in_turn(rng, count: int, between: list[str], *alphabets) -> str:
    """A word of each alphabet in turn, and one piece of ``between`` after each."""
    pieces = []
    for i in range(count):
        alphabet = alphabets[i % len(alphabets)]
        pieces += [alphabet[j] for j in rng.integers(len(alphabet), size=rng.integers(1, 4))]
        pieces.append(between[rng.integers(len(between))])
    return "".join(pieces)


def _expect_chunks(student, text: str, what: str) -> None:
    result = student(text)
    expect(isinstance(result, (list, tuple)), "the result should be a list of strings")
    expect(all(isinstance(chunk, str) for chunk in result), "every chunk should be a string")
    expect("".join(result) == text, f"{what}: joined, the chunks are not the text")
    expect_equal(result, _chunks(text), what)


ENGLISH, DIGITS, DOTS = [*"abcxyzXYZ"], [*"0123456789"], [*".,;:!?()-_#@"]


@hidden_test("pre_tokenize", weight=0.5)
def test_words_numbers_and_signs_take_the_blank_before_them(student, rng):
    """English words, numbers and signs are chunks, each with the one blank before it."""
    for _ in range(4):
        text = _in_turn(rng, 30, [" ", "", " "], ENGLISH, DIGITS, DOTS)
        _expect_chunks(student, text + "x 's", "a text of words, numbers and signs")


@hidden_test("pre_tokenize", weight=2)
def test_letters_and_numbers_of_all_scripts(student, rng):
    """Letters, numbers and signs of any script are chunks as the English ones are."""
    for _ in range(4):
        text = _in_turn(rng, 40, [" ", "", " "], LETTERS, NUMBERS, SIGNS, LETTERS)
        _expect_chunks(student, text + "é", "a text in many scripts")


@hidden_test("pre_tokenize", weight=1.75)
def test_english_endings(student, rng):
    """'s, 't, 'll and the other endings are cut off, in small letters and with a straight apostrophe only."""
    endings = ["'s", "'t", "'d", "'m", "'ll", "'ve", "'re", "'S", "'LL", "’s", "'x", "'", "'lo", "''s"]
    for _ in range(3):
        order = rng.permutation(len(endings))
        text = "".join(f"{rng.choice(['it', 'We', 'X9', 'naive'])}{endings[i]} " for i in order)
        _expect_chunks(student, text + "x", "a text with endings")
        _expect_chunks(student, "".join(endings[i] for i in order), "a text of endings alone")


@hidden_test("pre_tokenize", weight=1.25)
def test_of_several_blanks_the_last_belongs_to_the_next_word(student, rng):
    """Several blanks are cut before the last one; at the end of the text they stay together."""
    for _ in range(4):
        text = _in_turn(rng, 20, ["  ", "   ", " ", "     "], ENGLISH, DIGITS)
        _expect_chunks(student, text, "a text with several blanks")
        _expect_chunks(student, f"   {text}x", "a text with several blanks")
    for end in ("", "я", "its'", "_"):
        for blanks in ("    ", " \n\t ", "\t\t"):
            _expect_chunks(student, end + blanks, "a text that ends in white space")


@hidden_test("pre_tokenize", weight=1.25)
def test_only_a_blank_belongs_to_the_next_word(student, rng):
    """A tab or a line end between words is a chunk of its own."""
    for _ in range(4):
        text = _in_turn(rng, 20, ["\t", "\n", " ", "\u00a0"], ENGLISH, DIGITS)
        _expect_chunks(student, f"a\tb{text}x\ny", "a text with tabs and line ends")


@hidden_test("pre_tokenize", weight=1.25)
def test_nothing_is_ever_lost(student, rng):
    """Joined, the chunks of any text are the text, and the cuts are where the rules put them."""
    letters = [letter for letter in LETTERS if letter not in "STM"]
    for _ in range(4):
        text = _random_text(rng, 50, SIGNS, letters, SPACES, ["'", "'s", "'ll", "_"], NUMBERS)
        _expect_chunks(student, f"é  {text}x\ty", "any text")
    _expect_chunks(student, "a", "a single letter")
    _expect_chunks(student, "", "the empty text")


# ------------------------------------------------------------------------------------------------------ decode


def _spelled(token: int, parts: dict[int, tuple[int, int]]) -> bytes:
    if token < 256:
        return bytes([token])
    return b"".join(_spelled(part, parts) for part in parts[token])


def _decode(ids, merges) -> str:
    parts = {new: pair for pair, new in merges.items()}
    return b"".join(_spelled(token, parts) for token in ids).decode("utf-8", errors="replace")


def _random_merges(rng, count: int, bytes_allowed) -> dict[tuple[int, int], int]:
    merges: dict[tuple[int, int], int] = {}
    tokens = list(bytes_allowed)
    while len(merges) < count:
        left, right = (
            tokens[-int(i)] if i <= 3 else tokens[int(i) % len(tokens)] for i in rng.integers(1, 99, size=2)
        )
        if (left, right) not in merges and len(_spelled(left, {n: p for p, n in merges.items()})) < 40:
            merges[left, right] = 256 + len(merges)
            tokens.append(merges[left, right])
    return merges


@hidden_test("decode")
def test_merged_tokens_are_spelled_out(student, rng):
    """Tokens made of merged tokens are spelled out to their bytes, left part first."""
    for count in (1, 9, 40):
        merges = _random_merges(rng, count, b"abcdefgh ")
        ids = rng.integers(256 - 8, 256 + count, size=30).tolist()
        ids = [token if token >= 256 else b"abcdefgh"[token - 248] for token in ids]
        expect_equal(student(ids, merges), _decode(ids, merges), "the text of the tokens")
        expect(not student.mutated, "your function changes the list of ids or the merges")


_MANY_BYTES = "naïve Übung: 3 € für θάλασσα, 海 und 😀!"


@hidden_test("decode")
def test_a_character_may_lie_in_two_tokens(student, rng):
    """The bytes of all tokens are joined before they are read as UTF-8."""
    for _ in range(2):
        text = "".join(rng.permutation(list(_MANY_BYTES)))
        expect_equal(student(list(text.encode("utf-8")), {}), text, "a text from its bytes")


@hidden_test("decode", weight=0.5)
def test_merged_tokens_may_hold_parts_of_characters(student, rng):
    """Merged tokens that hold parts of characters, or merges in merges, are spelled out and joined, too."""
    deep = {(97, 97): 256, **{(token, 97): token + 1 for token in range(256, 290)}}
    expect_equal(student([256, 99], deep), "aac", "the text of a merged token and a byte")
    expect_equal(student([256, 169], {(97, 195): 256}), "aé", "the text of a merged token and a byte")
    expect_equal(student([290, 280], deep), 62 * "a", "the text of merges in merges")
    text = "".join(rng.permutation(list(_MANY_BYTES)))
    merges = _train(_words_of([text, text[3:20], text[7:30]]), 25)[0]
    expect_equal(student(_encode_chunk(text, merges), merges), text, "a text from its tokens")
    # What is no valid UTF-8, too.
    merges = {**_random_merges(rng, 7, b"abcdefgh "), (240, 159): 263, (263, 152): 264}
    for ids in ([*"see 😀".encode()[:7], 256, 262], [97, 263, 260, 100], [256, 257, 264], [264], [159]):
        expect_equal(student(ids, merges), _decode(ids, merges), "a text with half a character and merges")


@hidden_test("decode", weight=1.25)
def test_a_character_may_begin_in_a_merged_token_and_end_behind_it(student, rng):
    """Bytes of merged tokens and single bytes make up characters together."""
    letter = int(rng.integers(97, 123))
    merges = {(letter, 195): 256, (256, 169): 257, (169, letter): 258, (195, 258): 259}
    for ids in ([256, 169], [257, 195, 258, 256, 169, 259], [195, 258]):
        expect_equal(student(ids, merges), _decode(ids, merges), "a text of merged tokens and single bytes")


@hidden_test("decode")
def test_broken_utf8_becomes_the_replacement_character(student, rng):
    """Bytes that are no valid UTF-8 become �, and no token at all becomes the empty text."""
    whole = list("see 😀 sea".encode())
    for cut in (5, 6, 7):
        expect_equal(
            student(whole[:cut], {}), _decode(whole[:cut], {}), "a text that ends in half a character"
        )
    ids = rng.permutation(256).tolist()
    expect_equal(student(ids, {}), _decode(ids, {}), "a text of all bytes in a random order")
    expect_equal(student([], TOY), "", "the text of no token")


@hidden_test("decode", weight=0.5)
def test_the_lectures_five_tokens(student):
    """[258, 100, 258, 97, 99] is aaabdaaabac."""
    expect_equal(student([258, 100, 258, 97, 99], TOY), "aaabdaaabac", "the text of the five tokens")
    expect_equal(student([257, 256], TOY), "aaaaa", "the text of two merged tokens")


# ------------------------------------------------------------------------------------------------- count_pairs


def _expect_pairs(student, words, what, order: bool = False) -> None:
    result = student(words)
    if isinstance(result, list) and not order:  # the kind of value is judged once, with the order
        with contextlib.suppress(TypeError, ValueError):
            result = dict(result)
    expect(isinstance(result, dict), "the result should be a dictionary {(left, right): count}")
    spelled = {_text_of(word): count for word, count in words.items()}
    expected = {(ord(pair[0]) - 0x10000, ord(pair[1]) - 0x10000): n for pair, n in _count(spelled).items()}
    if order:
        expect_equal(list(result), list(expected), f"{what}, in the order in which they are first met,")
    expect_equal(result, expected, what)
    expect(not student.mutated, "your function changes the words it was given")


def _without_runs(rng, count: int, letters: str = "abcdefgh", most: int = 100_000) -> dict:
    """Different words in which no token stands twice."""
    words: dict[tuple[int, ...], int] = {}
    while len(words) < count:
        word = "".join(rng.permutation(list(letters))[: rng.integers(2, len(letters) + 1)])
        words.setdefault(tuple(word.encode("ascii")), int(rng.integers(1, most)))
    return words


@hidden_test("count_pairs")
def test_pairs_of_words_that_occur_once(student, rng):
    """In words that occur once each pair counts at every place where it stands."""
    for count in (2, 9, 40):
        _expect_pairs(student, _without_runs(rng, count, most=2), "the counts of the pairs")


@hidden_test("count_pairs", weight=1.5)
def test_the_pairs_of_a_single_word(student, rng):
    """In a single word that occurs often each pair counts as often. (Of its last pair another test asks.)"""
    for _ in range(3):
        word = tuple((rng.permutation(50) + 250).tolist()[: rng.integers(4, 9)])
        often = int(rng.integers(7, 10**5))
        result = student({word: often})
        if isinstance(result, list):
            with contextlib.suppress(TypeError, ValueError):
                result = dict(result)
        expect(isinstance(result, dict), "the result should be a dictionary {(left, right): count}")
        inner = {pair: count for pair, count in result.items() if pair != word[-2:]}
        expected = dict.fromkeys(pairwise(word[:-1]), often)
        expect_equal(inner, expected, "the counts of the pairs of a word")


@hidden_test("count_pairs")
def test_pairs_are_counted_with_their_words(student, rng):
    """Each pair counts as often as the words that hold it occur."""
    for count in (7, 40):
        _expect_pairs(student, _without_runs(rng, count), "the counts of the pairs")
    merged = {
        tuple((rng.permutation(50) + 250).tolist()[: rng.integers(2, 9)]): int(rng.integers(2, 50))
        for _ in range(20)
    }
    _expect_pairs(student, merged, "the counts of pairs of merged tokens")


@hidden_test("count_pairs", weight=1.5)
def test_overlaps_count_and_single_tokens_have_no_pair(student, rng):
    """A run of equal tokens holds a pair at every place; a word of one token holds none."""
    token = int(rng.integers(0, 256))
    words = {(token,) * length: int(rng.integers(2, 30)) for length in (1, 2, 3, 6)}
    _expect_pairs(student, words, "the counts in runs of equal tokens")
    _expect_pairs(student, {(5, 6, 5, 6, 5): 3, (6,): 9}, "the counts of pairs that take turns")
    big = token + 256
    for often in (1, 8):
        for word in ((token,) * 3, (big,) * 4, (big, token, big, token, big), (token, big, big, big)):
            _expect_pairs(student, {word: often}, "the counts of the pairs of a single word with repeats")
        mixed = {(big,) * 5: often, (token, big, token, big): often, (big,): often, (big, big, token): often}
        _expect_pairs(student, mixed, "the counts of pairs of merged tokens with repeats")
    _expect_pairs(student, _random_words(rng, 12, "ab"), "the counts of the pairs of few letters")
    expect_equal(student({}), {}, "the counts without any word")
    expect_equal(student({(token,): 4}), {}, "the counts of a single token")


@hidden_test("count_pairs")
def test_the_rhymes_pairs_come_in_the_order_first_met(student, rng):
    """In the rhyme se occurs 13 times, and the pairs stand in the order in which they are met."""
    counts = student(_rhyme())
    expect(isinstance(counts, dict), "the result should be a dictionary {(left, right): count}")
    expect_equal(counts.get((115, 101)), 13, "the count of the pair se in the rhyme")
    _expect_pairs(student, _rhyme(), "the pairs of the rhyme", order=True)
    _expect_pairs(student, _without_runs(rng, 12, "zyxabc"), "the pairs", order=True)
    for often in (1, 6):
        word = tuple(400 - rng.permutation(40)[:7] * np.arange(1, 8) % 150)
        word = tuple(map(int, word))
        for words in ({word: often}, {(5,): 9, word: often, (900,): 3, (300, 2, 1): often}):
            _expect_pairs(student, words, "the pairs of single words and merged tokens", order=True)


# --------------------------------------------------------------------------------------------------- train_bpe


def _expect_merges(student, words, merges: int, what: str):
    result = student(words, merges)
    expect(isinstance(result, dict), "the result should be a dictionary {(left, right): new id}")
    expect_equal(result, _train(words, merges)[0], what)
    expect(not student.mutated, "your function changes the words it was given")


def _expect_first_merges(student, words, merges: int, what: str):
    """The first ``merges`` of two more: how many there are is what other tests ask."""
    result = student(words, merges + 2)
    expect(isinstance(result, dict), "the result should be a dictionary {(left, right): new id}")
    expect(len(result) >= merges, f"{what} is too short")
    expect_equal(dict(list(result.items())[:merges]), _train(words, merges)[0], what)
    expect(not student.mutated, "your function changes the words it was given")


def _untied(rng, letters: str, count: int = 30, most: int = 12) -> tuple[dict, int]:
    """Words, and a number of merges of which none has to be decided by a tie."""
    while True:
        words, merges = _random_words(rng, count, letters, longest=10), int(rng.integers(6, most))
        if not _train(words, merges)[1]:
            return words, merges


@hidden_test("train_bpe", weight=1.25)
@_with_right_counts
def test_the_first_merge_is_the_most_frequent_pair(student, rng):
    """A single merge is that of the most frequent pair."""
    for letters in ("abcde", "aab", "aaabc"):
        _expect_merges(student, _untied(rng, letters)[0], 1, "the first merge")


@hidden_test("train_bpe", weight=2.5)
@_with_right_counts
def test_the_most_frequent_pair_is_merged_again_and_again(student, rng):
    """Where no tie has to be decided, the merges are those of the most frequent pairs, counted anew each time."""
    for letters in ("abcde", "aab", "abcde", "aaabc"):
        _expect_first_merges(student, *_untied(rng, letters), "the list of merges")


@hidden_test("train_bpe", weight=1.25)
@_with_right_counts
def test_a_tie_goes_to_the_pair_that_is_met_first(student, rng):
    """Among pairs that occur equally often the one in the earliest word wins, there the leftmost."""
    for letters in ("zyxwv", "abcde", "badc"):
        words = {word: n + 1 for word, n in _random_words(rng, 9, letters, longest=6, most=3).items()}
        _expect_first_merges(student, words, 9, "the list of merges with ties")
    for first, second in (((8, 9), (3, 4)), ((3, 4), (8, 9))):
        words = {first: 2, second: 2, (1, 2): 1, (5, 6): 1}
        _expect_first_merges(student, words, 2, "the merges of two words that occur equally often")
    words = {(8, 9, 8, 9): 1, (3, 4): 1, (5, 6): 1}
    _expect_first_merges(student, words, 2, "the merges of a word that holds its pair twice")
    for word in (rng.permutation(12).tolist(), (7, 9, 5, 8, 6, 4, 3), (4, 5, 3, 8, 7, 9, 6)):
        for often in (1, 4):
            _expect_first_merges(student, {tuple(word): often}, 3, "the merges of a single word with ties")


@hidden_test("train_bpe", weight=0.75)
@_with_right_counts
def test_the_lectures_rhyme(student):
    """In the rhyme se (13) comes first, then e_ (12), then a tie at 7; types in use rise and fall to 18 in the end."""
    result = student(_rhyme(), 50)
    expect(isinstance(result, dict), "the result should be a dictionary {(left, right): new id}")
    expected, _, spelled = _train(_rhyme(), 50)
    pairs = sorted(result, key=result.get)
    expect_equal(pairs[:2], [(115, 101), (101, 95)], "the rhyme's first two merges")
    expect_equal(result, expected, "the rhyme's list of 50 merges")
    highest, leaders, types = _history(_rhyme(), result)
    expect_equal(highest[:3], [13, 12, 7], "how often the first three pairs of the rhyme occur")
    expect(len(leaders[2]) > 1, "the rhyme's third merge should be a tie")
    expect_equal(types[:3], [19, 20, 21], "the types in use of the lecture's tables a, b and c")
    expect(max(types) > types[0] > types[-1], "the types in use should rise and then fall")
    expect_equal(len(result), 50, "the number of merges, which grows to the end")
    student.observe("types in use", len(set("".join(spelled))))
    expect_equal(len(set("".join(spelled))), 18, "the number of types in use")


def _after_training(student, words, merges: int, what: str) -> list[list[int]]:
    """The words as the student's own merges leave them, whatever way ties were decided."""
    result = student(words, merges)
    expect(isinstance(result, dict), "the result should be a dictionary {(left, right): new id}")
    pairs = all(isinstance(pair, tuple) and len(pair) == 2 for pair in result)
    expect(pairs, "each key of the result should be a pair (left, right) of ids")
    expect_equal(sorted(result.values()), list(range(256, 256 + len(result))), f"{what}: the list of new ids")
    spelled = list(map(_text_of, words))
    for left, right in sorted(result, key=result.get):
        expect(0 <= left < 2**16 and 0 <= right < 2**16, f"{what}: a pair holds a number that is no id")
        spelled = [
            word.replace(_letter(left) + _letter(right), _letter(result[left, right])) for word in spelled
        ]
    return [[ord(letter) - 0x10000 for letter in word] for word in spelled]


@hidden_test("train_bpe", weight=0.75)
@_with_right_counts
def test_pairs_that_occur_once_are_merged_too(student):
    """A pair that occurs once is merged like any other."""
    after = _after_training(student, {tuple(b"fabecd"): 1}, 5, "a single word")
    expect_equal(after, [[260]], "a single word of six letters after its five merges")
    words = {tuple(b"fabecd"): 1, tuple(b"xyz"): 1, (0,): 1}
    after = _after_training(student, words, 40, "words that occur once")
    expect_equal(sorted(map(len, after)), [1, 1, 1], "the number of tokens in each of three words in the end")
    after = _after_training(student, {tuple(b"fabecd"): 1}, 3, "a single word")
    expect_equal(len(after[0]), 3, "the number of tokens in a word of six letters after three merges")


@hidden_test("train_bpe", weight=1.25)
@_with_right_counts
def test_it_stops_when_no_pair_is_left(student, rng):
    """Without pairs it stops early, and 0 merges learn nothing."""
    expect_equal(student(_random_words(rng, 5), 0), {}, "the list of merges when none is wanted")
    run = {tuple(b"aaaaaaaa"): int(rng.integers(2, 9))}
    merges = {(97, 97): 256, (256, 256): 257, (257, 257): 258}
    for most in (258, 50):
        expect_equal(student(run, most), merges, "the list of merges of a run")
    after = _after_training(student, {word: n + 1 for word, n in _rhyme().items()}, 80, "the rhyme")
    expect_equal(
        sorted(map(len, after)), [1] * 18, "the number of tokens in each word of the rhyme in the end"
    )
    expect_equal(student({(97,): 3}, 2), {}, "the list of merges without pairs")


@hidden_test("train_bpe", weight=0.75)
@_with_right_counts
def test_any_byte_is_a_token(student, rng):
    """Bytes of one, two and three digits are tokens like the others."""
    for left, right in ((97, 10), (12, 3), (int(rng.integers(20, 99)), int(rng.integers(10, 20)))):
        words = {(left, right): 9, (left, 10 * right + 5): 7, (100 + left, right): 5, (right, left): 3}
        _expect_first_merges(student, words, 2, "the list of merges of words of one pair each")


@hidden_test("train_bpe", weight=0.75)
@_with_right_counts
def test_the_toy_text_and_longer_words(student, rng):
    """aaabdaaabac shrinks to five tokens, and long words with repeats are merged without overlap."""
    after = _after_training(student, {tuple(b"aaabdaaabac"): 1}, 3, "aaabdaaabac")
    expect_equal(after, [[258, 100, 258, 97, 99]], "aaabdaaabac after three merges")
    for _ in range(3):
        words, merges = _untied_long(rng)
        _expect_merges(student, words, merges, "the list of merges of long words")


def _untied_long(rng) -> tuple[dict, int]:
    while True:
        words = _random_words(rng, 6, "ab", longest=60)
        if not _train(words, 7)[1]:
            return words, 7


# ------------------------------------------------------------------------------------------------------ encode


def _expect_ids(student, texts, merges, what, by_chunk: bool = False) -> None:
    """The ids of each text, with ``by_chunk`` also as a list for each chunk, where another test asks for one list.

    All are encoded before the first is judged, so that a diagnosis sees them all.
    """
    results = [student(text, merges) for text in texts]
    for text, result in zip(texts, results, strict=True):
        expect(isinstance(result, (list, tuple, np.ndarray)), "the result should be a list of token ids")
        if by_chunk and len(result) and all(isinstance(ids, (list, tuple)) for ids in result):
            result = [token for ids in result for token in ids]
        expect_equal(result, _encode(text, merges), what)
    expect(not student.mutated, "your function changes the merges it was given")


def _longest_first(chunk: str, merges) -> list[int]:
    """What a student gets who takes the longest token that fits."""
    parts = {new: pair for pair, new in merges.items()}
    spelled = {_spelled(token, parts): token for token in (*range(256), *parts)}
    rest, ids = chunk.encode("utf-8"), []
    while rest:
        size = next(size for size in range(len(rest), 0, -1) if rest[:size] in spelled)
        ids.append(spelled[rest[:size]])
        rest = rest[size:]
    return ids


def _leftmost_first(chunk: str, merges) -> list[int]:
    """What a student gets who merges the leftmost pair that has a merge."""
    ids = list(chunk.encode("utf-8"))
    while True:
        places = [i for i in range(len(ids) - 1) if (ids[i], ids[i + 1]) in merges]
        if not places:
            return ids
        i = places[0]
        ids[i : i + 2] = [merges[ids[i], ids[i + 1]]]


def _tells_the_order(word: str, merges) -> bool:
    """Whether the word shows that a merge was applied out of turn, whichever way that is usually done."""
    right = _encode_chunk(word, merges)
    return right not in (_longest_first(word, merges), _leftmost_first(word, merges))


def _telling_words(rng, letters: str, merges, count: int) -> list[str]:
    """Random words that tell the order; none where the merges have no such word."""
    drawn = ("".join(rng.choice(list(letters), size=rng.integers(5, 30))) for _ in range(500))
    return list(islice((word for word in drawn if _tells_the_order(word, merges)), count))


@hidden_test("encode", weight=2.5)
@_with_right_chunks
def test_merges_are_applied_in_the_order_learned(student, rng):
    """In a new word the merge that was learned earliest is applied first."""
    for letters, count in (("ab", 8), ("abc", 20), ("abcde", 30)):
        words: list[str] = []
        while not words:
            merges = _train(_random_words(rng, 25, letters, longest=12), count)[0]
            words = _telling_words(rng, letters, merges, 4)
        _expect_ids(student, words, merges, "the list of ids of a word", by_chunk=True)


@hidden_test("encode", weight=2)
@_with_right_chunks
def test_neither_the_longest_token_nor_the_leftmost_pair_goes_first(student, rng):
    """An earlier merge wins over a longer token and over a pair further left."""
    a, b, c, d = rng.permutation(list(b"abcdwxyz"))[:4].tolist()
    merges = {(b, c): 256, (a, b): 257, (257, c): 258, (c, d): 259, (258, d): 260, (256, d): 261}
    words = (
        [a, b, c],
        [a, b, c, d],
        [a, b, a, b, c, c, d],
        [c, d, b, c, d],
        [a, b, c, b, c, a, b],
        [d, c],
    )
    spelled = [bytes(word).decode() for word in words]
    _expect_ids(student, spelled, merges, "the list of ids of a word", by_chunk=True)


@hidden_test("encode", weight=1.25)
@_with_right_chunks
def test_merges_stay_inside_a_chunk(student):
    """Every chunk is encoded by itself: no merge reaches from one into the next."""
    spaced = {(109, 32): 256, (32, 109): 257, (257, 117): 258, (111, 258): 259, (117, 33): 260}
    texts = ["om muo muom mu! m", "m m m", "o mu", "muu! muo"]
    _expect_ids(student, texts, spaced, "the list of ids of a text with blanks", by_chunk=True)


@hidden_test("encode", weight=1.25)
@_with_right_chunks
def test_a_text_begins_as_its_bytes(student):
    """Without merges a text is its UTF-8 bytes, in any script, and merges are of bytes."""
    for text in ("größer", "лодки 山", "see 😀!", "", "x", "ß", "You've  we'll\t"):
        expect_equal(student(text, {}), list(text.encode()), "the list of ids without merges")
    _expect_ids(student, ["schön"], {(195, 182): 256, (256, 110): 257}, "the list of ids of a word with ö")


@hidden_test("encode", weight=2)
@_with_right_chunks
def test_any_text_in_chunks(student, rng):
    """In any text every chunk is encoded by itself, as UTF-8 bytes, in the order learned, and nothing is lost."""
    merges = dict(_syllable_merges())
    merges[122, 32] = 256 + len(merges)
    pieces = ["sea", "sailor", "ship", "thing", "лодка", "海", "ü", "é"]
    texts: list[str] = []
    while len(texts) < 4:
        word = "".join(rng.choice(pieces, size=rng.integers(2, 7)))
        if _tells_the_order(word, merges):
            texts.append(f"{word}!ü jazz " + _random_text(rng, 20, pieces, [" "], [" the", "!", "'s", "'re"]))
    merges[97, 39] = 256 + len(merges)
    merges[39, 115] = 256 + len(merges)
    _expect_ids(student, [*texts, f"{texts[0]} sea's 's'", "'s", "s"], merges, "the list of ids of a text")


@hidden_test("encode", weight=2)
@_with_right_chunks
def test_each_call_has_its_own_merges(student, rng):
    """The same text with other merges has other ids."""
    a, b, c = rng.permutation(list(b"abcdwxyz"))[:3].tolist()
    word = bytes([a, b, c]).decode()
    for merges in ({(a, b): 256}, {(b, c): 256}, {}):
        _expect_ids(student, [word], merges, "the list of ids of a word with one merge after the other")


@hidden_test("encode", weight=1)
@_with_right_chunks
def test_characters_come_back_as_they_were(student):
    """An accent that is a character of its own stays one, and so does every other character."""
    merges = {(99, 97): 256, (195, 169): 257}
    texts = ("cab cafe\u0301", "cab ve\u0301lo vélo Å \u212b ﬁ ① ²", "cab\r\nb\tc\u0301 ")
    for text in texts:
        _expect_ids(student, [text], merges, "the list of ids of a text with odd characters")


@hidden_test("encode", weight=0.75)
@_with_right_chunks
def test_the_lectures_eleven_letters(student):
    """aaabdaaabac is [258, 100, 258, 97, 99], and no text is no token."""
    expect_equal(student("aaabdaaabac", TOY), [258, 100, 258, 97, 99], "the list of ids of aaabdaaabac")
    expect_equal(student("baab", TOY), [98, 256, 98], "the list of ids of baab")
    expect_equal(student("", TOY), [], "the list of ids of the empty text")
    merges, _, spelled = _train(_rhyme(), 50)
    expect_equal(student("was", merges), _encode("was", merges), "the list of ids of a word of the rhyme")
    expect(len(spelled) == 18, "the course's rhyme is damaged: tell your instructor")
