"""GAM, Kool's attention model: a network that sees nodes only. GATv2 and POMO's network are the same with other parts.

    h⁰  = W x + b, the depot with its own W                                      inputs
    ĥ   = Norm(Att(h) + h),  h' = Norm(FF(ĥ))                                    L layers, FF with its residual
    q   = W_g mean(h) + W_c [h_current; h_first or numbers]                      query; POMO: without the mean
    g   = W_o [ softmax(q_k · W_K h / sqrt(K)) W_V h  for each of H heads ]      glimpse, masked
    u_j = α tanh(g · W_U h_j / sqrt(D))                                          logits, masked; POMO: W_U = 1
`textbook` runs these lines. The fast form makes tables of everything that belongs to an instance once (`prepare`), W_o
folded into the logits' keys, and a step looks rows up in them. Decisions of finished rollouts need no order here, as
there are no edges to share: `score` is `step` with more queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from egam.errors import BadInput
from egam.nn.attention import MultiHead, attend, masked_softmax
from egam.nn.decoder import View
from egam.nn.egam import Shape
from egam.nn.encoder import FeedForward
from egam.nn.norm import Norm
from egam.nn.products import mixture, scores
from egam.nn.temperature import Temperature
from egam.problems.base import Features, Spec

KOOL = Shape(encoder_layers=3, norm="batch")


@dataclass
class Encoded:
    """Embeddings of a batch."""

    nodes: Float[Tensor, "B N D"]
    adjacency: Bool[Tensor, "B N N"] | None = None


@dataclass
class Prepared:
    """Tables of a batch that every step needs."""

    encoded: Encoded
    from_current: Float[Tensor, "B N D"]  # the query's share of the current node, and of the graph
    from_first: Float[Tensor, "B N D"] | None
    keys: Float[Tensor, "B H N K"]
    values: Float[Tensor, "B H N K"]
    pointers: Float[Tensor, "B N D"]  # W_oᵀ W_U h_j / sqrt(D)
    offset: Float[Tensor, "B 1 N"] | None  # b_o · W_U h_j / sqrt(D)


# ---- encoder ----------------------------------------------------------------------------------------------------


class DotAttention(nn.Module):
    """MHA(h, h) of Kool, without biases; POMO's has one at the output."""

    def __init__(self, width: int, heads: int, output_bias: bool = False):
        super().__init__()
        self.maps = MultiHead(width, heads)
        self.bias = nn.Parameter(torch.zeros(width)) if output_bias else None

    def forward(
        self, nodes: Float[Tensor, "B N D"], adjacency: Bool[Tensor, "B N N"] | None, textbook: bool = False
    ) -> Float[Tensor, "B N D"]:
        looked = attend(self.maps, nodes, nodes, adjacency)
        return looked if self.bias is None else looked + self.bias


class NodeLayer(nn.Module):
    def __init__(self, attention: nn.Module, width: int, hidden: int, norm: str):
        super().__init__()
        self.attention = attention
        self.norm_in, self.norm_out = Norm(width, norm), Norm(width, norm)
        self.ff = FeedForward(width, hidden)

    def forward(self, nodes: Tensor, adjacency: Tensor | None, textbook: bool) -> Tensor:
        nodes = self.norm_in(self.attention(nodes, adjacency, textbook) + nodes)
        return self.norm_out(self.ff(nodes))


class NodeEncoder(nn.Module):
    layers: Sequence[NodeLayer]

    def __init__(self, spec: Spec, shape: Shape, attention: Callable[[int, int], nn.Module]):
        super().__init__()
        self.node = nn.Linear(spec.node_features, shape.width)
        self.depot = nn.Linear(spec.depot_features, shape.width) if spec.depot_features else None
        self.layers = nn.ModuleList(  # type: ignore[assignment]
            NodeLayer(attention(shape.width, shape.heads), shape.width, shape.hidden, shape.norm)
            for _ in range(shape.encoder_layers)
        )

    def forward(self, features: Features, textbook: bool = False) -> Encoded:
        nodes = self.node(features.nodes)
        if self.depot is not None:
            nodes = torch.cat([self.depot(features.depot)[:, None], nodes[:, 1:]], dim=1)
        seen = None
        if features.adjacency is not None:  # a node always sees itself
            seen = features.adjacency | torch.eye(nodes.shape[1], dtype=torch.bool, device=nodes.device)
        for layer in self.layers:
            nodes = layer(nodes, seen, textbook)
        return Encoded(nodes, features.adjacency)


# ---- decoder ----------------------------------------------------------------------------------------------------


