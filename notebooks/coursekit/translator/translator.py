"""Lab 12's model as a translator of sentences: its parts, how its loss is computed, and several models together."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coursekit.data.vocabulary import EOS, PAD
from coursekit.errors import UserError
from coursekit.translator.run import (
    LONGEST,
    Plan,
    load_tensors,
    plan_of,
    read_plan,
    tie,
)
from coursekit.translator.subwords import Subwords

__all__ = ["FAST", "Lab12", "Translator", "device_for", "fast_path", "lab_12", "losses", "subwords_of"]

#: The module of the fast path; a bundle of lab 12 or earlier does not hold it.
FAST = "coursekit.provided.p12_translator_fast"


# The parts: the student's, or the course's.


@dataclass(frozen=True)
class Lab12:
    """The answers to lab 12 that are used here: the student's, or the course's."""

    Transformer: Callable[..., nn.Module]
    make_batch: Callable[..., Any]
    translate: Callable[..., list[int]]


def lab_12(notebook: Path | None) -> Lab12:
    """The parts from a student's notebook of lab 12, where they pass their public checks, or the course's own."""
    if notebook is None:
        if importlib.util.find_spec("coursekit.provided.p12_translator") is None:
            raise UserError("Say which notebook holds your Transformer: --notebook 12_translator.ipynb.")
        from coursekit.provided import p12_translator

        return Lab12(p12_translator.Transformer, p12_translator.make_batch, p12_translator.translate)
    if not notebook.is_file():
        raise UserError(f"There is no notebook {notebook}.")
    from coursekit.checks.api import judge
    from coursekit.checks.earlier_labs import definitions

    notebook = notebook.resolve()
    with _inside(notebook.parent):  # beside it lie the earlier labs
        namespace, _ = definitions(notebook, *Lab12.__dataclass_fields__)
    for question in Lab12.__dataclass_fields__:
        verdict = judge("12_translator", question, namespace.get(question))
        if not verdict.passed:
            why = "is not written yet" if not verdict.written else "does not pass its public checks yet"
            raise UserError(f"{question} in {notebook.name} {why}.")
    return Lab12(**{question: namespace[question] for question in Lab12.__dataclass_fields__})


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def losses(model: nn.Module, plan: Plan) -> Callable[..., Any]:
    """How a batch's loss is computed: fast where the fast path is at hand, else by the model as it is written."""
    if "fast" not in plan.without and importlib.util.find_spec(FAST) is not None:
        fast = fast_path(model, plan)
        return _in_sixteen_bits(fast.loss, model, fast.steps.bfloat16)
    from coursekit.provided.p10_training import masked_cross_entropy

    def loss(batch: Any, smoothing: float) -> Any:
        return masked_cross_entropy(model(*batch[:2]), batch[2], PAD, smoothing)

    return loss


def fast_path(model: nn.Module, plan: Plan) -> Any:
    """``Fast`` on the model's own parameters, with the steps that the plan does not leave out."""
    from coursekit.provided.p12_translator_fast import Fast, Steps

    steps = Steps.best(next(model.parameters()).device.type)
    for name in plan.without:
        if hasattr(steps, name):
            steps = steps.without(name)
    return Fast(model, plan.heads, plan.dropout, steps)


def _logits(model: nn.Module, plan: Plan, source: torch.Tensor, given: torch.Tensor) -> torch.Tensor:
    """What ``model(source, given)`` returns, (B, T, V), by the fast path, in 32 bits, on the tensors' device."""
    fast = fast_path(model, replace(plan, without=(*plan.without, "bfloat16")))
    table = model.get_parameter("target_embedding.weight")
    return nn.functional.linear(fast.decode(given, *fast.encode(source)), table)


def _in_sixteen_bits(loss: Callable[..., Any], model: nn.Module, sixteen: bool) -> Callable[..., Any]:
    """On a GPU, PyTorch itself chooses which operations run in bfloat16."""
    device = next(model.parameters()).device.type
    if device == "cpu" or not sixteen:
        return loss

    def run(*arguments: Any) -> Any:
        with torch.autocast(device, dtype=torch.bfloat16):
            return loss(*arguments)

    return run


