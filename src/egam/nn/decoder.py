"""The decoder: from embeddings and context to the logits of the next node (paper, appendix "Decoder").

    n_c = W_c [n_current; n_first or numbers] + b_c                  eq. contextembed
    n̂_c = MHA(n_c, nodes; allowed) + n_c                             eq. den2n    K layers
    ñ_c = MHA(n̂_c, edges of the current node; allowed) + n̂_c         eq. den2e
    n_c = FF(ñ_c) + ñ_c
    u_j = α tanh(q_c · k_j / sqrt(D)),  q_c = W_q n_c,  k_j = W_k e_current,j   eq. outpre
The textbook form is `textbook`. The fast form computes the nodes' keys and values once per instance and works on groups
of queries that look at the same row of edges. A rollout step has one query per group: the edges' key and value maps
are folded into it, so that edges are only read, never projected, and only the edges to nodes that are left. The scoring
pass of training has the decisions of all S rollouts at once (see `score`): there each row is projected once for all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from egam.nn.attention import MultiHead, attend, fast_attend, folded_attend
from egam.nn.encoder import Encoded, FeedForward
from egam.nn.linear import linear
from egam.nn.products import scores
from egam.problems.base import Spec

PROJECTED_FROM = 12  # queries at one row of edges from which on projecting the row is less work than folding
ALMOST_ALL = 0.9  # share of nodes up to which a step reads only the edges to nodes that may be chosen


@dataclass
class View:
    """What the decoder is told about S rollouts of B instances, at one step ([B, S]) or at all T ([B, S, T])."""

    current: Int[Tensor, "B *S"]
    first: Int[Tensor, "B *S"]
    context: Float[Tensor, "B *S Fc"]
    allowed: Bool[Tensor, "B *S N"]


@dataclass
class Prepared:
    """Tables of a batch that every step needs; lists have one entry per decoder layer."""

    encoded: Encoded
    from_current: Float[Tensor, "B N D"]  # W_c's share of the current node, with the bias
    from_first: Float[Tensor, "B N D"] | None
    tables: list[tuple[Float[Tensor, "B H N K"], Float[Tensor, "B H N K"]]]  # keys and values of the nodes
    to_logits: Float[Tensor, "D D"]  # W_kᵀ W_q / sqrt(D)


class DecoderLayer(nn.Module):
    def __init__(self, width: int, heads: int, hidden: int):
        super().__init__()
        self.node = MultiHead(width, heads)
        self.edge = MultiHead(width, heads)
        self.ff = FeedForward(width, hidden)


class Decoder(nn.Module):
    layers: Sequence[DecoderLayer]

    def __init__(
        self, spec: Spec, width: int = 128, heads: int = 8, hidden: int = 512, layers: int = 1, clip: float = 10.0
    ):
        super().__init__()
        self.width, self.clip, self.context_first = width, clip, spec.context_first
        self.context = nn.Linear(width * (1 + spec.context_first) + spec.context_features, width)
        self.layers = nn.ModuleList(DecoderLayer(width, heads, hidden) for _ in range(layers))  # type: ignore[assignment]
        self.out_query = nn.Parameter(torch.empty(width, width))
        self.out_key = nn.Parameter(torch.empty(width, width))
        for weight in (self.out_query, self.out_key):
            nn.init.uniform_(weight, -1 / math.sqrt(width), 1 / math.sqrt(width))

    # ---- textbook -----------------------------------------------------------------------------------------------

    def textbook(self, encoded: Encoded, view: View) -> Float[Tensor, "B S N"]:
        """Logits of one step, written like the equations."""
        at = torch.arange(len(view.current), device=view.current.device)[:, None]
        parts = [encoded.nodes[at, view.current]]
        if self.context_first:
            parts.append(encoded.nodes[at, view.first])
        context = self.context(torch.cat([*parts, view.context], dim=-1))  # [B, S, D]
        edges = encoded.edges[at, view.current]  # [B, S, N, D]
        allowed = view.allowed
        if encoded.adjacency is not None:
            allowed = allowed & encoded.adjacency[at, view.current]
        for layer in self.layers:
            context = attend(layer.node, context, encoded.nodes, allowed) + context
            context = attend(layer.edge, context[..., None, :], edges, allowed[..., None, :]).squeeze(-2) + context
            context = layer.ff(context)
        query, keys = context @ self.out_query.T, edges @ self.out_key.T
        compatibility = (keys @ query[..., None]).squeeze(-1) / math.sqrt(self.width)
        return (self.clip * torch.tanh(compatibility)).masked_fill(~allowed, -math.inf)

    # ---- fast ---------------------------------------------------------------------------------------------------

    def prepare(self, encoded: Encoded) -> Prepared:
        weight, width = self.context.weight, self.width
        first = linear(encoded.nodes, weight[:, width : 2 * width]) if self.context_first else None
        return Prepared(
            encoded=encoded,
            from_current=linear(encoded.nodes, weight[:, :width], self.context.bias),
            from_first=first,
            tables=[layer.node.tables(encoded.nodes) for layer in self.layers],
            to_logits=self.out_key.T @ self.out_query / math.sqrt(width),
        )

    def step(self, prepared: Prepared, view: View) -> Float[Tensor, "B S N"]:
        """Logits of one step: every rollout is a group of its own, at its own row of edges."""
        encoded = prepared.encoded
        batch, rollouts = view.current.shape
        nodes = encoded.nodes.shape[1]
        offset = torch.arange(batch, device=view.current.device)[:, None] * nodes
        row = (offset + view.current).flatten()  # [B·S] row of edges
        context = prepared.from_current.flatten(0, 1).index_select(0, row).view(batch, rollouts, 1, -1)
        if prepared.from_first is not None:
            start = (offset + view.first).flatten()
            context = context + prepared.from_first.flatten(0, 1).index_select(0, start).view_as(context)
        context = self._add_numbers(context, view.context[:, :, None])
        allowed = view.allowed
        if encoded.adjacency is not None:
            allowed = allowed & encoded.adjacency.flatten(0, 1).index_select(0, row).view_as(allowed)
        bias = _bias(allowed, context.dtype)
        left = open_ends(allowed.flatten(0, 1))
        if left is None:
            edges = encoded.edges.flatten(0, 1).index_select(0, row)  # [B·S, N, D]
            return self._logits(prepared, context, edges, bias, bias).view_as(bias)
        ends = (row[:, None] * nodes + left.clamp(max=nodes - 1)).flatten()
        edges = encoded.edges.flatten(0, 2).index_select(0, ends).view(*left.shape, -1)  # [B·S, R, D]
        logits = self._logits(prepared, context, edges, bias, _bias(left < nodes, context.dtype))
        everywhere = logits.new_full((len(left), nodes + 1), -math.inf).scatter(1, left, logits.view_as(left))
        return everywhere[:, :nodes].view_as(bias)

    def score(self, prepared: Prepared, view: View, groups: int) -> Float[Tensor, "B GQ N"]:
        """Logits of many decisions at once, ordered so that the decisions of group g all stand at node g.

        `view` has S = G·Q decisions per instance, group-major: with `groups` = N, current is 0 0 .. 1 1 .. N-1, so
        that group g reads row g of the edges and nothing is gathered; with `groups` = 1 all decisions stand at node
        0.
        """
        encoded = prepared.encoded
        batch, decisions = view.current.shape
        split = (batch, groups, decisions // groups)
        context = prepared.from_current[:, :groups, None].expand(*split, -1)
        if prepared.from_first is not None:
            at = view.first[..., None].expand(-1, -1, self.width)
            context = context + prepared.from_first.gather(1, at).view(*split, -1)
        context = self._add_numbers(context, view.context.unflatten(1, split[1:]))
        allowed = view.allowed.unflatten(1, split[1:])
        if encoded.adjacency is not None:
            allowed = allowed & encoded.adjacency[:, :groups, None]
            allowed = allowed | ~allowed.any(-1, keepdim=True)  # a slot without a decision must not become NaN
        edges, bias = encoded.edges[:, :groups].flatten(0, 1), _bias(allowed, context.dtype)  # [B·G, N, D]
        return self._logits(prepared, context, edges, bias, bias).flatten(1, 2)

    def _add_numbers(self, context: Tensor, numbers: Tensor) -> Tensor:
        if numbers.shape[-1] == 0:
            return context
        return context + numbers @ self.context.weight[:, -numbers.shape[-1] :].T

    def _logits(
        self,
        prepared: Prepared,
        context: Float[Tensor, "B G Q D"],
        edges: Float[Tensor, "BG R D"],
        node_bias: Float[Tensor, "..."],  # B·G·Q·N numbers
        edge_bias: Float[Tensor, "..."],  # B·G·Q·R numbers
    ) -> Float[Tensor, "B G Q R"]:
        """Of the R nodes that the given edges lead to: all N, or those that are left."""
        batch, groups, queries, width = context.shape
        ends, decisions = edges.shape[1], groups * queries
        node_bias = node_bias.view(batch, 1, decisions, -1)
        edge_bias = edge_bias.view(batch * groups, queries, ends)
        flat = context.reshape(batch, decisions, width)
        for number, layer in enumerate(self.layers):
            flat = fast_attend(layer.node, flat, prepared.tables[number], node_bias) + flat
            rows = flat.view(batch * groups, queries, width)
            if queries >= PROJECTED_FROM:
                seen = fast_attend(layer.edge, rows, layer.edge.tables(edges), edge_bias[:, None])
            else:
                seen = folded_attend(layer.edge, rows, edges, edge_bias)
            flat = layer.ff.fast(seen.view_as(flat) + flat)
        query = linear(flat, prepared.to_logits).view(batch * groups, queries, width)
        logits = self.clip * torch.tanh(scores(query, edges)) + edge_bias
        return logits.view(batch, groups, queries, ends)


def _bias(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where allowed, else -inf."""
    return torch.zeros_like(allowed, dtype=dtype).masked_fill_(~allowed, -math.inf)


def open_ends(allowed: Bool[Tensor, "M N"]) -> Int[Tensor, "M R"] | None:
    """The nodes that may be chosen, those of each row first, then N for none; None if almost all may."""
    nodes, count = allowed.shape[1], int(allowed.sum(1).max())
    if count > ALMOST_ALL * nodes:
        return None
    place = torch.where(allowed, allowed.cumsum(1) - 1, count)
    which = torch.arange(nodes, device=allowed.device).expand_as(place)
    return place.new_full((len(allowed), count + 1), nodes).scatter(1, place, which)[:, :count].contiguous()
