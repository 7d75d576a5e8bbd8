"""REINFORCE with the symmetry-based baseline: one training step, from a batch to gradients (eq. finalgra).

    for m turned or mirrored copies of each instance, n sampled solutions each:
    b(s) = mean of the m·n costs,   ∇L = mean of (C - b(s)) ∇ log p(solution)
Other methods put another baseline in its place (baselines.py) or add a term (`Extras`); the step is the same.
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
from jaxtyping import Float, Int
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

    def arrays(self, problem: Problem, batch: int, sizes: tuple[int, int], even: str = "steps") -> Arrays:
        """This process's share of the step's batch of fresh instances, one size for all of them."""
        rng, size = self._rng_and_size(sizes, even)
        return {field: values[self.rank :: self.world] for field, values in problem.generate(rng, batch, size).items()}

    def size(self, sizes: tuple[int, int], even: str = "steps") -> int:
        """Of the step's instances, as the problem counts."""
        return self._rng_and_size(sizes, even)[1]

    def _rng_and_size(self, sizes: tuple[int, int], even: str) -> tuple[np.random.Generator, int]:
        """From the range of sizes, each in as many steps, or each for as long, where a step takes about N²."""
        rng = np.random.default_rng([self.seed, self.step])
        if even == "steps":
            return rng, int(rng.integers(sizes[0], sizes[1] + 1))
        choices = np.arange(sizes[0], sizes[1] + 1)
        steps = 1.0 / choices**2
        return rng, int(rng.choice(choices, p=steps / steps.sum()))

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
    entropy: float  # mean per decision, in nats; NaN if it was not measured

    @classmethod
    def of(cls, loss: float, problem: Problem, copies: Any, rollout: Rollout) -> StepReport:
        """Means over all rollouts."""
        return cls(
            loss=loss,
            objective=float((rollout.cost + rollout.penalty).mean()),
            cost=float(paper_cost(problem, copies, rollout.cost).mean()),
            penalty=float(rollout.penalty.mean()),
            feasible=float((rollout.penalty == 0).float().mean()),
            entropy=float(rollout.entropy.mean()),
        )


def symmetric_copies(batch: Any, m: int, seed: int, instances: Tensor, turn: str = "all") -> Any:
    """m copies of each instance, copy-major, turned or mirrored at random: all of them, the others than the first, or
    none."""
    equal = repeat(batch, m)
    kept = {"all": 0, "others": len(batch.travel), "none": len(equal.travel)}[turn]
    copies = torch.arange(m, device=instances.device)
    u = draws.uniforms(draws.keys(seed ^ 0x5EED, instances, copies), 0)  # [B, m]
    turned = rotate_reflect(equal, u.T.flatten())
    return replace(turned, coords=torch.cat([equal.coords[:kept], turned.coords[kept:]])) if kept else turned


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


@dataclass
class Sampled:
    """A step's solutions, as a baseline sees them."""

    copies: Any  # the Batch of m·B copies
    starts: Int[Tensor, "mB n"]
    objective: Float[Tensor, "mB n"]  # cost and penalty, in scaled units
    m: int


def symmetry(sampled: Sampled) -> Float[Tensor, "mB n"]:
    """The paper's baseline."""
    return advantages(sampled.objective, sampled.m)


@dataclass(frozen=True)
class Extras:
    """What may be added to the paper's gradient; the defaults add nothing."""

    standardize: bool = False  # divide an instance's advantages by their standard deviation
    imitate: float = 0.0  # weight of imitating the best of an instance's m·n solutions
    entropy: float = 0.0  # weight of the policy's entropy, against early certainty
    turn: str = "all"  # which of the m copies are turned or mirrored: all, others (than the first), none
    invariance: Callable[[Tensor, int], Tensor] | None = None  # a loss of all node embeddings and m (invariance.py)


NOTHING = Extras()


