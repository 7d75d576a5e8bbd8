"""What a solution's cost is compared with while training. One call for all: a step's samples in, advantages out.

    symmetry      mean over the m·n solutions of an instance: the paper's, and POMO's with m = 1 (see reinforce.py)
    symnco        L_ps + L_ss: that mean, and the mean over the n solutions of the same copy
    exponential   one moving mean for all instances
    rollout       Kool's: the greedy solution of a frozen copy of the network; during the first epoch the exponential
                  mean. After each epoch the network replaces its copy if it is better on instances held out for that
Those with a memory say what a checkpoint must hold.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, distributed, nn

from egam.decode.rollout import Network, roll_out
from egam.problems.base import Problem, map_tensors
from egam.train.config import TrainConfig
from egam.train.reinforce import Sampled, symmetry
from egam.train.ttest import p_lower

DECAY = 0.8  # of the exponential mean
SIGNIFICANT = 0.05
HELD_OUT_SEED = 8765
TOGETHER = 1 << 20  # held-out instances that are solved together, times their N²


class Baseline(Protocol):
    def advantages(self, sampled: Sampled) -> Float[Tensor, "mB n"]: ...
    def end_epoch(self, network: nn.Module) -> str:
        """Called every `epoch` steps; what is worth telling, or nothing."""

    def state(self) -> dict[str, Tensor]: ...
    def load(self, state: dict[str, Tensor]) -> None: ...


def make_baseline(config: TrainConfig, network: nn.Module, problem: Problem) -> Baseline:
    if config.baseline == "rollout":
        return GreedyRollout(network, problem, config.sizes[1], config.held_out, config.seed)
    if config.baseline == "exponential":
        return Exponential()
    return Stateless({"symmetry": symmetry, "symnco": symnco}[config.baseline])


@dataclass(frozen=True)
class Stateless:
    advantages: Callable[[Sampled], Tensor]

    def end_epoch(self, network: nn.Module) -> str:
        return ""

    def state(self) -> dict[str, Tensor]:
        return {}

    def load(self, state: dict[str, Tensor]) -> None:
        pass


def symnco(sampled: Sampled) -> Float[Tensor, "mB n"]:
    """The sum of problem- and solution-symmetric advantages, as the loss is the sum of both."""
    costs = sampled.objective.view(sampled.m, -1, sampled.objective.shape[1])  # [m, B, n]
    problem_symmetric = costs - costs.mean((0, 2), keepdim=True)
    solution_symmetric = costs - costs.mean(2, keepdim=True)
    return (problem_symmetric + solution_symmetric).view_as(sampled.objective)


class Exponential:
    """v <- 0.8 v + 0.2 mean of the step's costs, the first step's mean to begin with."""

    def __init__(self) -> None:
        self.mean = math.nan

    def advantages(self, sampled: Sampled) -> Float[Tensor, "mB n"]:
        now = _mean_over_processes(sampled.objective)
        self.mean = now if math.isnan(self.mean) else DECAY * self.mean + (1 - DECAY) * now
        return sampled.objective - self.mean

    def end_epoch(self, network: nn.Module) -> str:
        return ""

    def state(self) -> dict[str, Tensor]:
        return {"mean": torch.tensor(self.mean, dtype=torch.float64)}

    def load(self, state: dict[str, Tensor]) -> None:
        self.mean = float(state["mean"])


class GreedyRollout:
    """The frozen copy solves the same instances greedily, from the same starts where the start is free."""

    def __init__(self, network: nn.Module, problem: Problem, size: int, held_out: int, seed: int):
        self.problem, self.size, self.held_out, self.seed = problem, size, held_out, seed
        self.frozen: Any = copy.deepcopy(network).eval().requires_grad_(False)
        self.warm_up = Exponential()
        self.epochs = self.replaced = 0

    def advantages(self, sampled: Sampled) -> Float[Tensor, "mB n"]:
        if self.epochs == 0:
            return self.warm_up.advantages(sampled)
        starts = sampled.starts if self.problem.spec.context_first else sampled.starts[:, :1]
        return sampled.objective - greedy_objective(self.frozen, self.problem, sampled.copies, starts)

    def end_epoch(self, network: nn.Module) -> str:
        """The challenge: a one-sided paired t-test on the held-out instances; a winner gets fresh ones."""
        self.epochs += 1
        candidate, current = (self._held_out_objective(either) for either in (network, self.frozen))
        p = _of_first_process(p_lower(candidate, current))
        found = f"epoch {self.epochs}: greedy {candidate.mean():.4f}, baseline {current.mean():.4f}, p = {p:.2g}"
        if p >= SIGNIFICANT:
            return f"{found}: the baseline stays"
        self.frozen.load_state_dict(network.state_dict())
        self.replaced += 1
        return f"{found}: the baseline is replaced"

    def _held_out_objective(self, network: Any) -> np.ndarray:
        rng = np.random.default_rng([HELD_OUT_SEED, self.seed, self.replaced])
        arrays = self.problem.generate(rng, self.held_out, self.size)
        device = next(network.parameters()).device
        network.eval()
        found = []
        together = max(1, TOGETHER // self.size**2)
        for at in range(0, self.held_out, together):
            batch = self.problem.to_batch({field: values[at : at + together] for field, values in arrays.items()})
            batch = map_tensors(batch, lambda tensor: tensor.to(device))
            starts = torch.zeros(len(batch.travel), 1, dtype=torch.long, device=device)
            found.append(greedy_objective(network, self.problem, batch, starts)[:, 0])
        return torch.cat(found).double().cpu().numpy()

    def state(self) -> dict[str, Tensor]:
        counts = {"epochs": torch.tensor(self.epochs), "replaced": torch.tensor(self.replaced)}
        frozen = {f"frozen.{name}": tensor for name, tensor in self.frozen.state_dict().items()}
        return counts | self.warm_up.state() | frozen

    def load(self, state: dict[str, Tensor]) -> None:
        self.epochs, self.replaced = int(state["epochs"]), int(state["replaced"])
        self.warm_up.load(state)
        self.frozen.load_state_dict({name: state[f"frozen.{name}"] for name in self.frozen.state_dict()})


@torch.no_grad()
def greedy_objective(network: Network, problem: Problem, batch: Any, starts: Int[Tensor, "B S"]) -> Tensor:
    """[B, S] cost and penalty of greedy solutions, in scaled units."""
    prepared = network.prepare(network.encode(problem.features(batch)))
    rollout = roll_out(network, problem, batch, prepared, starts)
    return rollout.cost + rollout.penalty


def _mean_over_processes(values: Tensor) -> float:
    mean = values.double().mean()
    if distributed.is_available() and distributed.is_initialized():
        distributed.all_reduce(mean)
        mean = mean / distributed.get_world_size()
    return float(mean)


def _of_first_process(value: float) -> float:
    """So that all processes replace their copies, or none: batch norm's running statistics are each one's own."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return value
    shared = torch.tensor(value, dtype=torch.float64, device="cuda" if distributed.get_backend() == "nccl" else "cpu")
    distributed.broadcast(shared, 0)
    return float(shared)
