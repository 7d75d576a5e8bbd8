"""Rows times a matrix by either library: the formula, its gradients, and every layout in memory that callers have."""

import pytest
import torch

from egam.nn import linear as module
from egam.nn.linear import linear

ROWS, INSIDE, OUTSIDE = 6, 5, 4


@pytest.fixture(params=[False, True], ids=["plain", "oneDNN"])
def library(request, monkeypatch):
    if request.param and not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        pytest.skip("this PyTorch has no oneDNN")
    monkeypatch.setattr(module, "BY_ONEDNN", request.param)
    monkeypatch.setattr(module, "OFTEN", 1)
    monkeypatch.setattr(module, "ONCE", 1)
    return request.param


def operands(dtype=torch.float32):
    torch.manual_seed(1)
    shapes = ((2, 3, INSIDE), (OUTSIDE, INSIDE), (OUTSIDE,), (2, 3, OUTSIDE))
    return tuple(torch.randn(shape, dtype=dtype).requires_grad_() for shape in shapes)


def test_by_hand(library):
    x, weight, bias = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [-5.0, 1.0]]), torch.tensor([0.5, 1.0])
    # 1·3 + 2·4 + 0.5 = 11.5;  1·(-5) + 2·1 + 1 = -2
    assert linear(x, weight, bias).tolist() == [[11.5, -2.0]]
    assert linear(x, weight, bias, relu=True).tolist() == [[11.5, 0.0]]
    assert linear(x, weight, bias, onto=torch.tensor([[10.0, 20.0]])).tolist() == [[21.5, 18.0]]
    assert linear(x, weight).tolist() == [[11.0, -3.0]]


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_values_and_gradients_are_the_formulas(library, relu, residual, with_bias):
    if relu and residual:
        return  # not offered
    results = []
    for written_out in (True, False):
        x, weight, bias, onto = operands()
        if written_out:
            y = x @ weight.T + (bias if with_bias else 0)
            y = torch.relu(y) if relu else y + (onto if residual else 0)
        else:
            y = linear(x, weight, bias if with_bias else None, onto if residual else None, relu)
        (y * torch.arange(y.numel()).view_as(y)).sum().backward()
        results.append([y, x.grad, weight.grad, bias.grad, onto.grad])
    for expected, found in zip(*results, strict=True):
        assert (expected is None) == (found is None)
        if expected is not None:
            torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    x, weight, bias, onto = operands()
    with torch.no_grad():
        again = linear(x, weight, bias if with_bias else None, onto if residual else None, relu)
    torch.testing.assert_close(again, results[0][0].detach(), rtol=1e-5, atol=1e-5)


def test_any_layout(library):
    """Slices of a larger matrix, transposed rows, rows that repeat: as decoders hand them in."""
    wide = torch.randn(OUTSIDE, 3 * INSIDE)
    turned = torch.randn(INSIDE, ROWS).T
    repeated = torch.randn(1, INSIDE).expand(ROWS, INSIDE)
    every_other = torch.randn(ROWS, 2 * INSIDE)[:, ::2]
    for weight in (wide[:, INSIDE : 2 * INSIDE], wide[:, :INSIDE].T.contiguous().T):
        for x in (turned, repeated, every_other):
            leaf = weight.detach().requires_grad_()
            y = linear(x, leaf)
            torch.testing.assert_close(y, x @ weight.T, rtol=1e-5, atol=1e-5)
            y.sum().backward()
            torch.testing.assert_close(leaf.grad, x.sum(0).expand(OUTSIDE, -1), rtol=1e-5, atol=1e-5)


def test_no_rows_and_other_precisions(library):
    weight = torch.randn(OUTSIDE, INSIDE)
    assert linear(torch.zeros(0, INSIDE), weight).shape == (0, OUTSIDE)
    x = torch.randn(ROWS, INSIDE)
    double = linear(x.double(), weight.double())
    assert double.dtype == torch.float64
    torch.testing.assert_close(double, x.double() @ weight.double().T, rtol=1e-12, atol=1e-12)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert linear(x, weight).dtype == torch.bfloat16


def test_gradients_against_finite_differences():
    """The plain form in double precision: what the other one must equal, above."""
    x, weight, bias, onto = operands(torch.float64)
    assert torch.autograd.gradcheck(lambda *parts: linear(*parts), (x, weight, bias, onto))
    assert torch.autograd.gradcheck(lambda *parts: linear(*parts, relu=True), (x, weight, bias))