class Translator:
    """A trained model with its vocabulary, or several that decide together: ``say`` translates sentences."""

    def __init__(self, lab: Lab12, model: nn.Module, subwords: Subwords, plan: Plan):
        self.one_by_one, self.make_batch = lab.translate, lab.make_batch
        self.model, self.subwords, self.plan = model.eval(), subwords, plan
        self.others: list[Translator] = []

    def together_with(self, others: Sequence[Translator]) -> Translator:
        """Decide with others from now on, an ensemble: a next token's probability is the mean of what all say.

        Raises UserError when one has other subwords or another direction.
        """
        for other in others:
            if other.subwords != self.subwords or other.plan.direction != self.plan.direction:
                raise UserError("Models decide together only with the same subwords and the same direction.")
        if others and importlib.util.find_spec(FAST) is None:
            raise UserError("--ensemble asks several models at each token, and lab 12's translate asks one.")
        device = next(self.model.parameters()).device
        for other in others:
            other.model.to(device)
        self.others = list(others)
        return self

    @property
    def models(self) -> list[tuple[nn.Module, Plan]]:
        """All models that decide, with their plans."""
        return [(one.model, one.plan) for one in (self, *self.others)]

    @classmethod
    def load(cls, place: Path, notebook: Path | None = None) -> Translator:
        """From a run's folder, or from a file that ``export`` wrote; on the device that ``device_for`` chooses."""
        lab = lab_12(notebook)
        if place.is_file():
            stored = load_tensors(place)
            if "subwords" not in stored:
                raise UserError(f"{place} is one file of a training run: name its folder, {place.parent}.")
            plan, subwords = plan_of(stored["plan"]), Subwords.from_state(stored["subwords"])
            weights = stored["weights"]
        else:
            plan = read_plan(place)
            if not (place / "checkpoint.pt").is_file():
                raise UserError(f"{place} holds no checkpoint yet.")
            subwords = subwords_of(place)
            weights = load_tensors(place / "checkpoint.pt")["model"]
        model = tie(lab.Transformer(len(subwords), len(subwords), **plan.sizes))
        own = dict(model.named_parameters())
        with torch.no_grad():
            for name, parameter in own.items():
                parameter.copy_(weights[name])
        return cls(lab, model.to(device_for(plan)), subwords, plan)

    def sources(self, texts: Sequence[str], to: str) -> list[list[int]]:
        """Sentences as the model reads them: with a tag where it knows both directions, at most 64 tokens."""
        tag = [self.subwords.tag(to)] if self.plan.direction == "both" else []
        return [[*tag, *numbers][: LONGEST + 1] for numbers in self.subwords.encode(texts)]

    def say(
        self,
        texts: Sequence[str],
        to: str = "",
        *,
        beam: int = 1,
        length_penalty: float = 1.0,
        channel: float = 0.0,
    ) -> list[list[tuple[str, float]]]:
        """For each sentence its translations, best first, each with its score: log P(y | x) / n ** length_penalty.

        With ``channel``, a weight, log P(x | y) / n of the way back, n the source's tokens with its end, times
        ``channel`` is added, and the ``beam`` translations are ranked by the sum: the noisy channel (Yee, Dauphin and
        Auli 2019). One model tells both, if it knows both directions.
        """
        if not 1 <= beam <= len(self.subwords):
            raise UserError(
                f"A beam holds from 1 to {len(self.subwords):,} hypotheses, as many as there are subwords."
            )
        self._check_channel(channel, beam)
        sources = [source or [EOS] for source in self.sources(texts, to or self.target)]
        if importlib.util.find_spec(FAST) is not None:
            from coursekit.provided.p12_translator_search import translate_all

            fast = [fast_path(*one) for one in self.models]
            found = translate_all(fast, sources, beam=beam, length_penalty=length_penalty)
        else:  # the student's own translate knows one sentence and its best translation
            how = {"beam": beam, "length_penalty": length_penalty}
            found = [[(self.one_by_one(self.model, source, **how), 0.0)] for source in sources]
        if channel:
            found = self._with_the_way_back(sources, found, to or self.target, channel)
        return [[(self.subwords.decode(numbers), score) for numbers, score in row] for row in found]

    def _with_the_way_back(
        self, sources: list[list[int]], found: list[list[tuple[list[int], float]]], to: str, channel: float
    ) -> list[list[tuple[list[int], float]]]:
        """Each source's translations with channel · log P(source | translation) / n added, ranked anew."""
        back = self.subwords.tag("en" if to == "de" else "de")
        asked = [([back, *y], x[1:]) for x, row in zip(sources, found, strict=True) for y, _ in row]
        logs = iter(self.log_probabilities(asked))
        weighed = [
            [(y, score + channel * next(logs) / len(x)) for y, score in row]
            for x, row in zip(sources, found, strict=True)
        ]
        return [sorted(row, key=lambda one: -one[1]) for row in weighed]

    @torch.no_grad()
    def log_probabilities(self, pairs: Sequence[tuple[list[int], list[int]]], size: int = 64) -> list[float]:
        """log P(target | source), its end included, for pairs of token numbers; ``size`` at a time."""
        from coursekit.provided.p12_translator_search import mean_log_probabilities

        device = next(self.model.parameters()).device
        found = [0.0] * len(pairs)
        order = sorted(range(len(pairs)), key=lambda number: tuple(map(len, pairs[number])))
        for first in range(0, len(order), size):
            chosen = order[first : first + size]
            batch = self.make_batch([pairs[number] for number in chosen])
            source, given, wanted = (part.to(device) for part in batch)
            logs = mean_log_probabilities([_logits(*one, source, given) for one in self.models])
            right = logs.gather(2, wanted[..., None])[..., 0].masked_fill(wanted.eq(PAD), 0.0)
            for number, log in zip(chosen, right.sum(dim=1).tolist(), strict=True):
                found[number] = log
        return found

    def _check_channel(self, channel: float, beam: int) -> None:
        if not 0 <= channel < float("inf"):
            raise UserError("--channel is a weight: a number of at least 0.")
        if channel and self.plan.direction != "both":
            raise UserError("--channel asks for the way back, too: this model does not know both directions.")
        if channel and beam == 1:
            raise UserError("--channel chooses among the translations that a beam found: give --beam 5, say.")
        if channel and importlib.util.find_spec(FAST) is None:
            raise UserError(
                "--channel chooses among several translations, and lab 12's translate returns one."
            )

    @property
    def target(self) -> str:
        """The language that it translates into, where it knows one direction only; else English."""
        return "de" if self.plan.direction == "en-de" else "en"

    def draw_attention(self, text: str, to: str = "") -> Any:
        """The last cross-attention while the sentence is translated; returns the figure."""
        import matplotlib.pyplot as plt

        from coursekit.figures import heatmap, use_style
        from coursekit.translator.attention_map import alignment

        use_style()
        source = self.sources([text], to or self.target)[0]
        target = self.subwords.encode([self.say([text], to)[0][0][0]])[0]
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


