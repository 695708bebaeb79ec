"""Writes a run's files whole or not at all, and reads its checkpoints."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.errors import UserError

__all__ = ["copy_weights", "load_tensors", "save_figure", "save_tensors", "write_text"]


def _write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Have ``write`` fill a file beside ``path``, which then takes its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".part-{path.name}")
    try:
        write(beside)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    _write_whole(path, lambda beside: beside.write_text(text, encoding="utf-8"))


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure; the path's suffix names the format (PNG if there is none)."""
    kind = path.suffix.lstrip(".") or "png"
    _write_whole(path, lambda beside: figure.savefig(beside, dpi=140, format=kind))


def save_tensors(state: dict[str, Any], path: Path) -> None:
    """``torch.save``."""
    _write_whole(path, lambda beside: torch.save(state, beside))


def load_tensors(path: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """What ``save_tensors`` wrote. UserError when there is no file, or it is damaged or something else."""
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
    """Copy trained weights into the model's own, by name. ValueError where a name or a shape does not fit."""
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
