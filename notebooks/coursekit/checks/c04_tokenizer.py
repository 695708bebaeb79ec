"""Public checks of lab 04: UTF-8, chunks, and byte-pair encoding."""

from __future__ import annotations

from typing import Any

import numpy as np

from coursekit.checks.api import Hint, ensure, equal, public_check
from coursekit.checks.break_it import impostor

FORBIDDEN = {
    "utf8_encode": (
        "str.encode",
        "codecs.encode",
        "codecs.utf_8_encode",
        "codecs.getencoder",
        "codecs.getincrementalencoder",
        "codecs.iterencode",
        "codecs.lookup",
        "urllib.parse.quote",
        "urllib.parse.quote_plus",
        "urllib.parse.unquote_to_bytes",
        "urllib.parse.urlencode",
        "io.TextIOWrapper",
        "os.fsencode",
        "pickle.dumps",
        "marshal.dumps",
    ),
    "train_bpe": (
        "tokenizers.Tokenizer",
        "tokenizers.ByteLevelBPETokenizer",
        "tokenizers.trainers.BpeTrainer",
    ),
    "encode": ("tokenizers.Tokenizer", "tokenizers.ByteLevelBPETokenizer", "tiktoken.get_encoding"),
}

TOY = {(97, 97): 256, (256, 97): 257, (257, 98): 258}
#: What the checks of ``encode`` and ``train_bpe`` lead these to, and what is right then: see ``not_at_fault``.
KNOWN = {
    "pre_tokenize": [
        ("aaabdaaabac", ["aaabdaaabac"]),
        ("abc", ["abc"]),
        ("a b", ["a", " b"]),
        ("he'd", ["he", "'d"]),
        ("é", ["é"]),
        ("é😀", ["é", "😀"]),
        ("e\u0301", ["e", "\u0301"]),
        ("", []),
    ],
    "count_pairs": [
        ({(97, 98): 2, (98, 97, 98): 1}, {(97, 98): 3, (98, 97): 1}),
        ({(256,): 2, (98, 256): 1}, {(98, 256): 1}),
        ({(256,): 2, (257,): 1}, {}),
        ({(3, 4, 5): 1, (3, 4): 1, (1, 2): 5}, {(3, 4): 2, (4, 5): 1, (1, 2): 5}),
        ({(8, 9): 2, (3, 4): 2}, {(8, 9): 2, (3, 4): 2}),
        ({(3, 4): 2, (8, 9): 2}, {(3, 4): 2, (8, 9): 2}),
        ({(1, 2, 3): 2, (4, 5): 2, (1, 2): 1}, {(1, 2): 3, (2, 3): 2, (4, 5): 2}),
        ({(4, 5): 2, (256, 3): 2, (256,): 1}, {(4, 5): 2, (256, 3): 2}),
    ],
}
NOTHING = "your function returns None: end it with a return"


# ------------------------------------------------------------------------------------------------- utf8_encode


def _bytes(result: Any) -> Any:
    ensure(result is not None, NOTHING)
    if isinstance(result, (bytes, bytearray)):
        return list(result)
    ensure(
        isinstance(result, (list, tuple, np.ndarray)),
        f"return a list of numbers, also when there is only one byte; yours is of type {type(result).__name__}",
    )
    return [int(byte) for byte in result]


@public_check("utf8_encode")
def one_byte_up_to_7f(utf8_encode: Any) -> None:
    """The letter A (65) is a single byte, and so is 7F."""
    equal(
        _bytes(utf8_encode(65)), [65], "65 is below 80 hexadecimal: it is written as it is, in one byte, [65]"
    )
    equal(_bytes(utf8_encode(0x7F)), [0x7F], "7F is the last number that takes one byte: mind the limit")


@public_check("utf8_encode")
def two_bytes_for_e_acute(utf8_encode: Any) -> None:
    """é (E9) is the two bytes 195 and 169."""
    got = _bytes(utf8_encode(0xE9))
    ensure(
        got != [0xE9], "E9 is more than 7F: it does not fit a byte that must begin with 0, so it takes two"
    )
    ensure(got != [169, 195], "the two bytes are in the wrong order: the one with the marker 110 comes first")
    ensure(
        got != [0b00011, 0b101001],
        "those are the right groups of bits, but without their markers 110 and 10 in front",
    )
    ensure(len(got) == 2, f"é takes two bytes; you return {len(got)}")
    equal(
        got,
        [195, 169],
        f"é should be 195, 169, but is {got}: compare bit by bit, {[format(b, '08b') for b in got]}",
    )


