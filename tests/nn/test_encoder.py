"""The encoder as a whole: exactness, symmetries, sizes."""

import pytest
import torch

from egam.nn.decoder import View, open_ends
from egam.nn.egam import EGAM, Shape
from egam.nn.encoder import Encoder
from egam.problems import get_problem
from egam.problems.base import Features, Spec, map_tensors


def features(directed: bool, batch: int = 3, nodes: int = 13, dtype: torch.dtype = torch.float64) -> Features:
    coords = torch.rand(batch, nodes, 2, dtype=dtype)
    length = (coords[:, :, None] - coords[:, None]).norm(dim=-1)
    if directed:
        there = length * (1 + torch.rand_like(length))
        return Features(coords, None, torch.stack([there, there.transpose(1, 2)], -1))
    return Features(coords, None, length[..., None])


def encoder(directed: bool, dtype: torch.dtype = torch.float64, **shape) -> Encoder:
    spec = Spec(2, 0, 2 if directed else 1, 0, True, directed)
    return Encoder(spec, **shape).to(dtype)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 1e-4), (torch.float64, 1e-9)])
def test_fast_equals_textbook_after_four_layers(directed, dtype, limit):
    network, graph = encoder(directed, dtype), features(directed, dtype=dtype)
    fast, textbook = network(graph), network(graph, textbook=True)
    assert (fast.nodes - textbook.nodes).abs().max() < limit
    assert (fast.edges - textbook.edges).abs().max() < limit
    with torch.no_grad():  # the chunked path without gradients
        chunked = network(graph)
    assert (chunked.nodes - textbook.nodes).abs().max() < limit
    assert (chunked.edges - textbook.edges).abs().max() < limit


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("norm", ["instance", "batch", "layer"])
def test_same_gradients(directed, norm):
    network, graph = encoder(directed, width=32, heads=4, hidden=64, layers=3, norm=norm), features(directed)
    gradients = []
    for textbook in (False, True):
        result = network(graph, textbook=textbook)
        torch.manual_seed(1)
        value = (result.edges * torch.randn_like(result.edges)).sum()
        value = value + (result.nodes * torch.randn_like(result.nodes)).sum()
        gradients.append(torch.autograd.grad(value, list(network.parameters())))
    for fast, textbook in zip(*gradients, strict=True):
        torch.testing.assert_close(fast, textbook, rtol=1e-7, atol=1e-9)


def test_missing_edges_are_not_looked_at():
    network, graph = encoder(False, layers=2), features(False)
    graph.adjacency = torch.rand(3, 13, 13) < 0.7
    graph.adjacency |= graph.adjacency.transpose(1, 2) | torch.eye(13, dtype=torch.bool)
    fast, textbook = network(graph), network(graph, textbook=True)
    torch.testing.assert_close(fast.nodes, textbook.nodes, rtol=0, atol=1e-9)
    complete = network(Features(graph.nodes, None, graph.edges))
    assert (fast.nodes - complete.nodes).abs().max() > 1e-3


@pytest.mark.parametrize("directed", [False, True])
def test_permuted_nodes_permute_the_output(directed):
    network, graph = encoder(directed, layers=2), features(directed)
    order = torch.randperm(13)
    mixed = Features(graph.nodes[:, order], None, graph.edges[:, order][:, :, order])
    plain, permuted = network(graph), network(mixed)
    torch.testing.assert_close(permuted.nodes, plain.nodes[:, order], rtol=0, atol=1e-9)
    torch.testing.assert_close(permuted.edges, plain.edges[:, order][:, :, order], rtol=0, atol=1e-9)


def test_undirected_edges_stay_symmetric():
    edges = encoder(False)(features(False)).edges
    torch.testing.assert_close(edges, edges.transpose(1, 2), rtol=0, atol=0)


def test_a_batch_is_many_batches_of_one():
    network, graph = encoder(False, layers=2), features(False, batch=9, nodes=20)
    with torch.no_grad():
        together = network(graph)
        for k in range(9):
            alone = network(map_tensors(graph, lambda tensor: tensor[k : k + 1]))  # noqa: B023
            torch.testing.assert_close(alone.nodes[0], together.nodes[k], rtol=0, atol=1e-10)
            torch.testing.assert_close(alone.edges[0], together.edges[k], rtol=0, atol=1e-10)


