"""Ways to decode: greedy, n samples, symmetric copies × samples, all starts; each instance keeps its best solution.

    greedy      one rollout (from node 0)            sample:n    n sampled rollouts
    8xn         8 symmetric copies × n samples       8xgreedy    8 symmetric copies, greedy
    starts      greedy from every node (TSP)         8xstarts    the same on 8 copies
    distinct:n  n samples that all differ            8xdistinct:n  n such samples of each of 8 copies
Samples are drawn at the temperature that the weights ask for (nn/temperature.py), or at a given one: `8x20@1.5`.
Any number of instances goes through in batches that keep within a memory limit. Draws belong to the instance
(draws.py), so that the size of a batch changes an answer only through float rounding.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from egam.decode import draws
from egam.decode.distinct import START, roll_out_distinct
from egam.decode.rollout import Network, Rollout, roll_out
from egam.errors import BadInput
from egam.instance import KINDS
from egam.nn import Model
from egam.problems.base import Arrays, Problem, map_tensors
from egam.problems.symmetry import eightfold

CACHE_BYTES = 64 << 20  # of edge embeddings per batch on a CPU: larger batches only wait for memory
INFEASIBLE = 1e6  # a feasible solution beats every infeasible one; among those the smaller penalty wins
FORMS = "greedy, sample:N, 8xN, distinct:N, 8xdistinct:N, 8xgreedy, starts or 8xstarts"
HEATED = "with N of 1 or more, and sampled ones at a temperature T above 0 as sample:N@T, 8xN@T and so on"


@dataclass(frozen=True)
class Decoding:
    copies: int = 1  # 1 or 8 symmetric copies
    samples: int = 0  # sampled rollouts per copy; 0: greedy
    all_starts: bool = False
    temperature: float | None = None  # of samples; None: what the weights ask for
    distinct: bool = False  # samples of a copy without replacement (distinct.py)

    @classmethod
    def parse(cls, text: str) -> Decoding:
        form, at, heat = text.partition("@")
        copies, rest = (8, form[2:]) if form.startswith("8x") else (1, form)
        temperature = _positive(heat) if at else None
        if at and (temperature is None or rest in ("greedy", "starts")):
            raise BadInput(f"decoding '{text}' is unknown; accepted: {FORMS}, {HEATED}")
        if rest == "greedy":
            return cls(copies)
        if rest == "starts":
            return cls(copies, all_starts=True)
        kind, colon, number = rest.rpartition(":")
        kinds = ("distinct", "sample") if copies == 1 else ("distinct", "")
        if kind not in kinds or bool(kind) != bool(colon) or not number.isdigit() or int(number) < 1:
            raise BadInput(f"decoding '{text}' is unknown; accepted: {FORMS}, {HEATED}")
        return cls(copies, samples=int(number), temperature=temperature, distinct=kind == "distinct")

    def rollouts(self, nodes: int) -> int:
        """Per copy."""
        return nodes if self.all_starts else max(self.samples, 1)

    def heat(self, network: Model, nodes: int) -> float:
        """The temperature of its samples."""
        if self.temperature is not None:
            return self.temperature
        return (network.distinct_temperature if self.distinct else network.temperature).at(nodes)


@dataclass
class Decoded:
    """The best solution found for each instance."""

    sequences: list[np.ndarray]  # node sequences, the start first
    cost: np.ndarray  # [B] in raw units, float64
    feasible: np.ndarray  # [B] bool
    seconds: float


def decode(
    network: Model,
    problem: Problem,
    arrays: Arrays,
    decoding: Decoding,
    seed: int = 0,
    memory_gib: float = 4.0,
    device: str = "cpu",
    generated: bool = True,
    batch_size: int = 0,
    progress: Callable[[int], Any] = lambda done: None,
    first: int = 0,
) -> Decoded:
    """Solve all instances; `progress` is told after each batch how many it held. `first` is the number of the first
    instance in its set, which draws depend on: a set in parts gives what it gives as a whole."""
    if decoding.all_starts and not problem.spec.context_first:
        raise BadInput(
            f"decoding from all starts: {problem.name} begins at node 0; accepted: {FORMS.split(', starts')[0]}"
        )
    count = len(next(iter(arrays.values())))
    nodes = _nodes(arrays)
    size = batch_size or batch_within(memory_gib, nodes, decoding, network.shape.width)
    if device == "cpu" and not batch_size:
        size = min(size, max(1, CACHE_BYTES // (4 * decoding.copies * nodes * nodes * network.shape.width)))
    network.eval()
    began = time.perf_counter()
    sequences: list[np.ndarray] = []
    costs, feasible = np.empty(count), np.empty(count, dtype=bool)
    for at in range(0, count, size):
        part = slice(at, min(at + size, count))
        batch = problem.to_batch({field: values[part] for field, values in arrays.items()}, generated)
        batch = map_tensors(batch, lambda tensor: tensor.to(device))
        numbers = torch.arange(first + part.start, first + part.stop, device=device)
        sequence, cost, ok = _best(network, problem, batch, decoding, seed, numbers)
        sequences.extend(sequence.cpu().numpy())
        scale = 1.0 if KINDS[problem.name].cost == "unserved" else batch.unit.double()
        costs[part] = (cost.double() * scale).cpu().numpy()
        feasible[part] = ok.cpu().numpy()
        progress(part.stop - part.start)
    return Decoded(sequences, costs, feasible, time.perf_counter() - began)


@torch.inference_mode()
def _best(
    network: Model, problem: Problem, batch: Any, decoding: Decoding, seed: int, numbers: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Best sequence [B, T], its cost [B] in scaled units and whether it is feasible [B]."""
    instances, nodes = batch.travel.shape[:2]
    copies = eightfold(batch) if decoding.copies == 8 else batch
    rollouts = decoding.rollouts(nodes)
    rolling: Network = network
    prepared = rolling.prepare(rolling.encode(problem.features(copies)))
    starts = torch.zeros(instances * decoding.copies, rollouts, dtype=torch.long, device=numbers.device)
    if decoding.all_starts:
        starts = starts + torch.arange(nodes, device=numbers.device)
    keys = None
    if decoding.samples:
        every = draws.keys(seed, numbers, torch.arange(decoding.copies * rollouts, device=numbers.device))
        keys = every.view(instances, decoding.copies, rollouts).transpose(0, 1).flatten(0, 1)
        if problem.spec.context_first:  # sampled tours of a TSP also sample where they start
            starts = (draws.uniforms(keys, START) * nodes).long().clamp(max=nodes - 1)
    result = rolled(decoding, rolling, problem, copies, prepared, starts, keys, decoding.heat(network, nodes))

    def per_instance(values: Tensor) -> Tensor:
        """[copies·B, S, ...] -> [B, copies·S, ...]"""
        shape = (decoding.copies, instances, *values.shape[1:])
        return values.view(shape).transpose(0, 1).flatten(1, 2)

    cost, penalty = per_instance(result.cost), per_instance(result.penalty)
    best = (cost.double() + INFEASIBLE * penalty.double()).argmin(1, keepdim=True)
    sequence = per_instance(result.sequence)
    chosen = sequence.gather(1, best[..., None].expand(-1, -1, sequence.shape[-1])).squeeze(1)
    return chosen, cost.gather(1, best).squeeze(1), penalty.gather(1, best).squeeze(1) == 0