@public_check("utf8_encode")
def three_and_four_bytes(utf8_encode: Any) -> None:
    """The euro sign takes three bytes, an emoji four."""
    euro, face = _bytes(utf8_encode(0x20AC)), _bytes(utf8_encode(0x1F600))
    ensure(
        len(euro) == 3, f"U+20AC lies between 800 and FFFF, so it takes three bytes; you return {len(euro)}"
    )
    equal(euro, [0xE2, 0x82, 0xAC], "the euro sign should be 226, 130, 172: four bits, then six, then six")
    ensure(
        max(euro + face) < 256,
        "a byte came out above 255: keep six bits of the number for each byte that follows, & 0b111111",
    )
    ensure(len(face) == 4, f"U+1F600 is above FFFF, so it takes four bytes; you return {len(face)}")
    equal(
        face,
        [0xF0, 0x9F, 0x98, 0x80],
        "U+1F600 should be 240, 159, 152, 128: three bits, then six, six and six",
    )
    far = _bytes(utf8_encode(0x6FFFF))
    equal(
        far,
        [0xF1, 0xAF, 0xBF, 0xBF],
        f"U+6FFFF should be 241, 175, 191, 191, but is {far}: each of the last three bytes holds six bits",
    )


@public_check("utf8_encode")
def the_last_of_each_length(utf8_encode: Any) -> None:
    """7FF is the last that takes two bytes, FFFF three and 10FFFF four."""
    for number, count in ((0x7FF, 2), (0x800, 3), (0xFFFF, 3), (0x10000, 4), (0x10FFFF, 4)):
        got = _bytes(utf8_encode(number))
        ensure(len(got) == count, f"{number:X} takes {count} bytes; you return {len(got)}: mind the limits")
        equal(got, list(chr(number).encode()), f"{number:X} came out as {got}")


@public_check("utf8_encode")
def there_is_nothing_above_10ffff(utf8_encode: Any) -> None:
    """What is no code point raises a ValueError, and 0 is one."""
    for number in (0x110000, -1):
        try:
            result = utf8_encode(number)
        except ValueError:
            continue
        ensure(
            not isinstance(result, BaseException),
            f"for {number:#x} you return a {type(result).__name__}: an error is raised, with raise in place of return",
        )
        ensure(False, f"{number:#x} is no code point: raise ValueError(…) below 0 and above 10FFFF")
    try:
        zero = _bytes(utf8_encode(0))
    except ValueError:
        raise Hint("0 is a code point, the first one: refuse only what lies below it") from None
    equal(zero, [0], f"0 is written in one byte, [0]; you return {zero}")


# ------------------------------------------------------------------------------------------------ pre_tokenize


def _chunks(result: Any) -> Any:
    ensure(result is not None, NOTHING)
    ensure(isinstance(result, (list, tuple)), "return a list of strings: regex.findall makes one")
    ensure(
        all(isinstance(chunk, str) for chunk in result),
        "each chunk should be a string: with round brackets in the pattern findall returns tuples, use (?: … )",
    )
    return list(result)


@public_check("pre_tokenize")
def nothing_is_lost(pre_tokenize: Any) -> None:
    """Joined together, the chunks are the text again."""
    text = "Wait, it's 3.50 (½ price)!\n\n  “Übung” macht\tden Meister_in…  "
    got = "".join(_chunks(pre_tokenize(text)))
    lost = [sign for sign in dict.fromkeys(text) if got.count(sign) < text.count(sign)]
    ensure(not lost, f"these characters got lost: {lost}; which rule should take them?")
    equal(got, text, "the chunks, joined, are not the text that was given")
    got = _chunks(pre_tokenize(""))
    equal(got, [], f"the empty text has no chunks, so the list is empty; yours is {got}")


