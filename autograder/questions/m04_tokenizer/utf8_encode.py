"""Lab 04, utf8_encode: a code point → its one to four bytes, a list of whole numbers, or ValueError."""

import numpy as np

from autograder.questions.engine import Case, Question

MARKERS = {1: ["0"], 2: ["110", "10"], 3: ["1110", "10", "10"], 4: ["11110", "10", "10", "10"]}


def utf8(codepoint):
    """From its bits as text, cut from the left."""
    if not 0 <= codepoint < 17 * 2**16:
        raise ValueError("no code point")
    markers = MARKERS[1 + sum(codepoint > limit for limit in (0x7F, 0x7FF, 0xFFFF))]
    bits = format(codepoint, "b").zfill(sum(8 - len(marker) for marker in markers))
    found = []
    for marker in markers:
        own, bits = bits[: 8 - len(marker)], bits[8 - len(marker) :]
        found.append(int(marker + own, 2))
    return found


question = Question(
    utf8,
    forbidden=(
        "str.encode", "codecs.encode", "codecs.utf_8_encode", "codecs.getencoder", "codecs.getincrementalencoder",
        "codecs.iterencode", "codecs.lookup", "urllib.parse.quote", "urllib.parse.quote_plus",
        "urllib.parse.unquote_to_bytes", "urllib.parse.urlencode", "io.TextIOWrapper", "os.fsencode",
        "pickle.dumps", "marshal.dumps",
    ),
)  # fmt: skip


def some(rng, low, high, count=6):
    return rng.integers(low, high, size=count).tolist()


@question.family("7F, 7FF, FFFF and 10FFFF are the last that take one, two, three and four bytes.", weight=2)
def limits(rng):
    yield from (0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF, *some(rng, 0x20, 0x7F, 2))


@question.family(
    "The case by hand; characters of one and two bytes, bit by bit as the table says.", weight=1.5
)
def one_and_two_bytes(rng):
    yield Case(0xE9, gives=[195, 169])
    yield from (*some(rng, 0x20, 0x7F), *some(rng, 0x81, 0x100), *some(rng, 0x100, 0x7FF))


@question.family("Characters of three bytes.")
def three_bytes(rng):
    yield from some(rng, 0x801, 0xD800, 12)


@question.family("Characters of four bytes, emoji and those far above them.", weight=1.5)
def four_bytes(rng):
    yield from (*some(rng, 0x10001, 0x20000), *some(rng, 0x20000, 0x40000), *some(rng, 0x40000, 0x10FFFF))


@question.family("What lies outside of the code points raises a ValueError.", weight=1.5)
def no_code_points(rng):
    yield from some(rng, 0x20, 0x7F, 3)
    yield from (17 * 2**16, *some(rng, 17 * 2**16, 2 * 10**6, 2), -1, *some(rng, -300, -1, 2))


def _groups(codepoint, count, bits=6):
    """The number cut into ``count`` groups of bits, the highest first."""
    return [codepoint >> bits * place & (1 << bits) - 1 for place in reversed(range(count))]


def _written(codepoint, length=None, groups=None, marker=0x80):
    """The bytes of ``groups``, in the form of the table's row for ``length``."""
    length = length or len(utf8(codepoint))
    first, *rest = groups or (_groups(codepoint, length) if length > 1 else [codepoint])
    return [(0, 0, 0b11000000, 0b11100000, 0b11110000)[length] | first, *(marker | group for group in rest)]


@question.misconception("the limits of the table are off by one", costs=1.5)
def limits_off_by_one(codepoint):
    """Most characters are right, but those at the limits are not: 7F still fits one byte, 7FF two and FFFF three. The table's limits are
    the *last* numbers of their row, so compare with <= and not with <."""
    utf8(codepoint)
    return _written(codepoint, 1 + sum(codepoint >= limit for limit in (0x7F, 0x7FF, 0xFFFF)))


