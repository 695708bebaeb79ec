"""Lab 05: a map of words while CBOW reads the speeches; the training was recorded once (``make``)."""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coursekit.data import path
from coursekit.demos.frame import Choice, Demo, Scene, Steps
from coursekit.demos.svg import TOP, Picture, text_width

Array = npt.NDArray[np.float64]

FILE = "demos/word_map.json"
GROUPS = {
    "months": "january february march april may june july august september october november december",
    "countries": "iraq iran afghanistan korea vietnam china russia japan germany",
    "helpers": "must should will would can could might shall",
    "numbers": "two three four five six eight nine ten twenty",
}
#: The colour and the mark of each group.
MARKS = {
    "months": ("blue", "disc"),
    "countries": ("orange", "square"),
    "helpers": ("green", "diamond"),
    "numbers": ("purple", "triangle"),
}
PICKED = ("january", "iraq", "must", "three")
SNAPSHOTS = 24


def words() -> list[str]:
    """The words of the map, group by group."""
    return [word for group in GROUPS.values() for word in group.split()]


@cache
def recording() -> dict[str, Any]:
    """What ``make`` wrote: ``read`` (riddles so far), ``loss``, ``places`` (S, W, 2), ``alike`` (S, 2), ``near``."""
    record = json.loads(path(FILE).read_text(encoding="utf-8"))
    record["places"] = np.array(record["places"])
    return record


def draw(step: int, word: str) -> Picture:
    """The map after some reading, and the nearest neighbours of one word."""
    record = recording()
    read, loss, places = record["read"][step], record["loss"][step], record["places"][step]
    inside, outside = record["alike"][step]
    near = record["near"][word][step]
    if not read:
        title = "Before reading: every word lies anywhere"
    elif inside - outside < 0.12:
        title = f"{read:,} riddles: the words have begun to move"
    else:
        title = f"{read:,} riddles: cosine {inside:.2f} within a group, {outside:.2f} across".replace(
            "-", "−"
        )
    picture = Picture(
        title,
        f"A map of {len(words())} words in four groups after {read:,} riddles. Mean cosine within a group {inside:.2f}, "
        f"between groups {outside:.2f}. Nearest to {word}: {', '.join(name for name, _ in near)}.",
        note=f"loss {loss:.2f} nats a riddle (knowing nothing: 6 ln 2 = 4.16)",
    )
    _draw_map(picture, places, word)
    _draw_side(picture, near, word)
    return picture


def _draw_map(picture: Picture, places: Array, picked: str) -> None:
    left, top, wide, high = 0.0, float(TOP), 830.0, 490.0
    picture.rect(left, top, wide, high, fill="faint", edge="line", radius=8)
    names = words()
    kind = {word: group for group, listed in GROUPS.items() for word in listed.split()}
    spot = [
        (left + 60 + (a + 1) / 2 * (wide - 130), top + 30 + (1 - (b + 1) / 2) * (high - 60))
        for a, b in places
    ]
    taken = [(x, y, 18.0, 12.0) for x, y in spot]  # middle and size of what must not be written over
    for i in sorted(range(len(names)), key=lambda i: names[i] != picked):
        x, y = spot[i]
        colour, mark = MARKS[kind[names[i]]]
        _mark(picture, x, y, colour, mark, names[i] == picked)
        spots = [
            (x + 14, y + 8, "start"),
            (x - 14, y + 8, "end"),
            (x, y - 16, "middle"),
            (x, y + 32, "middle"),
        ]
        for a, b, anchor in spots:
            wide = text_width(names[i], 24)
            middle = a + {"start": 0.5, "end": -0.5, "middle": 0.0}[anchor] * wide
            if all(abs(middle - c) > (wide + w) / 2 or abs(b - 8 - d) > (24 + h) / 2 for c, d, w, h in taken):
                picture.text(
                    a, b, names[i], size=24, weight=700 if names[i] == picked else 400, anchor=anchor
                )
                taken.append((middle, b - 8, wide, 20))
                break


def _mark(picture: Picture, x: float, y: float, colour: str, mark: str, picked: bool = False) -> None:
    look: dict[str, Any] = {"edge": "ink", "width": 3} if picked else {}
    if mark == "disc":
        picture.circle(x, y, 9, fill=colour, **look)
        return
    shapes = {
        "square": [(-8, -8), (8, -8), (8, 8), (-8, 8)],
        "diamond": [(0, -11), (11, 0), (0, 11), (-11, 0)],
        "triangle": [(0, -11), (10, 8), (-10, 8)],
    }
    points = [(x + a, y + b) for a, b in shapes[mark]]
    picture.path(
        points, colour="ink" if picked else colour, width=3 if picked else 1, fill=colour, close=True
    )


def _draw_side(picture: Picture, near: list[tuple[str, float]], word: str) -> None:
    x = 870.0
    for i, (group, (colour, mark)) in enumerate(MARKS.items()):
        _mark(picture, x + 10, TOP + 14 + 36 * i, colour, mark)
        picture.text(x + 34, TOP + 22 + 36 * i, group)
    picture.text(x, TOP + 208, f"nearest to “{word}”", weight=700, fit=330)
    kin = next(set(listed.split()) for listed in GROUPS.values() if word in listed.split())
    for i, (name, cosine) in enumerate(near):
        y = TOP + 230 + 52 * i
        mine = name in kin
        picture.rect(x, y, max(cosine, 0.01) * 330, 40, fill="blue", opacity=0.25, radius=4)
        picture.text(x + 10, y + 29, name, weight=700 if mine else 400, fit=220)
        picture.text(x + 328, y + 29, f"{cosine:.2f}", size=24, anchor="end")
        if mine:
            picture.text(x + 26 + text_width(name, 26, bold=True), y + 29, "✓", size=26)


