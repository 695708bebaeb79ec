"""Lab 04, ``utf8_encode``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np

from autograder.testing import alternative, misconception


def _groups(codepoint, count, bits):
    """The number cut into ``count`` groups of ``bits`` bits, the highest first."""
    return [codepoint >> bits * place & (1 << bits) - 1 for place in reversed(range(count))]


def _checked(codepoint):
    if not 0 <= codepoint <= 0x10FFFF:
        raise ValueError("no code point")
    return 1 + (codepoint > 0x7F) + (codepoint > 0x7FF) + (codepoint > 0xFFFF)


_FIRST = (0, 0, 0b11000000, 0b11100000, 0b11110000)


@misconception(
    "utf8_encode",
    title="the limits of the table are off by one",
    keeps="right but for the characters at the limits",
)
def limits_off_by_one(codepoint):
    """Most characters are right, but those at the limits are not: 7F still fits one byte, 7FF two and FFFF three. The
    table's limits are the *last* numbers of their row, so compare with <= and not with <."""
    length = 1 + (codepoint >= 0x7F) + (codepoint >= 0x7FF) + (codepoint >= 0xFFFF)
    _checked(codepoint)
    if length == 1:
        return [codepoint]
    first, *rest = _groups(codepoint, length, 6)
    return [_FIRST[length] | first, *(0x80 | group for group in rest)]


@misconception("utf8_encode", title="the bytes after the first carry no marker")
def followers_without_marker(codepoint):
    """Your later bytes lack their marker 10. Without it a reader who lands in the middle of a text takes them for
    characters of their own: put 0b10000000 in front of each group of six bits."""
    length = _checked(codepoint)
    first, *rest = _groups(codepoint, length, 6) if length > 1 else [codepoint]
    return [_FIRST[length] | first, *rest]


@misconception("utf8_encode", title="the groups of bits come in the wrong order")
def lowest_bits_first(codepoint):
    """Your bytes hold the right bits in the wrong order: the lowest six come first. UTF-8 writes the highest bits
    first, as we write numbers, and the byte that says how long the character is leads."""
    length = _checked(codepoint)
    if length == 1:
        return [codepoint]
    groups = _groups(codepoint, length, 6)[::-1]
    return [_FIRST[length] | groups[0], *(0x80 | group for group in groups[1:])]


@misconception("utf8_encode", title="everything below 256 in one byte")
def latin_letters_in_one_byte(codepoint):
    """Characters from 80 to FF, such as é and ü, take one byte in your encoding. A byte can hold them, but not if it
    must also be told apart from the bytes of longer characters: from 80 on two bytes are needed."""
    return [codepoint] if 0 <= codepoint < 256 else _right_bytes(codepoint)


@misconception("utf8_encode", title="the plain bytes of the number")
def bytes_of_the_number(codepoint):
    """Your bytes are the number itself, cut every eight bits. Nobody could tell where one character ends and the next
    begins. UTF-8 spends some bits of each byte on a marker, so only six or fewer are left for the number."""
    length = 1 + (codepoint > 0xFF) + (codepoint > 0xFFFF)
    _checked(codepoint)
    return _groups(codepoint, length, 8)


@misconception(
    "utf8_encode", title="nothing above FFFF", keeps="three of the four rows of the table are right"
)
def three_bytes_at_most(codepoint):
    """Characters above FFFF, all the emoji among them, come out wrong: they need the fourth row of the table, with the
    marker 11110 and three more bytes."""
    if _checked(codepoint) < 4:
        return _right_bytes(codepoint)
    first, *rest = _groups(codepoint & 0xFFFF, 3, 6)
    return [_FIRST[3] | first, *(0x80 | group for group in rest)]


def _right_bytes(codepoint):
    length = _checked(codepoint)
    first, *rest = _groups(codepoint, length, 6) if length > 1 else [codepoint]
    return [_FIRST[length] | first, *(0x80 | group for group in rest)]


@misconception("utf8_encode", title="the bytes that follow keep more than six bits")
def followers_uncut(codepoint):
    """Characters of one and two bytes are right, longer ones are not: your bytes after the first hold all the higher bits,
    too. Cut each group to its lowest six bits, & 0b111111, before the marker 10 goes in front."""
    length = _checked(codepoint)
    if length == 1:
        return [codepoint]
    first, *rest = [codepoint >> 6 * place for place in reversed(range(length))]
    return [_FIRST[length] | first, *(0x80 | group for group in rest[:-1]), 0x80 | rest[-1] & 0x3F]


@misconception(
    "utf8_encode",
    title="five bits in the second of four bytes",
    keeps="right for all but the highest planes, which are rare",
)
def five_bits_in_the_second(codepoint):
    """Emoji come out right, but some characters far above them do not: the second of your four bytes keeps five bits of the
    number, and it has room for six. The mask is 0b111111 in every byte that follows."""
    encoded = _right_bytes(codepoint)
    return encoded if len(encoded) < 4 else [encoded[0], encoded[1] & 0b10011111, *encoded[2:]]


