"""One matrix times many rows, with bias, ReLU or residual, by the matrix library that is fast on this processor.

PyTorch multiplies float32 matrices by Intel's library, which keeps its AVX-512 kernels to Intel's processors. oneDNN,
which comes with PyTorch too, has them for others: the same arithmetic in up to less than half of the time
(docs/log.md). It is used where that is so; elsewhere, on a GPU, in other precisions and while compiling, the plain form
is. Both forms: y = ReLU?(x Wᵀ + b) + onto.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from egam.machine import made_by_intel

# A property of the processor, not a measurement: the same machine always computes by the same library.
BY_ONEDNN = (
    not made_by_intel()
    and "AVX512" in torch.backends.cpu.get_cpu_capability()
    and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    and hasattr(torch.ops.mkldnn, "_linear_pointwise")
)
# Multiply-adds from which on it is worth its 10 µs per call: in training, where a shape comes back in every step, and
# elsewhere, as a kernel for a new shape takes about a millisecond to make.
OFTEN, ONCE = 1 << 20, 1 << 24


def linear(
    x: Float[Tensor, "*R I"],
    weight: Float[Tensor, "O I"],
    bias: Float[Tensor, " O"] | None = None,
    onto: Float[Tensor, "*R O"] | None = None,
    relu: bool = False,
) -> Float[Tensor, "*R O"]:
    """x Wᵀ + b, then ReLU or a residual; not both."""
    rows = x.reshape(-1, x.shape[-1])
    if not _suits_onednn(rows, weight):
        return _plain(x, weight, bias, onto, relu)
    flat_onto = None if onto is None else onto.reshape(-1, onto.shape[-1])
    if torch.is_grad_enabled():
        result = _Linear.apply(rows, weight, bias, flat_onto, relu)
    else:
        result = _by_onednn(rows, weight, bias, flat_onto, relu)
    return result.view(*x.shape[:-1], -1)


def _plain(x: Tensor, weight: Tensor, bias: Tensor | None, onto: Tensor | None, relu: bool) -> Tensor:
    if onto is None:
        result = F.linear(x, weight, bias)
        return result.relu_() if relu else result
    rows = onto.reshape(-1, onto.shape[-1])
    result = torch.addmm(rows, x.reshape(-1, x.shape[-1]), weight.T).view_as(onto)  # the product adds the residual
    return result if bias is None else result.add_(bias)


def _suits_onednn(rows: Tensor, weight: Tensor) -> bool:
    return (
        BY_ONEDNN
        and rows.dtype == torch.float32
        and rows.device.type == "cpu"
        and len(rows) * weight.numel() >= (OFTEN if torch.is_grad_enabled() else ONCE)
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


def _by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None, onto: Tensor | None, relu: bool) -> Tensor:
    x, weight = _dense(x), _dense(weight)
    if onto is None:
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "relu" if relu else "none", [], "")
    return torch.ops.mkldnn._linear_pointwise.binary(x, onto.contiguous(), weight, bias, "add")


def _dense(x: Tensor) -> Tensor:
    """As it is if rows or columns follow one another in memory; for other layouts oneDNN is a hundred times slower."""
    return x if x.is_contiguous() or x.T.is_contiguous() else x.contiguous()


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, onto, relu):  # type: ignore[no-untyped-def]
        y = _by_onednn(x, weight, bias, onto, relu)
        ctx.save_for_backward(x, weight, y if relu else None)
        ctx.parts = bias is not None, onto is not None
        return y

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        x, weight, y = ctx.saved_tensors
        has_bias, has_onto = ctx.parts
        through = grad if y is None else torch.ops.aten.threshold_backward(grad, y, 0)
        dx = _by_onednn(through, weight.T, None, None, False) if ctx.needs_input_grad[0] else None
        dw = _by_onednn(through.T, x.T, None, None, False) if ctx.needs_input_grad[1] else None
        return dx, dw, through.sum(0) if has_bias else None, grad if has_onto else None, None