def rolled(
    decoding: Decoding,
    network: Network,
    problem: Problem,
    batch: Any,
    prepared: Any,
    starts: Tensor,
    keys: Tensor | None,
    heat: float,
) -> Rollout:
    """The rollouts that a decoding asks for, from the given starts with the given draws."""
    if decoding.distinct and keys is not None:
        return roll_out_distinct(network, problem, batch, prepared, starts, keys, heat)
    return roll_out(network, problem, batch, prepared, starts, keys, measure=False, temperature=heat)


def batch_within(memory_gib: float, nodes: int, decoding: Decoding, width: int) -> int:
    """How many instances fit: their edge embeddings, and the rows of edges that all rollouts read at a step."""
    if memory_gib <= 0:
        raise BadInput(f"memory limit is {memory_gib:g} GiB; a number above 0 is accepted")
    edges = 3.0 * nodes * nodes * width  # the full table, its triangle, and one more while they are joined
    rows = 3.0 * decoding.rollouts(nodes) * nodes * width
    per_instance = 4 * decoding.copies * (edges + rows)
    return max(1, int(memory_gib * 2**30 / per_instance))


def _positive(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 < number < math.inf else None


def _nodes(arrays: Arrays) -> int:
    for field in ("coords", "matrix"):
        if field in arrays:
            return int(arrays[field].shape[1])
    raise BadInput("arrays hold neither coords nor a matrix")


def solutions(problem: Problem, sequences: Sequence[np.ndarray]) -> list[Any]:
    return [problem.to_solution(sequence.tolist()) for sequence in sequences]
