"""Lab 04, the tokenizer: named wrong answers with their hints, and correct answers in other styles."""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import regex

from autograder.answers import alternative, misconception
from autograder.masters import master

reference = master("04_tokenizer")


# ------------------------------------------------------------------------------------------------- utf8_encode


def _groups(codepoint, count, bits):
    """The number cut into ``count`` groups of ``bits`` bits, the highest first."""
    return [codepoint >> bits * place & (1 << bits) - 1 for place in reversed(range(count))]


def _checked(codepoint):
    if not 0 <= codepoint <= 0x10FFFF:
        raise ValueError("no code point")
    return 1 + (codepoint > 0x7F) + (codepoint > 0x7FF) + (codepoint > 0xFFFF)


_FIRST = (0, 0, 0b11000000, 0b11100000, 0b11110000)


@misconception("utf8_encode", title="the limits of the table are off by one")
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


@misconception("utf8_encode", title="nothing above FFFF")
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


# ------------------------------------------------------------------------------------------------ pre_tokenize


@misconception("pre_tokenize", title="the slide's pattern, without the ^")
def the_slides_pattern(text):
    """Punctuation is lost: joined together, your chunks are not the text. In the rule for signs the square brackets
    must list what a sign is *not*, and that takes a ^ at their beginning."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text)


@misconception("pre_tokenize", title="split at white space")
def split_at_white_space(text):
    """You split the text at its white space, which is then gone, and dots and commas stick to their words. A
    tokenizer must be able to restore every character, so white space belongs into the chunks."""
    return text.split()


@misconception("pre_tokenize", title="blanks stand alone")
def blanks_stand_alone(text):
    """Your words come without the blank before them. Nothing is lost, but the model pays one token more for every
    word. The blank belongs to the word that follows it: each of the rules 2 to 4 begins with a blank or none."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)|\p{L}+|\p{N}+|[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text)


@misconception("pre_tokenize", title="the endings come after the signs")
def endings_last(text):
    """It's is cut into it, ' and s: at the apostrophe your rule for signs takes its turn before the rule for endings.
    The first rule that fits wins, so the endings must stand at the front."""
    return regex.findall(r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|'(?:[sdmt]|ll|ve|re)|\s+(?!\S)|\s+", text)


@misconception("pre_tokenize", title="white space takes the next word's blank")
def greedy_white_space(text):
    """After several blanks your word stands without its own: the run of white space took them all. Rule 5 leaves the
    last one for the word: white space that is not followed by anything else but white space."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+", text)


@misconception("pre_tokenize", title="only English letters and digits")
def ascii_only(text):
    """Letters such as é, ß or Ж are treated as signs, so foreign words fall apart. Not only a to z are letters: \\p{L}
    stands for the letters of all scripts, and \\p{N} for all number signs."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+", text)


