"""Lab 04, ``pre_tokenize``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import re

import regex

from autograder.testing import alternative, misconception


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


@misconception(
    "pre_tokenize", title="the endings come after the signs", keeps="right but for words with an ending"
)
def endings_last(text):
    """It's is cut into it, ' and s: at the apostrophe your rule for signs takes its turn before the rule for endings.
    The first rule that fits wins, so the endings must stand at the front."""
    return regex.findall(r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|'(?:[sdmt]|ll|ve|re)|\s+(?!\S)|\s+", text)


@misconception(
    "pre_tokenize", title="endings in capital letters, too", keeps="right but for endings in capital letters"
)
def capital_endings(text):
    """You cut 'S and 'LL off as well. Rule 1 lists the endings in small letters only; IT'S is IT, ' and S. (It is odd, but a
    tokenizer must cut new text exactly as it cut the text it was trained on.)"""
    return regex.findall(
        r"'(?:[sdmtSDMT]|ll|ve|re|LL|VE|RE)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text
    )


@misconception(
    "pre_tokenize",
    title="any white space goes along with a word",
    keeps="right wherever words are parted by blanks",
)
def any_white_space_leads(text):
    """A tab or a line end goes along with the word behind it in your chunks. Only a blank does: the rules for letters, numbers and
    signs begin with “ ?”, not with \\s?."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)|\s?\p{L}+|\s?\p{N}+|\s?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text)


@misconception(
    "pre_tokenize",
    title="white space takes the next word's blank",
    keeps="right wherever words are parted by a single blank",
)
def greedy_white_space(text):
    """After several blanks your word stands without its own: the run of white space took them all. Rule 5 leaves the
    last one for the word: white space that is not followed by anything else but white space."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+", text)


@misconception("pre_tokenize", title="only English letters and digits", keeps="right for English text")
def ascii_only(text):
    """Letters such as é, ß or Ж are treated as signs, so foreign words fall apart. Not only a to z are letters: \\p{L}
    stands for the letters of all scripts, and \\p{N} for all number signs."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+", text)


@misconception("pre_tokenize", title="letters, digits and _ in one chunk")
def word_characters(text):
    """Letters, digits and the underscore run together in your chunks, as in “X9” or “my_ship”: \\w means all three.
    Letters (\\p{L}) and number signs (\\p{N}) have a rule each, and the underscore is a sign."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)| ?\w+| ?[^\s\w]+|\s+(?!\S)|\s+", text)


@misconception(
    "pre_tokenize",
    title="digits instead of number characters",
    keeps="right wherever numbers are written with 0 to 9",
)
def digits_only(text):
    """Number characters such as ½ and ² are treated as signs: \\d means digits only, and \\p{N} all number characters. It stands in
    two places, in the rule for numbers and among what a sign is not."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\d+| ?[^\s\p{L}\d]+|\s+(?!\S)|\s+", text)


@misconception(
    "pre_tokenize",
    title="signs stand without their blank",
    keeps="right for words and numbers, and for signs behind them",
)
def signs_without_their_blank(text):
    """The blank before a bracket or a dash is a chunk of its own in your result. Signs take the one blank before them along, as
    words and numbers do: rule 4 begins with “ ?”, too."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+|[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text)


@misconception(
    "pre_tokenize", title="white space at the end falls in two", keeps="right but for the end of some texts"
)
def white_space_at_the_end_cut(text):
    """White space at the end of a text falls into two chunks. Rule 5 leaves its last character only if something follows.
    (?=\\s) asks for white space behind it; (?!\\S) also holds where the text ends."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?=\s)|\s+", text)


@misconception(
    "pre_tokenize", title="the empty text is a chunk", keeps="right for every text but the empty one"
)
def empty_text_a_chunk(text):
    """The empty text has no chunks, so its list is empty. Yours holds something."""
    rules = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    return regex.findall(rules, text) or [text]


@misconception(
    "pre_tokenize", title="the ending 're is missing", keeps="right but for a single one of the seven endings"
)
def ending_re_forgotten(text):
    """The ending 're, as in “we're”, is not cut off. Compare your endings with the seven of rule 1."""
    return regex.findall(r"'(?:[sdmt]|ll|ve)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text)


@misconception(
    "pre_tokenize",
    title="a curly apostrophe begins an ending, too",
    keeps="right wherever apostrophes are straight",
)
def curly_apostrophe(text):
    """Endings are cut off behind a curly apostrophe (’), too. Rule 1 asks for a straight one. (A tokenizer must cut new text
    exactly as it cut the text it was trained on.)"""
    return regex.findall(r"['’](?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text)


@misconception(
    "pre_tokenize",
    title="an ending only where the word ends",
    keeps="right but for quoted words, as in 'sail",
)
def endings_before_a_border_only(text):
    """In 'sail you leave the 's together with the rest. Rule 1 comes first and does not ask what follows, so 's is a chunk there,
    and ail is the next."""
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)\b| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text)


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
