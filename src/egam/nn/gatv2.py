"""GATv2 attention between all nodes, and GAM with it in the encoder.

    s_ij = a · LeakyReLU(W_l h_i + W_r h_j, 0.2),   h'_i = [ Σ_j softmax_j(s_ij) W_r h_j  for each of H heads ]
(Brody et al., "How attentive are graph attention networks?"). `textbook=True` is this line, with N² vectors. The fast
form needs none of them: LeakyReLU(x) = 0.6 x + 0.4 |x|, the softmax does not see what is the same for all j, and
Σ_k a_k |l_k + r_k| is the difference of two Manhattan distances, of the k with positive and with negative a_k.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from egam.nn.attention import masked_softmax
from egam.nn.egam import Shape
from egam.nn.gam import GAM
from egam.problems.base import Spec

SLOPE = 0.2


class GATv2Attention(nn.Module):
    """Additive attention with H heads, concatenated; no biases and no output map, as a feed-forward follows."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.left = nn.Parameter(torch.empty(width, width))
        self.right = nn.Parameter(torch.empty(width, width))
        self.a = nn.Parameter(torch.empty(heads, width // heads))
        for weight in (self.left, self.right, self.a):
            nn.init.uniform_(weight, -1 / math.sqrt(weight.shape[1]), 1 / math.sqrt(weight.shape[1]))

    def forward(
        self, nodes: Float[Tensor, "B N D"], adjacency: Bool[Tensor, "B N N"] | None, textbook: bool = False
    ) -> Float[Tensor, "B N D"]:
        left, right = (self._heads(nodes @ weight.T) for weight in (self.left, self.right))  # [B, H, N, K]
        score = self.textbook(left, right) if textbook else self.fast(left, right)
        weights = masked_softmax(score, None if adjacency is None else adjacency[:, None])
        return (weights.to(right.dtype) @ right).transpose(1, 2).flatten(2)

    def textbook(self, left: Float[Tensor, "B H N K"], right: Float[Tensor, "B H N K"]) -> Float[Tensor, "B H N N"]:
        pairs = left[:, :, :, None] + right[:, :, None]  # [B, H, N, N, K]
        return (F.leaky_relu(pairs, SLOPE) * self.a[:, None, None]).sum(-1)

    def fast(self, left: Float[Tensor, "B H N K"], right: Float[Tensor, "B H N K"]) -> Float[Tensor, "B H N N"]:
        """The same up to a number per row i, which the softmax takes away."""
        left, right = left.to(self.a.dtype), right.to(self.a.dtype)  # distances want more than half precision
        bends = self._distances(left, right, self.a.relu()) - self._distances(left, right, (-self.a).relu())
        straight = (right * self.a[:, None]).sum(-1)[:, :, None]  # [B, H, 1, N]
        return (1 + SLOPE) / 2 * straight + (1 - SLOPE) / 2 * bends

    def _distances(self, left: Tensor, right: Tensor, weight: Float[Tensor, "H K"]) -> Float[Tensor, "B H N N"]:
        """Σ_k weight_k |left_ik + right_jk| for weights of 0 or more."""
        scale = weight[:, None]
        return torch.cdist((left * scale).flatten(0, 1), -(right * scale).flatten(0, 1), p=1.0).unflatten(
            0, left.shape[:2]
        )

    def _heads(self, x: Float[Tensor, "B N D"]) -> Float[Tensor, "B H N K"]:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def gatv2(spec: Spec, shape: Shape) -> GAM:
    return GAM(spec, shape, "gatv2", GATv2Attention)
