"""ATSP: the cheapest closed tour through all nodes where the way back may cost something else.

Cost: sum of the matrix entries along the closed tour.
Next: as in the TSP, whose rules it shares; an edge shows the network both directions.
Size N counts nodes; there is no depot. Variants: road (points in the unit square, each direction of an edge is
up to 60 % longer than its straight line, independently), matrix (no coordinates: uniform random costs, closed under
shortest paths, so that the triangle inequality holds).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from egam.problems import base
from egam.problems.base import Arrays, Features, Spec
from egam.problems.tsp import TSP, Batch, State
from egam.solution import Solution

DETOUR = 0.6  # largest share by which a road is longer than its straight line

_tsp = TSP()


@dataclass(frozen=True)
class ATSP:
    name: str = "atsp"
    variant: str = "road"
    mask: str = "paper"
    unit: float = 1.0
    spec: Spec = Spec(
        node_features=4, depot_features=0, edge_features=2, context_features=0, context_first=True, directed=True
    )

    def generate(self, rng: np.random.Generator, batch: int, size: int) -> Arrays:
        base.check_size(self.name, size, size)
        if self.variant == "matrix":
            return {"matrix": _shortest_paths(rng.random((batch, size, size)))}
        coords = rng.random((batch, size, 2))
        straight = np.linalg.norm(coords[:, :, None] - coords[:, None, :], axis=-1)
        return {"coords": coords, "matrix": straight * rng.uniform(1, 1 + DETOUR, (batch, size, size))}

    def to_batch(self, arrays: Arrays, generated: bool = True) -> Batch:
        # Shortest paths shrink random matrices with N, so that only a matrix scaled to itself looks alike at all sizes.
        return _tsp.to_batch(arrays, generated=False)

    def features(self, batch: Batch) -> Features:
        others = batch.travel.shape[1] - 1
        travel = base.seen(batch.travel)
        means = torch.stack([travel.sum(2), travel.sum(1)], -1) / others  # [B, N, 2] out, in
        edges = torch.stack([travel, travel.transpose(1, 2)], -1)
        return Features(nodes=torch.cat([batch.coords, means], -1), depot=None, edges=edges)

    def start(self, batch: Batch, starts: Tensor) -> State:
        return _tsp.start(batch, starts)

    def allowed(self, batch: Batch, state: State) -> Tensor:
        return _tsp.allowed(batch, state)

    def step(self, batch: Batch, state: State, action: Tensor) -> State:
        return _tsp.step(batch, state, action)

    def context(self, batch: Batch, state: State) -> Tensor:
        return _tsp.context(batch, state)

    def cost(self, batch: Batch, state: State) -> Tensor:
        return _tsp.cost(batch, state)

    def penalty(self, batch: Batch, state: State) -> Tensor:
        return _tsp.penalty(batch, state)

    def to_solution(self, sequence: Sequence[int]) -> Solution:
        return _tsp.to_solution(sequence)


def _shortest_paths(costs: np.ndarray) -> np.ndarray:
    """[B, N, N] Floyd-Warshall: the cheapest way from row to column over any nodes, 0 on the diagonal."""
    size = costs.shape[1]
    closed = costs * (1 - np.eye(size))
    for via in range(size):
        np.minimum(closed, closed[:, :, via, None] + closed[:, via, None, :], out=closed)
    return closed
