"""Records where the words of demo ``05_word_map`` lie while lab 05's CBOW reads the speeches (about two minutes)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

GROUPS = {
    "months": "january february march april may june july august september october november december",
    "countries": "iraq iran afghanistan korea vietnam china russia japan germany",
    "helpers": "must should will would can could might shall",
    "numbers": "two three four five six eight nine ten twenty",
}
PICKED = ("january", "iraq", "must", "three")
SNAPSHOTS = 24


def words() -> list[str]:
    """The words of the map, group by group."""
    return [word for group in GROUPS.values() for word in group.split()]


def record() -> dict[str, Any]:
    """Train as lab 05 does: how much was read, the loss, where the words lie, how alike they are, who is near."""
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
    return _told(shots, corpus.words)


def _told(shots: list[tuple[int, float, Any]], vocabulary: tuple[str, ...]) -> dict[str, Any]:
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
    return {
        "groups": {group: listed.split() for group, listed in GROUPS.items()},
        "read": [read for read, _, _ in shots],
        "loss": [round(loss, 3) for _, loss, _ in shots],
        "places": [np.round(2 * (places - low) / (high - low) - 1, 3).tolist() for places in flat],
        "alike": alike,
        "near": near,
    }
