"""A trained model with its subwords as a translator of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from torch import nn

from coursekit.data.vocabulary import EOS
from coursekit.errors import UserError
from coursekit.translator.batches import LONGEST
from coursekit.translator.model import (
    Build,
    copy_weights,
    fast_path,
    load_lab_12,
    load_tensors,
    save_tensors,
    tie,
)
from coursekit.translator.plan import Plan, plan_from
from coursekit.translator.subwords import Subwords


class Translator:
    """A trained model with its subwords and plan."""

    def __init__(self, model: nn.Module, subwords: Subwords, plan: Plan):
        self.model, self.subwords, self.plan = model.eval(), subwords, plan

    @classmethod
    def load(cls, place: Path, build: Build | None = None) -> Translator:
        """A translator from a run's folder or a file that ``save`` wrote. Its model has the class ``build`` or the course's."""
        stored = load_tensors(place if place.is_file() else place / "checkpoint.pt")
        plan, subwords = plan_from(stored["plan"]), Subwords.of_checkpoint(stored)
        model = tie((build or load_lab_12()[0])(len(subwords), len(subwords), **plan.sizes))
        weights = stored.get("weights", stored.get("model", {}))
        own = dict(model.named_parameters())  # a checkpoint also has buffers, and tied weights twice
        copy_weights({name: value for name, value in weights.items() if name in own}, model)
        return cls(model, subwords, plan)

    def save(self, file: Path) -> None:
        """Write one file in half precision for distribution."""
        weights = {name: value.detach().cpu().half() for name, value in self.model.named_parameters()}
        save_tensors({"plan": asdict(self.plan), "subwords": self.subwords.state, "weights": weights}, file)

    def sources(self, texts: Sequence[str], to: str) -> list[list[int]]:
        """Sentences as the model's input: with a tag if it knows both directions, at most 64 tokens."""
        tag = [self.subwords.tag(to)] if self.plan.direction == "both" else []
        return [[*tag, *tokens][: LONGEST + 1] for tokens in self.subwords.encode(texts)]

    def translate(
        self, texts: Sequence[str], to: str = "", *, beam: int = 1
    ) -> list[list[tuple[str, float]]]:
        """The ``beam`` best translations of each sentence, best first, each with log P(y | x) / n.

        ``to`` is for a model of both directions; without it, these translate into English.
        """
        from coursekit.provided.p12_translator_search import translate_all

        if not 1 <= beam <= len(self.subwords):
            raise UserError(
                f"A beam holds from 1 to {len(self.subwords):,} hypotheses, as many as there are subwords."
            )
        sources = [source or [EOS] for source in self.sources(texts, to or "en")]
        fast = fast_path(self.model, self.plan)
        rows = translate_all(fast, sources, beam=beam, length_penalty=1.0)
        return [[(self.subwords.decode(tokens), score) for tokens, score in row] for row in rows]
