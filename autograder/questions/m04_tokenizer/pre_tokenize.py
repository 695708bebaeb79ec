"""Lab 04, pre_tokenize: a text → the list of its chunks, by six rules."""

import re

import regex

from autograder.questions.engine import Question
from autograder.questions.m04_tokenizer.common import chunks_of


def chunks(text):
    return chunks_of(text)


question = Question(chunks)

ENGLISH, DIGITS, DOTS = [*"abcxyzXYZ"], [*"0123456789"], [*".,;:!?()-_#@"]
LETTERS = [*"absmtxyST", "é", "ß", "Ж", "я", "θ", "海", "क", "한"]
NUMBERS = [*"0123456789", "½", "²", "٣", "Ⅳ"]
SIGNS = [*'.,;:!?()-_#@$+="“”…€°', "😀", "🌊", "\u0301"]


def in_turn(rng, count, between, *alphabets):
    """A word of each alphabet in turn, and one piece of ``between`` after each."""
    pieces = []
    for i in range(count):
        alphabet = alphabets[i % len(alphabets)]
        pieces += [alphabet[j] for j in rng.integers(len(alphabet), size=rng.integers(1, 4))]
        pieces.append(between[rng.integers(len(between))])
    return "".join(pieces)


@question.family(
    "English words, numbers and signs are chunks, each with the one blank before it.", weight=0.5
)
def english(rng):
    for _ in range(2):
        yield in_turn(rng, 20, [" ", "", " "], ENGLISH, DIGITS, DOTS) + "x 's"


@question.family("Letters, numbers and signs of any script are chunks as the English ones are.", weight=1.5)
def all_scripts(rng):
    for _ in range(3):
        yield in_turn(rng, 24, [" ", "", " "], LETTERS, NUMBERS, SIGNS, LETTERS) + "é ½"


@question.family(
    "'s, 't, 'll and the others are cut off, in small letters and with a straight apostrophe only."
)
def endings(rng):
    some = ["'s", "'t", "'d", "'m", "'ll", "'ve", "'re", "'S", "'LL", "’s", "'x", "'", "'lo", "''s", "'sail"]
    for _ in range(2):
        order = [some[i] for i in rng.permutation(len(some))]
        yield "".join(f"{rng.choice(['it', 'We', 'X9'])}{ending} " for ending in order) + "x"
        yield "".join(order)


@question.family(
    "Of several blanks the last one belongs to the next word; at the end of the text they stay together."
)
def several_blanks(rng):
    for _ in range(2):
        yield "   " + in_turn(rng, 12, ["  ", "   ", " ", "     "], ENGLISH, DIGITS) + "x"
    for end in ("", "я", "_"):
        yield f"{rng.choice(ENGLISH)}{end}" + str(rng.choice(["    ", " \n\t ", "\t\t"]))


@question.family("A tab or a line end between words is a chunk of its own.")
def tabs_and_line_ends(rng):
    for _ in range(2):
        yield "a\tb" + in_turn(rng, 12, ["\t", "\n", " ", "\u00a0"], ENGLISH, DIGITS) + "x\ny"


@question.family("Any text, a single letter, and no text at all.", weight=0.5)
def any_text(rng):
    kinds = SIGNS, LETTERS, [" ", " ", "\n", "\t", "\r\n", "\u3000"], ["'", "'s", "'ll", "_"], NUMBERS
    for _ in range(2):
        yield f"é  {in_turn(rng, 30, ['', '', ' '], *(kinds[i] for i in rng.permutation(5)))}x\ty"
    yield ENGLISH[int(rng.integers(9))]
    yield ""


def _rules(signs=r" ?[^\s\p{L}\p{N}]+", space=r"\s+(?!\S)|\s+"):
    return rf"'(?:[sdmt]|ll|ve|re)| ?\p{{L}}+| ?\p{{N}}+|{signs}|{space}"


@question.misconception(
    "the slide's pattern, without the ^",
    costs=2.5,
    rules=_rules(signs=r" ?[\s\p{L}\p{N}]+"),
    hint="""Punctuation is lost: joined together, your chunks are not the text. In the rule for signs the square brackets must list what a sign
    is *not*, and that takes a ^ at their beginning.""",
)
@question.misconception(
    "blanks stand alone",
    costs=2.5,
    rules=_rules().replace(" ?", ""),
    hint="""Your words come without the blank before them. Nothing is lost, but the model pays one token more for every word. Each of the rules
    2 to 4 begins with a blank or none.""",
)
@question.misconception(
    "the endings come after the signs",
    costs=1,
    rules=r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|'(?:[sdmt]|ll|ve|re)|\s+(?!\S)|\s+",
    hint="""It's is cut into it, ' and s: at the apostrophe your rule for signs takes its turn before the rule for endings. The first rule that
    fits wins, so the endings must stand at the front.""",
)
@question.misconception(
    "any white space goes along with a word",
    costs=1,
    rules=_rules().replace(" ?", r"\s?"),
    hint="""A tab or a line end goes along with the word behind it in your chunks. Only a blank does: the rules for letters, numbers and signs
    begin with “ ?”, not with \\s?.""",
)
@question.misconception(
    "only English letters and digits",
    costs=1.5,
    rules=_rules()
    .replace(r"\p{L}+", "[A-Za-z]+")
    .replace(r"\p{N}+", "[0-9]+")
    .replace(r"\p{L}\p{N}", "A-Za-z0-9"),
    hint="""Letters such as é, ß or Ж are treated as signs, so foreign words fall apart. \\p{L} stands for the letters of all scripts, and \\p{N}
    for all number signs.""",
)
@question.misconception(
    "signs stand without their blank",
    costs=1,
    rules=_rules(signs=r"[^\s\p{L}\p{N}]+"),
    hint="""The blank before a bracket or a dash is a chunk of its own in your result. Signs take the one blank before them along, as words and
    numbers do: rule 4 begins with “ ?”, too.""",
)
@question.misconception(
    "white space at the end falls in two",
    costs=0.5,
    rules=_rules(space=r"\s+(?=\s)|\s+"),
    hint="""White space at the end of a text falls into two chunks. Rule 5 leaves its last character only if something follows: (?=\\s) asks for
    white space behind it; (?!\\S) also holds where the text ends.""",
)
def by_other_rules(text, *, rules):
    return regex.findall(rules, text)


@question.misconception("split at white space", costs=2.5)
def split_at_white_space(text):
    """You split the text at its white space, which is then gone, and dots and commas stick to their words. A tokenizer must be able to
    restore every character, so white space belongs into the chunks."""
    return text.split()


@question.misconception("the empty text is a chunk", costs=0.5)
def empty_text_a_chunk(text):
    """The empty text has no chunks, so its list is empty. Yours holds something."""
    return chunks_of(text) or [text]


@question.alternative
def with_gpt2s_own_pattern(text):
    rules = r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_½²٣Ⅳ]+| ?[\d½²٣Ⅳ]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+"
    return re.findall(rules, text)
