"""Muon: orthogonal directions of the right length, matrices and the rest told apart, and faster learning than Adam."""

import math

import pytest
import torch

from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem
from egam.train.config import TrainConfig
from egam.train.optimizers import Muon, make_optimizers, orthogonal


@pytest.mark.parametrize("shape", [(3, 16, 16), (2, 32, 8), (2, 8, 32)], ids=str)
def test_orthogonal_keeps_singular_vectors_and_evens_out_singular_values(shape):
    matrices = torch.randn(shape, dtype=torch.float64)
    u, s, vt = torch.linalg.svd(matrices, full_matrices=False)
    inner = u.transpose(1, 2) @ orthogonal(matrices) @ vt.transpose(1, 2)  # diagonal if the vectors are the same
    values = inner.diagonal(dim1=1, dim2=2)
    assert torch.allclose(inner, torch.diag_embed(values), atol=1e-9)
    strong = s > 0.05 * s.amax(1, keepdim=True)
    assert strong.sum() > 0.8 * strong.numel()
    assert ((values > 0.6) & (values < 1.3))[strong].all()


def test_orthogonal_does_not_depend_on_the_length_and_bears_zeros():
    matrices = torch.randn(2, 6, 9)
    assert torch.allclose(orthogonal(matrices), orthogonal(1e-6 * matrices), atol=1e-4)
    assert torch.equal(orthogonal(torch.zeros(1, 4, 4)), torch.zeros(1, 4, 4))


def test_a_step_changes_entries_by_the_pace():
    """With the identity as gradient, so also as momentum's direction: U Vᵀ is the identity times about 1, entries
    change by pace · lr · sqrt(4) on the diagonal, which is pace · lr in root mean square."""
    matrix = torch.nn.Parameter(torch.zeros(4, 4))
    matrix.grad = torch.eye(4)
    Muon([matrix], lr=0.01, pace=1.5).step()
    assert torch.equal(matrix != 0, torch.eye(4, dtype=torch.bool))
    length = matrix.diagonal() / (-1.5 * 0.01 * math.sqrt(4))
    assert (length > 0.6).all() and (length < 1.3).all()


def test_maps_between_embeddings_go_to_muon_and_everything_else_to_adam():
    problem = get_problem("cvrp")
    network = EGAM(problem.spec, Shape(width=16, heads=2, hidden=32, encoder_layers=1))
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    optimizers = make_optimizers(TrainConfig(width=16, optimizer="muon"), [network])
    groups = {kind: {names[id(p)] for p in each.param_groups[0]["params"]} for kind, each in optimizers.items()}
    assert groups["muon"] | groups["adam"] == set(names.values()) and not groups["muon"] & groups["adam"]
    assert {"encoder.layers.0.edge_node.query", "decoder.layers.0.ff.outer.weight", "decoder.out_key"} <= groups["muon"]
    inputs = {"encoder.input.edge.weight", "decoder.context.weight"}
    assert inputs | {"encoder.layers.0.edge_ff.inner.bias"} <= groups["adam"]
    assert make_optimizers(TrainConfig(width=16), [network]).keys() == {"adam"}


def test_muon_fits_a_map_of_uneven_scales_sooner_than_adam():
    """Least squares with inputs of very different sizes: the weak ones are what Adam is slow at."""
    torch.manual_seed(1)
    target, scale = torch.randn(16, 16), torch.logspace(0, -2, 16)
    mixed = torch.linalg.qr(torch.randn(16, 16)).Q * scale  # no coordinate has a scale of its own
    inputs = torch.randn(256, 16) @ mixed.T

    def after(make):
        matrix = torch.nn.Parameter(torch.zeros(16, 16))
        optimizer = make([matrix])
        for step in range(300):
            optimizer.param_groups[0]["lr"] = 0.03 * (1 - step / 300)
            optimizer.zero_grad()
            (inputs @ (matrix - target)).square().mean().backward()
            optimizer.step()
        return float((matrix.detach() - target).square().mean())

    assert after(Muon) < 0.5 * after(torch.optim.Adam)