@public_check("pre_tokenize")
def words_take_their_blank_along(pre_tokenize: Any) -> None:
    """Words, numbers and signs are chunks of their own, with the blank before them."""
    got = _chunks(pre_tokenize("We sail at 7, (maybe) 12!"))
    ensure(
        " sail" in got,
        f"“ sail” should be one chunk, blank and word together: begin the rule for letters with “ ?” (you have {got[:3]})",
    )
    ensure(
        got != ["We", " sail", " at", " 7", ",", " ", "(", "maybe", ")", " 12", "!"],
        "the blank before ( stands alone: the rule for signs begins with “ ?”, too",
    )
    equal(
        got,
        ["We", " sail", " at", " 7", ",", " (", "maybe", ")", " 12", "!"],
        f"“We sail at 7, (maybe) 12!” became {got}",
    )


@public_check("pre_tokenize")
def all_letters_are_letters(pre_tokenize: Any) -> None:
    """Letters of all scripts are letters; digits and the underscore are not."""
    got = _chunks(pre_tokenize("größere Häfen"))
    ensure(
        len(got) < 3,
        f"“größere Häfen” fell into {got}: ö, ß and ä are letters too, \\p{{L}} means those of all scripts",
    )
    equal(got, ["größere", " Häfen"], f"“größere Häfen” became {got}")
    got = _chunks(pre_tokenize("ship9_b"))
    equal(
        got,
        ["ship", "9", "_", "b"],
        f"“ship9_b” became {got}: letters, digits and signs are chunks of their own",
    )
    got = _chunks(pre_tokenize("(½ price)"))
    ensure("(½" not in got, "½ is a number character: \\p{N} holds it, and \\d and 0-9 do not")
    equal(got, ["(", "½", " price", ")"], f"“(½ price)” became {got}")


@public_check("pre_tokenize")
def endings_are_apart(pre_tokenize: Any) -> None:
    """It's and they'll are cut before the apostrophe."""
    got = _chunks(pre_tokenize("it's what they'll do"))
    ensure(
        "'" not in got,
        "the apostrophe stands alone: the endings must come first in the pattern, before the rule for signs",
    )
    equal(got, ["it", "'s", " what", " they", "'ll", " do"], f"“it's what they'll do” became {got}")
    got = _chunks(pre_tokenize("IT'S"))
    ensure(got != ["IT", "'S"], "'S was cut off as an ending: only small letters count, as rule 1 lists them")
    equal(got, ["IT", "'", "S"], f"“IT'S” has no ending of rule 1, but became {got}")
    got = _chunks(pre_tokenize("I'm sure he'd say we're what you've read, isn't it"))
    missing = [ending for ending in ("'m", "'d", "'re", "'ve", "'t") if ending not in got]
    ensure(not missing, f"not cut off, though rule 1 lists it: {', '.join(missing)}")
    got = _chunks(pre_tokenize("it’s"))
    ensure(got != ["it", "’s"], "’s was cut off as an ending: rule 1 asks for a straight apostrophe, '")
    got = _chunks(pre_tokenize("'sail"))
    equal(
        got, ["'s", "ail"], f"“'sail” became {got}: rule 1 comes first, and does not ask what follows the s"
    )


@public_check("pre_tokenize")
def white_space_leaves_one_for_the_next_word(pre_tokenize: Any) -> None:
    """Of several blanks the last one belongs to the next word; at the end of the text they stay together."""
    got = _chunks(pre_tokenize("a   b \n"))
    ensure(
        got != ["a", "   ", "b", " \n"],
        "three blanks before b: two are a chunk, the third belongs to “ b”. Rule 5 needs \\s+(?!\\S)",
    )
    ensure(
        got != ["a", "  ", " b", " ", "\n"],
        "the blank and the line end at the end of the text are one chunk: rule 5 leaves a character only if something else "
        "follows, \\s+(?!\\S)",
    )
    equal(got, ["a", "  ", " b", " \n"], f"“a   b” and a line end became {got}")
    got = _chunks(pre_tokenize("a\tb"))
    ensure(
        got != ["a", "\tb"],
        "the tab went along with b: only a blank belongs to the next word, so write “ ?” there and not \\s?",
    )
    equal(got, ["a", "\t", "b"], f"a, tab, b became {got}")


# ------------------------------------------------------------------------------------------------------ decode


