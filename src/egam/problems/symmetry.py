"""Symmetric copies of a batch: what turns or mirrors the map leaves every tour's cost as it is.

Copies are stacked copy-major along the batch: copy k of instance b is row k * B + b, so that a result of shape
[m * B, ...] is `.view(m, B, ...)` per instance. Only `coords` change; travel and every other field repeat. All
movements are about the centre of the unit square. An instance whose nodes are all at the origin has nothing to move and
is left alone.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from egam.problems.base import map_tensors

BatchT = TypeVar("BatchT", bound=Any)  # any Batch dataclass


def repeat(batch: BatchT, m: int) -> BatchT:
    """m equal copies, copy-major."""
    return map_tensors(batch, lambda tensor: tensor.repeat(m, *[1] * (tensor.dim() - 1)))


def eightfold(batch: BatchT) -> BatchT:
    """The 8 turns and mirrorings of the square, in POMO's order; the first is the batch itself."""
    x, y = batch.coords.unbind(-1)
    pairs = [(x, y), (1 - x, y), (x, 1 - y), (1 - x, 1 - y), (y, x), (1 - y, x), (y, 1 - x), (1 - y, 1 - x)]
    copies = repeat(batch, 8)
    return _moved(copies, torch.cat([torch.stack(pair, -1) for pair in pairs]))


def rotate_reflect(batch: BatchT, u: Float[Tensor, " B"]) -> BatchT:
    """Sym-NCO's rule: u uniform in [0, 1) makes a uniform turn, and from 1/2 on a mirrored one."""
    mirrored = u >= 0.5
    angle = 4 * math.pi * (u - 0.5 * mirrored)
    sin, cos = angle.sin()[:, None], angle.cos()[:, None]
    x, y = (batch.coords - 0.5).unbind(-1)
    turned = torch.stack([cos * x - sin * y, sin * x + cos * y], -1) + 0.5
    return _moved(batch, torch.where(mirrored[:, None, None], turned.flip(-1), turned))


def _moved(batch: BatchT, coords: Float[Tensor, "B N 2"]) -> BatchT:
    absent = (batch.coords == 0).flatten(1).all(1)[:, None, None]
    return replace(batch, coords=torch.where(absent, batch.coords, coords))
