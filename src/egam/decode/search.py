"""Round after round of solutions for a few instances of one size: what `egam.solve` is for networks.

    search = Search(network, problem, instances, ...)
    search.round(Decoding(8), first=0)         the best sequences of each instance, best first
A decoding's copies, samples and starts mean what they mean in strategies.py. Instances are encoded once and kept as
long as memory allows; the rest is encoded again when its turn comes. Sampled solutions are numbered: number k is the
same whatever came before it, in whatever batch (draws.py), so that more rounds only ever add solutions. Which solution
is the best is decided by the judge, outside: here float32 costs pick a few candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from egam.decode import draws
from egam.decode.distinct import START
from egam.decode.rollout import Network
from egam.decode.strategies import INFEASIBLE, Decoding, rolled
from egam.errors import BadInput
from egam.instance import Instance
from egam.nn import Model
from egam.problems.base import Problem, map_tensors, stack
from egam.problems.symmetry import eightfold
from egam.solvers import SOLVERS

KEEP = 4  # candidates per instance and round
ENCODED_TOGETHER = 64 << 20  # bytes of edge embeddings on a CPU; larger batches only wait for memory
STEP_BYTES = 256 << 20  # that the rows of edges of all rollouts of a step may take
GIB = 2**30


@dataclass
class Part:
    """Copies of instances that are encoded together."""

    rows: list[int]  # copy-major: row c * B + b is copy c of instance b
    batch: Any
    prepared: Any = None


@dataclass
class Found:
    """Candidates of one instance, as they come."""

    scores: list[float]
    sequences: list[np.ndarray]

    def best(self) -> list[np.ndarray]:
        order = np.argsort(self.scores, kind="stable")
        return [self.sequences[k] for k in order[:KEEP]]


class Search:
    def __init__(
        self,
        network: Model,
        problem: Problem,
        instances: Sequence[Instance],
        seed: int = 0,
        memory_gib: float = 6.0,
        device: str = "cpu",
    ):
        self.network, self.problem, self.seed = network.eval(), problem, seed
        self.rolling: Network = network
        self.device = torch.device(device)
        self.count, self.nodes = len(instances), instances[0].size
        self.memory = memory_gib * GIB
        batch = problem.to_batch(stack(instances), generated=False)
        self.batch = map_tensors(batch, lambda tensor: tensor.to(self.device))
        self.parts: dict[tuple[int, ...], Part] = {}

    @torch.inference_mode()
    def round(self, decoding: Decoding, first: int = 0, copies: Sequence[int] | None = None) -> list[list[np.ndarray]]:
        """The best node sequences of each instance. `first` is the number of the first sample; `copies` names some."""
        if decoding.all_starts and not self.problem.spec.context_first:
            raise BadInput(f"decoding from all starts: {self.problem.name} begins at node 0")
        chosen = list(range(decoding.copies)) if copies is None else list(copies)
        found = [Found([], []) for _ in range(self.count)]
        heat = decoding.heat(self.network, self.nodes)
        for part in self._parts(chosen):
            self._prepare(part)
            for starts, keys in self._rollouts(part, decoding, first):
                result = rolled(decoding, self.rolling, self.problem, part.batch, part.prepared, starts, keys, heat)
                score = result.cost.double() + INFEASIBLE * result.penalty.double()
                score, at = score.topk(min(KEEP, score.shape[1]), largest=False)
                best = result.sequence.gather(1, at[..., None].expand(-1, -1, result.sequence.shape[-1]))
                for row, scores, sequences in zip(part.rows, score.tolist(), best.cpu().numpy(), strict=True):
                    found[row % self.count].scores.extend(scores)
                    found[row % self.count].sequences.extend(sequences)
        return [each.best() for each in found]

    def _parts(self, copies: list[int]) -> Iterator[Part]:
        rows = [copy * self.count + instance for copy in copies for instance in range(self.count)]
        table = self.nodes**2 * self.network.shape.width * 4
        size = max(1, int(min(ENCODED_TOGETHER, self.memory / 4) // table))
        for at in range(0, len(rows), size):
            part = tuple(rows[at : at + size])
            if part not in self.parts:
                self._make_room(len(part))
                index = torch.tensor(part, device=self.device)
                every = self.batch if max(part) < self.count else self._copies
                self.parts[part] = Part(list(part), map_tensors(every, lambda t: t.index_select(0, index)))  # noqa: B023
            yield self.parts[part]

    @cached_property
    def _copies(self) -> Any:
        return eightfold(self.batch)

    def _prepare(self, part: Part) -> None:
        if part.prepared is None:
            part.prepared = self.rolling.prepare(self.rolling.encode(self.problem.features(part.batch)))

    def _make_room(self, rows: int) -> None:
        """Forget the oldest parts until `rows` more fit into half of the memory."""
        each = 2 * self.nodes**2 * self.network.shape.width * 4  # small instances keep a transposed table as well
        while self.parts and (rows + sum(len(part.rows) for part in self.parts.values())) * each > self.memory / 2:
            del self.parts[next(iter(self.parts))]

    def _rollouts(self, part: Part, decoding: Decoding, first: int) -> Iterator[tuple[Tensor, Tensor | None]]:
        """Starts [rows, S] and keys of samples, in pieces whose steps fit into memory."""
        number = torch.arange(decoding.rollouts(self.nodes), device=self.device)
        each = 3 * self.nodes * self.network.shape.width * 4
        if decoding.distinct:  # those of a piece differ: how many it has must not depend on an instance's company
            together = max(1, min(STEP_BYTES * self.nodes // (3 * ENCODED_TOGETHER), STEP_BYTES // each))
        else:
            together = max(1, STEP_BYTES // (len(part.rows) * each))
        copy = torch.tensor([row // self.count for row in part.rows], device=self.device)
        same = torch.zeros(1, dtype=torch.long, device=self.device)  # an instance's draws do not depend on its company
        for piece in number.split(together):
            starts = (piece if decoding.all_starts else torch.zeros_like(piece)).expand(len(part.rows), -1)
            keys = None
            if decoding.samples:
                numbers = first + piece * 8 + copy[:, None]  # [rows, S]
                keys = draws.keys(self.seed, same, numbers.flatten()).view_as(numbers)
                if self.problem.spec.context_first:  # sampled tours of a TSP also sample where they start
                    starts = (draws.uniforms(keys, START) * self.nodes).long().clamp(max=self.nodes - 1)
            yield starts.contiguous(), keys


def usable(device: str) -> str:
    """The device's name, or a sentence that says why it cannot be used."""
    try:
        torch.zeros(1, device=torch.device(device))
    except (RuntimeError, AssertionError) as error:
        raise BadInput(f"device '{device}' cannot be used here: {str(error).splitlines()[0]}") from None
    return device


def needed_gib(network: Model, nodes: int) -> float:
    """About what a process needs that solves one instance of this size, libraries included."""
    edge = 4 * network.shape.width if network.name == "egam" else 8 * network.shape.heads
    return (nodes**2 * (edge + 100)) / GIB + 0.4


def check_memory(network: Model, instance: Instance, memory_gib: float) -> None:
    """Refuse what does not fit, and say what would."""
    needed = needed_gib(network, instance.size)
    if needed <= memory_gib:
        return
    fits = instance.size
    while fits > 0 and needed_gib(network, fits) > memory_gib:
        fits = fits * 99 // 100
    others = [name for name, solver in SOLVERS.items() if instance.problem in solver.problems and name != "held-karp"]
    raise BadInput(
        f"{instance.name or 'instance'}: {instance.size} nodes need about {needed:.1f} GiB, the limit is "
        f"{memory_gib:g}, which {fits} nodes fit into; give more with memory, or use a classical method"
        f"{': ' + ', '.join(others) if others else ''}"
    )
