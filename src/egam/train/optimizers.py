"""How gradients move the weights: Adam, as in the paper, or Muon for the matrices and Adam for everything else.

Adam scales every entry of a matrix for itself. Muon (K. Jordan and others, 2024) looks at the matrix as a map: it takes
the momentum M = U S Vᵀ and moves by U Vᵀ, so that every direction that the gradient names, strong or weak, is followed
at the same pace. On two cores instances are scarce, and it needs about half as many for the same cost (docs/log.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import Adam, Optimizer

from egam.train.config import TrainConfig

MOMENTUM = 0.95
QUINTIC = (3.4445, -4.775, 2.0315)  # x -> a x + b x³ + c x⁵ drives singular values in (0, 1] to about 1
ITERATIONS = 5


def make_optimizers(config: TrainConfig, modules: Iterable[nn.Module]) -> dict[str, Optimizer]:
    """By name, "adam" or "muon" and "adam"; the trainer sets the learning rate before each step."""
    named = [pair for module in modules for pair in module.named_parameters()]
    if config.optimizer == "adam":
        return {"adam": Adam([parameter for _, parameter in named], weight_decay=config.weight_decay)}
    matrices = [parameter for name, parameter in named if _is_map(name, parameter, config.width)]
    chosen = set(map(id, matrices))
    others = [parameter for _, parameter in named if id(parameter) not in chosen]
    return {"muon": Muon(matrices, pace=config.pace), "adam": Adam(others)}


def _is_map(name: str, parameter: Tensor, width: int) -> bool:
    """Is it a matrix between embeddings? Those that read features of an instance or of a state are not."""
    return parameter.dim() == 2 and min(parameter.shape) >= width and "context" not in name


class Muon(Optimizer):
    """Momentum, made orthogonal; matrices of one shape are handled together.

    The entries of a matrix change by pace · lr in root mean square.
    """

    def __init__(self, matrices: list[nn.Parameter], lr: float = 1e-3, pace: float = 1.0):
        super().__init__(matrices, {"lr": lr, "pace": pace})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        (group,) = self.param_groups
        alike: dict[torch.Size, list[nn.Parameter]] = {}
        for matrix in group["params"]:
            if matrix.grad is not None:
                alike.setdefault(matrix.shape, []).append(matrix)
        for shape, matrices in alike.items():
            directions = orthogonal(torch.stack([self._direction(matrix) for matrix in matrices]))
            for matrix, direction in zip(matrices, directions, strict=True):
                matrix.add_(direction, alpha=-group["pace"] * math.sqrt(max(shape)) * group["lr"])

    def _direction(self, matrix: nn.Parameter) -> Tensor:
        """Nesterov's: where the momentum will point if the next gradient is like this one."""
        gradient, state = matrix.grad, self.state[matrix]
        assert gradient is not None
        momentum = state.setdefault("momentum", torch.zeros_like(matrix))
        momentum.lerp_(gradient, 1 - MOMENTUM)
        return gradient.lerp(momentum, MOMENTUM)


def orthogonal(matrices: Float[Tensor, "G R C"]) -> Float[Tensor, "G R C"]:
    """About U Vᵀ for each M = U S Vᵀ, by Newton-Schulz: odd polynomials of M act on its singular values alone."""
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2) if tall else matrices
    x = x / x.flatten(1).norm(dim=1).clamp_min(1e-30)[:, None, None]  # now none is above 1
    a, b, c = QUINTIC
    for _ in range(ITERATIONS):
        square = x @ x.transpose(1, 2)
        x = a * x + (b * square + c * square @ square) @ x
    return x.transpose(1, 2) if tall else x