@pytest.mark.parametrize(("layers", "expected"), [(3, 1_696_640), (4, 2_157_696)])
def test_parameter_counts_of_the_paper(layers, expected):
    """1.70 M and 2.16 M on VRPTW, table "Impact of the number of parameters"."""
    network = EGAM(get_problem("vrptw").spec, Shape(encoder_layers=layers))
    assert sum(parameter.numel() for parameter in network.parameters()) == expected


def test_one_encoder_layer_has_461056_parameters():
    layer = encoder(False, layers=1).layers[0]
    assert sum(parameter.numel() for parameter in layer.parameters()) == 461_056


def test_mixed_precision_runs_and_is_near():
    network, graph = encoder(False, torch.float32), features(False, dtype=torch.float32)
    exact = network(graph)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = network(graph)
    rough.edges.float().sum().backward()
    assert (rough.nodes.float() - exact.nodes).abs().mean() < 0.05


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("norm", ["instance", "batch", "layer"])
def test_tiles_equal_textbook(directed, norm, monkeypatch):
    """Sides of 5 cut 13 nodes into tiles of 5, 5 and 3."""
    network, graph = encoder(directed, width=32, heads=4, hidden=64, layers=3, norm=norm), features(directed)
    graph.adjacency = torch.rand(3, 13, 13) < 0.5  # some rows of a tile have no edge at all
    graph.adjacency |= graph.adjacency.transpose(1, 2) | torch.eye(13, dtype=torch.bool)
    network(graph)  # batch norm's running moments are no longer 0 and 1
    network.eval()
    monkeypatch.setattr("egam.nn.encoder.TILED_FROM", 13)
    monkeypatch.setattr("egam.nn.tiles.SIDE", 5)
    textbook = network(graph, textbook=True)
    with torch.no_grad():
        tiled = network(graph)
    assert not tiled.edges.requires_grad
    torch.testing.assert_close(tiled.nodes, textbook.nodes, rtol=0, atol=1e-9)
    torch.testing.assert_close(tiled.edges, textbook.edges, rtol=0, atol=1e-9)


def test_training_never_goes_in_tiles(monkeypatch):
    monkeypatch.setattr("egam.nn.encoder.TILED_FROM", 13)
    network, graph = encoder(False, width=32, heads=4, hidden=64, layers=1), features(False)
    assert network(graph).edges.requires_grad


@pytest.mark.parametrize("share", [0.8, 0.3])
def test_a_step_needs_only_the_edges_to_nodes_that_are_left(share, monkeypatch):
    problem = get_problem("tsp")
    network = EGAM(problem.spec, Shape(width=32, heads=4, hidden=64, encoder_layers=1)).double()
    current, numbers = torch.tensor([[0, 3], [5, 5], [12, 1]]), torch.zeros(3, 2, 0, dtype=torch.float64)
    allowed = torch.rand(3, 2, 13) < share
    allowed[..., 7] = True
    view = View(current, torch.zeros_like(current), numbers, allowed)
    with torch.no_grad():
        prepared = network.prepare(network.encode(features(False)))
        monkeypatch.setattr("egam.nn.decoder.ALMOST_ALL", 1.0)
        few = network.step(prepared, view)
        monkeypatch.setattr("egam.nn.decoder.ALMOST_ALL", 0.0)
        torch.testing.assert_close(few, network.step(prepared, view), rtol=0, atol=1e-12)
        torch.testing.assert_close(few, network.step(prepared, view, textbook=True), rtol=0, atol=1e-9)


def test_open_ends():
    allowed = torch.tensor([[0, 1, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1, 0], [1, 0, 0, 0, 1, 0, 0, 1]]) == 1
    assert open_ends(allowed).tolist() == [[1, 3, 8], [6, 8, 8], [0, 4, 7]]
    assert open_ends(torch.ones(2, 5, dtype=torch.bool)) is None


def test_tables_kept_while_solving_serve_training():
    network, graph = encoder(False, width=32, heads=4, hidden=64, layers=1), features(False, nodes=17)
    with torch.inference_mode():
        network(graph)
    assert torch.autograd.grad(network(graph).edges.sum(), network.input.edge.weight)[0].shape == (32, 1)
