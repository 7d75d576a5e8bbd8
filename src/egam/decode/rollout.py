"""The one decoding loop: all problems, all networks, greedy or sampled.

    state = start;  until all are done:  look, ask the network for logits, choose, step
A step at which no rollout has a choice does not ask the network. What was seen at each step can be recorded, so that
training can score the finished sequences in one parallel pass (`log_likelihood`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from egam.decode import draws
from egam.nn.decoder import View
from egam.problems.base import Problem


class Network(Protocol):
    def encode(self, features: Any) -> Any: ...
    def prepare(self, encoded: Any) -> Any: ...
    def step(self, prepared: Any, view: View) -> Tensor: ...
    def score(self, prepared: Any, view: View, groups: int) -> Tensor: ...


@dataclass
class Rollout:
    """Finished rollouts; T steps."""

    sequence: Int[Tensor, "B S T1"]  # visited nodes, the start first; T1 = T + 1
    cost: Float[Tensor, "B S"]  # scaled units
    penalty: Float[Tensor, "B S"]  # 0 if feasible
    log_likelihood: Float[Tensor, "B S"]
    entropy: Float[Tensor, " B"]  # mean over rollouts and decisions
    seen: View | None = None  # recorded views, [B, S, T, ...] in each field


def log_softmax(logits: Tensor) -> Tensor:
    """Log-probabilities, in single precision at least."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)


def choose(
    logits: Float[Tensor, "B S N"], uniform: Float[Tensor, "B S"] | None, temperature: float = 1.0
) -> Int[Tensor, "B S"]:
    """The most likely node, or a sampled one by inverting the cumulative distribution."""
    if uniform is None:
        return logits.argmax(-1)
    cumulative = (logits / temperature).softmax(-1).cumsum(-1)
    return (cumulative <= uniform[..., None] * cumulative[..., -1:]).sum(-1)


@torch.no_grad()
def roll_out(
    network: Network,
    problem: Problem,
    batch: Any,
    prepared: Any,
    starts: Int[Tensor, "B S"],
    keys: Int[Tensor, "B S"] | None = None,
    record: bool = False,
    measure: bool = True,
    temperature: float = 1.0,
) -> Rollout:
    """Greedy rollouts, or sampled ones where `keys` are given (see draws.py). Log-likelihood and entropy are those of
    the network, whatever the temperature of the samples; if they are not to be measured, they are NaN."""
    state = problem.start(batch, starts)
    sequence, seen = [state.current], []
    likelihood = torch.full(starts.shape, 0.0 if measure else math.nan, device=starts.device)
    surprise, decisions = likelihood.clone(), likelihood.clone()
    number = 0
    while not bool(state.done.all()):
        allowed = problem.allowed(batch, state)
        view = View(state.current, state.first, problem.context(batch, state), allowed)
        open_ends = allowed.sum(-1) > 1  # [B, S] is there a choice?
        if bool(open_ends.any()):
            logits = network.step(prepared, view)
            action = choose(logits, None if keys is None else draws.uniforms(keys, number), temperature)
            if measure:
                log_p = log_softmax(logits)
                likelihood += log_p.gather(-1, action[..., None]).squeeze(-1)
                surprise += torch.where(log_p > -math.inf, -log_p.exp() * log_p, 0.0).sum(-1)
                decisions += open_ends
        else:
            action = allowed.to(torch.uint8).argmax(-1)
        state = problem.step(batch, state, action)
        sequence.append(action)
        if record:
            seen.append(view)
        number += 1
    return Rollout(
        sequence=torch.stack(sequence, -1),
        cost=problem.cost(batch, state),
        penalty=problem.penalty(batch, state),
        log_likelihood=likelihood,
        entropy=surprise.sum(-1) / decisions.sum(-1).clamp(min=1),
        seen=_stack(seen) if record else None,
    )


