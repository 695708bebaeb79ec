"""A trained model with its subwords, as a translator of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torch import nn

from coursekit.data.vocabulary import EOS
from coursekit.errors import UserError
from coursekit.translator.batches import LONGEST
from coursekit.translator.files import copy_weights, load_tensors
from coursekit.translator.model import device_for, fast_path, load_lab_12, tie
from coursekit.translator.plan import Plan, plan_from, read_plan
from coursekit.translator.subwords import Subwords

__all__ = ["Translator"]


class Translator:
    """A trained model with its subwords and its plan; ``translate`` translates sentences."""

    def __init__(self, model: nn.Module, subwords: Subwords, plan: Plan):
        self.model, self.subwords, self.plan = model.eval(), subwords, plan

    @classmethod
    def load(cls, place: Path, notebook: Path | None = None) -> Translator:
        """From a run's folder, or from a file that ``export`` wrote; on the device that ``device_for`` chooses."""
        if place.is_file():
            stored = load_tensors(place)
            if "subwords" not in stored:
                raise UserError(f"{place} is one file of a training run: name its folder, {place.parent}.")
            plan, subwords = plan_from(stored["plan"]), Subwords.from_state(stored["subwords"])
            weights = stored["weights"]
        else:
            plan = read_plan(place)
            if not (place / "checkpoint.pt").is_file():
                raise UserError(f"{place} holds no checkpoint yet.")
            subwords = Subwords.load(place / "subwords.json")
            weights = load_tensors(place / "checkpoint.pt")["model"]
        model = tie(load_lab_12(notebook).Transformer(len(subwords), len(subwords), **plan.sizes))
        own = dict(model.named_parameters())  # a checkpoint names tied weights twice, and keeps buffers
        try:
            copy_weights({name: value for name, value in weights.items() if name in own}, model)
        except ValueError as misfit:
            raise UserError(f"{place}: {misfit}") from None
        return cls(model.to(device_for()), subwords, plan)

    @property
    def target(self) -> str:
        """The language that it translates into, where it knows one direction only; else English."""
        return "de" if self.plan.direction == "en-de" else "en"

    def sources(self, texts: Sequence[str], to: str) -> list[list[int]]:
        """Sentences as the model reads them: with a tag where it knows both directions, at most 64 tokens."""
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