class NodeDecoder(nn.Module):
    def __init__(self, spec: Spec, shape: Shape, graph_context: bool, own_keys: bool, output_bias: bool):
        super().__init__()
        width = shape.width
        self.heads, self.width, self.clip, self.context_first = shape.heads, width, shape.clip, spec.context_first
        self.context = nn.Linear(width * (1 + spec.context_first) + spec.context_features, width, bias=False)
        self.graph = nn.Linear(width, width, bias=False) if graph_context else None
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, width, bias=output_bias)
        self.pointer = nn.Linear(width, width, bias=False) if own_keys else None

    def textbook(self, encoded: Encoded, view: View) -> Float[Tensor, "B S N"]:
        """Logits of one step, written like the equations."""
        nodes = encoded.nodes
        at = torch.arange(len(nodes), device=nodes.device)[:, None]
        parts = [nodes[at, view.current]]
        if self.context_first:
            parts.append(nodes[at, view.first])
        query = self.context(torch.cat([*parts, view.context], dim=-1))  # [B, S, D]
        if self.graph is not None:
            query = query + self.graph(nodes.mean(1))[:, None]
        allowed = _allowed(encoded, view)
        q, k, v = (self._heads(x) for x in (query, self.key(nodes), self.value(nodes)))  # [B, H, S or N, K]
        weights = masked_softmax(q @ k.transpose(-1, -2) / math.sqrt(k.shape[-1]), allowed[:, None])
        glimpse = self.output((weights @ v).transpose(1, 2).flatten(2))
        pointed = nodes if self.pointer is None else self.pointer(nodes)
        compatibility = glimpse @ pointed.transpose(1, 2) / math.sqrt(self.width)
        return (self.clip * torch.tanh(compatibility)).masked_fill(~allowed, -math.inf)

    def prepare(self, encoded: Encoded) -> Prepared:
        nodes, weight, width = encoded.nodes, self.context.weight, self.width
        current = nodes @ weight[:, :width].T
        if self.graph is not None:
            current = current + self.graph(nodes.mean(1))[:, None]
        pointed = (nodes if self.pointer is None else self.pointer(nodes)) / math.sqrt(width)
        bias = self.output.bias
        return Prepared(
            encoded=encoded,
            from_current=current,
            from_first=nodes @ weight[:, width : 2 * width].T if self.context_first else None,
            keys=self._heads(self.key(nodes)) / math.sqrt(width // self.heads),
            values=self._heads(self.value(nodes)),
            pointers=pointed @ self.output.weight,
            offset=None if bias is None else (pointed @ bias)[:, None],
        )

    def step(self, prepared: Prepared, view: View) -> Float[Tensor, "B S N"]:
        """Logits of one step, or of any S decisions."""
        query = _rows(prepared.from_current, view.current)
        if prepared.from_first is not None:
            query = query + _rows(prepared.from_first, view.first)
        if numbers := view.context.shape[-1]:
            query = query + view.context @ self.context.weight[:, -numbers:].T
        allowed = _allowed(prepared.encoded, view)
        bias = torch.zeros_like(allowed, dtype=query.dtype).masked_fill_(~allowed, -math.inf)
        weights = (scores(self._heads(query), prepared.keys) + bias[:, None]).softmax(-1)  # [B, H, S, N]
        glimpse = mixture(weights, prepared.values).transpose(1, 2).flatten(2)  # [B, S, D]
        compatibility = scores(glimpse, prepared.pointers)
        if prepared.offset is not None:
            compatibility = compatibility + prepared.offset
        return self.clip * torch.tanh(compatibility) + bias

    def _heads(self, x: Float[Tensor, "B M D"]) -> Float[Tensor, "B H M K"]:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def _allowed(encoded: Encoded, view: View) -> Bool[Tensor, "B S N"]:
    if encoded.adjacency is None:
        return view.allowed
    at = torch.arange(len(view.current), device=view.current.device)[:, None]
    allowed = view.allowed & encoded.adjacency[at, view.current]
    return allowed | ~allowed.any(-1, keepdim=True)  # a slot without a decision must not become NaN


def _rows(table: Float[Tensor, "B N D"], index: Tensor) -> Float[Tensor, "B S D"]:
    """table[b, index[b, s]]; one flat gather, which PyTorch runs faster than one along dimension 1."""
    batch, nodes, width = table.shape
    offset = torch.arange(batch, device=index.device)[:, None] * nodes
    return table.flatten(0, 1).index_select(0, (offset + index).flatten()).view(*index.shape, width)


# ---- networks ---------------------------------------------------------------------------------------------------


class GAM(nn.Module):
    """Attention model, arXiv 1803.08475, and what differs from it in a few parts."""

    def __init__(
        self,
        spec: Spec,
        shape: Shape = KOOL,
        name: str = "gam",
        attention: Callable[[int, int], nn.Module] = DotAttention,
        graph_context: bool = True,  # the mean of the nodes in the query
        own_keys: bool = True,  # a map between nodes and the logits' keys
        output_bias: bool = False,  # at the glimpse's output
    ):
        super().__init__()
        if shape.decoder_layers != 1:
            raise BadInput(f"decoder_layers is {shape.decoder_layers}; {name} has one glimpse, so that 1 is accepted")
        self.spec, self.shape, self.name = spec, shape, name
        self.temperature = self.distinct_temperature = Temperature()
        self.encoder = NodeEncoder(spec, shape, attention)
        self.decoder = NodeDecoder(spec, shape, graph_context, own_keys, output_bias)

    def encode(self, features: Features, textbook: bool = False) -> Encoded:
        return self.encoder(features, textbook=textbook)

    def prepare(self, encoded: Encoded) -> Prepared:
        return self.decoder.prepare(encoded)

    def step(self, prepared: Prepared, view: View, textbook: bool = False) -> Tensor:
        return self.decoder.textbook(prepared.encoded, view) if textbook else self.decoder.step(prepared, view)

    def score(self, prepared: Prepared, view: View, groups: int) -> Tensor:
        return self.decoder.step(prepared, view)


def pomo(spec: Spec, shape: Shape) -> GAM:
    """The network of POMO's published code: no graph in the query, plain nodes as keys, biased attention outputs."""

    def attention(width: int, heads: int) -> DotAttention:
        return DotAttention(width, heads, output_bias=True)

    return GAM(spec, shape, "pomo", attention, graph_context=False, own_keys=False, output_bias=True)