@question.misconception("the bytes after the first carry no marker", costs=3)
def followers_without_marker(codepoint):
    """Your later bytes lack their marker 10. Without it a reader who lands in the middle of a text takes them for characters of their own:
    put 0b10000000 in front of each group of six bits."""
    return _written(codepoint, marker=0)


@question.misconception("the groups of bits come in the wrong order", costs=3)
def lowest_bits_first(codepoint):
    """Your bytes hold the right bits in the wrong order: the lowest six come first. UTF-8 writes the highest bits first, as we write
    numbers."""
    length = len(utf8(codepoint))
    return _written(codepoint, groups=_groups(codepoint, length)[::-1] if length > 1 else None)


@question.misconception("everything below 256 in one byte", costs=2)
def latin_letters_in_one_byte(codepoint):
    """Characters from 80 to FF, such as é and ü, take one byte in your encoding. A byte can hold them, but it must also be told apart from
    the bytes of longer characters: from 80 on two bytes are needed."""
    return [codepoint] if 0 <= codepoint < 256 else utf8(codepoint)


@question.misconception("the plain bytes of the number", costs=3)
def bytes_of_the_number(codepoint):
    """Your bytes are the number itself, cut every eight bits. Nobody could tell where one character ends and the next begins. UTF-8 spends
    some bits of each byte on a marker, so only six or fewer are left for the number."""
    utf8(codepoint)
    return _groups(codepoint, 1 + (codepoint > 0xFF) + (codepoint > 0xFFFF), 8)


@question.misconception("numbers above 10FFFF are written, too", costs=1)
def no_upper_limit(codepoint):
    """A number above 10FFFF is no code point, but your function writes bytes for it. Nobody could read them: raise a ValueError there, as
    below 0."""
    if codepoint > 0x10FFFF:
        return _written(codepoint, 4, [codepoint >> 18, *_groups(codepoint, 3)])
    return utf8(codepoint)


@question.misconception("the error is returned", costs=1, card="an error is no plain value")
def error_returned(codepoint):
    """For a number that is no code point you *return* a ValueError. Then whoever called goes on with it as if it were a list of bytes. An
    error is raised: raise ValueError(…)."""
    return utf8(codepoint) if 0 <= codepoint <= 0x10FFFF else ValueError("no code point")


@question.alternative
def by_recursion_as_bytes(codepoint):
    def tail(number, count):
        return b"" if count == 0 else tail(number >> 6, count - 1) + bytes([number % 64 + 128])

    for count, limit, lead in ((0, 0x80, 0), (1, 0x800, 192), (2, 0x10000, 224), (3, 0x110000, 240)):
        if 0 <= codepoint < limit:
            return bytes([lead + (codepoint >> 6 * count)]) + tail(codepoint, count)
    raise ValueError(codepoint)


@question.alternative
def by_division_in_an_array(codepoint):
    if codepoint < 0 or codepoint >= 17 * 2**16:
        raise ValueError
    found, room = [], 128
    while codepoint >= room:
        found.insert(0, 128 + codepoint % 64)
        codepoint //= 64
        room = 32 if room == 128 else room // 2
    return np.array([codepoint if not found else 256 - 2 * room + codepoint, *found])


class CodePointError(UnicodeError):
    """A student's own error; it is a ValueError."""


@question.alternative
def with_an_error_of_its_own(codepoint):
    if not 0 <= codepoint <= 0x10FFFF or 0xD800 <= codepoint <= 0xDFFF:
        raise CodePointError(f"{codepoint} is no character")
    if codepoint < 0x80:
        return [codepoint]
    n = 2 + (codepoint > 0x7FF) + (codepoint > 0xFFFF)
    rest = [0x80 | (codepoint >> 6 * i) & 0x3F for i in range(n - 1)]
    return [(0xF00 >> n) & 0xFF | codepoint >> 6 * (n - 1), *rest[::-1]]
