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


def evaluation(translator: Translator, split: str, *, beam: int, limit: int = 0) -> dict[str, Any]:
    """The scores of each direction on the first ``limit`` sentences of a split (0: all), with 20 samples."""
    plan = translator.plan
    report: dict[str, Any] = {"corpus": plan.corpus, "split": split, "beam": beam}
    for direction in plan.directions:
        pairs = sentences(plan.corpus, split, direction, limit)
        began = time.perf_counter()
        rows = translator.translate([source for source, _ in pairs], direction[-2:], beam=beam)
        seconds = time.perf_counter() - began
        said = [
            {"source": source, "translation": row[0][0], "reference": reference}
            for (source, reference), row in zip(pairs, rows, strict=True)
        ]
        best = [row["translation"] for row in said]
        report[direction] = scores(best, [reference for _, reference in pairs], plan.lower)
        step = max(1, len(said) // 20)  # samples are chosen by their place, not by a person
        report[direction] |= {
            "sentences": len(pairs),
            "seconds": round(seconds, 2),
            "samples": said[step // 2 :: step][:20],
        }
    return report
