"""Weights of an undirected network as those of a directed one that does the same.

Where both directions of every edge cost the same, the new network gives the old one's logits: the maps of start and end
(eq. ena2) begin as the identity, an edge's length is shared out over its two costs, and node features that the old
network did not have begin without weight. From there it can learn what differs: `egam train atsp --init tsp-small`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from egam.errors import BadInput
from egam.nn.egam import EGAM
from egam.problems.base import Spec


def directed_state(undirected: EGAM, spec: Spec) -> dict[str, Tensor]:
    """The tensors of a directed network with `spec`, whose node features begin with those of the undirected one."""
    added = spec.node_features - undirected.spec.node_features
    same = ("depot_features", "context_features", "context_first")
    if added < 0 or any(getattr(spec, name) != getattr(undirected.spec, name) for name in same):
        raise BadInput("these weights are of an undirected problem that has other features than the directed one")
    state = dict(undirected.state_dict())
    length, node = state["encoder.input.edge.weight"], state["encoder.input.node.weight"]
    state["encoder.input.edge.weight"] = torch.cat([length / 2, length / 2], 1)
    state["encoder.input.node.weight"] = torch.cat([node, node.new_zeros(len(node), added)], 1)
    for number in range(undirected.shape.encoder_layers):
        for end in ("start", "end"):
            state[f"encoder.layers.{number}.{end}.weight"] = torch.eye(len(node), dtype=node.dtype, device=node.device)
            state[f"encoder.layers.{number}.{end}.bias"] = node.new_zeros(len(node))
    return state