def _decoded(decode: Any, ids: list[int], merges: dict[tuple[int, int], int]) -> Any:
    """What ``decode`` returns, or a hint where a merged token is left among the bytes."""
    try:
        return decode(ids, merges)
    except ValueError as error:
        if "range(0, 256)" not in str(error):
            raise
    raise Hint(
        "a number above 255 is left where only bytes may stand: the parts of a merged token may be merged tokens, too "
        f"({max(merges.values())} is {' and '.join(map(str, list(merges)[-1]))}), so take them apart to the end"
    )


@public_check("decode")
def the_worked_case_goes_back(decode: Any) -> None:
    """[258, 100, 258, 97, 99] is aaabdaaabac again."""
    got = _decoded(decode, [258, 100, 258, 97, 99], TOY)
    ensure(got is not None, NOTHING)
    ensure(
        isinstance(got, str),
        f"return a string; yours is of type {type(got).__name__}: decode the joined bytes",
    )
    ensure(
        "258" not in got,
        "258 stands for the bytes of its two parts, and those for theirs: look them up in merges",
    )
    equal(got, "aaabdaaabac", f"it should be aaabdaaabac, but is {got[:30]}")


@public_check("decode")
def characters_of_several_bytes(decode: Any) -> None:
    """Bytes that make up one character are read together."""
    try:
        got = decode([104, 195, 169, 256], {(240, 159): 256})
    except UnicodeDecodeError:
        raise Hint('half an emoji should become �, not an error: decode with errors="replace"') from None
    ensure(isinstance(got, str), "return a string")
    ensure(
        got != "héaa",
        "token 256 is still what it was in the call before: build the table anew from the merges of this call",
    )
    ensure(
        "Ã" not in got,
        "é came out as two signs: join the bytes of all tokens first, then decode as UTF-8 once",
    )
    ensure("é" in got, "195, 169 is one é: join the bytes of all tokens first, then decode once")
    equal(got, "hé\ufffd", 'half an emoji should become �: decode with errors="replace"')
    got = decode([256, 169], {(99, 195): 256})
    equal(
        got,
        "cé",
        f"256 is c and 195, and with the 169 behind it that is cé, but yours is {got!r}: join the bytes of merged tokens and "
        "of single ones before you decode",
    )


@public_check("decode")
def merges_may_hold_merges(decode: Any) -> None:
    """A token may be made of merges in merges, twenty deep."""
    merges = {(97, 97): 256, **{(token, 97): token + 1 for token in range(256, 275)}}
    got = _decoded(decode, [275], merges)
    equal(got, "a" * 21, "275 is 274 and a, 274 is 273 and a, and so on: 21 letters a in all")


# ------------------------------------------------------------------------------------------------- count_pairs


def _pairs(result: Any) -> Any:
    ensure(result is not None, NOTHING)
    ensure(isinstance(result, dict), f"return a dictionary; yours is of type {type(result).__name__}")
    return {
        key if not isinstance(key, np.ndarray) else tuple(key): int(count) for key, count in result.items()
    }


@public_check("count_pairs")
def pairs_count_as_often_as_their_word(count_pairs: Any) -> None:
    """A pair counts as often as the word occurs that holds it."""
    got = _pairs(count_pairs({(1, 2, 3): 5, (2, 3): 2}))
    ensure(
        got.get((2, 3)) != 2 or got.get((1, 2)) != 1,
        "each word counted once: the dictionary's value says how often the word occurs, add that",
    )
    ensure((2, 1) not in got, "your pairs are turned around: the left token comes first")
    ensure((3, 2) not in got, "a pair reaches from one word into the next: count inside each word only")
    ensure(
        got != {(1, 2): 5},
        "(2, 3) is missing, the last pair of each word: a word of three tokens has two pairs, one of two has one",
    )
    ensure(
        got != {(1, 2): 5, (2, 3): 2},
        "(2, 3) stands in both words, and you have the count of the last only: add it to what is there",
    )
    equal(got, {(1, 2): 5, (2, 3): 7}, f"(1, 2) occurs 5 times and (2, 3) 5 + 2 times, but you have {got}")


@public_check("count_pairs")
def overlapping_pairs_count(count_pairs: Any) -> None:
    """Three equal tokens hold their pair twice."""
    got = _pairs(count_pairs({(7, 7, 7): 1, (9,): 4}))
    ensure(got.get((7, 7)) != 1, "(7, 7, 7) holds the pair (7, 7) at two places: count both")
    equal(got, {(7, 7): 2}, f"(7, 7) occurs twice and a single token has no pair, but you have {got}")