@misconception("pre_tokenize", title="letters, digits and _ in one chunk")
def word_characters(text):
    """Letters, digits and the underscore run together in your chunks, as in “X9” or “my_ship”: \\w means all three.
    Letters (\\p{L}) and number signs (\\p{N}) have a rule each, and the underscore is a sign."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)| ?\w+| ?[^\s\w]+|\s+(?!\S)|\s+", text)


@alternative("pre_tokenize")
def with_finditer_and_verbose_pattern(text):
    pattern = regex.compile(
        r"""'s|'t|'re|'ve|'m|'ll|'d   # endings
          | [ ]?\p{Letter}+ | [ ]?\p{Number}+ | [ ]?[^\s\p{L}\p{N}]+
          | \s+(?!\S) | \s+""",
        regex.VERBOSE,
    )
    return tuple(match.group() for match in pattern.finditer(text))


@alternative("pre_tokenize")
def by_a_scanner(text):
    def kind(character):
        return (
            0
            if character.isspace()
            else 1
            if regex.match(r"\p{L}", character)
            else 2
            if regex.match(r"\p{N}", character)
            else 3
        )

    chunks, at = [], 0
    while at < len(text):
        ending = re.match(r"'(s|t|re|ve|m|ll|d)", text[at:])
        if ending:
            chunks.append(ending[0])
        else:
            blank = text[at] == " " and at + 1 < len(text) and kind(text[at + 1]) != 0
            end = at + blank
            while end < len(text) and kind(text[end]) == kind(text[at + blank]):
                end += 1
            if kind(text[at]) == 0 and not blank and end < len(text) and end - at > 1:
                end -= 1
            chunks.append(text[at:end])
        at += len(chunks[-1])
    return chunks


@alternative("pre_tokenize")
def with_gpt2s_own_pattern(text):
    return re.findall(
        r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_½²٣Ⅳ]+| ?[\d½²٣Ⅳ]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+", text
    )


# ------------------------------------------------------------------------------------------------------ decode


def _vocabulary(merges):
    spelled = {byte: bytes([byte]) for byte in range(256)}
    for (left, right), new in merges.items():
        spelled[new] = spelled[left] + spelled[right]
    return spelled


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


@misconception("decode", title="broken bytes raise an error")
def strict_decoding(ids, merges):
    """Half an emoji makes your function fail. A language model may stop in the middle of a character, and the reader
    still wants to see the rest: errors="replace" puts a � there."""
    return b"".join(_vocabulary(merges)[token] for token in ids).decode("utf-8")


@misconception("decode", title="broken bytes are swallowed")
def ignored_bytes(ids, merges):
    """Bytes that are no valid UTF-8 vanish without a trace. A sign that something was broken is more honest: the � of
    errors="replace"."""
    return b"".join(_vocabulary(merges)[token] for token in ids).decode("utf-8", errors="ignore")


@misconception("decode", title="merges are spelled one level deep")
def one_level_deep(ids, merges):
    """Tokens made of merged tokens are not spelled to the end: a part that is itself a merged token is missing. Go
    through the merges in the order learned; then the bytes of both parts are always known."""
    parts = {new: pair for pair, new in merges.items()}
    found = [part for token in ids for part in parts.get(token, (token,)) if part < 256]
    return bytes(found).decode("utf-8", errors="replace")


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


# ------------------------------------------------------------------------------------------------- count_pairs


@misconception("count_pairs", title="each word counts once")
def words_count_once(words):
    """Every word counts the same in your result, however often it occurs. Add the word's count for each of its pairs,
    not 1: a word that occurs six times brings its pairs six times."""
    return dict(Counter(pair for word in words for pair in pairwise(word)))


@misconception("count_pairs", title="pairs reach from word to word")
def across_words(words):
    """Some of your pairs consist of the last token of one word and the first of the next. The words of the dictionary
    are no text: they do not stand side by side anywhere. Count inside each word."""
    tokens = [(token, count) for word, count in words.items() for token in word]
    counts = {}
    for (left, _), (right, count) in pairwise(tokens):
        counts[left, right] = counts.get((left, right), 0) + count
    return counts


@misconception("count_pairs", title="overlapping pairs count once")
def without_overlap(words):
    """In a run of three equal tokens you count their pair once. The *merge* may use each token once only, but the count
    looks at every pair of neighbours, and there are two."""
    counts = {}
    for word, count in words.items():
        for pair in dict.fromkeys(pairwise(word)):
            letters = "".join(map(_sign, word))
            counts[pair] = counts.get(pair, 0) + count * letters.count(_sign(pair[0]) + _sign(pair[1]))
    return counts


def _sign(token):
    return chr(0x10000 + token)


@misconception("count_pairs", title="a pair counts once a word")
def once_a_word(words):
    """A pair that stands in a word twice counts once in your result. Go through all positions of the word, and
    add the word's count at each of them."""
    counts = {}
    for word, count in words.items():
        for pair in dict.fromkeys(pairwise(word)):
            counts[pair] = counts.get(pair, 0) + count
    return counts


@misconception("count_pairs", title="ab and ba are the same pair")
def order_ignored(words):
    """Your pairs are sorted, so ab and ba count together. They are different pieces of text: keep the left token on the
    left."""
    counts = {}
    for word, count in words.items():
        for pair in pairwise(word):
            counts[min(pair), max(pair)] = counts.get((min(pair), max(pair)), 0) + count
    return counts


@alternative("count_pairs")
def with_a_counter(words):
    counts = Counter()
    for word, count in words.items():
        for i in range(1, len(word)):
            counts[word[i - 1], word[i]] += count
    return counts


@alternative("count_pairs")
def with_arrays_of_numpy_numbers(words):
    counts = defaultdict(np.int64)
    for word, count in words.items():
        row = np.asarray(word)
        for left, right in np.stack([row[:-1], row[1:]], axis=1):
            counts[int(left), int(right)] += np.int64(count)
    return counts


# --------------------------------------------------------------------------------------------------- train_bpe


def _train(words, merges, choose=None, count=None, first=256, merge=None, until=1):
    """Training with one part exchanged for a wrong one."""
    choose = choose or (lambda pairs: max(pairs, key=pairs.get))
    merge = merge or reference.merge_pair
    learned = {}
    while len(learned) < merges:
        pairs = (count or reference.count_pairs)(words)
        if not pairs or max(pairs.values()) < until:
            break
        best = choose(pairs)
        new = first + len(learned)
        learned[best] = new
        words = {merge(word, best, new): n for word, n in words.items()}
    return learned


@misconception("train_bpe", title="the pairs are counted only once")
def counted_only_once(words, merges):
    """Your merges are the most frequent pairs of the *original* text. After a merge everything is different: some
    pairs are gone, and new ones with the new token have come. Count again after each merge."""
    pairs = reference.count_pairs(words)
    best = sorted(pairs, key=pairs.get, reverse=True)[:merges]
    return {pair: 256 + i for i, pair in enumerate(best)}


