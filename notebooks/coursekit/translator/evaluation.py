"""Scores a translator on held-out sentences, and writes its model card."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from coursekit.data import CORPORA
from coursekit.translator.batches import sentences
from coursekit.translator.plan import command_of
from coursekit.translator.translator import Translator

__all__ = ["evaluation", "model_card", "scores", "validation_scores"]


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


def validation_scores(translator: Translator, number: int) -> dict[str, float]:
    """BLEU and chrF of each direction, greedily, on the first ``number`` validation sentences."""
    plan = translator.plan
    row: dict[str, float] = {}
    for direction in plan.directions:
        pairs = sentences(plan.corpus, "validation", direction, number)
        best = translator.translate([source for source, _ in pairs], direction[-2:])
        result = scores([one[0][0] for one in best], [reference for _, reference in pairs], plan.lower)
        suffix = f" {direction}" if plan.direction == "both" else ""
        row |= {f"BLEU{suffix}": result["BLEU"], f"chrF{suffix}": result["chrF"]}
    return row


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
    if number <= 0:
        return []
    step = max(1, len(rows) // number)
    return rows[step // 2 :: step][:number]


def model_card(folder: Path, translator: Translator, megabytes: float) -> str:
    """The model's card: what it is, the command that made it, its scores, and samples that nobody chose."""
    plan, corpus = translator.plan, CORPORA.get(translator.plan.corpus)
    curve = json.loads((folder / "curve.json").read_text(encoding="utf-8"))
    size = sum(parameter.numel() for parameter in translator.model.parameters())
    data = f"{corpus.about}. Licence: {corpus.licence}" if corpus else "the course's own parallel corpus"
    again = f" (on any machine: `--tokens {curve['tokens']}`)" if plan.minutes else ""
    lines = [
        f"# A translator: {plan.corpus}, {plan.direction}",
        "",
        f"Lab 12's transformer, {size:,} parameters in half precision ({megabytes:.1f} MB), "
        f"{len(translator.subwords):,} subwords for both languages.",
        "",
        f"* Data: {data}.",
        f"* Made by `{command_of(plan)}`",
        f"* Training: {curve['seconds'] / 60:.0f} minutes, {len(curve['losses']):,} steps, "
        f"{curve['tokens'] / 1e6:.1f} million target tokens{again}.",
        "",
        "## Scores on held-out sentences",
        "",
        "| direction | search | BLEU | chrF | signature |",
        "|---|---|---|---|---|",
    ]
    samples: list[str] = []
    for file in sorted(folder.glob("evaluation_test_beam*.json")):
        report = json.loads(file.read_text(encoding="utf-8"))
        search = f"beam {report['beam']}"
        shown = []
        for direction in plan.directions:
            result = report[direction]
            scored = f"{result['BLEU']:.2f}", f"{result['chrF']:.2f}", f"`{result['BLEU_signature']}`"
            lines.append(_row(direction, search, *scored))
            shown += [_row(*row.values()) for row in result["samples"]]
        if shown:  # --samples 0 shows none, and hides none that were shown
            samples = ["", "## Samples", ""]
            samples += [f"At equal distances in the test set ({search}); nobody chose them.", ""]
            samples += ["| source | the model's translation | reference |", "|---|---|---|", *shown]
    return "\n".join([*lines, *samples]) + "\n"


def _row(*cells: str) -> str:
    """A row of a markdown table."""
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
