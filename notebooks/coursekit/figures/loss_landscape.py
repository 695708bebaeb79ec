"""Computes a model's loss on a plane through the weights along the path of training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn


def weights_of(model: nn.Module) -> Tensor:
    """A copy of all weights of a model as one vector."""
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def map_of(path: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """The plane that contains most of a path: two orthonormal directions (2, n), and the path on it (steps, 2).

    The origin of the plane is the path's last point. The directions are the principal components of the path.
    """
    points = torch.stack(list(path))
    moved = points - points[-1]
    directions = torch.linalg.svd(moved - moved.mean(0), full_matrices=False).Vh[:2]
    return directions, moved @ directions.T


def heights(
    model: nn.Module,
    loss: Callable[[], Tensor],
    origin: Tensor,
    directions: Tensor,
    across: Iterable[float],
    up: Iterable[float],
    track: Callable[..., Iterable[float]] = lambda items, what: items,
) -> Tensor:
    """The loss at each point of a grid on the plane (len(up), len(across)). The model's weights are restored."""
    before, across, rows = weights_of(model), list(across), []
    with torch.no_grad():
        for y in track(list(up), "rows of the map"):
            row = []
            for x in across:
                weights = origin + x * directions[0] + y * directions[1]
                nn.utils.vector_to_parameters(weights, model.parameters())
                row.append(float(loss()))
            rows.append(row)
        nn.utils.vector_to_parameters(before, model.parameters())
    return torch.tensor(rows)
