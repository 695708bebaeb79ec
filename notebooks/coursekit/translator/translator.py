"""A trained model with its subwords, as a translator of sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import nn

from coursekit.data.vocabulary import EOS
from coursekit.errors import UserError
from coursekit.translator.batches import LONGEST
from coursekit.translator.files import copy_weights, load_tensors
from coursekit.translator.model import Lab12, device_for, fast_path, has_fast_path, load_lab_12, tie
from coursekit.translator.plan import Plan, plan_from, read_plan
from coursekit.translator.subwords import Subwords

__all__ = ["Translator"]


class Translator:
    """A trained model with its subwords and its plan; ``translate`` translates sentences."""

    def __init__(self, lab: Lab12, model: nn.Module, subwords: Subwords, plan: Plan):
        self.lab, self.model, self.subwords, self.plan = lab, model.eval(), subwords, plan

    @classmethod
    def load(cls, place: Path, notebook: Path | None = None) -> Translator:
        """From a run's folder, or from a file that ``export`` wrote; on the device that ``device_for`` chooses."""
        lab = load_lab_12(notebook)
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
        model = tie(lab.Transformer(len(subwords), len(subwords), **plan.sizes))
        own = dict(model.named_parameters())  # a checkpoint names tied weights twice, and keeps buffers
        try:
            copy_weights({name: value for name, value in weights.items() if name in own}, model)
        except ValueError as misfit:
            raise UserError(f"{place}: {misfit}") from None
        return cls(lab, model.to(device_for()), subwords, plan)

    @property
    def target(self) -> str:
        """The language that it translates into, where it knows one direction only; else English."""
        return "de" if self.plan.direction == "en-de" else "en"

    def sources(self, texts: Sequence[str], to: str) -> list[list[int]]:
        """Sentences as the model reads them: with a tag where it knows both directions, at most 64 tokens."""
        tag = [self.subwords.tag(to)] if self.plan.direction == "both" else []
        return [[*tag, *tokens][: LONGEST + 1] for tokens in self.subwords.encode(texts)]

    def translate(
        self, texts: Sequence[str], to: str = "", *, beam: int = 1, length_penalty: float = 1.0
    ) -> list[list[tuple[str, float]]]:
        """For each sentence its ``beam`` best translations, best first, each with log P(y | x) / n ** length_penalty.

        Without the fast path the lab's own ``translate`` does it: it tells the best translation, and no score (NaN).
        """
        if not 1 <= beam <= len(self.subwords):
            raise UserError(
                f"A beam holds from 1 to {len(self.subwords):,} hypotheses, as many as there are subwords."
            )
        sources = [source or [EOS] for source in self.sources(texts, to or self.target)]
        if has_fast_path():
            from coursekit.provided.p12_translator_search import translate_all

            fast = fast_path(self.model, self.plan)
            rows = translate_all(fast, sources, beam=beam, length_penalty=length_penalty)
        else:
            how = {"beam": beam, "length_penalty": length_penalty}
            rows = [[(self.lab.translate(self.model, source, **how), math.nan)] for source in sources]
        return [[(self.subwords.decode(tokens), score) for tokens, score in row] for row in rows]

    def draw_attention(self, text: str, to: str = "") -> Any:
        """The last cross-attention while the sentence is translated; returns the figure."""
        import matplotlib.pyplot as plt

        from coursekit.figures import heatmap, use_style
        from coursekit.translator.attention_map import alignment

        use_style()
        source = self.sources([text], to or self.target)[0]
        target = self.subwords.encode([self.translate([text], to)[0][0][0]])[0]
        weights = alignment(self.model.to("cpu"), source, target)
        rows, columns = self.subwords.pieces(target), self.subwords.pieces(source)
        figure, ax = plt.subplots(figsize=(2.6 + 0.36 * len(columns), 1.8 + 0.3 * (len(rows) + 1)))
        heatmap(
            weights,
            [*rows, "<eos>"],
            columns,
            ax=ax,
            vmin=0,
            vmax=1,
            xlabel="listens to",
            ylabel="while saying",
            title="Which source tokens each token listens to",
            colorbar="weight",
        )
        return figure