@torch.no_grad()
def follow(problem: Problem, batch: Any, sequences: Int[Tensor, "B S T1"]) -> tuple[Rollout, Bool[Tensor, "B S"]]:
    """The rollouts that go where they are told, start first, recorded but without likelihoods; and which of them could:
    those that were told to go where the problem does not allow it went elsewhere."""
    state = problem.start(batch, sequences[..., 0])
    taken, seen = [state.current], []
    followed = torch.ones_like(state.done)
    while not bool(state.done.all()):
        allowed = problem.allowed(batch, state)
        seen.append(View(state.current, state.first, problem.context(batch, state), allowed))
        told = sequences[..., min(len(taken), sequences.shape[-1] - 1)]
        may = allowed.gather(-1, told[..., None]).squeeze(-1)
        followed = followed & (may | state.done)
        action = torch.where(may & ~state.done, told, allowed.to(torch.uint8).argmax(-1))
        state = problem.step(batch, state, action)
        taken.append(action)
    unknown = torch.full(followed.shape, math.nan, device=followed.device)
    sequence, cost, penalty = torch.stack(taken, -1), problem.cost(batch, state), problem.penalty(batch, state)
    return Rollout(sequence, cost, penalty, unknown, unknown[:, 0], _stack(seen)), followed


def _stack(views: list[View]) -> View:
    return View(
        *(torch.stack([getattr(v, name) for v in views], 2) for name in ("current", "first", "context", "allowed"))
    )


def log_likelihood(network: Network, prepared: Any, rollout: Rollout) -> Float[Tensor, "B S"]:
    """log p(sequence) with gradients: every decision of every rollout in one pass, grouped by where it was taken.

    A node other than 0 is left at most once, so that the decisions of S rollouts make at most S per node: groups of
    equal size, each with its own row of edges. Node 0 may be left more often (CVRP's depot); its further decisions
    make one more group.
    """
    seen = rollout.seen
    assert seen is not None
    batch, rollouts, steps, nodes = seen.allowed.shape
    decides = seen.allowed.sum(-1) > 1  # [B, S, T]
    visit = torch.where(decides & (seen.current == 0), 1, 0).cumsum(-1) - 1  # how often node 0 decided before
    time = torch.arange(steps, device=decides.device).expand_as(decides)
    slot = torch.where(decides & ((seen.current > 0) | (visit == 0)), seen.current, nodes)  # nodes = nowhere
    by_node = time.new_full((batch, rollouts, nodes + 1), -1).scatter_(2, slot, time)[
        ..., :nodes
    ]  # [B, S, N] step or -1
    total = _score(network, prepared, rollout, by_node.transpose(1, 2), nodes)
    again = int(visit.max()) if steps else 0
    if again > 0:
        slot = torch.where(decides & (seen.current == 0) & (visit > 0), visit - 1, again)
        at_depot = time.new_full((batch, rollouts, again + 1), -1).scatter_(2, slot, time)[..., :again]
        total = total + _score(network, prepared, rollout, at_depot.transpose(1, 2), 1)
    return total


def _score(network: Network, prepared: Any, rollout: Rollout, step: Int[Tensor, "B G S"], groups: int) -> Tensor:
    """[B, S] sum of the log-probabilities of the decisions taken at the given steps (-1: none)."""
    seen = rollout.seen
    assert seen is not None
    _, rollouts, steps, _ = seen.allowed.shape
    number = torch.arange(rollouts, device=step.device)
    at = (number * steps + step.clamp(min=0)).flatten(1)  # [B, G·S] index into S·T

    def pick(values: Tensor) -> Tensor:
        flat = values.flatten(1, 2)  # [B, S·T, ...]
        index = at.view(*at.shape, *[1] * (flat.dim() - 2)).expand(*at.shape, *flat.shape[2:])
        return flat.gather(1, index)

    view = View(pick(seen.current), pick(seen.first), pick(seen.context), pick(seen.allowed))
    action = pick(rollout.sequence[..., 1:])
    log_p = log_softmax(network.score(prepared, view, groups))  # [B, G·S, N]
    taken = log_p.gather(-1, action[..., None]).squeeze(-1).view_as(step)
    return torch.where(step >= 0, taken, 0.0).sum(1)
