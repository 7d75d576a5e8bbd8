"""Instance, batch and layer norm over the rows of [B, M, D], affine, with rows that may count more than once.

`share` is the weight of a row in mean and variance (see triangle.py: twice as much off the diagonal as on it), so
that norms on the triangle equal norms over all N² edges. Instance norm has its own gradient: half the passes over
memory of autograd's.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from egam.errors import BadInput

EPSILON = 1e-5
KINDS = ("instance", "batch", "layer")


class Norm(nn.Module):
    running_mean: Tensor  # of batch norm
    running_var: Tensor

    def __init__(self, width: int, kind: str = "instance", momentum: float = 0.1):
        super().__init__()
        if kind not in KINDS:
            raise BadInput(f"norm is '{kind}'; accepted: {', '.join(KINDS)}")
        self.kind, self.momentum = kind, momentum
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        if kind == "batch":
            self.register_buffer("running_mean", torch.zeros(width))
            self.register_buffer("running_var", torch.ones(width))

    @property
    def ignores_constants(self) -> bool:
        """Does a constant added to every row of a channel leave the result as it is?"""
        return self.kind == "instance"

    def forward(self, x: Float[Tensor, "B M D"], share: Float[Tensor, " M"] | None = None) -> Float[Tensor, "B M D"]:
        if torch.is_autocast_enabled(x.device.type):  # statistics want more than half precision
            with torch.autocast(x.device.type, enabled=False):
                return self(x.float(), share)
        if self.kind == "layer":
            return nn.functional.layer_norm(x, x.shape[-1:], self.weight, self.bias, EPSILON)
        share = x.new_full((x.shape[1],), 1 / x.shape[1]) if share is None else share.to(x.dtype)
        if self.kind == "batch":
            return self._batch_norm(x, share / len(x))
        if torch.is_grad_enabled():
            return _InstanceNorm.apply(x, self.weight, self.bias, share)
        return _instance_norm_once(x, self.weight, self.bias, share)

    def _batch_norm(self, x: Tensor, share: Tensor) -> Tensor:
        if self.training:
            mean = (x * share[:, None]).sum((0, 1))
            variance = ((x - mean).square() * share[:, None]).sum((0, 1))
            with torch.no_grad():
                self.running_mean.lerp_(mean, self.momentum)
                self.running_var.lerp_(variance, self.momentum)
        else:
            mean, variance = self.running_mean, self.running_var
        return (x - mean) * (variance + EPSILON).rsqrt() * self.weight + self.bias


def _instance_norm(x: Tensor, weight: Tensor, bias: Tensor, share: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """y = (x - mean) / sqrt(var + eps) * weight + bias, and x - mean, and 1 / sqrt(var + eps)."""
    shares = share.expand(len(x), 1, -1)  # [B, 1, M]
    centred = x - torch.bmm(shares, x)
    rstd = (torch.bmm(shares, centred.square()) + EPSILON).rsqrt()  # [B, 1, D]
    return torch.addcmul(bias, centred, rstd * weight), centred, rstd


def _instance_norm_once(x: Tensor, weight: Tensor, bias: Tensor, share: Tensor) -> Tensor:
    """The same y in one large block of memory, for what needs no gradient."""
    shares = share.expand(len(x), 1, -1)
    mean = torch.bmm(shares, x)
    block = x - mean
    scale = (torch.bmm(shares, block.mul_(block)) + EPSILON).rsqrt() * weight  # [B, 1, D]
    return torch.addcmul(bias - mean * scale, x, scale, out=block)


class _InstanceNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, share):  # type: ignore[no-untyped-def]
        y, centred, rstd = _instance_norm(x, weight, bias, share)
        ctx.save_for_backward(centred, rstd, weight, share)
        return y

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        centred, rstd, weight, share = ctx.saved_tensors
        shift = grad.sum(1, keepdim=True)  # [B, 1, D] d bias
        slope = (grad * centred).sum(1, keepdim=True) * rstd  # d weight
        scale = rstd * weight
        pulled = torch.addcmul(shift * scale, centred, slope * scale * rstd)  # [B, M, D]
        dx = torch.addcmul(pulled.mul_(-share[:, None]), grad, scale)
        return dx, slope.sum((0, 1)), shift.sum((0, 1)), None
