"""PCTSP: a tour from and to a depot that collects a least prize and pays a penalty for each customer left out.

Cost: length of the tour + penalties of the customers not visited.
Next: customers not yet visited; the depot once the least prize is collected and every customer visited whose penalty is
above the longest way there and back (no generated one is): leaving such a one out is never worth it. Going there ends
the tour, which also closes by itself after the last customer, be the prize reached or not.
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

PRIZE_SEEN = 2.0  # of the least prize: what is more is enough all the same, and no generated prize is more
PENALTY_SEEN = 1.0  # of the map's side: no generated penalty is more

SPEC = Spec(node_features=4, depot_features=2, edge_features=1, context_features=1, context_first=False, directed=False)
TYPICAL = (0.07, 0.12)  # mean prize and penalty of generated instances
SCALES = (1.0, 1.0, 8.0, 4.0)  # prizes and penalties differ by less than coordinates do
NEAR = 0.25  # of the least prize, that of a few customers: so little is told at the scale of prizes, too
TOLD = replace(SPEC.with_levels(len(TYPICAL), SCALES), context_features=4)  # missing prize, levels, missing again


@dataclass
class Batch:
    coords: Tensor  # [B, N, 2]
    travel: Tensor  # [B, N, N]
    unit: Tensor  # [B]
    prize: Tensor  # [B, N] as a share of the least prize
    penalty: Tensor  # [B, N]
    detour: Tensor  # [B] longest way there and back: who has a higher penalty is not left out


@dataclass
class State:
    current: Tensor  # [B, S]; the depot when done
    first: Tensor  # [B, S]; the depot
    visited: Tensor  # [B, S, N]; the depot always is
    collected: Tensor  # [B, S] prize
    length: Tensor  # [B, S] travelled so far; closed when done
    done: Tensor  # [B, S]


@dataclass(frozen=True)
class PCTSP:
    name: str = "pctsp"
    variant: str = ""
    mask: str = "paper"
    hint: str = "paper"
    hints: ClassVar[tuple[str, ...]] = base.LEVELS
    unit: float = 1.0

    @property
    def spec(self) -> Spec:
        return TOLD if self.hint == "levels" else SPEC

    def generate(self, rng: np.random.Generator, batch: int, size: int) -> Arrays:
        base.check_size(self.name, size + 1, size)
        prize = rng.random((batch, size + 1)) * 4 / size
        penalty = rng.random((batch, size + 1)) * largest_penalty(size)
        prize[:, 0] = penalty[:, 0] = 0
        return {
            "coords": rng.random((batch, size + 1, 2)),
            "prize": prize,
            "penalty": penalty,
            "min_prize": np.ones(batch),
        }

    def to_batch(self, arrays: Arrays, generated: bool = True) -> Batch:
        coords, travel, unit, units = base.scaled_geometry(arrays, 1.0 if generated else None)
        prize = base.tensor(arrays["prize"] / arrays["min_prize"][:, None])
        penalty = base.tensor(arrays["penalty"] / units[:, None])
        return Batch(coords, travel, unit, prize, penalty, 2 * base.seen(travel).amax((1, 2)))

    def features(self, batch: Batch) -> Features:
        prize, penalty = self._seen(batch)
        nodes = base.scaled(torch.cat([batch.coords, prize[..., None], penalty[..., None]], -1), self.spec)
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
            collected=nothing,
            length=nothing,
            done=torch.zeros_like(starts, dtype=torch.bool),
        )

    def allowed(self, batch: Batch, state: State) -> Tensor:
        allowed = ~(state.visited | state.done[..., None])
        optional = batch.penalty <= batch.detour[:, None]  # [B, N]
        complete = (state.visited | optional[:, None]).all(-1)
        allowed[..., 0] = state.done | (complete & (state.collected >= 1 - base.TOLERANCE))
        return allowed

    def step(self, batch: Batch, state: State, action: Tensor) -> State:
        visited = base.visit(state.visited, action)
        all_visited = visited.all(-1)
        done = all_visited | (action == 0)
        length = state.length + base.travelled(batch.travel, state.current, action)
        length = length + torch.where(all_visited, base.travelled(batch.travel, action, state.first), 0.0)
        return replace(
            state,
            current=torch.where(done, 0, action),
            visited=visited,
            collected=state.collected + base.gather_nodes(batch.prize, action),
            length=torch.where(state.done, state.length, length),
            done=done,
        )

    def context(self, batch: Batch, state: State) -> Tensor:
        missing = (1 - state.collected).clamp_min(0)[..., None]
        if self.hint == "paper":
            return missing
        return torch.cat([self._told(batch, missing), SCALES[2] * missing.clamp(max=NEAR)], -1)

    def _told(self, batch: Batch, numbers: Tensor) -> Tensor:
        if self.hint == "paper":
            return numbers
        return base.told(numbers, base.levels(*zip(self._seen(batch), TYPICAL, strict=True)))

    def _seen(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """[B, N] prizes and penalties as the network sees them."""
        return batch.prize.clamp(max=PRIZE_SEEN), batch.penalty.clamp(max=PENALTY_SEEN)

    def cost(self, batch: Batch, state: State) -> Tensor:
        return state.length + torch.where(state.visited, 0.0, batch.penalty[:, None]).sum(-1)

    def penalty(self, batch: Batch, state: State) -> Tensor:
        return torch.zeros_like(state.length)

    def to_solution(self, sequence: Sequence[int]) -> Solution:
        return Solution.from_sequence(sequence)


def largest_penalty(size: int) -> float:
    """Kool's 3 K / N with K = 2, 3, 4 at N = 20, 50, 100; the outer slopes of K go on, not below 1."""
    tour = max(1.0, 2 + (size - 20) / 30) if size < 50 else 3 + (size - 50) / 50
    return 3 * tour / size