@public_check("count_pairs")
def se_is_the_most_frequent_pair(count_pairs: Any) -> None:
    """In “sea see sea” se occurs three times."""
    words = {tuple(b"see_"): 1, tuple(b"sea_"): 2}
    got = _pairs(count_pairs(words))
    ensure((115, 101) in got, "the pair se, (115, 101), is missing: keep the left token on the left")
    equal(got[115, 101], 3, "se stands in sea (twice) and in see (once): three times in all")
    equal(
        list(got),
        [(115, 101), (101, 101), (101, 95), (101, 97), (97, 95)],
        "the pairs should stand in the order in which they are met: those of see_ first, since it is the first word here, from left "
        "to right",
    )
    got = _pairs(count_pairs({(300, 256, 300, 256): 3, (5,): 8, (256, 4): 1}))
    expected = {(300, 256): 6, (256, 300): 3, (256, 4): 1}
    equal(got, expected, f"merged tokens have pairs as bytes have: {expected} here, but you have {got}")
    equal(
        list(got),
        list(expected),
        "the pairs of merged tokens should stand in the order in which they are met, too",
    )


# --------------------------------------------------------------------------------------------------- train_bpe


@public_check("train_bpe")
def the_worked_case(train_bpe: Any) -> None:
    """{ab: 2, bab: 1} learns two merges and stops."""
    words = {(97, 98): 2, (98, 97, 98): 1}
    got = train_bpe(words, 9)
    ensure(got is not None, NOTHING)
    ensure(isinstance(got, dict), "return a dictionary {(left, right): new id}")
    ensure(got, "nothing was learned: with 9 merges allowed there are two to learn here")
    ensure(
        len(got) > 1 or got.get((97, 98), 256) == 256,
        "(97, 98) was learned more than once: replace it everywhere in the words that you count next",
    )
    ensure(
        min(got.values()) == 256, f"the first new id is 256, the next 257; your first is {min(got.values())}"
    )
    ensure(
        got != {(97, 98): 256},
        "you stop too early: after the first merge the word bab is (98, 256), and that pair can still be merged",
    )
    ensure(
        (98, 97) not in got,
        "(98, 97) is gone after the first merge: count the pairs of the merged words anew, not of the old ones",
    )
    equal(
        got,
        {(97, 98): 256, (98, 256): 257},
        f"it should learn (97, 98) → 256 and (98, 256) → 257, but learned {got}",
    )


@public_check("train_bpe")
def pairs_are_counted_anew_after_each_merge(train_bpe: Any) -> None:
    """After a merge the pairs with the new token count, and the old ones no longer."""
    got = train_bpe({tuple(b"aaabdaaabac"): 1}, 3)
    ensure(got is not None, NOTHING)
    ensure(got, "nothing was learned: three merges were asked for")
    ensure(
        min(got.values()) == 256,
        "a pair was learned a second time, so it was left somewhere: replace it at every place of a word, as merge_pair does",
    )
    ensure(
        any(max(pair) > 255 for pair in got),
        "no merge holds a new token: after each merge count the pairs of the *merged* words anew",
    )
    ensure(
        (256, 256) not in got,
        "in aaa the middle letter was used twice: go on behind a pair that you have replaced (merge_pair does)",
    )
    ensure(
        (97, 256) not in got,
        "in aaa the last two letters were merged: replace from the left, as merge_pair does",
    )
    ensure(
        list(got) != [(97, 97), (97, 98), (256, 257)],
        "after the first merge (256, 97) and (97, 98) both occur twice: on a tie the pair wins that a fresh count of "
        "the merged text meets first, here (256, 97)",
    )
    ensure(
        (97, 98) not in got,
        "after the first merge the text is 256 97 98 100 256 97 98 97 99: is every aa replaced in yours, and are the "
        "pairs counted in the new text?",
    )
    ensure(
        got != dict(list(TOY.items())[:2]),
        "3 merges were asked for; you learned two, though there is a third",
    )
    equal(got, TOY, f"on aaabdaaabac it should learn aa, then aaa, then aaab; it learned {got}")
    got = train_bpe({(97, 98, 97, 98): 1}, 2)
    ensure(
        got != {(97, 98): 256, (256, 97): 257},
        "in abab only the first ab was merged: replace a pair at every place of a word, as merge_pair does",
    )
    equal(got, {(97, 98): 256, (256, 256): 257}, f"on abab it should learn ab, then abab; it learned {got}")
    got = train_bpe({(97, 10): 3, (97, 105): 2, (197, 10): 1}, 3)
    ensure(
        got != {(97, 10): 256},
        "as a text, “97 10” also stands in “97 105” and in “197 10”: replace whole numbers, not digits",
    )
    expected = {(97, 10): 256, (97, 105): 257, (197, 10): 258}
    equal(got, expected, f"three words of one pair each are three merges, {expected}; you learned {got}")


