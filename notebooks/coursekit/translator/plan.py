"""The plan of a training run: all settings that determine it. A checkpoint contains it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from coursekit.errors import UserError

DIRECTIONS = ("de-en", "en-de", "both")
CORPORA = ("multi30k", "tatoeba", "built-in")


@dataclass(frozen=True)
class Plan:
    """All settings that determine a training run.

    ``minutes`` and ``tokens`` (target tokens; 0: no limit) may end it before ``epochs``; the rate falls to 0 at the end.
    """

    corpus: str = "multi30k"
    direction: str = "de-en"
    lower: bool = True
    vocabulary: int = 4000
    d_model: int = 192
    heads: int = 4
    d_ff: int = 768
    layers: int = 2
    dropout: float = 0.1
    epochs: int = 15
    minutes: float = 0.0
    tokens: int = 0
    batch_tokens: int = 1000
    rate: float = 2e-3
    warm_up: int = 300
    smoothing: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    seed: int = 0
    pairs: int = 0  # number of pairs of each split; 0: all

    @property
    def sizes(self) -> dict[str, int]:
        """The arguments of ``Transformer`` after the two vocabulary sizes."""
        return {"d_model": self.d_model, "heads": self.heads, "d_ff": self.d_ff, "layers": self.layers}

    @property
    def directions(self) -> list[str]:
        """The directions that the model knows, each as "from-to"."""
        return ["en-de", "de-en"] if self.direction == "both" else [self.direction]


#: Corpus -> settings that differ from Multi30k's.
_USUAL: dict[str, dict[str, Any]] = {
    "multi30k": {},
    "tatoeba": {"lower": False, "vocabulary": 6000, "epochs": 6, "batch_tokens": 1500, "warm_up": 500},
    "built-in": {"lower": False, "vocabulary": 1200, "d_model": 128, "d_ff": 256, "epochs": 8}
    | {"smoothing": 0.05},
}
#: Settings for a GPU that differ from a processor's: it has time for more epochs, which need more dropout. Batches stay
#: small, because a pair teaches most in small ones, and a graph of a small step takes little time.
_ON_A_GPU: dict[str, dict[str, Any]] = {"multi30k": {"dropout": 0.2, "weight_decay": 0.1, "epochs": 30}}
#: Settings that are at least 1, and settings below 1.
_COUNTS = {"epochs", "vocabulary", "d_model", "heads", "d_ff", "layers", "batch_tokens", "warm_up"}
_SHARES = {"dropout", "smoothing"}


def changes(words: Sequence[str]) -> dict[str, Any]:
    """Parse ``NAME=VALUE`` words to settings of a plan. Raises UserError for unknown names and invalid values."""
    usual = {name: value for name, value in asdict(Plan()).items() if not isinstance(value, str)}
    found: dict[str, Any] = {}
    for name, _, text in (word.partition("=") for word in words):
        if name not in usual:
            raise UserError(f"A plan has no {name!r}: choose of {', '.join(usual)}.")
        kind = type(usual[name])
        try:
            found[name] = {"true": True, "false": False}[text] if kind is bool else kind(text)
        except (ValueError, KeyError):
            found[name] = math.nan
        least, below = 1 if name in _COUNTS else 0, 1 if name in _SHARES else math.inf
        if not least <= found[name] < below:
            raise UserError(f"The plan's {name} cannot be {text!r}; the default is {usual[name]}.")
    return found


def plan_for(corpus: str, device: str = "cpu", **chosen: Any) -> Plan:
    """The usual plan for a corpus on "cpu" or "cuda", changed by ``chosen`` (None: as usual)."""
    usual = _USUAL[corpus] | (_ON_A_GPU.get(corpus, {}) if device == "cuda" else {})
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if chosen.get("minutes") or chosen.get("tokens"):
        usual["epochs"] = 1000  # time or tokens end the run
    plan = Plan(corpus, **usual | chosen)
    if plan.d_model % plan.heads:
        raise UserError(f"{plan.heads} heads cannot share a width of {plan.d_model} evenly.")
    return plan


def plan_from(stored: Mapping[str, Any]) -> Plan:
    """The plan from its ``asdict``. Further entries of older plans are ignored: they do not change a model's output."""
    known = {field.name for field in fields(Plan)}
    return Plan(**{name: value for name, value in stored.items() if name in known})
