"""Muon: momentum whose steps are made orthogonal, for the matrices inside a network (Jordan et al. 2024).

AdamW scales each number by itself. Muon looks at a matrix as a whole: of the momentum U S Vᵀ it takes U Vᵀ, so that
directions that were seen rarely are learned as fast as those that were seen often. ``torch.optim.Muon`` is the same
optimiser, one matrix after another, always in 16 bits. A translator has dozens of small matrices of two or three
shapes: here those of one shape are orthogonalised together, in 16 bits where that is fast and else in 32. Tests
compare both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["Muon", "inner_matrices", "orthogonalised"]

#: Of the polynomial a s + b s³ + c s⁵ that draws each singular value s towards 1 (Jordan et al. 2024).
_A, _B, _C = 3.4445, -4.7750, 2.0315


def inner_matrices(model: nn.Module) -> list[nn.Parameter]:
    """The matrices between the layers' vectors: neither embeddings, whose rows stand for words, nor biases."""
    tables = {id(part.weight) for part in model.modules() if isinstance(part, nn.Embedding)}
    return [p for p in model.parameters() if p.dim() == 2 and id(p) not in tables]


@torch.no_grad()
def orthogonalised(matrices: Tensor, dtype: torch.dtype = torch.bfloat16, iterations: int = 5) -> Tensor:
    """Each U S Vᵀ with singular values near 1: (N, R, C) → (N, R, C), by Newton and Schulz's iteration in ``dtype``."""
    x = matrices.to(dtype)
    tall = x.shape[1] > x.shape[2]
    x = x.mT if tall else x
    x = x / torch.linalg.matrix_norm(x, keepdim=True).clamp_(min=1e-7)
    for _ in range(iterations):
        gram = torch.bmm(x, x.mT)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=_B, alpha=_C), x, beta=_A)
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Steps of Muon with Nesterov's momentum and decoupled weight decay, sized as AdamW's are (Liu et al. 2025).

    ``parameters``: matrices. ``lr``, ``weight_decay``: as for AdamW. ``dtype``: that of the orthogonalisation.
    Raises ValueError for a parameter that is no matrix.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        dtype: torch.dtype = torch.bfloat16,
    ):
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})
        self.dtype = dtype
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.dim() != 2:
                    raise ValueError(f"Muon is for matrices; a parameter has shape {tuple(parameter.shape)}.")

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Change each matrix that has a gradient; returns what ``closure`` does, if there is one."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            alike: dict[tuple[int, ...], list[Tensor]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    alike.setdefault(tuple(parameter.shape), []).append(parameter)
            for shape, parameters in alike.items():
                self._step(group, shape, parameters)
        return loss

    def _step(self, group: dict[str, Any], shape: tuple[int, ...], parameters: list[Tensor]) -> None:
        """All matrices of one shape."""
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        momenta = []
        for parameter in parameters:
            state = self.state[parameter]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = torch.zeros_like(parameter)
            momenta.append(state["momentum_buffer"])
        torch._foreach_lerp_(momenta, gradients, 1 - group["momentum"])
        ahead = torch.stack(torch._foreach_lerp(gradients, momenta, group["momentum"]))
        steps = orthogonalised(ahead, self.dtype).to(parameters[0].dtype)
        torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
        size = group["lr"] * 0.2 * max(shape) ** 0.5  # 0.2: as large as AdamW's steps usually are
        torch._foreach_add_(parameters, list(steps.unbind()), alpha=-size)
