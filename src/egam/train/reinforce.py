"""REINFORCE with the symmetry-based baseline: one training step, from a batch to gradients (eq. finalgra).

    for m turned or mirrored copies of each instance, n sampled solutions each:
    b(s) = mean of the m·n costs,   ∇L = mean of (C - b(s)) ∇ log p(solution)
Sample first, score after: the network encodes with gradients once, rolls out without, and one parallel pass gives the
log-probabilities of all finished rollouts. Encoding and scoring go through in micro-batches that stay in the
processor's cache; their gradients add up to the batch's. All randomness is a function of (seed, step, instance), so
that neither the split into micro-batches nor into processes changes what is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from egam.decode import draws
from egam.decode.rollout import Network, Rollout, log_likelihood, roll_out
from egam.problems.base import Arrays, Features, Problem, map_tensors, paper_cost
from egam.problems.symmetry import repeat, rotate_reflect

SPREAD = 1e-3  # scaled units: advantages of solutions that differ by less are not blown up


@dataclass(frozen=True)
class Draw:
    """Which random numbers a step uses, and which share of the batch this process works on."""

    seed: int
    step: int
    rank: int = 0
    world: int = 1

    def arrays(self, problem: Problem, batch: int, sizes: tuple[int, int]) -> Arrays:
        """This process's share of the step's batch of fresh instances, one size for all of them."""
        rng = np.random.default_rng([self.seed, self.step])
        size = int(rng.integers(sizes[0], sizes[1] + 1))
        return {field: values[self.rank :: self.world] for field, values in problem.generate(rng, batch, size).items()}

    def instances(self, count: int, device: torch.device) -> Tensor:
        """[count] the numbers of this process's instances among all that were ever drawn."""
        local = torch.arange(count, device=device) * self.world + self.rank
        return local + (self.step << 24)


@dataclass
class StepReport:
    loss: float
    objective: float  # mean of what is minimised: cost and penalty, in scaled units
    cost: float  # mean, in the literature's units
    penalty: float
    feasible: float  # share of sampled solutions
    entropy: float  # mean per decision, in nats


def symmetric_copies(batch: Any, m: int, seed: int, instances: Tensor) -> Any:
    """m copies of each instance, copy-major, each turned or mirrored at random."""
    copies = torch.arange(m, device=instances.device)
    u = draws.uniforms(draws.keys(seed ^ 0x5EED, instances, copies), 0)  # [B, m]
    return rotate_reflect(repeat(batch, m), u.T.flatten())


def distinct_starts(problem: Problem, nodes: int, keys: Tensor) -> Tensor:
    """[B, S] where rollouts begin: different nodes, uniformly drawn, where the start is free; else node 0."""
    if not problem.spec.context_first:
        return torch.zeros_like(keys)
    noise = draws.uniforms(draws.mix(keys[:, :1]) + torch.arange(nodes, device=keys.device), 1)  # [B, N]
    order = noise.argsort(-1)
    return order[:, torch.arange(keys.shape[1], device=keys.device) % nodes]


def advantages(objective: Float[Tensor, "mB n"], m: int) -> Float[Tensor, "mB n"]:
    """Cost minus the mean over an instance's m·n solutions; they sum to 0 over each instance."""
    per_instance = objective.view(m, -1, objective.shape[1])  # [m, B, n]
    return (per_instance - per_instance.mean((0, 2), keepdim=True)).view_as(objective)


@dataclass(frozen=True)
class Extras:
    """What may be added to the paper's gradient; the defaults add nothing."""

    standardize: bool = False  # divide an instance's advantages by their standard deviation
    imitate: float = 0.0  # weight of imitating the best of an instance's m·n solutions
    entropy: float = 0.0  # weight of the policy's entropy, against early certainty


NOTHING = Extras()


