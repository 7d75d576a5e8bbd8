"""Sym-NCO's invariance term: the encoder shall see an instance and its turned copies alike.

    L_inv = - mean of cos( g(h_i), g(h'_i) )   over instances, nodes i and copies 2 .. m against copy 1
with a small projection head g, which exists while training only. As a loss it falls when the projections of
the same node of copies of the same instance come closer. Copies are stacked copy-major (problems/symmetry.py).
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class Invariance(nn.Module):
    def __init__(self, width: int, weight: float = 0.1):
        super().__init__()
        self.weight = weight
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, nodes: Float[Tensor, "mB N D"], m: int) -> Float[Tensor, ""]:
        projected = self.head(nodes).unflatten(0, (m, -1))  # [m, B, N, D]
        return -self.weight * F.cosine_similarity(projected[1:], projected[:1], dim=-1).mean()
