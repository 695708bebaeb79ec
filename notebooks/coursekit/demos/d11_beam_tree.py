"""Lab 11: beam search as a tree, with the lecture's two examples."""

from __future__ import annotations

import math

from coursekit.demos.frame import Choice, Demo, Scene, Slider
from coursekit.demos.svg import TOP, Picture

Prefix = tuple[str, ...]
Tree = dict[Prefix, dict[str, float]]

TRAP, SUMS = "the greedy trap", "the lecture's sums"
LOGS, CHANCES = "log-probabilities", "probabilities"
#: What may follow what was said. Words that are less probable than those shown are left out.
TREES: dict[str, Tree] = {
    TRAP: {
        (): {"I": 0.5, "You": 0.4, "We": 0.1},
        ("I",): {"ran": 0.4, "ate": 0.35, "saw": 0.25},
        ("You",): {"saw": 0.7, "ran": 0.2, "ate": 0.1},
        ("We",): {"ate": 0.6, "ran": 0.3, "saw": 0.1},
    },
    SUMS: {
        (): {"The": 0.4, "A": 0.2, "One": 0.15},
        ("The",): {"cat": 0.5, "dog": 0.3},
        ("A",): {"cat": 0.5, "dog": 0.1},
        ("One",): {"cat": 0.3, "dog": 0.2},
    },
}
DEPTH = 2


def search(tree: Tree, k: int) -> list[tuple[dict[Prefix, float], set[Prefix]]]:
    """For each word of the sentence: every candidate with its sum of logarithms, and the k that are kept."""
    kept: dict[Prefix, float] = {(): 0.0}
    rounds = []
    for _ in range(DEPTH):
        candidates = {
            (*said, word): total + math.log(p)
            for said, total in kept.items()
            for word, p in tree[said].items()
        }
        best = sorted(candidates, key=lambda said: -candidates[said])[:k]
        kept = {said: candidates[said] for said in best}
        rounds.append((candidates, set(best)))
    return rounds


def best_of_all(tree: Tree) -> tuple[Prefix, float]:
    """The sentence that is most probable, found by looking at all of them, and its sum of logarithms."""
    candidates = search(tree, 10**6)[-1][0]
    best = max(candidates, key=candidates.__getitem__)
    return best, candidates[best]


def _number(log: float, unit: str) -> str:
    return f"{math.exp(log):.2f}" if unit == CHANCES else f"{log:.2f}".replace("-", "−")


def draw(example: str, k: int, unit: str) -> Picture:
    """The tree from left to right; what the beam keeps is thick and ticked, what it drops is dashed."""
    tree = TREES[example]
    rounds = search(tree, k)
    candidates, winners = rounds[-1]
    found = max(winners, key=candidates.__getitem__)
    best, best_log = best_of_all(tree)
    said, score = " ".join(found), _number(candidates[found], unit)
    if found != best:
        title = f"k = {k}: “{said}” with {score} hides “{' '.join(best)}” with {_number(best_log, unit)}"
    else:
        title = f"k = {k} finds “{said}” with {score}: no sentence is better"
    looked = sum(len(found_here) for found_here, _ in rounds)
    everything = sum(len(row) for row in tree.values())
    picture = Picture(
        title,
        f"Beam search with k = {k}: it keeps {', '.join(' '.join(w) for w in sorted(winners))} and finds “{said}” with "
        f"{score}. The best sentence of all is “{' '.join(best)}” with {_number(best_log, unit)}.",
        note=f"looked at {looked} of {everything} branches   ({'numbers multiply' if unit == CHANCES else 'logarithms add up'} along a path)",
    )
    columns = (90.0, 370.0, 700.0)
    leaves = [(first, second) for first in tree[()] for second in tree[first,]]
    top, bottom = TOP + 76, 580.0
    gap = (bottom - top) / (len(leaves) - 1)
    y: dict[Prefix, float] = {leaf: top + i * gap for i, leaf in enumerate(leaves)}
    for first in tree[()]:
        heights = [y[leaf] for leaf in leaves if leaf[0] == first]
        y[first,] = sum(heights) / len(heights)
    y[()] = (top + bottom) / 2
    for x, heading in zip((*columns, 880.0), ("start", "first word", "second word", "its sum"), strict=True):
        heading = "product" if heading == "its sum" and unit == CHANCES else heading
        picture.text(x, TOP + 24, heading, anchor="middle", weight=700)
    for depth, (seen, kept) in enumerate(rounds, start=1):
        for node in [said for said in y if len(said) == depth]:
            parent = node[:-1]
            looked_at, stays = node in seen, node in kept
            x1, x2 = columns[depth - 1] + (40 if depth == 1 else 70), columns[depth] - 64
            colour = "orange" if stays else "soft" if looked_at else "line"
            picture.line(
                x1, y[parent], x2, y[node],
                colour=colour, width=7 if stays else 2.5, dash="" if stays else "8 7" if looked_at else "2 8",
            )  # fmt: skip
            if looked_at:
                share = 0.62
                picture.label(
                    x1 + share * (x2 - x1),
                    y[parent] + share * (y[node] - y[parent]),
                    _number(math.log(tree[parent][node[-1]]), unit),
                    weight=700 if stays else 400,
                )
            picture.label(
                columns[depth],
                y[node],
                node[-1],
                size=28,
                colour="ink" if looked_at else "soft",
                weight=700 if stays else 400,
            )
            if depth == DEPTH and looked_at:
                mark = "   ← the answer" if node == found else "   kept" if stays else ""
                picture.text(
                    840, y[node] + 9, _number(seen[node], unit) + mark, weight=700 if stays else 400, size=26
                )
    picture.circle(columns[0], y[()], 34, fill="blue")
    return picture


demo = Demo(
    name="11_beam_tree",
    title="Beam search: keep several sentences in play",
    look="Thick branches are kept, dashed ones dropped, dotted ones never looked at. Where does the best sentence go?",
    draw=draw,
    controls=(
        Choice("example", "example", (TRAP, SUMS), TRAP),
        Slider("k", "beams k", 1, 3, 1),
        Choice("unit", "numbers", (CHANCES, LOGS), CHANCES),
    ),
    scenes=(
        Scene("greedy takes the bait", {"k": 1}),
        Scene("two beams", {"k": 2}),
        Scene("the lecture's sums", {"example": SUMS, "k": 2, "unit": LOGS}),
        Scene("one beam there", {"example": SUMS, "k": 1, "unit": LOGS}),
        Scene("three beams: everything", {"k": 3}),
    ),
    questions=(
        "Greedy took the best word each time. Why is its sentence not the best?",
        "With which k does beam search look at everything?",
        "Why do we add logarithms instead of multiplying probabilities?",
    ),
)
