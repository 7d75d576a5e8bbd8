"""TSPDL: the shortest closed tour of a ship from port 0 that loads at every port and nowhere lies too deep.

Cost: length of the closed tour. The load after a visit is the sum of the demands visited so far, and
excess = max(0, load - draft limit) at that port. The limit of port 0 is not checked.
Next: any port not yet visited, so a tour can be infeasible: training adds β (N_out + D_out), overloaded visits and
their excess. With the mask "lookahead": of those, the ones after which an order without excess is still possible (if
there is any, the one by draft limits is); all of them if there is none.
Size N counts nodes, port 0 among them. Variants are PIP's: easy, medium and hard limit 50, 75 and 90 % of the ports,
always feasibly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from egam.problems import base
from egam.problems.base import Arrays, Features, Spec
from egam.solution import Solution

LIMITED = {"easy": 50, "medium": 75, "hard": 90}  # per cent of the ports

SPEC = Spec(node_features=4, depot_features=2, edge_features=1, context_features=1, context_first=False, directed=False)
TYPICAL = (0.03, 0.65)  # mean demand and limit of generated instances


@dataclass
class Batch:
    coords: Tensor  # [B, N, 2]
    travel: Tensor  # [B, N, N]
    unit: Tensor  # [B]
    demand: Tensor  # [B, N] as a share of the total
    limit: Tensor  # [B, N] as a share of the total


@dataclass
class State:
    current: Tensor  # [B, S]; node 0 when done
    first: Tensor  # [B, S]; node 0
    visited: Tensor  # [B, S, N]
    load: Tensor  # [B, S] after the last visit
    length: Tensor  # [B, S] travelled so far; closed when done
    violation: Tensor  # [B, S] number of overloaded visits + their excess
    done: Tensor  # [B, S]


@dataclass(frozen=True)
class TSPDL:
    name: str = "tspdl"
    variant: str = "medium"
    mask: str = "paper"
    masks: ClassVar[tuple[str, ...]] = base.MASKS
    beta: float = 1.0  # the paper's β: what a violation costs in training
    hint: str = "paper"
    hints: ClassVar[tuple[str, ...]] = base.LEVELS
    unit: float = 1.0

    @property
    def spec(self) -> Spec:
        return SPEC.with_levels(2) if self.hint == "levels" else SPEC

    def generate(self, rng: np.random.Generator, batch: int, size: int) -> Arrays:
        base.check_size(self.name, size, size)
        demand = np.ones((batch, size))
        demand[:, 0] = 0
        return {
            "coords": rng.random((batch, size, 2)),
            "demand": demand,
            "draft_limit": _feasible_limits(rng, batch, size, size * LIMITED[self.variant] // 100),
        }

    def to_batch(self, arrays: Arrays, generated: bool = True) -> Batch:
        coords, travel, unit, _ = base.scaled_geometry(arrays, 1.0 if generated else None)
        total = arrays["demand"].sum(1, keepdims=True)
        total = np.where(total > 0, total, 1.0)
        limit = np.minimum(arrays["draft_limit"] / total, 1.0)  # a ship is never deeper than with all on board
        return Batch(coords, travel, unit, base.tensor(arrays["demand"] / total), base.tensor(limit))

    def features(self, batch: Batch) -> Features:
        nodes = torch.cat([batch.coords, batch.demand[..., None], batch.limit[..., None]], -1)
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
            load=nothing,
            length=nothing,
            violation=nothing,
            done=torch.zeros_like(starts, dtype=torch.bool),
        )

    def allowed(self, batch: Batch, state: State) -> Tensor:
        allowed = ~state.visited
        allowed[..., 0] = state.done
        return allowed if self.mask == "paper" else base.preferred(allowed, self._stays_feasible(batch, state))

    def _stays_feasible(self, batch: Batch, state: State) -> Tensor:
        """[B, S, N] can all ports that are left be loaded at if port j is next?

        By draft limits, port k would be left with so much room under the ship; if j comes first, those with a smaller
        limit than j's have j's demand less of it, the others what they had.
        """
        order = batch.limit.argsort(dim=-1, stable=True)  # [B, N]
        limit, demand = batch.limit.gather(1, order)[:, None], batch.demand.gather(1, order)[:, None]
        visited = state.visited.gather(2, order[:, None].expand_as(state.visited))
        demand = demand.masked_fill(visited, 0.0)  # [B, S, N] in that order
        room = (limit - state.load[..., None] - demand.cumsum(-1)).masked_fill(visited, math.inf)
        before = torch.nn.functional.pad(room.cummin(-1).values[..., :-1], (1, 0), value=math.inf)
        after = room.flip(-1).cummin(-1).values.flip(-1)
        fits = state.load[..., None] + demand <= limit + base.TOLERANCE
        fits &= (demand <= before + base.TOLERANCE) & (after >= -base.TOLERANCE)
        return torch.zeros_like(fits).scatter(2, order[:, None].expand_as(fits), fits)

    def step(self, batch: Batch, state: State, action: Tensor) -> State:
        visited = base.visit(state.visited, action)
        done = visited.all(-1)
        load = state.load + base.gather_nodes(batch.demand, action)
        violation = state.violation + base.violation(load - base.gather_nodes(batch.limit, action))
        length = state.length + base.travelled(batch.travel, state.current, action)
        length = length + torch.where(done, base.travelled(batch.travel, action, state.first), 0.0)
        return replace(
            state,
            current=torch.where(done, 0, action),
            visited=visited,
            load=load,
            length=torch.where(state.done, state.length, length),
            violation=torch.where(state.done, state.violation, violation),
            done=done,
        )

    def context(self, batch: Batch, state: State) -> Tensor:
        return self._told(batch, state.load[..., None])

    def _told(self, batch: Batch, numbers: Tensor) -> Tensor:
        if self.hint == "paper":
            return numbers
        return base.told(numbers, base.levels(*zip((batch.demand, batch.limit), TYPICAL, strict=True)))

    def cost(self, batch: Batch, state: State) -> Tensor:
        return state.length

    def penalty(self, batch: Batch, state: State) -> Tensor:
        return self.beta * state.violation

    def to_solution(self, sequence: Sequence[int]) -> Solution:
        return Solution.from_sequence(sequence)


def _feasible_limits(rng: np.random.Generator, batch: int, size: int, limited: int) -> np.ndarray:
    """[B, N]: the total load, but 1 .. total - 1 at `limited` random ports, redrawn until a feasible order exists.

    Ports in the order of their limits are the best order, and the load after the p-th is p: so the p-th smallest limit
    must be p or more.
    """
    total = size - 1
    limited = min(limited, total - 1)  # of `total` limits below `total` no order is feasible
    low = rng.integers(1, total, (batch, limited))
    while (bad := (np.sort(low, 1) < np.arange(1, limited + 1)).any(1)).any():
        low[bad] = rng.integers(1, total, (int(bad.sum()), limited))
    ports = 1 + rng.random((batch, total)).argsort(1)[:, :limited]
    limits = np.full((batch, size), float(total))
    np.put_along_axis(limits, ports, low, 1)
    return limits
