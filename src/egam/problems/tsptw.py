"""TSPTW: the shortest closed tour from node 0 that reaches every node inside its time window.

Cost: length of the closed tour; waiting is free. Travel takes as long as it costs, service takes no time, a window
bounds the start of service: t <- max(t + travel, start), late = max(0, t - end). The way back is never late.
Next: any node not yet visited, so a tour can be late: training adds β (N_out + T_out), late visits and their lateness.
With the mask "lookahead": of those, the ones that are reached in time and after which every other node that is left,
and every few of them with deadlines close together in some order, can still be reached in time (in_time.py); if there
are none, the ones after which each single node can (PIP's one step ahead); if there are none, all.
Size N counts nodes, the start among them. Variants are PIP's: easy and medium (wide and narrow windows at
random times; no feasible tour is guaranteed), hard (windows around a random tour, always feasible).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from egam.problems import base, in_time
from egam.problems.base import Arrays, Features, Spec
from egam.solution import Solution

SIDE = 100.0  # of the square that generated sets lie in
TABLE = 1 << 24  # numbers in a table of the lookahead
WIDTHS = {"easy": (0.5, 0.75), "medium": (0.1, 0.2)}  # of windows, as a share of the time span

SPEC = Spec(node_features=4, depot_features=2, edge_features=1, context_features=1, context_first=False, directed=False)
TYPICAL = (0.45, 0.1, 25.0)  # see base.window_levels


@dataclass
class Batch:
    coords: Tensor  # [B, N, 2]
    travel: Tensor  # [B, N, N]
    unit: Tensor  # [B]
    window: Tensor  # [B, N, 2] since node 0's opening; node 0's own ends at the horizon
    horizon: Tensor  # [B] when the last possible visit can be back at node 0
    groups: Tensor  # [B, M, N] bool, what the lookahead watches (in_time.Groups); M = 0 with the paper's mask
    leave_by: Tensor  # [B, N, M]
    safe_until: Tensor  # [B, M]


@dataclass
class State:
    current: Tensor  # [B, S]; node 0 when done
    first: Tensor  # [B, S]; node 0
    visited: Tensor  # [B, S, N]
    time: Tensor  # [B, S] start of service at the last visit
    length: Tensor  # [B, S] travelled so far; closed when done
    violation: Tensor  # [B, S] number of late visits + their lateness
    done: Tensor  # [B, S]


@dataclass(frozen=True)
class TSPTW:
    name: str = "tsptw"
    variant: str = "medium"
    mask: str = "paper"
    masks: ClassVar[tuple[str, ...]] = base.MASKS
    hint: str = "paper"
    hints: ClassVar[tuple[str, ...]] = base.CLOCKS
    beta: float = 1.0  # the paper's β: what a violation costs in training
    unit: float = SIDE

    @property
    def spec(self) -> Spec:
        return SPEC.with_levels(3) if self.hint == "levels" else SPEC

    def generate(self, rng: np.random.Generator, batch: int, size: int) -> Arrays:
        base.check_size(self.name, size, size)
        coords = rng.random((batch, size, 2)) * SIDE
        if self.variant == "hard":
            return {"coords": coords, "window": _windows_around_a_tour(rng, coords)}
        span = time_span(size)
        starts = rng.integers(0, span, (batch, size)).astype(float)
        widths = np.around(span * rng.uniform(*WIDTHS[self.variant], (batch, size)))
        starts[:, 0], widths[:, 0] = 0, 2 * span
        return {"coords": coords, "window": np.stack([starts, starts + widths], -1)}

    def to_batch(self, arrays: Arrays, generated: bool = True) -> Batch:
        coords, travel, unit, units = base.scaled_geometry(arrays, SIDE if generated else None)
        window = base.tensor(base.scaled_windows(arrays["window"], units, travel, given=not generated))
        horizon = (window[:, 1:, 1] + base.seen(travel[:, 1:, 0])).amax(1).clamp_min(base.TOLERANCE)
        window[:, 0, 1] = horizon
        ahead = self.mask == "lookahead"
        groups = in_time.tight_groups(travel, window) if ahead else in_time.Groups.none(travel)
        return Batch(coords, travel, unit, window, horizon, groups.members, groups.leave_by, groups.safe_until)

    def features(self, batch: Batch) -> Features:
        nodes = torch.cat([batch.coords, batch.window / batch.horizon[:, None, None]], -1)
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
            time=nothing,
            length=nothing,
            violation=nothing,
            done=torch.zeros_like(starts, dtype=torch.bool),
        )

    def allowed(self, batch: Batch, state: State) -> Tensor:
        allowed = ~state.visited
        allowed[..., 0] = state.done
        return allowed if self.mask == "paper" else self._in_time(batch, state, allowed)

    def _in_time(self, batch: Batch, state: State, allowed: Tensor) -> Tensor:
        """[B, S, N] of what is allowed, what keeps the others in time."""
        leg = base.gather_rows(batch.travel, state.current)  # [B, S, N]
        time = torch.maximum(state.time[..., None] + leg, batch.window[:, None, :, 0])
        reached = time <= batch.window[:, None, :, 1] + base.TOLERANCE
        good = allowed & reached & (time <= self._leave_by(batch, state) + base.TOLERANCE)
        groups = in_time.Groups(batch.groups, batch.leave_by, batch.safe_until)
        best = in_time.all_in_time(groups, state.visited, good, time)
        return base.preferred(base.preferred(allowed, good), best)

    def _leave_by(self, batch: Batch, state: State) -> Tensor:
        """[B, S, N] when service at j must start for each single node that is left to be in time after it."""
        nodes = batch.travel.shape[1]
        leave_by = batch.window[:, None, :, 1] - batch.travel  # [B, N, N] from j, to be at k in time
        leave_by = leave_by.masked_fill(torch.eye(nodes, dtype=torch.bool, device=leave_by.device), math.inf)
        parts = []
        for visited in state.visited.split(max(1, TABLE // (len(leave_by) * nodes**2)), 1):
            left = leave_by[:, None].masked_fill(visited[:, :, None], math.inf)  # [B, S, N, N]
            parts.append(left.amin(-1))
        return torch.cat(parts, 1)

    def step(self, batch: Batch, state: State, action: Tensor) -> State:
        visited = base.visit(state.visited, action)
        done = visited.all(-1)
        leg = base.travelled(batch.travel, state.current, action)
        time = torch.maximum(state.time + leg, base.gather_nodes(batch.window[..., 0], action))
        violation = state.violation + base.violation(time - base.gather_nodes(batch.window[..., 1], action))
        length = state.length + leg + torch.where(done, base.travelled(batch.travel, action, state.first), 0.0)
        return replace(
            state,
            current=torch.where(done, 0, action),
            visited=visited,
            time=torch.where(state.done, state.time, time),
            length=torch.where(state.done, state.length, length),
            violation=torch.where(state.done, state.violation, violation),
            done=done,
        )

    def context(self, batch: Batch, state: State) -> Tensor:
        return self._told(batch, base.clock(self.hint, state.time, batch, state.current))

    def _told(self, batch: Batch, numbers: Tensor) -> Tensor:
        return base.told(numbers, base.window_levels(batch, TYPICAL)) if self.hint == "levels" else numbers

    def cost(self, batch: Batch, state: State) -> Tensor:
        return state.length

    def penalty(self, batch: Batch, state: State) -> Tensor:
        return self.beta * state.violation

    def to_solution(self, sequence: Sequence[int]) -> Solution:
        return Solution.from_sequence(sequence)


def time_span(size: int) -> int:
    """Windows of the easy and medium sets open within this time: about the length of a random tour."""
    return 55 * size


def _windows_around_a_tour(rng: np.random.Generator, coords: np.ndarray) -> np.ndarray:
    """[B, N, 2]: each window holds the arrival of one random tour, and up to half a side more before and after."""
    batch, size, _ = coords.shape
    tour = rng.permuted(np.tile(np.arange(1, size), (batch, 1)), axis=1)  # [B, N-1]
    stops = np.concatenate([coords[:, :1], np.take_along_axis(coords, tour[..., None], 1)], 1)
    arrival = np.linalg.norm(np.diff(stops, axis=1), axis=-1).cumsum(1)
    early, late = rng.uniform(0, SIDE / 2, (2, batch, size - 1))
    window = np.zeros((batch, size, 2))
    window[:, 0, 1] = 1000 * SIDE
    np.put_along_axis(window, tour[..., None], np.stack([arrival - early, arrival + late], -1), 1)
    return window
