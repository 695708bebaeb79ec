"""What several questions of lab 04 are made of.

The references work on strings: a token is one character of a large alphabet, so that a merge is ``str.replace`` (from the
left, without overlap).
"""

import unicodedata
from collections import Counter
from itertools import pairwise

import regex

TOY = {(97, 97): 256, (256, 97): 257, (257, 98): 258}
RHYME = """a sailor went to sea sea sea to see what he could see see see but all that he could see see see
was the bottom of the deep blue sea sea sea"""

# ------------------------------------------------------------------------------------------ of the references


def letter(token):
    return chr(0x10000 + token)


def token(character):
    return ord(character) - 0x10000


def spelled(word):
    return "".join(map(letter, word))


def pairs_of(words):
    """Pairs (two letters) and their counts, in the order first met, of words that are spelled."""
    counts: dict[str, int] = {}
    for word, count in words.items():
        for place in range(len(word) - 1):
            pair = word[place : place + 2]
            counts[pair] = counts.get(pair, 0) + count
    return counts


def trained(words, merges):
    """The merges, and whether any of them was decided by a tie."""
    words = {spelled(word): count for word, count in words.items()}
    learned, tied = {}, False
    for new in range(256, 256 + merges):
        counts = pairs_of(words)
        if not counts:
            break
        leaders = [pair for pair, count in counts.items() if count == max(counts.values())]
        tied |= len(leaders) > 1
        learned[tuple(map(token, leaders[0]))] = new
        words = {word.replace(leaders[0], letter(new)): count for word, count in words.items()}
    return learned, tied


def _kind(character):
    if character.isspace():
        return "space"
    return {"L": "letter", "N": "number"}.get(unicodedata.category(character)[0], "sign")


def _chunk_length(text):
    """How many characters the first chunk of a text takes, by the six rules."""
    for ending in ("'s", "'d", "'m", "'t", "'ll", "'ve", "'re"):
        if text.startswith(ending):
            return len(ending)
    start = 1 if text[0] == " " and len(text) > 1 and _kind(text[1]) != "space" else 0
    kind, length = _kind(text[start]), start
    while length < len(text) and _kind(text[length]) == kind:
        length += 1
    return length - (kind == "space" and 1 < length < len(text))


def chunks_of(text):
    found = []
    while text:
        length = _chunk_length(text)
        found.append(text[:length])
        text = text[length:]
    return found


def bytes_of(token, parts):
    return bytes([token]) if token < 256 else b"".join(bytes_of(part, parts) for part in parts[token])


# ------------------------------------------------------------------------------------------- of the families


def random_words(rng, count, letters="abcde", longest=8, most=100_000):
    """Different words of few letters, each with a large count of its own, so that ties are rare."""
    words: dict[tuple[int, ...], int] = {}
    while len(words) < count:
        word = "".join(rng.choice(list(letters), size=rng.integers(1, longest + 1)))
        words.setdefault(tuple(word.encode("ascii")), int(rng.integers(1, most)))
    return words


def rhyme():
    return dict(Counter(tuple(f"{word}_".encode()) for word in RHYME.split()))


# ---------------------------------------------------------------------------------------- of the wrong answers


def cut(text):
    rules = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    return regex.findall(rules, text)


def vocabulary(merges):
    known = {byte: bytes([byte]) for byte in range(256)}
    for (left, right), new in merges.items():
        known[new] = known[left] + known[right]
    return known


def counted(words):
    counts = {}
    for word, count in words.items():
        for pair in pairwise(word):
            counts[pair] = counts.get(pair, 0) + count
    return counts


def merged(word, pair, new):
    return tuple(map(token, spelled(word).replace(spelled(pair), letter(new))))
