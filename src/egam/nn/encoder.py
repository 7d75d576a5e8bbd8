"""The encoder: input embeddings and L layers of attention, feed-forward and norm (paper, appendix "Encoder").

One layer, in the paper's order:
    n̂  = MHA(n, nodes) + n                     node-node
    ẽ  = MHA(e, [n̂_i, n̂_j]) + e                edge-node
    ñ  = MHA(n̂, [ẽ_i1 .. ẽ_iN]) + n̂            node-edge
    e' = Norm(FF(Norm(ẽ)) + Norm(ẽ)),  n' = Norm(FF(Norm(ñ)) + Norm(ñ))
`textbook=True` runs exactly these lines on all N² edges. Otherwise undirected edges live on the triangle i <= j,
attention takes its fast form, and the batch goes through in chunks that stay in the processor's cache; large instances
go through in tiles (tiles.py) where no gradients are wanted. Same parameters, same output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from egam.nn import attention
from egam.nn.attention import MultiHead
from egam.nn.linear import linear
from egam.nn.norm import Norm
from egam.nn.tiles import encode_large
from egam.nn.triangle import Triangle, symmetric, triangle_of, unfold
from egam.problems.base import Features, Spec, map_tensors

CHUNK_ROWS = 2560  # edges that go through a layer together on a CPU: with its 512-wide hidden block they fit a cache
TILED_FROM = 128  # nodes from which on an instance goes through in tiles where no gradients are wanted


@dataclass
class Encoded:
    """Embeddings of a batch."""

    nodes: Float[Tensor, "B N D"]
    edges: Float[Tensor, "B N N D"]
    adjacency: Bool[Tensor, "B N N"] | None = None


class FeedForward(nn.Module):
    """eq. ffbar: W2 ReLU(W1 x + b1) + b2 + x."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.inner = nn.Linear(width, hidden)
        self.outer = nn.Linear(hidden, width)

    def forward(self, x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        return self.outer(torch.relu(self.inner(x))) + x

    def fast(self, x: Float[Tensor, "B M D"], with_bias: bool = True) -> Float[Tensor, "B M D"]:
        """The same with the residual added by the product itself, and without b2 where a norm takes it away again."""
        hidden = linear(x, self.inner.weight, self.inner.bias, relu=True)
        return linear(hidden, self.outer.weight, self.outer.bias if with_bias else None, onto=x)


class InputEmbedding(nn.Module):
    """n⁰ and e⁰: linear maps of the input features; the depot has its own where the problem has one."""

    def __init__(self, spec: Spec, width: int):
        super().__init__()
        self.node = nn.Linear(spec.node_features, width)
        self.depot = nn.Linear(spec.depot_features, width) if spec.depot_features else None
        self.edge = nn.Linear(spec.edge_features, width)

    def nodes(self, features: Features) -> Float[Tensor, "B N D"]:
        nodes = self.node(features.nodes)
        if self.depot is None:
            return nodes
        return torch.cat([self.depot(features.depot)[:, None], nodes[:, 1:]], dim=1)


class EncoderLayer(nn.Module):
    def __init__(self, width: int, heads: int, hidden: int, norm: str, directed: bool):
        super().__init__()
        self.node_node = MultiHead(width, heads)
        self.edge_node = MultiHead(width, heads)
        self.node_edge = MultiHead(width, heads)
        self.start = nn.Linear(width, width) if directed else None  # eq. ena2
        self.end = nn.Linear(width, width) if directed else None
        self.edge_norm_in, self.edge_norm_out = Norm(width, norm), Norm(width, norm)
        self.node_norm_in, self.node_norm_out = Norm(width, norm), Norm(width, norm)
        self.edge_ff, self.node_ff = FeedForward(width, hidden), FeedForward(width, hidden)

    def textbook(self, nodes: Tensor, edges: Tensor, adjacency: Tensor | None) -> tuple[Tensor, Tensor]:
        """nodes [B, N, D], edges [B, N, N, D] -> the same after this layer."""
        nodes = attention.node_node(self.node_node, nodes) + nodes
        start, end = self._ends(nodes)
        edges = attention.edge_node(self.edge_node, edges, start, end) + edges
        nodes = attention.node_edge(self.node_edge, nodes, edges, adjacency) + nodes
        rows = edges.flatten(1, 2)
        rows = self.edge_norm_out(self.edge_ff(self.edge_norm_in(rows)))
        nodes = self.node_norm_out(self.node_ff(self.node_norm_in(nodes)))
        return nodes, rows.view_as(edges)

    def fast(
        self, nodes: Tensor, rows: Tensor, adjacency: Tensor | None, triangle: Triangle | None
    ) -> tuple[Tensor, Tensor]:
        """nodes [B, N, D], edges [B, M, D] as rows of the triangle, or of the full table if directed -> the same.

        What belongs to nodes is done for the whole batch, what belongs to edges chunk by chunk.
        """
        nodes = attention.fast_node_node(self.node_node, nodes) + nodes
        start, end = self._ends(nodes)
        table = EndTables(
            scorers=self.edge_node.scorers(start),
            payloads=self.edge_node.payloads(start),
            askers=self.node_edge.askers(nodes),
            end_scorers=None if triangle else self.edge_node.scorers(end),
            end_payloads=None if triangle else self.edge_node.payloads(end),
            adjacency=adjacency,
        )
        if torch.is_grad_enabled() or nodes.device.type != "cpu":
            rows, mixed = self._edges(table, rows, triangle)
        else:  # in place: `rows` is ours
            mixed = torch.empty_like(table.askers)
            size = chunk_size(rows.shape[1])
            for at in range(0, len(rows), size):
                part = slice(at, at + size)
                rows[part], mixed[part] = self._edges(map_tensors(table, lambda t: t[part]), rows[part], triangle)  # noqa: B023
        nodes = self.node_edge.gathered(mixed) + nodes
        return self.node_norm_out(self.node_ff.fast(self.node_norm_in(nodes))), rows

    def _edges(self, table: EndTables, rows: Tensor, triangle: Triangle | None) -> tuple[Tensor, Tensor]:
        """Edge-node attention, the edges' half of node-edge attention, and the edges' feed-forward."""
        if triangle is None:
            full = rows.unflatten(1, (table.askers.shape[1], -1))
            scorers, payloads = (table.scorers, table.end_scorers), (table.payloads, table.end_payloads)
            full = attention.fast_edge_node_directed(scorers, payloads, full) + full  # type: ignore[arg-type]
            rows = full.flatten(1, 2)
        else:
            half = attention.fast_edge_node(table.scorers, table.payloads, unfold(rows, triangle))
            rows, full = symmetric(half, triangle)
        mixed = attention.fast_node_edge(table.askers, full, table.adjacency)
        share = None if triangle is None else triangle.share(rows.dtype)
        needed = torch.is_grad_enabled() or not self.edge_norm_out.ignores_constants
        rows = self.edge_ff.fast(self.edge_norm_in(rows, share), with_bias=needed)
        return self.edge_norm_out(rows, share), mixed

    def _ends(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        if self.start is None or self.end is None:
            return nodes, nodes
        return self.start(nodes), self.end(nodes)


@dataclass
class EndTables:
    """What edges need of their end nodes in one layer; [B, N, H, D] each."""

    scorers: Tensor
    payloads: Tensor
    askers: Tensor
    end_scorers: Tensor | None
    end_payloads: Tensor | None
    adjacency: Tensor | None  # [B, N, N]


class Encoder(nn.Module):
    layers: Sequence[EncoderLayer]

    def __init__(
        self, spec: Spec, width: int = 128, heads: int = 8, hidden: int = 512, layers: int = 4, norm: str = "instance"
    ):
        super().__init__()
        self.directed, self.norm = spec.directed, norm
        self.input = InputEmbedding(spec, width)
        self.layers = nn.ModuleList(EncoderLayer(width, heads, hidden, norm, spec.directed) for _ in range(layers))  # type: ignore[assignment]

    def forward(self, features: Features, textbook: bool = False) -> Encoded:
        nodes = self.input.nodes(features)
        if textbook:
            edges = self.input.edge(features.edges)
            for layer in self.layers:
                nodes, edges = layer.textbook(nodes, edges, features.adjacency)
            return Encoded(nodes, edges, features.adjacency)
        if self._goes_in_tiles(nodes):
            nodes, edges = encode_large(self, features)
            return Encoded(nodes, edges, features.adjacency)
        triangle = None if self.directed else triangle_of(nodes.shape[1], nodes.device)
        pairs = features.edges.flatten(1, 2)
        rows = self.input.edge(pairs if triangle is None else pairs[:, triangle.upper])
        for layer in self.layers:
            nodes, rows = layer.fast(nodes, rows, features.adjacency, triangle)
        edges = rows.unflatten(1, (nodes.shape[1], -1)) if triangle is None else unfold(rows, triangle)
        return Encoded(nodes, edges, features.adjacency)

    def _goes_in_tiles(self, nodes: Tensor) -> bool:
        exact = not torch.is_grad_enabled() and not torch.is_autocast_enabled(nodes.device.type)
        return exact and nodes.shape[1] >= TILED_FROM and not (self.training and self.norm == "batch")


def chunk_size(rows: int) -> int:
    """Instances whose edges make about CHUNK_ROWS rows."""
    return max(1, round(CHUNK_ROWS / rows))