def subwords_of(folder: Path) -> Subwords:
    """The subwords of a run's folder. A UserError, in one sentence, when their file is damaged."""
    try:
        return Subwords.load(folder / "subwords.json")
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{folder / 'subwords.json'} cannot be read as subwords: it is damaged.") from None


def device_for(plan: Plan, wanted: str = "auto") -> torch.device:
    """The device on which a model of ``plan`` runs: the one named, or for "auto" a GPU when there is one.

    Only the fast path goes to a GPU by itself. Lab 12 asks for functions that make their tensors on the processor, so
    a model that is run as the student wrote it stays there. A UserError names a device that is not to be had.
    """
    fast = importlib.util.find_spec(FAST) is not None
    if wanted == "auto":
        there = torch.cuda.is_available() and fast and "fast" not in plan.without
        return torch.device("cuda" if there else "cpu")
    kind, _, number = wanted.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdecimal()):
        raise UserError(f"--device is auto, cpu, or cuda: there is no {wanted!r}.")
    if kind == "cpu":
        return torch.device("cpu")
    if int(number or 0) >= torch.cuda.device_count():
        raise UserError(
            f"--device {wanted}: PyTorch finds no such GPU here; without --device it takes the processor."
        )
    if not fast:
        raise UserError(
            f"--device {wanted} needs the course's fast path, which a bundle of lab 12 or earlier does not hold."
        )
    return torch.device(wanted)
