"""VRPTW, the paper's variant: one vehicle serves as many customers as it can inside their time windows.

Cost: number of customers not served. The vehicle leaves when the depot opens, travel takes as long as it costs,
service takes no time, waiting is allowed. Arriving after a window's end is a failed visit: it costs the time and
serves nobody.
Next: customers not yet visited whose window is still open at the current time (so a visit can fail), and always the
depot. Going there ends the route. With the mask "lookahead": of the customers, those that are reached in time, and the
depot only if there is none; where no detour is a short cut, nothing better is lost.
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

SPAN = 20.0  # windows open within this time
WIDTHS = (0.1, 0.5)

SPEC = Spec(node_features=4, depot_features=2, edge_features=1, context_features=1, context_first=False, directed=False)
TYPICAL = (0.5, 0.015, 20.0)  # see base.window_levels


@dataclass
class Batch:
    coords: Tensor  # [B, N, 2]
    travel: Tensor  # [B, N, N]
    unit: Tensor  # [B]
    window: Tensor  # [B, N, 2] since the depot's opening
    horizon: Tensor  # [B] when the last window closes


@dataclass
class State:
    current: Tensor  # [B, S]
    first: Tensor  # [B, S]; the depot
    visited: Tensor  # [B, S, N] in time or too late; the depot always is
    served: Tensor  # [B, S, N] visited in time; the depot always is
    time: Tensor  # [B, S] start of service at the last visit, or a failed visit's arrival
    done: Tensor  # [B, S]


@dataclass(frozen=True)
class VRPTW:
    name: str = "vrptw"
    variant: str = ""
    mask: str = "paper"
    masks: ClassVar[tuple[str, ...]] = base.MASKS
    hint: str = "paper"
    hints: ClassVar[tuple[str, ...]] = base.CLOCKS
    unit: float = 1.0

    @property
    def spec(self) -> Spec:
        return SPEC.with_levels(3) if self.hint == "levels" else SPEC

    def generate(self, rng: np.random.Generator, batch: int, size: int) -> Arrays:
        base.check_size(self.name, size + 1, size)
        starts = rng.random((batch, size + 1)) * SPAN
        ends = starts + rng.uniform(*WIDTHS, (batch, size + 1))
        starts[:, 0], ends[:, 0] = 0, SPAN + 2  # time enough to come home from the last customer
        return {"coords": rng.random((batch, size + 1, 2)), "window": np.stack([starts, ends], -1)}

    def to_batch(self, arrays: Arrays, generated: bool = True) -> Batch:
        coords, travel, unit, units = base.scaled_geometry(arrays, 1.0 if generated else None)
        window = base.tensor(base.scaled_windows(arrays["window"], units, travel, given=not generated))
        horizon = window[:, 1:, 1].amax(1).clamp_min(base.TOLERANCE)
        if generated:
            horizon = torch.full_like(horizon, SPAN + WIDTHS[1])
        return Batch(coords, travel, unit, window, horizon)

    def features(self, batch: Batch) -> Features:
        nodes = torch.cat([batch.coords, batch.window / batch.horizon[:, None, None]], -1)
        depot = self._told(batch, batch.coords[:, 0])
        return Features(nodes=nodes, depot=depot, edges=base.undirected(batch.travel))

    def start(self, batch: Batch, starts: Tensor) -> State:
        depot = torch.zeros_like(starts)
        visited = torch.zeros(*starts.shape, batch.travel.shape[1], dtype=torch.bool, device=starts.device)
        visited = base.visit(visited, depot)
        return State(
            current=depot,
            first=depot,
            visited=visited,
            served=visited,
            time=torch.zeros(starts.shape, dtype=batch.travel.dtype, device=starts.device),
            done=torch.zeros_like(starts, dtype=torch.bool),
        )

    def allowed(self, batch: Batch, state: State) -> Tensor:
        allowed = batch.window[:, None, :, 1] >= state.time[..., None]
        allowed &= ~(state.visited | state.done[..., None])
        allowed[..., 0] = True
        if self.mask == "paper":
            return allowed
        arrival = state.time[..., None] + base.gather_rows(batch.travel, state.current)  # [B, S, N]
        in_time = arrival <= batch.window[:, None, :, 1] + base.TOLERANCE
        in_time[..., 0] = False
        allowed &= in_time
        allowed[..., 0] = ~allowed.any(-1)
        return allowed

    def step(self, batch: Batch, state: State, action: Tensor) -> State:
        home = action == 0
        arrival = state.time + base.travelled(batch.travel, state.current, action)
        in_time = home | (arrival <= base.gather_nodes(batch.window[..., 1], action) + base.TOLERANCE)
        time = torch.maximum(arrival, base.gather_nodes(batch.window[..., 0], action))
        return replace(
            state,
            current=action,
            visited=base.visit(state.visited, action),
            served=state.served.scatter(2, action[..., None], in_time[..., None]),
            time=torch.where(state.done, state.time, time),
            done=home,
        )

    def context(self, batch: Batch, state: State) -> Tensor:
        return self._told(batch, base.clock(self.hint, state.time, batch, state.current))

    def _told(self, batch: Batch, numbers: Tensor) -> Tensor:
        return base.told(numbers, base.window_levels(batch, TYPICAL)) if self.hint == "levels" else numbers

    def cost(self, batch: Batch, state: State) -> Tensor:
        return (~state.served).sum(-1).to(batch.travel.dtype)

    def penalty(self, batch: Batch, state: State) -> Tensor:
        return torch.zeros_like(state.time)

    def to_solution(self, sequence: Sequence[int]) -> Solution:
        return Solution.from_sequence(sequence)
