"""Builds, speeds up, saves and loads the model of a run from lab 12's parts, the student's or the course's."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from coursekit.data.vocabulary import MakeBatch
from coursekit.errors import UserError
from coursekit.translator.plan import Plan

if TYPE_CHECKING:
    from coursekit.provided.p12_translator_fast import FastTransformer


#: The module of the fast path. Bundles up to lab 12 do not contain it, because it would give answers away.
FAST = "coursekit.provided.p12_translator_fast"
#: Lab 12's class ``Transformer``.
Build = Callable[..., nn.Module]


def load_lab_12(notebook: Path | None = None) -> tuple[Build, MakeBatch]:
    """``Transformer`` and ``make_batch`` from a notebook, where they must pass their public checks, or the course's."""
    if importlib.util.find_spec(FAST) is None:
        raise UserError(
            "This lab's bundle holds no fast translator: run the command in the bundle of lab 13."
        )
    if notebook is None:
        from coursekit.provided.p12_translator import Transformer, make_batch

        return Transformer, make_batch
    if not notebook.is_file():
        raise UserError(f"There is no notebook {notebook}.")
    from coursekit.checks.api import judge
    from coursekit.checks.earlier_labs import definitions

    questions = ("Transformer", "make_batch")
    notebook = notebook.resolve()
    with contextlib.chdir(notebook.parent):  # the earlier labs are beside it
        answers, _ = definitions(notebook, *questions)
    for question in questions:
        verdict = judge("12_translator", question, answers.get(question))
        if not verdict.passed:
            why = "is not written yet" if not verdict.written else "does not pass its public checks yet"
            raise UserError(f"{question} in {notebook.name} {why}.")
    return answers["Transformer"], answers["make_batch"]


def fresh(model: nn.Module) -> nn.Module:
    """Initialize every matrix except the embeddings as in Glorot and Bengio (2010), so that signals keep their size."""
    for name, weight in model.named_parameters():
        if weight.dim() > 1 and "embedding" not in name:
            nn.init.xavier_uniform_(weight)
    return model


def tie(model: Any) -> Any:
    """Use one embedding table for both languages, because they share their subwords."""
    model.source_embedding = model.target_embedding
    return model


def build_model(build: Build, size: int, plan: Plan) -> nn.Module:
    """A new model of the class ``build`` for a shared vocabulary of ``size``."""
    torch.manual_seed(plan.seed)
    return fresh(tie(build(size, size, **plan.sizes, dropout=plan.dropout)))


def fast_path(model: nn.Module, plan: Plan) -> FastTransformer:
    """The fast implementation, with the model's own parameters."""
    from coursekit.provided.p12_translator_fast import FastTransformer

    return FastTransformer(model, plan.heads, plan.dropout)


def device_for() -> torch.device:
    """A GPU if there is one (``CUDA_VISIBLE_DEVICES=`` hides it), else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def save_tensors(state: dict[str, Any], path: Path) -> None:
    """Write a file with ``torch.save``, completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".part-{path.name}")
    try:
        torch.save(state, beside)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def load_tensors(path: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """The state that ``save_tensors`` wrote. Raises ``UserError`` if the file is missing, damaged or something else."""
    if not path.is_file():
        raise UserError(f"There is no checkpoint {path}.")
    try:
        state = torch.load(path, weights_only=True, map_location=device)
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError):
        raise UserError(f"{path} cannot be read as a checkpoint: it is damaged or of another kind.") from None
    if not isinstance(state, dict) or "plan" not in state:
        raise UserError(f"{path} is no checkpoint of a translator.")
    return state


def copy_weights(weights: Mapping[str, Tensor], model: nn.Module) -> None:
    """Copy trained weights into the model's, by name. Raises ``UserError`` if a name or shape differs."""
    own = {name: value for name, value in model.named_parameters() if value.requires_grad}
    if {name: value.shape for name, value in own.items()} != {
        name: value.shape for name, value in weights.items()
    }:
        raise UserError(
            "The trained weights do not fit this Transformer: its parts need the names of the text."
        )
    with torch.no_grad():
        for name, value in weights.items():
            own[name].copy_(value)
