"""Fast attention is textbook attention: same parameters, same output, same gradients."""

import pytest
import torch
from torch import Tensor

from egam.nn import attention, products
from egam.nn.attention import MultiHead
from egam.nn.norm import Norm
from egam.nn.products import mixture, scores
from egam.nn.triangle import fold_pairs, symmetric, triangle_of, unfold

B, N, D, H = 2, 6, 16, 4
CPU = torch.device("cpu")


def random_graph(directed: bool) -> tuple[Tensor, Tensor]:
    nodes = torch.randn(B, N, D, dtype=torch.float64)
    edges = torch.randn(B, N, N, D, dtype=torch.float64)
    return nodes, edges if directed else edges + edges.transpose(1, 2)


def multi_head() -> MultiHead:
    return MultiHead(D, H).double()


def test_softmax_attention_by_hand():
    # One head of width 1 with all maps 1: x = 2 looks at y = (0, 1). Scores 0 and 2, weights 1/(1+e²) and e²/(1+e²).
    mha = MultiHead(1, 1)
    for weight in mha.parameters():
        weight.data.fill_(1.0)
    seen = attention.attend(mha, torch.tensor([[[2.0]]]), torch.tensor([[[0.0], [1.0]]]))
    assert seen.item() == pytest.approx(0.8807970779778823)  # e² / (1 + e²)


def test_two_fast_forms_of_attention():
    mha, (_, edges) = multi_head(), random_graph(directed=True)
    seen, queries = edges.flatten(0, 1), torch.randn(B * N, 4, edges.shape[-1], dtype=edges.dtype)
    allowed = torch.rand(B * N, 4, N) < 0.6
    allowed[..., 0] = True
    bias = torch.zeros(allowed.shape, dtype=edges.dtype).masked_fill(~allowed, -torch.inf)
    textbook = attention.attend(mha, queries, seen, allowed)
    torch.testing.assert_close(attention.folded_attend(mha, queries, seen, bias), textbook, rtol=0, atol=1e-12)
    fast = attention.fast_attend(mha, queries, mha.tables(seen), bias[:, None])
    torch.testing.assert_close(fast, textbook, rtol=0, atol=1e-12)


@pytest.mark.parametrize("masked", [False, True])
def test_node_edge(masked):
    mha, (nodes, edges) = multi_head(), random_graph(directed=True)
    adjacency = torch.rand(B, N, N) < 0.6 if masked else None
    if adjacency is not None:
        adjacency |= torch.eye(N, dtype=torch.bool)
    textbook = attention.node_edge(mha, nodes, edges, adjacency)
    fast = mha.gathered(attention.fast_node_edge(mha.askers(nodes), edges, adjacency))
    torch.testing.assert_close(fast, textbook, rtol=0, atol=1e-12)


def test_edge_node_undirected():
    mha, (nodes, edges) = multi_head(), random_graph(directed=False)
    triangle = triangle_of(N, CPU)
    textbook = attention.edge_node(mha, edges, nodes, nodes) + edges
    half = attention.fast_edge_node(mha.scorers(nodes), mha.payloads(nodes), edges)
    rows, fast = symmetric(half, triangle)
    torch.testing.assert_close(unfold(rows, triangle), fast, rtol=0, atol=0)
    with torch.no_grad():
        torch.testing.assert_close(symmetric(half, triangle), (rows, fast), rtol=0, atol=0)
    torch.testing.assert_close(fast, textbook, rtol=0, atol=1e-12)
    torch.testing.assert_close(textbook, textbook.transpose(1, 2), rtol=0, atol=1e-12)  # edges stay symmetric


def test_edge_node_directed():
    mha, (nodes, edges) = multi_head(), random_graph(directed=True)
    end = torch.randn_like(nodes)
    textbook = attention.edge_node(mha, edges, nodes, end)
    both = (mha.scorers(nodes), mha.scorers(end)), (mha.payloads(nodes), mha.payloads(end))
    torch.testing.assert_close(attention.fast_edge_node_directed(*both, edges), textbook, rtol=0, atol=1e-12)


@pytest.mark.parametrize("copies", [False, True], ids=["as AVX2 likes it", "as AVX-512 likes it"])
def test_hand_written_gradients(copies, monkeypatch):
    """Every autograd.Function of ours against finite differences."""
    monkeypatch.setattr(products, "COPIES_TRANSPOSED", copies)
    triangle = triangle_of(4, CPU)
    packed = torch.randn(2, triangle.rows, 3, dtype=torch.float64, requires_grad=True)
    full = torch.randn(2, 4, 4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: unfold(x, triangle), packed)
    assert torch.autograd.gradcheck(lambda x: fold_pairs(x, triangle), full)
    norm = Norm(3).double()
    norm.weight.data.uniform_(0.5, 2.0)
    parameters = (norm.weight, norm.bias)
    assert torch.autograd.gradcheck(lambda x, *_: norm(x, triangle.share(torch.float64)), (packed, *parameters))
    left = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    right = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(2, 5, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(scores, (left, right))
    assert torch.autograd.gradcheck(scores, (right, left))
    assert torch.autograd.gradcheck(mixture, (weights, right))
    assert torch.autograd.gradcheck(lambda w, y, x: mixture(w, y, x, 0.5), (weights, right, left))


@pytest.mark.parametrize("kind", ["instance", "batch"])
def test_norm_of_the_triangle_is_the_norm_of_all_edges(kind):
    triangle = triangle_of(N, CPU)
    norm = Norm(D, kind).double()
    packed = torch.randn(B, triangle.rows, D, dtype=torch.float64)
    over_all = norm(unfold(packed, triangle).flatten(1, 2))
    torch.testing.assert_close(
        unfold(norm(packed, triangle.share(torch.float64)), triangle).flatten(1, 2), over_all, rtol=0, atol=1e-12
    )


def test_instance_norm_is_pytorchs():
    x = torch.randn(B, 30, D, dtype=torch.float64)
    expected = torch.nn.functional.instance_norm(x.transpose(1, 2)).transpose(1, 2)
    torch.testing.assert_close(Norm(D).double()(x), expected, rtol=0, atol=1e-12)
