"""Scores a translator on held-out sentences."""

from __future__ import annotations

import time
from typing import Any

from coursekit.translator.batches import sentences
from coursekit.translator.translator import Translator

__all__ = ["evaluation", "scores"]


def scores(hypotheses: list[str], references: list[str], lower: bool) -> dict[str, Any]:
    """BLEU and chrF by sacreBLEU, with the signatures that say how they were computed."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    bleu, chrf = BLEU(lowercase=lower), CHRF(lowercase=lower)
    return {
        "BLEU": round(bleu.corpus_score(hypotheses, [references]).score, 2),
        "BLEU_signature": str(bleu.get_signature()),
        "chrF": round(chrf.corpus_score(hypotheses, [references]).score, 2),
        "chrF_signature": str(chrf.get_signature()),
    }


def evaluation(
    translator: Translator, split: str, *, beam: int, length_penalty: float, limit: int, samples: int
) -> dict[str, Any]:
    """The scores of each direction on the first ``limit`` sentences of a split (0: all), with samples."""
    plan = translator.plan
    report: dict[str, Any] = {"corpus": plan.corpus, "split": split}
    report |= {"beam": beam, "length_penalty": length_penalty}
    for direction in plan.directions:
        pairs = sentences(plan.corpus, split, direction, limit)
        began = time.perf_counter()
        rows = translator.translate(
            [source for source, _ in pairs], direction[-2:], beam=beam, length_penalty=length_penalty
        )
        seconds = time.perf_counter() - began
        best = [row[0][0] for row in rows]
        report[direction] = scores(best, [reference for _, reference in pairs], plan.lower)
        report[direction] |= {"sentences": len(pairs), "seconds": round(seconds, 2)}
        report[direction]["samples"] = [
            {"source": source, "translation": translation, "reference": reference}
            for (source, reference), translation in _spread(list(zip(pairs, best, strict=True)), samples)
        ]
    return report


def _spread(rows: list[Any], number: int) -> list[Any]:
    """``number`` rows at equal distances: chosen by their place, not by a person."""
    step = max(1, len(rows) // max(1, number))
    return rows[step // 2 :: step][:number]
