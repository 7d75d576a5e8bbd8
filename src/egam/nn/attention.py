"""Attention over the nodes and edges of a graph, each operation in two forms with the same parameters.

    node_node   n_i  <- MHA(n_i,  [n_1 .. n_N])                   eq. nna
    node_edge   n_i  <- MHA(n_i,  [e_i1 .. e_iN])                 eq. nea
    edge_node   e_ij <- MHA(e_ij, [n_i, n_j])                     eq. ena1, undirected
                e_ij <- MHA(e_ij, [Ws n_i + bs, We n_j + be])     eq. ena2, directed

The textbook form (`node_edge`, `edge_node`) reads like the equation and projects every edge. The fast form
(`fast_node_edge`, `fast_edge_node`) is the same algebra with every projection moved from the N² edges to the N nodes:
a score q·k = (Wq e)·(Wk n) is e·(Wqᵀ Wk n), and a softmax over two keys is a sigmoid of their difference.
Residuals and norms are in encoder.py. Shapes: B instances · N nodes · D width · H heads · K = D / H per head.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from egam.nn.linear import linear
from egam.nn.products import mixture, scores


class MultiHead(nn.Module):
    """The four maps of one multi-head attention, without biases: Q, K, V [H·K, D] and O [D, H·K]."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query = nn.Parameter(torch.empty(width, width))
        self.key = nn.Parameter(torch.empty(width, width))
        self.value = nn.Parameter(torch.empty(width, width))
        self.output = nn.Parameter(torch.empty(width, width))
        for weight in (self.query, self.key, self.value, self.output):
            nn.init.uniform_(weight, -1 / math.sqrt(width), 1 / math.sqrt(width))

    def split(self, x: Tensor) -> Tensor:
        """[..., D] -> [..., H, K]"""
        return x.unflatten(-1, (self.heads, -1))

    @property
    def scale(self) -> float:
        """1 / sqrt(K)"""
        return 1 / math.sqrt(self.query.shape[0] // self.heads)

    def scorers(self, keyed: Float[Tensor, "*B D"]) -> Float[Tensor, "*B H D"]:
        """A[h] = Wq_hᵀ Wk_h x / sqrt(K), so that the score of a query element y for x is y · A[h]."""
        keys = self.split(linear(keyed, self.key)) * self.scale  # [*B, H, K]
        return _per_head(keys, self.query.unflatten(0, (self.heads, -1)))

    def askers(self, queried: Float[Tensor, "*B D"]) -> Float[Tensor, "*B H D"]:
        """Q[h] = Wk_hᵀ Wq_h x / sqrt(K), so that the score of x for a key element y is y · Q[h]."""
        queries = self.split(linear(queried, self.query)) * self.scale
        return _per_head(queries, self.key.unflatten(0, (self.heads, -1)))

    def payloads(self, valued: Float[Tensor, "*B D"]) -> Float[Tensor, "*B H D"]:
        """P[h] = Wo_h Wv_h x, what x adds to the output per unit of attention."""
        values = self.split(linear(valued, self.value))
        return _per_head(values, self.output.unflatten(1, (self.heads, -1)).permute(1, 2, 0))

    def tables(self, y: Float[Tensor, "*B N D"]) -> tuple[Float[Tensor, "*B H N K"], Float[Tensor, "*B H N K"]]:
        """Keys and values of y, for queries that come later."""
        both = linear(y, torch.cat([self.key, self.value])).unflatten(-1, (2, self.heads, -1))  # [*B, N, 2, H, K]
        return both.select(-3, 0).transpose(-2, -3), both.select(-3, 1).transpose(-2, -3)

    def gathered(self, mixed: Float[Tensor, "*B H D"]) -> Float[Tensor, "*B D"]:
        """Σ_h Wo_h Wv_h mixed[h], for values that were averaged before they were projected."""
        weights = self.value.unflatten(0, (self.heads, -1)).transpose(1, 2)  # [H, D, K]
        return linear(_per_head(mixed, weights).flatten(-2), self.output)


def _per_head(x: Float[Tensor, "*B H I"], weights: Float[Tensor, "H I J"]) -> Float[Tensor, "*B H J"]:
    """x[.., h, :] @ weights[h] for each head."""
    rows = x.flatten(0, -3).transpose(0, 1)  # [H, *B, I]
    return torch.bmm(rows, weights).transpose(0, 1).unflatten(0, x.shape[:-2])


def masked_softmax(score: Tensor, allowed: Tensor | None) -> Tensor:
    """Softmax over the last dimension, with 0 where not allowed."""
    if allowed is not None:
        score = score.masked_fill(~allowed, -math.inf)
    return score.softmax(-1)


# ---- textbook ---------------------------------------------------------------------------------------------------


def attend(
    mha: MultiHead,
    x: Float[Tensor, "*B M D"],
    y: Float[Tensor, "*B N D"],
    allowed: Bool[Tensor, "*B M N"] | None = None,
) -> Float[Tensor, "*B M D"]:
    """MHA(x, y): every x looks at every y of its group."""
    q, k, v = (mha.split(z @ w.T).transpose(-2, -3) for z, w in ((x, mha.query), (y, mha.key), (y, mha.value)))
    weights = masked_softmax(q @ k.transpose(-1, -2) * mha.scale, None if allowed is None else allowed.unsqueeze(-3))
    return (weights @ v).transpose(-2, -3).flatten(-2) @ mha.output.T


def node_node(mha: MultiHead, nodes: Float[Tensor, "B N D"]) -> Float[Tensor, "B N D"]:
    """eq. nna. It costs nothing beside the edges, so that one form serves both."""
    return attend(mha, nodes, nodes)


def node_edge(
    mha: MultiHead,
    nodes: Float[Tensor, "B N D"],
    edges: Float[Tensor, "B N N D"],
    adjacency: Bool[Tensor, "B N N"] | None = None,
) -> Float[Tensor, "B N D"]:
    """eq. nea: a node looks at its own row of edges."""
    allowed = None if adjacency is None else adjacency[:, :, None, :]
    return attend(mha, nodes[:, :, None, :], edges, allowed).squeeze(2)


def edge_node(
    mha: MultiHead,
    edges: Float[Tensor, "B N N D"],
    start: Float[Tensor, "B N D"],
    end: Float[Tensor, "B N D"],
) -> Float[Tensor, "B N N D"]:
    """eq. ena1 with start = end = nodes, eq. ena2 with two maps of them: an edge looks at its two ends."""
    shape = edges.shape
    ends = torch.stack([start[:, :, None].expand(shape), end[:, None, :].expand(shape)], dim=-2)  # [B, N, N, 2, D]
    return attend(mha, edges[..., None, :], ends).squeeze(-2)


# ---- fast -------------------------------------------------------------------------------------------------------


def fast_attend(
    mha: MultiHead,
    x: Float[Tensor, "B M D"],
    tables: tuple[Float[Tensor, "B H N K"], Float[Tensor, "B H N K"]],
    bias: Float[Tensor, "B 1 M N"] | None = None,
) -> Float[Tensor, "B M D"]:
    """`attend` with keys and values computed beforehand (`MultiHead.tables`) by PyTorch's own fused kernel; `bias` is 0
    where allowed, else -inf."""
    query, (keys, values) = mha.split(linear(x, mha.query)).transpose(1, 2), tables
    mask = None if bias is None else bias.to(query.dtype)
    mixed = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
    return linear(mixed.transpose(1, 2).flatten(2), mha.output)


def folded_attend(
    mha: MultiHead,
    x: Float[Tensor, "B M D"],
    y: Float[Tensor, "B N D"],
    bias: Float[Tensor, "B M N"],
) -> Float[Tensor, "B M D"]:
    """`attend` for a few x: their queries take up the key map, the plain y are averaged, and the values come last."""
    asks = mha.askers(x).flatten(1, 2)  # [B, M·H, D]
    score = scores(asks, y).reshape(len(x), x.shape[1], mha.heads, -1) + bias[:, :, None]
    mixed = mixture(score.softmax(-1).flatten(1, 2), y)  # [B, M·H, D]
    return mha.gathered(mixed.view(*x.shape[:2], mha.heads, -1))


def fast_node_node(mha: MultiHead, nodes: Float[Tensor, "B N D"]) -> Float[Tensor, "B N D"]:
    """The same products, by the fused kernel and by `linear`."""
    return fast_attend(mha, nodes, mha.tables(nodes))


def fast_node_edge(
    askers: Float[Tensor, "B N H D"],
    edges: Float[Tensor, "B N N D"],
    adjacency: Bool[Tensor, "B N N"] | None = None,
) -> Float[Tensor, "B N H D"]:
    """Key folded into the query (`MultiHead.askers`); the raw edges are averaged, and projected after that, once
    per node, by `MultiHead.gathered`."""
    weights = masked_softmax(scores(askers, edges), None if adjacency is None else adjacency[:, :, None, :])
    return mixture(weights, edges)  # [B, N, H, D]


def fast_edge_node(
    scorers: Float[Tensor, "B N H D"],
    payloads: Float[Tensor, "B N H D"],
    edges: Float[Tensor, "B N N D"],
) -> Float[Tensor, "B N N D"]:
    """Undirected, e_ij = e_ji: one half Y of the result with its residual, MHA(e_ij, [n_i, n_j]) + e_ij = Y_ij + Y_ji.

    With S_ij[h] = e_ij · A_i[h] (`MultiHead.scorers`) the weight of end i is a_ij = sigmoid(S_ij - S_ji), that of end
    j is a_ji = 1 - a_ij, and the update is T_ij + T_ji with T_ij = Σ_h a_ij[h] P_i[h] (`MultiHead.payloads`). So Y =
    T + e/2.
    """
    score = scores(edges, scorers)  # [B, N, N, H]
    weights = torch.sigmoid(score - score.transpose(1, 2))
    return mixture(weights, payloads, onto=edges, share=0.5)


def fast_edge_node_directed(
    scorers: tuple[Float[Tensor, "B N H D"], Float[Tensor, "B N H D"]],
    payloads: tuple[Float[Tensor, "B N H D"], Float[Tensor, "B N H D"]],
    edges: Float[Tensor, "B N N D"],
) -> Float[Tensor, "B N N D"]:
    """Two scorers and two payloads, of start and end; the end's are applied to columns."""
    from_start = scores(edges, scorers[0])  # [B, N, N, H] indexed i, j
    from_end = scores(edges.transpose(1, 2).contiguous(), scorers[1])  # indexed j, i
    weights = torch.sigmoid(from_start - from_end.transpose(1, 2))
    at_end = mixture((1 - weights).transpose(1, 2), payloads[1])  # indexed j, i
    return mixture(weights, payloads[0]) + at_end.transpose(1, 2)
