"""Builds the model of a run from lab 12's parts, the student's or the course's, and its fast path."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from coursekit.data.vocabulary import MakeBatch
from coursekit.errors import UserError
from coursekit.translator.loop import fresh
from coursekit.translator.plan import Plan

if TYPE_CHECKING:
    from coursekit.provided.p12_translator_fast import FastTransformer

__all__ = ["Lab12", "build_model", "device_for", "fast_path", "load_lab_12", "tie"]

#: The module of the fast path. Bundles up to lab 12 do not contain it, because it would give answers away.
FAST = "coursekit.provided.p12_translator_fast"


@dataclass(frozen=True)
class Lab12:
    """The used answers to lab 12, the student's or the course's."""

    Transformer: Callable[..., nn.Module]
    make_batch: MakeBatch


def load_lab_12(notebook: Path | None) -> Lab12:
    """The parts from a student's notebook of lab 12, which must pass their public checks, or the course's own."""
    if importlib.util.find_spec(FAST) is None:
        raise UserError(
            "This lab's bundle holds no fast translator: run the command in the bundle of lab 13."
        )
    if notebook is None:
        from coursekit.provided import p12_translator

        return Lab12(p12_translator.Transformer, p12_translator.make_batch)
    if not notebook.is_file():
        raise UserError(f"There is no notebook {notebook}.")
    from coursekit.checks.api import judge
    from coursekit.checks.earlier_labs import definitions

    notebook = notebook.resolve()
    with contextlib.chdir(notebook.parent):  # the earlier labs are beside it
        answers, _ = definitions(notebook, *Lab12.__dataclass_fields__)
    for question in Lab12.__dataclass_fields__:
        verdict = judge("12_translator", question, answers.get(question))
        if not verdict.passed:
            why = "is not written yet" if not verdict.written else "does not pass its public checks yet"
            raise UserError(f"{question} in {notebook.name} {why}.")
    return Lab12(**{question: answers[question] for question in Lab12.__dataclass_fields__})


def tie(model: Any) -> Any:
    """Give both languages, which share their subwords, one embedding table."""
    model.source_embedding = model.target_embedding
    return model


def build_model(build: Callable[..., nn.Module], size: int, plan: Plan) -> nn.Module:
    """A new model of the class ``build`` for a shared vocabulary of ``size``."""
    torch.manual_seed(plan.seed)
    return fresh(tie(build(size, size, **plan.sizes, dropout=plan.dropout)))


def fast_path(model: nn.Module, plan: Plan) -> FastTransformer:
    """The fast path on the model's own parameters."""
    from coursekit.provided.p12_translator_fast import FastTransformer

    return FastTransformer(model, plan.heads, plan.dropout)


def device_for() -> torch.device:
    """A GPU if there is one (``CUDA_VISIBLE_DEVICES=`` hides it), else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