@misconception("train_bpe", title="the words' counts are ignored")
def word_counts_ignored(words, merges):
    """You count each different word once. Then a rare word has as much say as “the”. A pair counts as often as its word
    occurs in the text."""
    return _train(dict.fromkeys(words, 1), merges)


@misconception("train_bpe", title="a tie goes to the pair met last")
def last_of_a_tie(words, merges):
    """When two pairs occur equally often you take the one that is met later. Somebody must decide, and this
    course decides for the one met first; that is what max does with a dictionary in the order of count_pairs."""

    def choose(pairs):
        highest = max(pairs.values())
        return [pair for pair in pairs if pairs[pair] == highest][-1]

    return _train(words, merges, choose)


@misconception("train_bpe", title="a tie goes to the smallest ids")
def smallest_ids_of_a_tie(words, merges):
    """When two pairs occur equally often you take the one with the smaller ids. Some libraries do that; here the pair
    wins that a count meets first, in the earliest word and there furthest to the left."""
    return _train(words, merges, lambda pairs: min(pairs, key=lambda pair: (-pairs[pair], pair)))


@misconception("train_bpe", title="pairs that occur once are never merged")
def stops_at_one(words, merges):
    """You stop when the best pair occurs only once. Such a merge helps little, but the recipe goes on until no pair is
    left: only then do the rhyme's 18 words become 18 tokens."""
    return _train(words, merges, until=2)


@misconception("train_bpe", title="`merges` is taken for the size of the vocabulary")
def merges_as_vocabulary_size(words, merges):
    """You learn fewer merges than asked for: the 256 bytes were counted as well. The argument says how many merges to
    learn; the vocabulary then has 256 types more."""
    return _train(words, merges - 256)


@misconception("train_bpe", title="the new ids begin in the wrong place")
def ids_from_257(words, merges):
    """Your first new token does not have the id 256. The bytes take the ids 0 to 255, so the next free one is 256,
    and every later merge gets the next number."""
    return _train(words, merges, first=257)


@misconception("train_bpe", title="overlapping pairs are merged twice")
def overlapping_merge(words, merges):
    """In a run of equal tokens your merge uses the middle one twice, so text appears that was never there. Replace from
    the left, and go on *behind* the pair: merge_pair does that."""

    def merge(word, pair, new):
        places = {i for i in range(len(word) - 1) if word[i : i + 2] == pair}
        covered = {i + 1 for i in places}
        return tuple(
            new if i in places else token for i, token in enumerate(word) if i in places or i not in covered
        )

    return _train(words, merges, merge=merge)


@alternative("train_bpe")
def by_correcting_the_counts(words, merges):
    return reference.train_bpe_fast(words, merges)


@alternative("train_bpe")
def over_the_running_text(words, merges):
    text, weights = [list(word) for word in words], list(words.values())
    learned = []
    for new in range(256, 256 + merges):
        counts = Counter()
        for tokens, weight in zip(text, weights, strict=True):
            for pair in pairwise(tokens):
                counts[pair] += weight
        if not counts:
            break
        ((pair, _),) = counts.most_common(1)
        learned.append((pair, new))
        for tokens in text:
            i = 0
            while i + 1 < len(tokens):
                if (tokens[i], tokens[i + 1]) == pair:
                    tokens[i : i + 2] = [new]
                i += 1
    return dict(learned)


@alternative("train_bpe")
def with_a_heap_for_each_choice(words, merges):
    words, learned = dict(words), {}
    for step in range(merges):
        pairs = reference.count_pairs(words)
        heap = [(-count, place, pair) for place, (pair, count) in enumerate(pairs.items())]
        heapq.heapify(heap)
        if not heap:
            return learned
        left, right = heap[0][2]
        learned[np.int64(left), np.int64(right)] = np.int64(256 + step)
        words = {reference.merge_pair(word, (left, right), 256 + step): n for word, n in words.items()}
    return learned


# ------------------------------------------------------------------------------------------------------ encode


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


@misconception("encode", title="characters instead of bytes")
def characters_instead_of_bytes(text, merges):
    """You start from the characters' code points. é is then 233 and 海 is 28023, which collides with the new ids. Start
    from the bytes of the chunk, chunk.encode("utf-8")."""
    return _encode(text, merges, _earliest, start=lambda chunk: map(ord, chunk))


@misconception("encode", title="the text is not cut into chunks")
def no_chunks(text, merges):
    """Your merges reach across the borders of words. In training they never did. Cut the text with pre_tokenize first
    and encode each chunk by itself."""
    return _encode(text, merges, _earliest, chunks=[text])


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
