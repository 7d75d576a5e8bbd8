"""The encoder for one large instance without gradients: the same numbers as encoder.py in little memory.

One table of N x N edges is all that is kept. It is worked on in place, in square tiles that stay in the processor's
cache, and for undirected edges only on and above the diagonal; the other half is filled in at the end. A layer goes
over the tiles twice, because a norm needs the statistics of all edges first:
    attention   edge-node for the tile; its part of node-edge by a running softmax; sums for the first norm
    feed        norm, feed-forward, sums for the second norm, which is applied when the tile is read next
Not for training: nothing here is differentiable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from egam.nn import attention
from egam.nn.attention import MultiHead
from egam.nn.norm import EPSILON, Norm

if TYPE_CHECKING:
    from egam.nn.encoder import Encoder, EncoderLayer, FeedForward
    from egam.problems.base import Features

SIDE = 64  # nodes along a tile: its edges and their hidden block fit a second-level cache
FORBIDDEN = -1e30  # a score that no softmax sees, and that is finite: a tile may have no other


@dataclass
class Ends:
    """What edges need of their end nodes in one layer; [N, H, D] each."""

    scorers: Tensor
    payloads: Tensor
    end_scorers: Tensor
    end_payloads: Tensor
    askers: Tensor


@dataclass
class Sums:
    """First and second moments of the rows seen so far, about a fixed point near their mean."""

    about: Tensor | None = None  # [D]
    count: float = 0.0
    first: Tensor = field(default_factory=lambda: torch.zeros((), dtype=torch.float64))
    second: Tensor = field(default_factory=lambda: torch.zeros((), dtype=torch.float64))

    def add(self, rows: Float[Tensor, "M D"], times: int) -> None:
        if self.about is None:
            self.about = rows.mean(0)
        ones = rows.new_ones(1, len(rows))
        centred = rows - self.about
        self.count += times * len(rows)
        self.first = self.first.to(rows.device) + times * (ones @ centred).double()[0]
        self.second = self.second.to(rows.device) + times * (ones @ centred.square_()).double()[0]

    def moments(self) -> tuple[Tensor, Tensor]:
        """Mean and variance, [D] each."""
        assert self.about is not None
        shift = self.first / self.count
        return (self.about + shift).to(self.about.dtype), (self.second / self.count - shift**2).to(self.about.dtype)


@dataclass
class Mixing:
    """Softmax averages of edges, one per node and head, over the edges seen so far."""

    largest: Tensor  # [N, H] score
    weight: Tensor  # [N, H] sum of exp(score - largest)
    mixed: Tensor  # [N, H, D] sum of exp(score - largest) edge

    @classmethod
    def empty(cls, like: Float[Tensor, "N H D"]) -> Mixing:
        nothing = torch.zeros_like(like)
        return cls(torch.full_like(like[..., 0], FORBIDDEN), nothing[..., 0].clone(), nothing)

    def add(self, nodes: slice, score: Float[Tensor, "R C H"], edges: Float[Tensor, "R C D"]) -> None:
        largest = torch.maximum(self.largest[nodes], score.amax(1))  # [R, H]
        fade = (self.largest[nodes] - largest).exp_()
        weights = (score - largest[:, None]).exp_().transpose(1, 2)  # [R, H, C]
        self.largest[nodes] = largest
        self.weight[nodes] = self.weight[nodes] * fade + weights.sum(2)
        self.mixed[nodes] = torch.baddbmm(self.mixed[nodes].mul_(fade[..., None]), weights, edges)

    def average(self) -> Float[Tensor, "N H D"]:
        return self.mixed / self.weight[..., None]


def encode_large(encoder: Encoder, features: Features) -> tuple[Float[Tensor, "B N D"], Float[Tensor, "B N N D"]]:
    """Nodes and edges of each instance in turn, as `Encoder.forward` gives them."""
    nodes = encoder.input.nodes(features)
    batch, count, width = nodes.shape
    table = nodes.new_empty(batch, count, count, width)
    for k in range(batch):
        adjacency = None if features.adjacency is None else features.adjacency[k]
        nodes[k] = _encode_one(encoder, nodes[k : k + 1], features.edges[k], adjacency, table[k])
    return nodes, table


def _encode_one(
    encoder: Encoder, nodes: Tensor, features: Tensor, adjacency: Tensor | None, table: Tensor
) -> Float[Tensor, "N D"]:
    """Fills `table` [N, N, D]; nodes [1, N, D] and features [N, N, Fe] -> the nodes' embeddings."""
    directed = encoder.directed
    for rows, columns in tiles(len(table), directed):
        table[rows, columns] = encoder.input.edge(features[rows, columns])
    pending = None  # scale and shift of the norm that the table still wants
    for layer in encoder.layers:
        nodes = attention.node_node(layer.node_node, nodes) + nodes
        ends = _ends(layer, nodes)
        mixing, moments = _attention(ends, table, pending, adjacency, directed)
        nodes = layer.node_edge.gathered(mixing.average()[None]) + nodes
        nodes = layer.node_norm_out(layer.node_ff(layer.node_norm_in(nodes)))
        pending = _feed(layer.edge_ff, layer.edge_norm_in, layer.edge_norm_out, moments, table, directed)
    for rows, columns in tiles(len(table), directed):
        table[rows, columns] = edges = _scaled(table[rows, columns], pending)
        if not directed and rows != columns:  # a tile on the diagonal holds both halves already
            table[columns, rows] = edges.transpose(0, 1)
    return nodes[0]