def solution_weights(
    objective: Float[Tensor, "mB n"], log_likelihood: Float[Tensor, "mB n"], m: int, extras: Extras = NOTHING
) -> Float[Tensor, "mB n"]:
    """What each solution's log-probability is multiplied by: the mean over all solutions of these products is the loss.

    The entropy enters as a cost: E[log p] is minus the entropy, and its gradient is that of REINFORCE with log p in the
    place of the cost.
    """
    weight = advantages(objective, m)
    per_instance = weight.view(m, -1, weight.shape[1])  # [m, B, n]
    if extras.standardize:
        spread = per_instance.pow(2).mean((0, 2), keepdim=True).sqrt()
        weight = (per_instance / spread.clamp(min=SPREAD)).view_as(weight)
    if extras.entropy:
        weight = weight + extras.entropy * advantages(log_likelihood, m)
    if extras.imitate:
        best = per_instance.transpose(0, 1).flatten(1).argmin(-1, keepdim=True)  # [B, 1]
        chosen = torch.zeros_like(per_instance.transpose(0, 1).flatten(1)).scatter_(1, best, 1.0)
        chosen = chosen.view(-1, m, weight.shape[1]).transpose(0, 1).reshape(weight.shape)
        weight = weight - extras.imitate * m * weight.shape[1] * chosen
    return weight


def reinforce_step(
    network: Network,
    problem: Problem,
    batch: Any,
    draw: Draw,
    m: int,
    n: int,
    micro_batch: int,
    extras: Extras = NOTHING,
    autocast: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> StepReport:
    """Add the gradient of this process's share of the batch to the network's .grad and report."""
    device = batch.travel.device
    instances = draw.instances(len(batch.travel), device)
    copies = symmetric_copies(batch, m, draw.seed, instances)
    features = problem.features(copies)
    total = len(copies.travel)
    parts = [slice(at, min(at + micro_batch, total)) for at in range(0, total, micro_batch)]

    with autocast():
        encoded = [network.encode(_part(features, part)) for part in parts]  # with gradients
        rollout = _sample(
            network,
            problem,
            copies,
            encoded,
            draws.keys(draw.seed, instances, torch.arange(m * n, device=device)),
            m,
            n,
        )
    objective = rollout.cost + rollout.penalty
    weight = solution_weights(objective, rollout.log_likelihood, m, extras) / (objective.numel() * draw.world)

    loss = 0.0
    for number, part in enumerate(parts):
        with autocast():
            likelihood = log_likelihood(network, network.prepare(encoded[number]), _rollout_part(rollout, part))
        share = (weight[part] * likelihood).sum()
        share.backward()
        loss += float(share.detach()) * draw.world
        encoded[number] = None
    return StepReport(
        loss=loss,
        objective=float(objective.mean()),
        cost=float(paper_cost(problem, copies, rollout.cost).mean()),
        penalty=float(rollout.penalty.mean()),
        feasible=float((rollout.penalty == 0).float().mean()),
        entropy=float(rollout.entropy.mean()),
    )


def _sample(
    network: Network, problem: Problem, copies: Any, encoded: list[Any], keys: Tensor, m: int, n: int
) -> Rollout:
    """n sampled rollouts of each copy. `keys` [B, m·n] -> copy-major [m·B, n]."""
    copy_keys = keys.view(-1, m, n).transpose(0, 1).flatten(0, 1)
    with torch.no_grad():
        whole = encoded[0] if len(encoded) == 1 else _joined(encoded)
        prepared = network.prepare(whole)
        starts = distinct_starts(problem, copies.travel.shape[1], copy_keys)
        return roll_out(network, problem, copies, prepared, starts, copy_keys, record=True)


def _joined(encoded: list[Any]) -> Any:
    first = encoded[0]
    joined = {}
    for name, value in vars(first).items():
        joined[name] = torch.cat([getattr(part, name) for part in encoded]) if isinstance(value, Tensor) else value
    return type(first)(**joined)


def _part(features: Features, part: slice) -> Features:
    return map_tensors(features, lambda tensor: tensor[part])


def _rollout_part(rollout: Rollout, part: slice) -> Rollout:
    seen = rollout.seen
    assert seen is not None
    cut = map_tensors(rollout, lambda tensor: tensor[part])
    return replace(cut, seen=map_tensors(seen, lambda tensor: tensor[part]))
