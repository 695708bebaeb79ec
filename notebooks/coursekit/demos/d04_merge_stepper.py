"""Lab 04: byte-pair encoding merges the most frequent pair, again and again, and the text is cut anew each time."""

from __future__ import annotations

from functools import cache

from coursekit.demos.frame import Choice, Demo, Scene, Steps
from coursekit.demos.svg import TOP, Picture, text_width
from coursekit.provided.p04_tokenizer import count_pairs, train_bpe

RHYME, LETTERS, MOTTO = "the sailor rhyme", "aaabdaaabac", "low, lower, newest, widest"
TEXTS = {
    RHYME: (
        "a sailor went to sea sea sea",
        "to see what he could see see see",
        "but all that he could see see see",
        "was the bottom of the deep blue sea sea sea",
    ),
    LETTERS: ("aaabdaaabac",),
    MOTTO: ("low low low low low", "lower lower", "newest newest newest", "widest widest widest"),
}
LAST = 50
COLOURS = ("sky", "orange", "green", "purple", "yellow", "blue", "red")

Word = tuple[int, ...]


def chunks(text: str) -> list[list[str]]:
    """The words of every line; each ends with ``_`` as on the slides (not the single word of letters)."""
    end = "" if text == LETTERS else "_"
    return [[word + end for word in line.split()] for line in TEXTS[text]]


@cache
def history(text: str) -> list[tuple[tuple[int, int], int, dict[str, Word]]]:
    """For each step: the pair that was merged, how often it stood there, and how every word is spelled after it.

    Step 0 has the pair (0, 0) and count 0: every word is spelled in bytes.
    """
    words = [word for line in chunks(text) for word in line]
    spelled: dict[str, Word] = {word: tuple(word.encode()) for word in words}
    counts = {spelled[word]: words.count(word) for word in spelled}
    steps: list[tuple[tuple[int, int], int, dict[str, Word]]] = [((0, 0), 0, dict(spelled))]
    for pair, new in train_bpe(counts, LAST).items():
        often = count_pairs({spelled[word]: words.count(word) for word in spelled})[pair]
        spelled = {word: merged(tokens, pair, new) for word, tokens in spelled.items()}
        steps.append((pair, often, dict(spelled)))
    return steps


def merged(tokens: Word, pair: tuple[int, int], new: int) -> Word:
    """``tokens`` with the pair replaced from the left, without overlap."""
    out: list[int] = []
    place = 0
    while place < len(tokens):
        here = tokens[place : place + 2] == pair
        out.append(new if here else tokens[place])
        place += 2 if here else 1
    return tuple(out)


@cache
def spellings(text: str) -> dict[int, str]:
    """What each token stands for."""
    known = {byte: chr(byte) for byte in range(256)}
    for i, (pair, _, _) in enumerate(history(text)[1:]):
        known[256 + i] = known[pair[0]] + known[pair[1]]
    return known


def types_in_use(text: str, step: int) -> int:
    """How many different tokens the text is made of after some merges."""
    return len({token for tokens in history(text)[step][2].values() for token in tokens})


def tokens_in_text(text: str, step: int) -> int:
    """How many tokens the text has after some merges."""
    spelled = history(text)[step][2]
    return sum(len(spelled[word]) for line in chunks(text) for word in line)


def draw(text: str, step: int) -> Picture:
    """The text in coloured tokens, the pairs that lead now, and how the numbers of tokens and types went."""
    steps = history(text)
    step = min(step, len(steps) - 1)
    pair, often, spelled = steps[step]
    name = spellings(text)
    total, types = tokens_in_text(text, step), types_in_use(text, step)
    if not step:
        title = f"Before any merge the text is {total} letters"
    elif step == len(steps) - 1:
        title = f"After {step} merges: {total} tokens of {types} types; no pair is left"
        if step == LAST and any(len(tokens) > 1 for tokens in spelled.values()):
            title = f"After {step} merges: {total} tokens of {types} types"
    else:
        title = (
            f"Merge {step}: {name[pair[0]]} + {name[pair[1]]} stood together {often} time{'s' * (often != 1)}"
        )
    picture = Picture(
        title,
        f"Byte-pair encoding of {text} after {step} merges: {total} tokens of {types} different types. "
        + (f"The last merge joined {name[pair[0]]} and {name[pair[1]]}, {often} times." if step else ""),
        note=f"{total} tokens, {types} types in use, {step} merges learned",
    )
    new = 255 + step if step else -1
    _draw_text(picture, text, spelled, name, new)
    _draw_pairs(picture, text, spelled, name)
    _draw_curve(picture, text, step, len(steps) - 1)
    return picture