@public_check("train_bpe")
def frequent_words_weigh_more(train_bpe: Any) -> None:
    """The words' counts decide, and a tie goes to the pair that is met first."""
    got = train_bpe({(3, 4, 5): 1, (3, 4): 1, (1, 2): 5}, 1)
    ensure(got is not None, NOTHING)
    ensure(
        got != {(3, 4): 256},
        "(3, 4) stands in two words, but (1, 2) in a word that occurs five times: the words' counts decide",
    )
    equal(got, {(1, 2): 256}, f"(1, 2) occurs five times and wins; you learned {got}")
    got = train_bpe({(8, 9): 2, (3, 4): 2}, 1)
    equal(got, {(8, 9): 256}, f"(8, 9) and (3, 4) tie: the one met first wins; you learned {got}")
    got = train_bpe({(3, 4): 2, (8, 9): 2}, 1)
    ensure(got != {(8, 9): 256}, "(3, 4) and (8, 9) tie: the one met first wins, not the one with larger ids")
    equal(got, {(3, 4): 256}, f"(3, 4) and (8, 9) tie: the one met first wins; you learned {got}")
    got = train_bpe({(1, 2, 3): 2, (4, 5): 2, (1, 2): 1}, 2)
    ensure(
        got != {(1, 2): 256, (4, 5): 257},
        "after the merge of (1, 2) the words are (256, 3), (4, 5) and (256,), each still at its place, and (256, 3) and (4, 5) tie: "
        "a fresh count of these words meets (256, 3) first",
    )
    equal(got, {(1, 2): 256, (256, 3): 257}, f"it should learn (1, 2), then (256, 3); it learned {got}")


@public_check("train_bpe")
def the_words_are_left_alone(train_bpe: Any) -> None:
    """The words that you were given are not changed, and no merges are fine too."""
    words = {(97, 98): 2, (98, 97, 98): 1}
    train_bpe(words, 2)
    equal(
        words,
        {(97, 98): 2, (98, 97, 98): 1},
        "your function changed the dictionary of words: build a new one",
    )
    equal(train_bpe(words, 0), {}, "with 0 merges to learn the result is an empty dictionary")


# ------------------------------------------------------------------------------------------------------ encode


def _ids(result: Any) -> Any:
    ensure(result is not None, NOTHING)
    ensure(isinstance(result, (list, tuple, np.ndarray)), "return a list of whole numbers")
    ensure(
        not any(isinstance(token, (list, tuple)) for token in result),
        "your list holds a list for each chunk: put the ids of all chunks into one list, with += or extend",
    )
    try:
        return [int(token) for token in result]
    except (TypeError, ValueError):
        raise Hint(f"return a list of whole numbers; yours begins {list(result)[:3]}") from None


@public_check("encode")
def the_worked_case_goes_forth(encode: Any) -> None:
    """aaabdaaabac becomes [258, 100, 258, 97, 99]."""
    got = _ids(encode("aaabdaaabac", TOY))
    ensure(got, "your list is empty: the eleven letters have become nothing")
    ensure(max(got) < 259, "an id above 258 appeared: use the ids that stand in merges")
    ensure(got != list(b"aaabdaaabac"), "nothing was merged: those are still the bytes")
    ensure(256 not in got, "256 is still there: after a merge look for pairs again, (256, 97) has one too")
    equal(got, [258, 100, 258, 97, 99], f"it should be [258, 100, 258, 97, 99], but is {got}")


