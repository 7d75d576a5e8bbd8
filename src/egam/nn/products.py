"""Batched matrix products of small matrices, in the order of operands that a CPU's matrix library runs fast.

Exactly `x @ yᵀ` and `w @ y`, forward and backward. With the library's AVX-512 kernels, a batch of small products with a
transposed right operand runs three to eight times slower than one with a plain right operand, so the smaller operand is
transposed in memory first. With its AVX2 kernels it is the other way round: the transposed view is two to four times as
fast as the copy, if the operand with fewer rows stands on the left (docs/log.md). Processors that are not Intel's get
the latter, whatever they can do.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from egam.machine import made_by_intel

# A property of the processor, not a measurement: the same machine always computes in the same order.
COPIES_TRANSPOSED = made_by_intel() and "AVX512" in torch.backends.cpu.get_cpu_capability()


def _times_transposed(x: Tensor, y: Tensor) -> Tensor:
    """x yᵀ, [G, R, D] and [G, N, D] -> [G, R, N] (as a view of its transpose if that is faster)."""
    if not COPIES_TRANSPOSED:
        if x.shape[1] >= y.shape[1]:
            return torch.bmm(y, x.transpose(1, 2)).transpose(1, 2)
        return torch.bmm(x, y.transpose(1, 2))
    if x.shape[1] >= y.shape[1]:
        return torch.bmm(x, y.transpose(1, 2).contiguous())
    return torch.bmm(y, x.transpose(1, 2).contiguous()).transpose(1, 2)


class _Scores(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(x, y)
        return _times_transposed(x, y)

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        x, y = ctx.saved_tensors
        return torch.bmm(grad, y), torch.bmm(grad.transpose(1, 2), x)


class _Mixture(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weights, y, onto, share):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(weights, y)
        ctx.share = None if onto is None else share
        return torch.bmm(weights, y) if onto is None else torch.baddbmm(onto, weights, y, beta=share)

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        weights, y = ctx.saved_tensors
        onto = None if ctx.share is None else grad * ctx.share
        return _times_transposed(grad, y), torch.bmm(weights.transpose(1, 2), grad), onto, None


def _lowered(x: Tensor) -> Tensor:
    """In mixed precision, as matrix products take it; our own functions are not on autocast's list."""
    device = x.device.type
    return x.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else x


def scores(x: Float[Tensor, "*B R D"], y: Float[Tensor, "*B N D"]) -> Float[Tensor, "*B R N"]:
    """x yᵀ for each member of the batch."""
    flat_x, flat_y = _lowered(x.flatten(0, -3)), _lowered(y.flatten(0, -3))
    result = _Scores.apply(flat_x, flat_y) if torch.is_grad_enabled() else _times_transposed(flat_x, flat_y)
    return result.unflatten(0, x.shape[:-2])


def mixture(
    weights: Float[Tensor, "*B R N"],
    y: Float[Tensor, "*B N D"],
    onto: Float[Tensor, "*B R D"] | None = None,
    share: float = 1.0,
) -> Float[Tensor, "*B R D"]:
    """weights y (+ share · onto) for each member of the batch."""
    flat_w, flat_y = _lowered(weights.flatten(0, -3)), _lowered(y.flatten(0, -3))
    flat_onto = None if onto is None else _lowered(onto.flatten(0, -3))
    if torch.is_grad_enabled():
        result = _Mixture.apply(flat_w, flat_y, flat_onto, share)
    elif flat_onto is None:
        result = torch.bmm(flat_w, flat_y)
    else:
        result = torch.baddbmm(flat_onto, flat_w, flat_y, beta=share)
    return result.unflatten(0, y.shape[:-2])
