"""Translates sentences with a trained model and its subwords, and scores it on held-out sentences."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from torch import nn

from coursekit.data.vocabulary import EOS
from coursekit.errors import UserError
from coursekit.translator.batches import LONGEST, sentences
from coursekit.translator.files import copy_weights, load_tensors, save_tensors
from coursekit.translator.model import device_for, fast_path, load_lab_12, tie
from coursekit.translator.plan import Plan, plan_from
from coursekit.translator.subwords import Subwords

__all__ = ["Translator", "evaluation"]


class Translator:
    """A trained model with its subwords and plan."""

    def __init__(self, model: nn.Module, subwords: Subwords, plan: Plan):
        self.model, self.subwords, self.plan = model.eval(), subwords, plan

    @classmethod
    def load(cls, place: Path, notebook: Path | None = None) -> Translator:
        """Load a run's folder, or a file from ``save``, to the device of ``device_for``."""
        stored = load_tensors(place if place.is_file() else place / "checkpoint.pt")
        plan, subwords = plan_from(stored["plan"]), Subwords.of_checkpoint(stored)
        model = tie(load_lab_12(notebook).Transformer(len(subwords), len(subwords), **plan.sizes))
        weights = stored.get("weights", stored.get("model", {}))
        own = dict(model.named_parameters())  # a checkpoint also has buffers, and tied weights twice
        try:
            copy_weights({name: value for name, value in weights.items() if name in own}, model)
        except ValueError as misfit:
            raise UserError(f"{place}: {misfit}") from None
        return cls(model.to(device_for()), subwords, plan)

    def save(self, file: Path) -> None:
        """Write one file in half precision for distribution."""
        weights = {name: value.detach().cpu().half() for name, value in self.model.named_parameters()}
        save_tensors({"plan": asdict(self.plan), "subwords": self.subwords.state, "weights": weights}, file)

    @property
    def target(self) -> str:
        """The target language of a model with one direction; else English."""
        return "de" if self.plan.direction == "en-de" else "en"

    def sources(self, texts: Sequence[str], to: str) -> list[list[int]]:
        """Sentences as the model's input: with a tag if it knows both directions, at most 64 tokens."""
        tag = [self.subwords.tag(to)] if self.plan.direction == "both" else []
        return [[*tag, *tokens][: LONGEST + 1] for tokens in self.subwords.encode(texts)]

    def translate(
        self, texts: Sequence[str], to: str = "", *, beam: int = 1
    ) -> list[list[tuple[str, float]]]:
        """For each sentence its ``beam`` best translations, best first, each with log P(y | x) / n."""
        from coursekit.provided.p12_translator_search import translate_all

        if not 1 <= beam <= len(self.subwords):
            raise UserError(
                f"A beam holds from 1 to {len(self.subwords):,} hypotheses, as many as there are subwords."
            )
        sources = [source or [EOS] for source in self.sources(texts, to or self.target)]
        fast = fast_path(self.model, self.plan)
        rows = translate_all(fast, sources, beam=beam, length_penalty=1.0)
        return [[(self.subwords.decode(tokens), score) for tokens, score in row] for row in rows]


def evaluation(translator: Translator, split: str, *, beam: int, limit: int = 0) -> Iterator[str]:
    """Yield a report on each direction, for the first ``limit`` sentences of a split (0: all).

    It has BLEU and chrF by sacreBLEU, with the signatures of their computation, and 20 samples.
    """
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    plan = translator.plan
    for direction in plan.directions:
        sources, references = zip(*sentences(plan.corpus, split, direction, limit), strict=True)
        began = time.perf_counter()
        best = [row[0][0] for row in translator.translate(sources, direction[-2:], beam=beam)]
        seconds = time.perf_counter() - began
        yield f"{direction}: {len(best):,} sentences in {seconds:.1f} s, beam {beam}"
        for metric in (BLEU(lowercase=plan.lower), CHRF(lowercase=plan.lower)):
            score = metric.corpus_score(best, [references])
            yield f"  {score.name} {score.score:.2f}  ({metric.get_signature()})"
        step = max(1, len(best) // 20)  # evenly spaced samples
        for sample in [*zip(sources, best, references, strict=True)][step // 2 :: step][:20]:
            yield "\n  {}\n  → {}\n  = {}".format(*sample)
