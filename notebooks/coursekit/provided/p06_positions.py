"""What lab 06 taught, for later labs: sinusoidal positions and rotary positions, through complex numbers.

A clock's hand is a complex number of length one; turning it is a multiplication.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def _hands(positions: Any, D: int, base: float) -> npt.NDArray[np.complex128]:
    """The hands of all clocks at the given positions: (T, ceil(D / 2)) complex numbers of length one."""
    speeds = np.power(base, -np.arange(0, D, 2) / D)
    hands: npt.NDArray[np.complex128] = np.exp(
        1j * np.multiply.outer(np.asarray(positions, dtype=float), speeds)
    )
    return hands


def sinusoidal(T: int, D: int, base: float = 10000.0) -> npt.NDArray[np.float64]:
    """Sinusoidal positions (Vaswani et al., 2017), sine and cosine in turn.  → (T, D)."""
    hands = _hands(np.arange(T), D, base)
    return np.stack([hands.imag, hands.real], axis=-1).reshape(T, -1)[:, :D]


def rope(x: Any, positions: Any, base: float = 10000.0) -> Any:
    """Rotary positions (Su et al., 2021): neighbouring pairs turned.  x: (..., T, D), D even; positions: (T,).

    An array gives an array; a tensor gives a tensor of its type, and gradients flow through.
    """
    hands = _hands(positions, x.shape[-1], base)
    if not hasattr(x, "detach"):
        turned = np.ascontiguousarray(x, dtype=float).view(complex) * hands
        return turned.view(float)
    import torch

    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    turn = torch.as_tensor(hands, dtype=pairs.dtype, device=x.device)
    return torch.view_as_real(pairs * turn).flatten(-2)