def solution_weights(
    advantage: Float[Tensor, "mB n"],
    objective: Float[Tensor, "mB n"],
    log_likelihood: Float[Tensor, "mB n"],
    m: int,
    extras: Extras = NOTHING,
) -> Float[Tensor, "mB n"]:
    """What each solution's log-probability is multiplied by: the mean over all solutions of these products is the loss.

    The entropy enters as a cost: E[log p] is minus the entropy, and its gradient is that of REINFORCE with log p in the
    place of the cost.
    """
    weight = advantage
    if extras.standardize:
        per_instance = weight.view(m, -1, weight.shape[1])  # [m, B, n]
        spread = per_instance.pow(2).mean((0, 2), keepdim=True).sqrt()
        weight = (per_instance / spread.clamp(min=SPREAD)).view_as(weight)
    if extras.entropy:
        weight = weight + extras.entropy * advantages(log_likelihood, m)
    if extras.imitate:
        costs = objective.view(m, -1, weight.shape[1]).transpose(0, 1).flatten(1)  # [B, m·n]
        chosen = torch.zeros_like(costs).scatter_(1, costs.argmin(-1, keepdim=True), 1.0)
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
    baseline: Callable[[Sampled], Tensor] = symmetry,
) -> StepReport:
    """Add the gradient of this process's share of the batch to the network's .grad and report."""
    device = batch.travel.device
    instances = draw.instances(len(batch.travel), device)
    copies = symmetric_copies(batch, m, draw.seed, instances, extras.turn)
    features = problem.features(copies)
    total = len(copies.travel)
    parts = [slice(at, min(at + micro_batch, total)) for at in range(0, total, micro_batch)]
    keys = draws.keys(draw.seed, instances, torch.arange(m * n, device=device))
    keys = keys.view(-1, m, n).transpose(0, 1).flatten(0, 1)  # [m·B, n] copy-major
    starts = distinct_starts(problem, copies.travel.shape[1], keys)

    with autocast():
        encoded = [network.encode(features_part(features, part)) for part in parts]  # with gradients
        rollout = _sample(network, problem, copies, encoded, starts, keys)
    objective = rollout.cost + rollout.penalty
    advantage = baseline(Sampled(copies, starts, objective, m))
    weight = solution_weights(advantage, objective, rollout.log_likelihood, m, extras)
    weight = weight / (objective.numel() * draw.world)
    loss, pull = _invariance(extras, encoded, m, draw.world)

    for number, part in enumerate(parts):
        with autocast():
            likelihood = log_likelihood(network, network.prepare(encoded[number]), rollout_part(rollout, part))
        share = (weight[part] * likelihood).sum()
        loss += float(share.detach()) * draw.world
        if pull is not None:
            share = share + (encoded[number].nodes * pull[part]).sum()
        share.backward()
        encoded[number] = None
    return StepReport.of(loss, problem, copies, rollout)


def _sample(
    network: Network, problem: Problem, copies: Any, encoded: list[Any], starts: Tensor, keys: Tensor
) -> Rollout:
    """Sampled rollouts of each copy, one per start and key."""
    with torch.no_grad():
        whole = encoded[0] if len(encoded) == 1 else _joined(encoded)
        return roll_out(network, problem, copies, network.prepare(whole), starts, keys, record=True)


def _invariance(extras: Extras, encoded: list[Any], m: int, world: int) -> tuple[float, Tensor | None]:
    """The term's value and its gradient by the node embeddings [m·B, N, D]. It compares copies, which micro-batches
    may separate: so its gradient is taken here once for all, and each micro-batch carries its part on."""
    if extras.invariance is None:
        return 0.0, None
    nodes = torch.cat([part.nodes.detach() for part in encoded]).requires_grad_()
    value = extras.invariance(nodes, m) / world
    value.backward()
    return float(value.detach()) * world, nodes.grad


def _joined(encoded: list[Any]) -> Any:
    first = encoded[0]
    joined = {}
    for name, value in vars(first).items():
        joined[name] = torch.cat([getattr(part, name) for part in encoded]) if isinstance(value, Tensor) else value
    return type(first)(**joined)


def features_part(features: Features, part: slice) -> Features:
    return map_tensors(features, lambda tensor: tensor[part])


def rollout_part(rollout: Rollout, part: slice) -> Rollout:
    seen = rollout.seen
    assert seen is not None
    cut = map_tensors(rollout, lambda tensor: tensor[part])
    return replace(cut, seen=map_tensors(seen, lambda tensor: tensor[part]))