def tiles(nodes: int, directed: bool) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of each tile; if undirected, only of those on and above the diagonal."""
    for i in range(0, nodes, SIDE):
        for j in range(0 if directed else i, nodes, SIDE):
            yield slice(i, min(i + SIDE, nodes)), slice(j, min(j + SIDE, nodes))


def _ends(layer: EncoderLayer, nodes: Float[Tensor, "1 N D"]) -> Ends:
    mha: MultiHead = layer.edge_node
    start = nodes if layer.start is None else layer.start(nodes)
    end = nodes if layer.end is None else layer.end(nodes)
    scorers, payloads = mha.scorers(start)[0], mha.payloads(start)[0]
    same = layer.end is None
    return Ends(
        scorers=scorers,
        payloads=payloads,
        end_scorers=scorers if same else mha.scorers(end)[0],
        end_payloads=payloads if same else mha.payloads(end)[0],
        askers=layer.node_edge.askers(nodes)[0],
    )


def _attention(
    ends: Ends, table: Tensor, pending: tuple[Tensor, Tensor] | None, adjacency: Tensor | None, directed: bool
) -> tuple[Mixing, Sums]:
    """Edge-node attention in place; node-edge attention's averages; sums of the new edges."""
    mixing, sums = Mixing.empty(ends.askers), Sums()
    for rows, columns in tiles(len(table), directed):
        edges = _scaled(table[rows, columns], pending)  # [R, C, D]
        turned = edges.transpose(0, 1)  # [C, R, D], a view
        from_start = _scores(edges, ends.scorers[rows])  # [R, C, H]
        from_end = _scores(turned, ends.end_scorers[columns])  # [C, R, H]
        weights = torch.sigmoid(from_start - from_end.transpose(0, 1))
        at_end = torch.bmm((1 - weights).transpose(0, 1).contiguous(), ends.end_payloads[columns])  # [C, R, D]
        edges = torch.baddbmm(edges, weights, ends.payloads[rows]).add_(at_end.transpose(0, 1))
        turned = edges.transpose(0, 1)
        mixing.add(rows, _masked(_scores(edges, ends.askers[rows]), adjacency, rows, columns), edges)
        mirrored = not directed and rows != columns
        if mirrored:
            mixing.add(columns, _masked(_scores(turned, ends.askers[columns]), adjacency, columns, rows), turned)
        sums.add(edges.flatten(0, 1), 2 if mirrored else 1)
        table[rows, columns] = edges
    return mixing, sums


def _feed(
    ff: FeedForward, norm_in: Norm, norm_out: Norm, moments: Sums, table: Tensor, directed: bool
) -> tuple[Tensor, Tensor] | None:
    """Norm and feed-forward in place; returns the scale and shift that the second norm asks for."""
    scaling, sums = _scaling(norm_in, moments), Sums()
    for rows, columns in tiles(len(table), directed):
        tile = table[rows, columns]
        edges = _scaled(tile, scaling).reshape(1, -1, tile.shape[-1])
        if scaling is None:
            edges = norm_in(edges)
        edges = ff.fast(edges, with_bias=not norm_out.ignores_constants)
        if norm_out.kind == "layer":
            edges = norm_out(edges)
        sums.add(edges[0], 2 if not directed and rows != columns else 1)
        table[rows, columns] = edges.view(tile.shape)
    return _scaling(norm_out, sums)


def _scaling(norm: Norm, sums: Sums) -> tuple[Tensor, Tensor] | None:
    """Scale and shift [D] that are this norm for the rows summed up; None for layer norm, which is by row."""
    if norm.kind == "layer":
        return None
    mean, variance = sums.moments() if norm.kind == "instance" else (norm.running_mean, norm.running_var)
    scale = (variance + EPSILON).rsqrt() * norm.weight
    return scale, norm.bias - mean * scale


def _scaled(tile: Tensor, scaling: tuple[Tensor, Tensor] | None) -> Tensor:
    """A contiguous copy of a tile, scaled and shifted."""
    return tile.contiguous() if scaling is None else torch.addcmul(scaling[1], tile, scaling[0])


def _scores(edges: Float[Tensor, "R C D"], tables: Float[Tensor, "R H D"]) -> Float[Tensor, "R C H"]:
    return torch.bmm(edges, tables.transpose(1, 2).contiguous())


def _masked(score: Tensor, adjacency: Tensor | None, rows: slice, columns: slice) -> Tensor:
    return score if adjacency is None else score.masked_fill(~adjacency[rows, columns, None], FORBIDDEN)