def make() -> None:
    """Train as lab 05 does (about two minutes) and write what ``draw`` shows to ``data/demos``."""
    from coursekit.data.speech_words import adagrad_step, pack, speech_corpus
    from coursekit.provided.p05_word2vec import context_windows

    corpus = speech_corpus(at_least=20)
    V, D, m, K, epochs = len(corpus.words), 64, 3, 5, 5
    riddles = pack(corpus.sentences, context_windows, m, blank=V)
    rng = np.random.default_rng(1)
    W_in = rng.uniform(-0.5 / D, 0.5 / D, (V + 1, D)).astype(np.float32)
    W_in[V] = 0
    W_out = np.zeros((V, D), dtype=np.float32)
    pace_in, pace_out = np.full(V + 1, 0.1, np.float32), np.full(V, 0.1, np.float32)
    noise = np.cumsum(corpus.counts**0.75 / (corpus.counts**0.75).sum())
    size = 1024
    batches = [
        b for _ in range(epochs) for b in np.array_split(rng.permutation(len(riddles)), len(riddles) // size)
    ]
    stops = {0, *np.unique(np.geomspace(20, len(batches), SNAPSHOTS).astype(int)).tolist()}
    shots: list[tuple[int, float, Any]] = []
    losses = [(1 + K) * np.log(2)]
    for number in range(len(batches) + 1):
        if number in stops:
            shots.append((number * size, float(np.mean(losses[-50:])), W_in[:V].copy()))
        if number == len(batches):
            break
        batch, rate = batches[number], 0.5 * (1 - number / len(batches))
        context, count = riddles.contexts[batch], riddles.sizes[batch][:, None]
        h = W_in[context].sum(axis=1) / count
        drawn = np.searchsorted(noise, rng.random((len(batch), K)))
        answers = np.column_stack([riddles.targets[batch], drawn])
        rows = W_out[answers]
        scores = (rows @ h[:, :, None])[:, :, 0]
        g = np.exp(-np.logaddexp(0, -scores))
        g[:, 0] -= 1
        losses.append(
            float((np.logaddexp(0, -scores[:, 0]) + np.logaddexp(0, scores[:, 1:]).sum(axis=1)).mean())
        )
        adagrad_step(W_out, pace_out, answers.ravel(), (g[:, :, None] * h[:, None, :]).reshape(-1, D), rate)
        adagrad_step(
            W_in,
            pace_in,
            context.ravel(),
            np.repeat((g[:, None, :] @ rows)[:, 0] / count, 2 * m, axis=0),
            rate,
        )
        W_in[V] = 0
    _write(shots, corpus.words)


def _write(shots: list[tuple[int, float, Any]], vocabulary: tuple[str, ...]) -> None:
    ids = [vocabulary.index(word) for word in words()]
    group = np.repeat(np.arange(len(GROUPS)), [len(listed.split()) for listed in GROUPS.values()])
    turned = [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for _, _, vectors in shots]
    last = turned[-1][ids]
    centres = np.array([last[group == g].mean(axis=0) for g in range(len(GROUPS))])
    # one window for all snapshots: the plane in which the groups end up farthest apart
    plane = np.linalg.svd(centres - centres.mean(axis=0))[2][:2]
    flat = [(vectors[ids] - centres.mean(axis=0)) @ plane.T for vectors in turned]
    low, high = np.array(flat).min(axis=(0, 1)), np.array(flat).max(axis=(0, 1))
    alike = []
    for vectors in turned:
        pairs = [
            (group[i] == group[j], float(vectors[ids[i]] @ vectors[ids[j]]))
            for i, j in combinations(range(len(ids)), 2)
        ]
        alike.append(
            [round(float(np.mean([c for same, c in pairs if same == wanted])), 3) for wanted in (True, False)]
        )
    near: dict[str, list[list[tuple[str, float]]]] = {}
    for word in PICKED:
        near[word] = []
        for vectors in turned:
            cosines = vectors @ vectors[vocabulary.index(word)]
            order = [int(i) for i in np.argsort(-cosines)[1:6]]
            near[word].append([(vocabulary[i], round(float(cosines[i]), 3)) for i in order])
    record = {
        "read": [read for read, _, _ in shots],
        "loss": [round(loss, 3) for _, loss, _ in shots],
        "places": [np.round(2 * (places - low) / (high - low) - 1, 3).tolist() for places in flat],
        "alike": alike,
        "near": near,
    }
    target = Path(__file__).resolve().parents[3] / "data" / FILE
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")


demo = Demo(
    name="05_word_map",
    title="Words find their places by riddles",
    look="Look at the marks, not at single words: nobody told the model what a month or a number is.",
    draw=draw,
    controls=(
        Steps("step", "reading", SNAPSHOTS, milliseconds=400),
        Choice("word", "neighbours of", PICKED, "january"),
    ),
    scenes=(
        Scene("before reading", {"step": 0}),
        Scene("first riddles", {"step": 10}),
        Scene("half way", {"step": 17}),
        Scene("read five times", {"step": SNAPSHOTS}),
        Scene("helpers", {"step": SNAPSHOTS, "word": "must"}),
    ),
    questions=(
        "Which group finds itself first, and why that one?",
        "“March” and “may” are months and something else. Where do they lie, and why there?",
        "Opposites such as “more” and “less” become neighbours. What does “near” mean here, then?",
    ),
    poster=3,
)

if __name__ == "__main__":
    make()
