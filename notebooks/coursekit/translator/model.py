"""Lab 12's parts, the student's or the course's, as the model of a run: built, and run fast where that is at hand."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from coursekit.data.vocabulary import MakeBatch
from coursekit.errors import UserError
from coursekit.translator.loop import Loss, fresh, readable_loss
from coursekit.translator.plan import Plan

if TYPE_CHECKING:
    from coursekit.provided.p12_translator_fast import FastTransformer

__all__ = [
    "Lab12",
    "build_model",
    "device_for",
    "fast_path",
    "has_fast_path",
    "load_lab_12",
    "loss_of",
    "tie",
]

#: The module of the fast path; a bundle of lab 12 or earlier does not hold it.
FAST = "coursekit.provided.p12_translator_fast"


@dataclass(frozen=True)
class Lab12:
    """The answers to lab 12 that are used here: the student's, or the course's."""

    Transformer: Callable[..., nn.Module]
    make_batch: MakeBatch
    translate: Callable[..., list[int]]


def load_lab_12(notebook: Path | None) -> Lab12:
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


def tie(model: Any) -> Any:
    """One table for both languages, which share their subwords; nothing else of the model changes."""
    model.source_embedding = model.target_embedding
    return model


def build_model(build: Callable[..., nn.Module], size: int, plan: Plan) -> nn.Module:
    """A fresh model of the class ``build`` for a shared vocabulary of ``size``."""
    torch.manual_seed(plan.seed)
    return fresh(tie(build(size, size, **plan.sizes, dropout=plan.dropout)))


def has_fast_path() -> bool:
    """Whether the course's fast path is at hand."""
    return importlib.util.find_spec(FAST) is not None


def fast_path(model: nn.Module, plan: Plan) -> FastTransformer:
    """The fast path on the model's own parameters."""
    from coursekit.provided.p12_translator_fast import FastTransformer

    return FastTransformer(model, plan.heads, plan.dropout)


def loss_of(model: nn.Module, plan: Plan) -> Loss:
    """How a batch's loss is computed: fast where the fast path is at hand, else by the model as it is written."""
    return fast_path(model, plan).loss if has_fast_path() else readable_loss(model)


def device_for(name: str = "auto") -> torch.device:
    """The device named; for "auto" a GPU when there is one. UserError where it is not to be had.

    Only the fast path runs on a GPU. Lab 12 asks for functions that make their tensors on the processor, so a model
    that is run as the student wrote it stays there.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() and has_fast_path() else "cpu")
    kind, _, number = name.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdecimal()):
        raise UserError(f"--device is auto, cpu, or cuda: there is no {name!r}.")
    if kind == "cpu":
        return torch.device("cpu")
    if int(number or 0) >= torch.cuda.device_count():
        raise UserError(
            f"--device {name}: PyTorch finds no such GPU here; without --device it takes the processor."
        )
    if not has_fast_path():
        raise UserError(
            f"--device {name} needs the course's fast path, which a bundle of lab 12 or earlier does not hold."
        )
    return torch.device(name)
