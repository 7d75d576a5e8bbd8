"""Random numbers that belong to an instance, not to a batch.

A draw is a hash of (seed, instance, rollout, step): the same on every run, for any batch size, in any order, on any
device. The hash is SplitMix64's finaliser, written in wrapping 64-bit tensor arithmetic.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

_GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)  # as signed 64-bit
_MIX1 = 0xBF58476D1CE4E5B9 - (1 << 64)
_MIX2 = 0x94D049BB133111EB - (1 << 64)


def _shift(x: Tensor, bits: int) -> Tensor:
    """Logical right shift; PyTorch's >> keeps the sign."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def mix(x: Int[Tensor, "*S"]) -> Int[Tensor, "*S"]:
    x = x + _GOLDEN
    x = (x ^ _shift(x, 30)) * _MIX1
    x = (x ^ _shift(x, 27)) * _MIX2
    return x ^ _shift(x, 31)


def keys(seed: int, instances: Int[Tensor, " B"], rollouts: Int[Tensor, " S"]) -> Int[Tensor, "B S"]:
    """One key per rollout of each instance, by its number in the data set."""
    base = mix(torch.tensor(seed, dtype=torch.int64, device=instances.device))
    return mix(mix(base + instances)[:, None] + rollouts)


def uniforms(key: Int[Tensor, "*S"], step: int) -> Float[Tensor, "*S"]:
    """Numbers in [0, 1), one per key."""
    return _shift(mix(key + step * 0x632BE5AB), 41).to(torch.float32) * 2.0**-23


def uniforms_of_nodes(key: Int[Tensor, "*S"], step: int, nodes: int) -> Float[Tensor, "*S N"]:
    """The same for each node of each key."""
    return uniforms(mix(key)[..., None] + torch.arange(nodes, device=key.device), step)
