"""The decoder: from embeddings and context to the logits of the next node (paper, appendix "Decoder").

    n_c = W_c [n_current; n_first or numbers] + b_c                  eq. contextembed
    n̂_c = MHA(n_c, nodes; allowed) + n_c                             eq. den2n    K layers
    ñ_c = MHA(n̂_c, edges of the current node; allowed) + n̂_c         eq. den2e
    n_c = FF(ñ_c) + ñ_c
    u_j = α tanh(q_c · k_j / sqrt(D)),  q_c = W_q n_c,  k_j = W_k e_current,j   eq. outpre
The textbook form is `textbook`. The fast form computes the nodes' keys and values once per instance and works on groups
of queries that look at the same row of edges. A rollout step has one query per group: the edges' key and value maps
are folded into it, so that edges are only read, never projected. The scoring pass of training has the decisions of all
S rollouts at once (see `score`): there each row is projected once for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from egam.nn.attention import MultiHead, attend, fast_attend
from egam.nn.encoder import Encoded, FeedForward
from egam.nn.products import COPIES_TRANSPOSED, mixture, scores
from egam.problems.base import Spec

Look = Callable[[Tensor], Tensor]  # [B·G, R, D] -> [B·G, R, N]: products with each group's edges
PROJECTED_FROM = 12  # queries at one row of edges from which on projecting the row is less work than folding
TURNED_BELOW = 128  # nodes; a second table of edges is as large as the first, and saves nothing from here on


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
    to_logits: Float[Tensor, "D D"]  # W_qᵀ W_k / sqrt(D)

    @cached_property
    def turned(self) -> Float[Tensor, "B N D N"]:
        """Each node's edges as columns: the right operand of a step's products (see products.py)."""
        return self.encoded.edges.transpose(2, 3).contiguous()


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
        first = encoded.nodes @ weight[:, width : 2 * width].T if self.context_first else None
        return Prepared(
            encoded=encoded,
            from_current=encoded.nodes @ weight[:, :width].T + self.context.bias,
            from_first=first,
            tables=[layer.node.tables(encoded.nodes) for layer in self.layers],
            to_logits=self.out_query.T @ self.out_key / math.sqrt(width),
        )

    def step(self, prepared: Prepared, view: View) -> Float[Tensor, "B S N"]:
        """Logits of one step: every rollout is a group of its own, at its own row of edges."""
        encoded = prepared.encoded
        batch, rollouts = view.current.shape
        nodes = encoded.nodes.shape[1]
        offset = torch.arange(batch, device=view.current.device)[:, None] * nodes
        row = (offset + view.current).flatten()  # [B·S] row of edges
        edges = encoded.edges.flatten(0, 1).index_select(0, row)  # [B·S, N, D]
        context = prepared.from_current.flatten(0, 1).index_select(0, row).view(batch, rollouts, 1, -1)
        if prepared.from_first is not None:
            start = (offset + view.first).flatten()
            context = context + prepared.from_first.flatten(0, 1).index_select(0, start).view_as(context)
        allowed = view.allowed
        if encoded.adjacency is not None:
            allowed = allowed & encoded.adjacency.flatten(0, 1).index_select(0, row).view_as(allowed)
        context = self._add_numbers(context, view.context[:, :, None])
        turns = COPIES_TRANSPOSED and nodes < TURNED_BELOW
        look = _looking_turned(prepared.turned, row) if turns else _looking(edges)
        return self._logits(prepared, context, edges, look, allowed[:, :, None]).squeeze(2)

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
        edges = encoded.edges[:, :groups].flatten(0, 1)  # [B·G, N, D]
        return self._logits(prepared, context, edges, _looking(edges), allowed).flatten(1, 2)

    def _add_numbers(self, context: Tensor, numbers: Tensor) -> Tensor:
        if numbers.shape[-1] == 0:
            return context
        return context + numbers @ self.context.weight[:, -numbers.shape[-1] :].T

    def _logits(
        self,
        prepared: Prepared,
        context: Float[Tensor, "B G Q D"],
        edges: Float[Tensor, "BG N D"],
        look: Look,
        allowed: Bool[Tensor, "B G Q N"],
    ) -> Float[Tensor, "B G Q N"]:
        batch, groups, queries, width = context.shape
        nodes, decisions = edges.shape[1], groups * queries
        bias = torch.zeros_like(allowed, dtype=edges.dtype).masked_fill_(~allowed, -math.inf)
        per_group = (batch * groups, queries, -1, nodes)
        flat = context.reshape(batch, decisions, width)
        for number, layer in enumerate(self.layers):
            flat = fast_attend(layer.node, flat, prepared.tables[number], bias.view(batch, 1, decisions, nodes)) + flat
            if queries >= PROJECTED_FROM:
                rows = flat.view(batch * groups, queries, width)
                seen = fast_attend(layer.edge, rows, layer.edge.tables(edges), bias.view(-1, 1, queries, nodes))
                flat = seen.view_as(flat) + flat
            else:
                asks = layer.edge.askers(flat).view(batch * groups, -1, width)  # [B·G, Q·H, D]
                score = look(asks).reshape(per_group) + bias.view(batch * groups, queries, 1, nodes)
                mixed = mixture(score.softmax(-1).flatten(1, 2), edges)  # [B·G, Q·H, D]
                flat = layer.edge.gathered(mixed.view(batch, decisions, -1, width)) + flat
            flat = layer.ff.fast(flat)
        query = (flat @ prepared.to_logits).view(batch * groups, queries, width)
        return (self.clip * torch.tanh(look(query))).reshape(batch, groups, queries, nodes) + bias


def _looking(edges: Float[Tensor, "BG N D"]) -> Look:
    return lambda x: scores(x, edges)


def _looking_turned(turned: Float[Tensor, "B N D N"], row: Int[Tensor, " BG"]) -> Look:
    """The same from edges that were transposed beforehand."""
    columns = turned.flatten(0, 1).index_select(0, row)  # [B·G, D, N]
    return lambda x: torch.bmm(x, columns)
