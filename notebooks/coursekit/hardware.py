"""Finds out whether this machine multiplies 16-bit numbers (bfloat16) faster than 32-bit ones."""

from __future__ import annotations

import torch


def has_fast_bfloat16(device: str = "cpu") -> bool:
    """Whether products of bfloat16 are fast: on a GPU, or on a processor with instructions for them."""
    if device != "cpu":
        return bool(torch.cuda.is_bf16_supported())
    known = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, bool)() for name in known)
