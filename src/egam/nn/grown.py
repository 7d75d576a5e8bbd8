"""Weights of a network as those of one that sees more and, at first, answers the same.

An undirected network becomes a directed one (`egam train atsp --init tsp-small`): where both directions of every edge
cost the same, it gives the old one's logits. The maps of start and end (eq. ena2) begin as the identity, an edge's
length is shared out over its two costs, and node features that the old network did not have begin without weight.

A network that is told more of an instance (`--set hint=levels`) begins without weight for what the old one was not
told, at the depot and in the decoder's context, and with weights that make up for values seen at another scale.
"""

from __future__ import annotations

import torch
from torch import Tensor

from egam.errors import BadInput
from egam.nn import Model
from egam.nn.egam import EGAM
from egam.problems.base import Spec


def grown_state(network: Model, spec: Spec) -> dict[str, Tensor]:
    """The tensors of a network with `spec` that does what `network` does."""
    state = dict(network.state_dict())
    if spec.directed and not network.spec.directed and isinstance(network, EGAM):
        return _directed(network, state, spec)
    _widen(state, "depot.weight", spec.depot_features - network.spec.depot_features)
    _widen(state, "context.weight", spec.context_features - network.spec.context_features)  # its last columns
    if spec.node_scales != network.spec.node_scales:
        name, weight = _of(state, "node.weight")
        before, after = (
            weight.new_tensor(each.node_scales or (1.0,) * each.node_features) for each in (network.spec, spec)
        )
        state[name] = weight * (before / after)
    return state


def _of(state: dict[str, Tensor], ending: str) -> tuple[str, Tensor]:
    """The one tensor with that end of a name: networks keep their input layers in different places."""
    ((name, weight),) = ((name, weight) for name, weight in state.items() if name.endswith("." + ending))
    return name, weight


def _widen(state: dict[str, Tensor], ending: str, more: int) -> None:
    if more > 0:
        name, weight = _of(state, ending)
        state[name] = torch.cat([weight, weight.new_zeros(len(weight), more)], 1)


def _directed(network: EGAM, state: dict[str, Tensor], spec: Spec) -> dict[str, Tensor]:
    """Node features begin with those of the undirected network."""
    added = spec.node_features - network.spec.node_features
    same = ("depot_features", "context_features", "context_first")
    if added < 0 or any(getattr(spec, name) != getattr(network.spec, name) for name in same):
        raise BadInput("these weights are of an undirected problem that has other features than the directed one")
    length, node = state["encoder.input.edge.weight"], state["encoder.input.node.weight"]
    state["encoder.input.edge.weight"] = torch.cat([length / 2, length / 2], 1)
    state["encoder.input.node.weight"] = torch.cat([node, node.new_zeros(len(node), added)], 1)
    for number in range(network.shape.encoder_layers):
        for end in ("start", "end"):
            state[f"encoder.layers.{number}.{end}.weight"] = torch.eye(len(node), dtype=node.dtype, device=node.device)
            state[f"encoder.layers.{number}.{end}.bias"] = node.new_zeros(len(node))
    return state
