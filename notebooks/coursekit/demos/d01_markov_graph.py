"""Lab 01: a walk through a Markov chain, over words and over the letters of names, with one or two steps of memory."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from coursekit.data.names import ALPHABET, names
from coursekit.demos.frame import Again, Choice, Demo, Scene, Steps
from coursekit.demos.svg import Picture
from coursekit.provided.p01_markov_bigram import normalise_rows

Array = npt.NDArray[np.float64]

WORDS, NAMES = "two sentences", "names"
ONE, TWO = "one back", "two back"
REPORTS = {
    "check whether the battery ran down please": 0.4,
    "check whether the program ran please": 0.6,
}
PLACES = {
    "check": (80, 330),
    "whether": (245, 330),
    "the": (400, 330),
    "battery": (580, 205),
    "program": (580, 455),
    "ran": (760, 330),
    "down": (920, 205),
    "please": (1105, 330),
}
LAST = 12


# --- words -------------------------------------------------------------------------------------------------------


def next_words(context: tuple[str, ...]) -> dict[str, float]:
    """The probability of each word after the last one or two words, counted in the two sentences."""
    counts: dict[str, float] = {}
    for sentence, weight in REPORTS.items():
        words = sentence.split()
        for i in range(len(context) - 1, len(words) - 1):
            if tuple(words[i - len(context) + 1 : i + 1]) == context:
                counts[words[i + 1]] = counts.get(words[i + 1], 0) + weight
    return {word: count / sum(counts.values()) for word, count in counts.items()}


def _word_walk(seed: int, memory: int) -> list[str]:
    rng, walk = np.random.default_rng(seed), ["check"]
    while following := next_words(tuple(walk[-memory:])):
        walk.append(str(rng.choice(list(following), p=list(following.values()))))
    return walk


def _draw_words(memory: int, step: int, walk: int) -> Picture:
    path = _word_walk(walk, memory)
    step = min(step, len(path) - 1)
    said, now = path[: step + 1], path[step]
    context = tuple(said[-memory:])
    following = next_words(context)
    title, seen = _word_title(context, following), " ".join(context)
    chances = ", ".join(f"{word} {p:.0%}" for word, p in following.items()) or "nothing"
    picture = Picture(
        title,
        f"A Markov chain of eight words. The chain sees “{seen}”; what follows: {chances}.",
        note="      ".join(f"P({word} | {seen}) = {p:.2f}" for word, p in following.items()),
    )
    for word in PLACES:
        for target, p in next_words((word,)).items():
            live = word == now and target in following
            _step(picture, word, target, following.get(target, 0) if word == now else p, live, word == now)
    for word, (x, y) in PLACES.items():
        wide = 26 + 18 * len(word)
        mark = "orange" if word == now else "blue"
        picture.rect(
            *(x - wide / 2, y - 30, wide, 60),
            fill="orange" if word == now else "paper",
            edge=mark,
            edge_width=6 if word in context else 3,
            radius=30,
        )
        picture.text(
            *(x, y + 10, word),
            size=28,
            anchor="middle",
            weight=700 if word == now else 400,
            colour="over" if word == now else "ink",
        )
    picture.text(0, 590, "said so far:", colour="soft")
    picture.text(160, 590, " ".join(said), weight=700, size=30)
    return picture


def _word_title(context: tuple[str, ...], following: dict[str, float]) -> str:
    seen = " ".join(context)
    if not following:
        return f"Nothing ever follows “{seen}”: the walk ends"
    if len(following) == 1:
        return f"After “{seen}” only “{next(iter(following))}” can come"
    if context[-1] == "ran":
        return "At “ran” the chain has forgotten who ran: it must toss a coin"
    chances = " or ".join(f"“{word}” {p:.0%}" for word, p in following.items())
    return f"After “{seen}”: {chances}"


def _step(picture: Picture, word: str, target: str, p: float, live: bool, here: bool) -> None:
    (x1, y1), (x2, y2) = PLACES[word], PLACES[target]
    angle = np.arctan2(y2 - y1, x2 - x1)
    reach = [
        min((13 + 9 * len(name)) / max(abs(np.cos(angle)), 1e-9), 30 / max(abs(np.sin(angle)), 1e-9)) + 4
        for name in (word, target)
    ]
    middle = picture.arrow(
        x1 + reach[0] * np.cos(angle),
        y1 + reach[0] * np.sin(angle),
        x2 - reach[1] * np.cos(angle),
        y2 - reach[1] * np.sin(angle),
        colour="orange" if live else "line" if here else "soft",
        width=3 + 6 * p if live else 3,
        head=12,
    )
    if p < 0.999 and (live or not here):
        picture.label(middle[0], middle[1], f"{p:.0%}", size=24)


# --- names -------------------------------------------------------------------------------------------------------


@cache
def counts() -> npt.NDArray[np.int64]:
    """How often a token follows two others in the built-in names, (28, 28, 28); names begin with two ``<S>``."""
    text = "``" + "{``".join(names()) + "{"  # in ASCII the neighbours of a to z stand for start and end
    ids = np.frombuffer(text.encode("ascii"), dtype=np.uint8).astype(int) - ord("`")
    a, b, c = ids[:-2], ids[1:-1], ids[2:]
    inside = (b != 27) & (a != 27)  # a window that reaches into the next name counts for nothing
    table = np.zeros((28, 28, 28), dtype=np.int64)
    np.add.at(table, (a[inside], b[inside], c[inside]), 1)
    return table


@cache
def chain(memory: int) -> Array:
    """The probabilities of the next token: (28, 28) for one token of memory, (28, 28, 28) for two."""
    return normalise_rows(counts() if memory == 2 else counts().sum(axis=0))


@cache
def surprise(memory: int) -> float:
    """The mean negative log-likelihood of a step of the names, in nats."""
    p = np.broadcast_to(chain(memory), (28, 28, 28))
    seen = counts() > 0
    return float(-(counts()[seen] * np.log(p[seen])).sum() / counts().sum())


def row(context: tuple[int, int], memory: int) -> Array:
    """The probabilities of the token after a context of two."""
    return chain(2)[context] if memory == 2 else chain(1)[context[1]]


def name_walk(rng: np.random.Generator, memory: int) -> list[int]:
    """A name as tokens, rolled token by token, with its beginning and its end."""
    walk = [0, 0]
    while walk[-1] != 27:
        walk.append(int(rng.choice(28, p=row((walk[-2], walk[-1]), memory))))
    return walk[1:]


def _spell(tokens: list[int]) -> str:
    return "".join(ALPHABET[token] for token in tokens if 0 < token < 27)


def _shown(token: int) -> str:
    return {0: "start", 27: "end"}.get(token, ALPHABET[token])


def _draw_names(memory: int, step: int, walk: int) -> Picture:
    rng = np.random.default_rng(walk)
    path = name_walk(rng, memory)
    step = min(step, len(path) - 2)
    now, chosen = path[step], path[step + 1]
    context = (path[step - 1] if step else 0, now)
    p = row(context, memory)
    order = [int(i) for i in np.argsort(-p, kind="stable")[:8]]
    if chosen not in order:
        order[-1] = chosen
    seen = _shown(now) if memory == 1 or not step else "".join(map(_shown, context))
    best = order[0]
    title = f"After “{seen}” comes “{_shown(best)}” in {p[best]:.0%} of all cases"
    top = ", ".join(f"{_shown(i)} {p[i]:.0%}" for i in order)
    picture = Picture(
        title,
        f"The chain of names stands at “{seen}”. Most probable next: {top}. The die shows {_shown(chosen)}.",
        note=f"counted in {len(names()):,} names; a step costs {surprise(memory):.2f} nats on average",
    )
    _fan(picture, p, order, chosen, seen)
    x = 150.0
    picture.text(0, 600, "so far:", colour="soft")
    for token in path[1 : step + 1]:
        x += picture.chip(x, 566, _shown(token), fill="blue", size=30) + 6
    if chosen != 27:
        picture.chip(x, 566, _shown(chosen), fill="orange", size=30)
    else:
        picture.text(x + 8, 600, "the end", weight=700, colour="ink")
    picture.text(900, 145, "names of this chain", weight=700)
    for i in range(9):
        name = _spell(path) if not i else _spell(name_walk(rng, memory))
        picture.text(
            900, 190 + 44 * i, name[:20] or "(nothing)", size=28, mono=True, weight=700 if not i else 400
        )
    return picture


def _fan(picture: Picture, p: Array, order: list[int], chosen: int, seen: str) -> None:
    x, y = 100.0, 340.0
    for i, token in enumerate(order):
        top = 150 + 52 * i
        hit = token == chosen
        picture.arrow(
            *(x + 64, y + (top - y) * 0.12, 380, top),
            colour="orange" if hit else "line",
            width=2 + 16 * p[token],
            head=8,
            bend=-(top - y) * 0.12,
        )
    picture.circle(x, y, 62, fill="orange", edge="orange")
    picture.text(x, y + 12, seen, size=34, anchor="middle", weight=700, colour="over", fit=110)
    for i, token in enumerate(order):
        top = 150 + 52 * i
        hit = token == chosen
        picture.rect(484, top - 17, max(300 * p[token], 3), 34, fill="orange" if hit else "blue", radius=3)
        picture.text(
            432, top + 10, _shown(token), size=30, anchor="middle", mono=True, weight=700 if hit else 400
        )
        picture.text(
            494 + 300 * p[token],
            top + 9,
            f"{p[token]:.0%}" + (" ← the die" if hit else ""),
            size=24,
            weight=700,
        )


def draw(chain: str, memory: str, step: int, walk: int) -> Picture:
    """The chain at one step of a walk."""
    return (_draw_words if chain == WORDS else _draw_names)(1 if memory == ONE else 2, step, walk)


demo = Demo(
    name="01_markov_graph",
    title="Markov chains: what comes next?",
    look="Look at the arrows that leave the orange circle: they are one row of the table, and their shares add up to 1.",
    draw=draw,
    controls=(
        Choice("chain", "chain", (WORDS, NAMES), WORDS),
        Choice("memory", "memory", (ONE, TWO), ONE),
        Steps("step", "step", LAST),
        Again("walk", "another walk", 136),
    ),
    scenes=(
        Scene("a sure step", {"step": 1}),
        Scene("at “ran”", {"step": 4}),
        Scene("two words of memory", {"step": 4, "memory": TWO}),
        Scene("a name begins", {"chain": NAMES}),
        Scene("… letter by letter", {"chain": NAMES, "step": 3}),
        Scene("two letters of memory", {"chain": NAMES, "step": 3, "memory": TWO}),
    ),
    questions=(
        "*The battery ran …* You know what comes next. Why doesn't the chain?",
        "Which letter is the surest of what follows it? Guess before you walk there.",
        "Two letters of memory make better names. What would ten letters of memory do?",
    ),
    poster=4,
)