def _draw_text(picture: Picture, text: str, spelled: dict[str, Word], name: dict[int, str], new: int) -> None:
    x, y, size, right = 0.0, TOP + 4.0, 26.0, 760.0
    for line in chunks(text):
        for word in line:
            tokens = spelled[word]
            wide = sum(text_width(name[token], size, mono=True) + 10 for token in tokens) + 10
            if x + wide > right:
                x, y = 0.0, y + 50
            for token in tokens:
                long = token >= 256
                colour = COLOURS[token % len(COLOURS)] if long else "faint"
                opacity = 0.55 if long else 1
                x += picture.chip(
                    *(x, y, name[token]),
                    fill=colour,
                    opacity=opacity if colour != "faint" else 0.8,
                    edge="ink" if token == new else "line",
                    size=size,
                    pad=4,
                )
                x += 2
            x += 10
        x, y = 0.0, y + 56


def _draw_pairs(picture: Picture, text: str, spelled: dict[str, Word], name: dict[int, str]) -> None:
    words = [word for line in chunks(text) for word in line]
    counts: dict[Word, int] = {}
    for word in words:
        counts[spelled[word]] = counts.get(spelled[word], 0) + 1
    pairs = count_pairs(counts)
    best = sorted(pairs, key=lambda pair: -pairs[pair])[:5]
    picture.text(830, TOP + 26, "most frequent pairs now", weight=700)
    if not best:
        picture.text(830, TOP + 74, "none: all words are whole")
        return
    most = max(pairs[best[0]], 4)
    for i, pair in enumerate(best):
        y = TOP + 44 + i * 48
        picture.text(
            955, y + 31, f"{name[pair[0]]} {name[pair[1]]}", size=26, anchor="end", mono=True, fit=125
        )
        wide = pairs[pair] / most * 90
        picture.rect(
            970, y + 5, wide, 36, fill="orange" if not i else "blue", edge="ink" if not i else "none"
        )
        note = f"{pairs[pair]}" + ("  ← next" if not i else "")
        picture.text(978 + wide, y + 31, note, size=24, weight=700 if not i else 400)


def _draw_curve(picture: Picture, text: str, step: int, last: int) -> None:
    tokens = [tokens_in_text(text, i) for i in range(last + 1)]
    types = [types_in_use(text, i) for i in range(last + 1)]
    most = max(tokens)
    plot = picture.plot(
        *(870, TOP + 310, 310, 130),
        across=(0, max(last, 1)),
        up=(0, most * 1.1),
        xlabel="merges",
        xticks=(0, last),
    )
    plot.curve(range(last + 1), tokens, colour="blue", width=4)
    plot.curve(range(last + 1), types, colour="red", width=4, dash="9 6")
    plot.dots([step], [tokens[step]], fill="blue", edge="ink")
    plot.dots([step], [types[step]], fill="red", edge="ink")
    picture.text(1185, plot.y(tokens[0]) + 14, "tokens", size=24, anchor="end", weight=700)
    picture.text(880, plot.y(max(types)) - 14, "types", size=24, weight=700)


demo = Demo(
    name="04_merge_stepper",
    title="Byte-pair encoding, one merge at a time",
    look="Watch the frequent words melt into one token each while the rare ones stay in pieces.",
    draw=draw,
    controls=(
        Choice("text", "text", tuple(TEXTS), RHYME),
        Steps("step", "merges", LAST, milliseconds=900),
    ),
    scenes=(
        Scene("letters", {"step": 0}),
        Scene("the first merge", {"step": 1}),
        Scene("two merges", {"step": 2}),
        Scene("ten merges", {"step": 10}),
        Scene("fifty merges", {"step": 50}),
        Scene("aaabdaaabac", {"text": LETTERS, "step": 3}),
    ),
    questions=(
        "Which pair comes next? Count before you step.",
        "The number of types in use first rises and then falls. Why can it fall?",
        "What would the tokenizer do with “seashore”, after this rhyme?",
    ),
    poster=3,
)
