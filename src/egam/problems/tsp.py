"""TSP: the shortest closed tour through all nodes.

Cost: Euclidean length of the closed tour (or the sum of matrix entries along it).
Next: any node not yet visited. The tour closes by itself after the last one. Any node may be the start.
Size N counts nodes; there is no depot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from egam.problems import base
from egam.problems.base import Arrays, Features, Spec
from egam.solution import Solution


@dataclass
class Batch:
    coords: Tensor  # [B, N, 2]
    travel: Tensor  # [B, N, N]
    unit: Tensor  # [B]


@dataclass
class State:
    current: Tensor  # [B, S]
    first: Tensor  # [B, S]
    visited: Tensor  # [B, S, N]
    length: Tensor  # [B, S] travelled so far; closed when done
    done: Tensor  # [B, S]


@dataclass(frozen=True)
class TSP:
    name: str = "tsp"
    variant: str = ""
    mask: str = "paper"
    unit: float = 1.0
    spec: Spec = Spec(
        node_features=2, depot_features=0, edge_features=1, context_features=0, context_first=True, directed=False
    )

    def generate(self, rng: np.random.Generator, batch: int, size: int) -> Arrays:
        base.check_size(self.name, size, size)
        return {"coords": rng.random((batch, size, 2))}

    def to_batch(self, arrays: Arrays, generated: bool = True) -> Batch:
        coords, travel, unit, _ = base.scaled_geometry(arrays, 1.0 if generated else None)
        return Batch(coords, travel, unit)

    def features(self, batch: Batch) -> Features:
        return Features(nodes=batch.coords, depot=None, edges=base.undirected(batch.travel))

    def start(self, batch: Batch, starts: Tensor) -> State:
        visited = torch.zeros(*starts.shape, batch.travel.shape[1], dtype=torch.bool, device=starts.device)
        nothing = torch.zeros(starts.shape, dtype=batch.travel.dtype, device=starts.device)
        return State(
            current=starts,
            first=starts,
            visited=base.visit(visited, starts),
            length=nothing,
            done=torch.zeros_like(starts, dtype=torch.bool),
        )

    def allowed(self, batch: Batch, state: State) -> Tensor:
        return ~state.visited | (state.done[..., None] & base.visit(torch.zeros_like(state.visited), state.first))

    def step(self, batch: Batch, state: State, action: Tensor) -> State:
        visited = base.visit(state.visited, action)
        done = visited.all(-1)
        length = state.length + base.travelled(batch.travel, state.current, action)
        length = length + torch.where(done, base.travelled(batch.travel, action, state.first), 0.0)
        length = torch.where(state.done, state.length, length)
        current = torch.where(state.done, state.current, action)
        return replace(state, current=current, visited=visited, length=length, done=done)

    def context(self, batch: Batch, state: State) -> Tensor:
        return state.length[..., None][..., :0]

    def cost(self, batch: Batch, state: State) -> Tensor:
        return state.length

    def penalty(self, batch: Batch, state: State) -> Tensor:
        return torch.zeros_like(state.length)

    def to_solution(self, sequence: Sequence[int]) -> Solution:
        start = list(sequence).index(0)
        return Solution.of([[*sequence[start + 1 :], *sequence[:start]]])
