"""GATv2 attention: by hand, and the form without N² vectors against the textbook."""

import pytest
import torch

from egam.nn.gatv2 import GATv2Attention


def test_by_hand():
    """One head of two, two nodes h = (1, 0), (0, 2), W_l = W_r = 1, a = (1, -1).

    Pairs h_i + h_j and LeakyReLU's a·(.): 00 (2, 0) -> 2; 01 (1, 2) -> -1; 10 the same -1; 11 (0, 4) -> -4.
    Row 0: σ(3) = 0.9525741 on itself: h' = (0.9525741, 0.0948517). Row 1: σ(-3) = 0.0474259 on itself:
    h' = (0.9525741, 0.0948517), as both rows prefer node 0 by 3.
    With h_1 = (-3, 2): pairs 00 2; 01 (-2, 2) -> -0.4 - 2 = -2.4; 11 (-6, 4) -> -1.2 - 4 = -5.2.
    Row 0 prefers node 0 by 4.4: σ(4.4) = 0.9878716, h' = (0.9878716 - 3 · 0.0121284, 2 · 0.0121284).
    Row 1 prefers it by -2.4 + 5.2 = 2.8: σ(2.8) = 0.9426758, h' = (0.7707033, 0.1146484).
    """
    attention = GATv2Attention(2, 1)
    with torch.no_grad():
        attention.left.copy_(torch.eye(2))
        attention.right.copy_(torch.eye(2))
        attention.a.copy_(torch.tensor([[1.0, -1.0]]))
    nodes = torch.tensor([[[1.0, 0.0], [0.0, 2.0]], [[1.0, 0.0], [-3.0, 2.0]]])
    expected = torch.tensor([[[0.9525741, 0.0948517]] * 2, [[0.9514864, 0.0242568], [0.7707033, 0.1146484]]])
    for textbook in (True, False):
        torch.testing.assert_close(attention(nodes, None, textbook), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("with_adjacency", [False, True])
def test_fast_form_is_the_textbook(with_adjacency):
    attention = GATv2Attention(32, 4).double()
    nodes = torch.randn(3, 9, 32, dtype=torch.float64, requires_grad=True)
    adjacency = (torch.rand(3, 9, 9) < 0.6) | torch.eye(9, dtype=torch.bool) if with_adjacency else None
    inputs = [nodes, *attention.parameters()]
    results = [attention(nodes, adjacency, textbook) for textbook in (True, False)]
    torch.testing.assert_close(*results, rtol=0, atol=1e-12)
    weight = torch.randn_like(results[0])
    gradients = [torch.autograd.grad((weight * result).sum(), inputs) for result in results]
    for slow, fast in zip(*gradients, strict=True):
        assert slow.abs().max() > 1e-3
        torch.testing.assert_close(slow, fast, rtol=1e-9, atol=1e-11)


def test_whom_a_node_prefers_depends_on_the_node():
    """What sets GATv2 apart from GAT, whose ranking of keys is the same for all queries."""
    attention, nodes = GATv2Attention(16, 1), 3 * torch.randn(1, 12, 16)
    left, right = ((nodes @ weight.T)[:, None] for weight in (attention.left, attention.right))
    assert attention.fast(left, right).argmax(-1).unique().numel() > 1
