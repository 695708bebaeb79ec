"""Writes checkpoints, completely or not at all, and reads them."""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.errors import UserError

__all__ = ["copy_weights", "load_tensors", "save_tensors"]


def save_tensors(state: dict[str, Any], path: Path) -> None:
    """Like ``torch.save``, but completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".part-{path.name}")
    try:
        torch.save(state, beside)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def load_tensors(path: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """Read a file from ``save_tensors``. Raises UserError if it is missing, damaged or another file."""
    if not path.is_file():
        raise UserError(f"There is no checkpoint {path}.")
    try:
        state = torch.load(path, weights_only=True, map_location=device)
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError):
        raise UserError(f"{path} cannot be read as a checkpoint: it is damaged, or something else.") from None
    if not isinstance(state, dict) or "plan" not in state:
        raise UserError(f"{path} is no checkpoint of a translator.")
    return state


def copy_weights(weights: Mapping[str, Tensor], model: nn.Module) -> None:
    """Copy trained weights to the model's parameters by name. Raises ValueError if a name or shape does not fit."""
    own = {name: value for name, value in model.named_parameters() if value.requires_grad}
    if {name: value.shape for name, value in own.items()} != {
        name: value.shape for name, value in weights.items()
    }:
        raise ValueError(
            "The trained weights do not fit this Transformer: its parts need the names of the text."
        )
    with torch.no_grad():
        for name, value in weights.items():
            own[name].copy_(value)