@misconception(
    "utf8_encode",
    title="numbers above 10FFFF are written, too",
    keeps="every character is right; only numbers that are none pass",
)
def no_upper_limit(codepoint):
    """A number above 10FFFF is no code point, but your function writes bytes for it. Nobody could read them: raise a
    ValueError there, as below 0."""
    if codepoint < 0:
        raise ValueError("no code point")
    if codepoint <= 0x10FFFF:
        return _right_bytes(codepoint)
    rest = _groups(codepoint, 3, 6)
    return [_FIRST[4] | codepoint >> 18, *(0x80 | group for group in rest)]


@misconception(
    "utf8_encode",
    title="7FF takes three bytes",
    keeps="right but for a single character, at one of the limits",
)
def limit_of_two_bytes_off(codepoint):
    """7FF comes out in three bytes, but it is the last number that fits two: a limit of the table is the *last* number of its
    row, so compare with <= 0x7FF, or with < 0x800."""
    if codepoint != 0x7FF:
        return _right_bytes(codepoint)
    first, *rest = _groups(codepoint, 3, 6)
    return [_FIRST[3] | first, *(0x80 | group for group in rest)]


@misconception("utf8_encode", title="0 is refused", keeps="right but for 0, which hardly stands in a text")
def zero_refused(codepoint):
    """Your function refuses 0. It is a code point, the first one, and one byte; only numbers below 0 are none."""
    if codepoint == 0:
        raise ValueError("no code point")
    return _right_bytes(codepoint)


@misconception(
    "utf8_encode",
    title="the error is returned",
    keeps="every character is right; only numbers that are none pass",
)
def error_returned(codepoint):
    """For a number that is no code point you *return* a ValueError. Then whoever called goes on with it as if it were a list
    of bytes. An error is raised: raise ValueError(…)."""
    if not 0 <= codepoint <= 0x10FFFF:
        return ValueError("no code point")
    return _right_bytes(codepoint)


@misconception(
    "utf8_encode",
    title="another error than ValueError",
    keeps="every character is right; the error is of another kind",
)
def assertion_for_value_error(codepoint):
    """A number that is no code point ends in another error than the one asked for. (An assert raises an AssertionError, and
    Python may be told to skip it.) Whoever wants to catch the error must know its kind: raise ValueError(…)."""
    assert 0 <= codepoint <= 0x10FFFF, "no code point"
    return _right_bytes(codepoint)


@alternative("utf8_encode")
def by_recursion_as_bytes(codepoint):
    def tail(number, count):
        return b"" if count == 0 else tail(number >> 6, count - 1) + bytes([number % 64 + 128])

    for count, limit, lead in ((0, 0x80, 0), (1, 0x800, 192), (2, 0x10000, 224), (3, 0x110000, 240)):
        if 0 <= codepoint < limit:
            return bytes([lead + (codepoint >> 6 * count)]) + tail(codepoint, count)
    raise ValueError(codepoint)


@alternative("utf8_encode")
def by_division_in_an_array(codepoint):
    if codepoint < 0 or codepoint >= 17 * 2**16:
        raise ValueError
    found, room = [], 128
    while codepoint >= room:
        found.insert(0, 128 + codepoint % 64)
        codepoint //= 64
        room = 32 if room == 128 else room // 2
    return np.array([codepoint if not found else 256 - 2 * room + codepoint, *found])


@alternative("utf8_encode")
def by_strings_of_bits(codepoint):
    if codepoint not in range(0x110000):
        raise ValueError(f"{codepoint} is no code point")
    for size, mask in (
        (7, "0xxxxxxx"),
        (11, "110xxxxx 10xxxxxx"),
        (16, "1110xxxx 10xxxxxx 10xxxxxx"),
        (21, "11110xxx" + " 10xxxxxx" * 3),
    ):
        if codepoint < 2**size:
            bits = iter(f"{codepoint:0{size}b}")
            filled = "".join(next(bits) if sign == "x" else sign for sign in mask)
            return tuple(int(byte, 2) for byte in filled.split())
    return None


class CodePointError(UnicodeError):
    """A student's own error; it is a ValueError."""


@alternative("utf8_encode")
def with_an_error_of_its_own(codepoint):
    if not 0 <= codepoint <= 0x10FFFF or 0xD800 <= codepoint <= 0xDFFF:
        raise CodePointError(f"{codepoint} is no character")
    if codepoint < 0x80:
        return [codepoint]
    n = 2 + (codepoint > 0x7FF) + (codepoint > 0xFFFF)
    rest = [0x80 | (codepoint >> 6 * i) & 0x3F for i in range(n - 1)]
    return [(0xF00 >> n) & 0xFF | codepoint >> 6 * (n - 1), *rest[::-1]]
