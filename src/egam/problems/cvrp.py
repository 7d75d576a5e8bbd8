"""CVRP: routes from and to a depot that serve every customer, no route above the vehicle's capacity.

Cost: length of all routes.
Next: customers not yet visited whose demand fits into what is left of the capacity, and the depot; depot to depot only
if no customer fits. Arriving at the depot empties the vehicle. After the last customer it drives home by itself.
Size N counts customers; with the depot there are N + 1 nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from egam.problems import base
from egam.problems.base import Arrays, Features, Spec
from egam.solution import Solution

SPEC = Spec(node_features=3, depot_features=2, edge_features=1, context_features=1, context_first=False, directed=False)
TYPICAL = 0.15  # mean demand of generated instances
SCALES = (1.0, 1.0, 3.0)  # demands differ by less than coordinates do


@dataclass
class Batch:
    coords: Tensor  # [B, N, 2]
    travel: Tensor  # [B, N, N]
    unit: Tensor  # [B]
    demand: Tensor  # [B, N] as a share of the capacity


@dataclass
class State:
    current: Tensor  # [B, S]; the depot when done
    first: Tensor  # [B, S]; the depot
    visited: Tensor  # [B, S, N]; the depot always is
    room: Tensor  # [B, S] capacity left, 1 at the depot
    length: Tensor  # [B, S] travelled so far; closed when done
    done: Tensor  # [B, S]


@dataclass(frozen=True)
class CVRP:
    name: str = "cvrp"
    variant: str = ""
    mask: str = "paper"
    hint: str = "paper"
    hints: ClassVar[tuple[str, ...]] = base.LEVELS
    unit: float = 1.0

    @property
    def spec(self) -> Spec:
        return SPEC.with_levels(1, SCALES) if self.hint == "levels" else SPEC

    def generate(self, rng: np.random.Generator, batch: int, size: int) -> Arrays:
        base.check_size(self.name, size + 1, size)
        demand = rng.integers(1, 10, (batch, size + 1)).astype(float)
        demand[:, 0] = 0
        return {
            "coords": rng.random((batch, size + 1, 2)),
            "demand": demand,
            "capacity": np.full(batch, capacity(size)),
        }

    def to_batch(self, arrays: Arrays, generated: bool = True) -> Batch:
        coords, travel, unit, _ = base.scaled_geometry(arrays, 1.0 if generated else None)
        return Batch(coords, travel, unit, base.tensor(arrays["demand"] / arrays["capacity"][:, None]))

    def features(self, batch: Batch) -> Features:
        nodes = base.scaled(torch.cat([batch.coords, batch.demand[..., None]], -1), self.spec)
        depot = self._told(batch, batch.coords[:, 0])
        return Features(nodes=nodes, depot=depot, edges=base.undirected(batch.travel))

    def start(self, batch: Batch, starts: Tensor) -> State:
        depot = torch.zeros_like(starts)
        visited = torch.zeros(*starts.shape, batch.travel.shape[1], dtype=torch.bool, device=starts.device)
        nothing = torch.zeros(starts.shape, dtype=batch.travel.dtype, device=starts.device)
        return State(
            current=depot,
            first=depot,
            visited=base.visit(visited, depot),
            room=nothing + 1,
            length=nothing,
            done=torch.zeros_like(starts, dtype=torch.bool),
        )

    def allowed(self, batch: Batch, state: State) -> Tensor:
        allowed = batch.demand[:, None] <= state.room[..., None] + base.TOLERANCE
        allowed &= ~state.visited
        allowed[..., 0] = (state.current != 0) | ~allowed.any(-1)
        return allowed

    def step(self, batch: Batch, state: State, action: Tensor) -> State:
        visited = base.visit(state.visited, action)
        done = visited.all(-1)
        length = state.length + base.travelled(batch.travel, state.current, action)
        length = length + torch.where(done, base.travelled(batch.travel, action, state.first), 0.0)
        return replace(
            state,
            current=torch.where(done, 0, action),
            visited=visited,
            room=torch.where(done | (action == 0), 1.0, state.room - base.gather_nodes(batch.demand, action)),
            length=torch.where(state.done, state.length, length),
            done=done,
        )

    def context(self, batch: Batch, state: State) -> Tensor:
        return self._told(batch, state.room[..., None])

    def _told(self, batch: Batch, numbers: Tensor) -> Tensor:
        return base.told(numbers, base.levels((batch.demand, TYPICAL))) if self.hint == "levels" else numbers

    def cost(self, batch: Batch, state: State) -> Tensor:
        return state.length

    def penalty(self, batch: Batch, state: State) -> Tensor:
        return torch.zeros_like(state.length)

    def to_solution(self, sequence: Sequence[int]) -> Solution:
        return Solution.from_sequence(sequence)


def capacity(size: int) -> float:
    """Nazari's and Kool's 20, 30, 40, 50 at 10, 20, 50, 100 customers; straight, in whole units, in between."""
    return float(round(np.interp(size, [10, 20, 50, 100], [20, 30, 40, 50])))