@public_check("encode")
def the_earliest_merge_goes_first(encode: Any) -> None:
    """The merge learned earliest goes first, not the longest token and not the leftmost pair."""
    merges = {(98, 99): 256, (97, 98): 257, (257, 99): 258}
    got = _ids(encode("abc", merges))
    ensure(
        got != [258], "abc could be one token, but bc was learned before ab: apply the earliest merge first"
    )
    ensure(
        got != [257, 99],
        "you merged (97, 98), which stands further left: the smallest new id goes first, here that of (98, 99)",
    )
    equal(got, [97, 256], f"abc should become [97, 256], but is {got}")
    again = _ids(encode("abc", {(97, 98): 256}))
    ensure(
        again != [97, 256],
        "abc with other merges still has the ids of the call before: what you keep of a chunk must not outlive the call",
    )
    equal(again, [256, 99], f"abc with the one merge (97, 98) should become [256, 99], but is {again}")


@public_check("encode")
def merges_stay_inside_a_chunk(encode: Any) -> None:
    """Every chunk is encoded by itself, and none is lost."""
    got = _ids(encode("a b", {(97, 32): 256, (32, 98): 257}))
    ensure(
        256 not in got,
        "a merge reached from one chunk into the next: encode each chunk of pre_tokenize by itself",
    )
    ensure(
        got != [257],
        "the ids of “a”, the first chunk, are missing: begin the list once, before the loop over the chunks, and add to it",
    )
    ensure(
        got != [97],
        "the ids of “ b”, the second chunk, are missing: return the list behind the loop over the chunks",
    )
    ensure(
        got != [97, 32, 98],
        "“ b” is still two bytes, though (32, 98) has a merge: does your loop stop when a chunk has only two tokens?",
    )
    equal(got, [97, 257], f"“a b” has the chunks “a” and “ b” and should become [97, 257], but is {got}")
    got = _ids(encode("he'd", {(101, 39): 256, (39, 100): 257}))
    equal(
        got,
        [104, 101, 257],
        f"“he'd” has the chunks “he” and “'d” and should become [104, 101, 257], but is {got}",
    )


@public_check("encode")
def any_text_can_be_encoded(encode: Any) -> None:
    """Without merges any text becomes its UTF-8 bytes."""
    equal(_ids(encode("é😀", {})), [195, 169, 240, 159, 152, 128], "é and 😀 should become their six bytes")
    got = _ids(encode("e\u0301", {}))
    ensure(
        got != [195, 169],
        "é was given as two characters, e and an accent (U+0301), and came out as one: leave the text as it is, else it does not come back",
    )
    equal(got, [101, 204, 129], f"e and an accent (U+0301) should become their three bytes, but are {got}")
    equal(_ids(encode("", TOY)), [], "the empty text has no tokens: return an empty list")


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("encode")
def lower_case_only(right: Any, text: Any, merges: Any) -> Any:
    """It writes the text in small letters first.

    One survives: your text has small letters only.
    """
    return right(text.lower(), merges)


@impostor("encode")
def drops_what_is_not_ascii(right: Any, text: Any, merges: Any) -> Any:
    """It drops every character beyond ASCII.

    One survives: your text could be typed on an English typewriter.
    """
    return right(text.encode("ascii", errors="ignore").decode(), merges)


@impostor("encode")
def merges_across_chunks(right: Any, text: Any, merges: Any) -> Any:
    """It merges the end of a chunk with the beginning of the next.

    One survives: it knows no chunks. Have a merge of a letter and the blank after it.
    """
    blank, letter = ord(" "), ord("q")  # written as a letter, a blank ends no chunk
    renamed = {tuple(letter if part == blank else part for part in pair): new for pair, new in merges.items()}
    return [blank if token == letter else token for token in right(text.replace(" ", "q"), renamed)]


@impostor("encode")
def learned_last_goes_first(right: Any, text: Any, merges: Any) -> Any:
    """It applies the merge that was learned last before the others.

    One survives: it does not care which merge was learned first. Let two merges want the same letter.
    """
    turned = {new: 511 + len(merges) - new for new in merges.values()}
    renamed = {tuple(turned.get(part, part) for part in pair): turned[new] for pair, new in merges.items()}
    back = {turned[new]: new for new in turned}
    return [
        back.get(token, token) for token in right(text, dict(sorted(renamed.items(), key=lambda m: m[1])))
    ]
