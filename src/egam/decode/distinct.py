"""Samples without replacement: rollouts that all differ.

Of twenty samples of a short route four may differ. Drawn without replacement, each is another solution. For that every
solution takes part in a race: its place is the logarithm of its probability plus Gumbel noise of its own, and those
with the S highest places are S samples without replacement. They are found without listing all solutions, as the
highest place among all that begin alike is Gumbel noise about the logarithm of the probability to begin so: each step
draws the places of all children of a prefix on condition that the highest is their parent's, and the S best of all
children go on (Kool, van Hoof and Welling, Stochastic Beams and Where to Find Them, 2019).

Where there are fewer than S solutions, the first one is repeated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from egam.decode import draws
from egam.decode.rollout import Network, Rollout, log_softmax
from egam.nn.decoder import View
from egam.problems.base import Problem, map_tensors

START = 1 << 20  # the number of the step that draws where a tour starts


@dataclass
class Race:
    """The prefixes that are in it, the highest place first."""

    likelihood: Float[Tensor, "B S"]  # logarithms of probabilities
    place: Float[Tensor, "B S"]  # -inf: a repetition of the first

    @classmethod
    def begin(cls, starts: Int[Tensor, "B S"]) -> Race:
        """One prefix, of probability 1."""
        place = torch.full(starts.shape, -math.inf, device=starts.device)
        place[:, 0] = 0.0
        return cls(torch.zeros_like(place), place)

    def step(
        self, log_p: Float[Tensor, "B S N"], uniform: Float[Tensor, "B S N"]
    ) -> tuple[Race, Int[Tensor, "B S"], Int[Tensor, "B S"]]:
        """Who goes on; whose child each of them is, and the node it went to."""
        likelihood = self.likelihood[..., None] + log_p
        place = beneath(self.place[..., None], likelihood + gumbel(uniform)).flatten(1)
        place, child = place.topk(log_p.shape[1])
        child = torch.where(place > -math.inf, child, child[:, :1])
        return Race(likelihood.flatten(1).gather(1, child), place), child // log_p.shape[2], child % log_p.shape[2]


def gumbel(uniform: Float[Tensor, "*S"]) -> Float[Tensor, "*S"]:
    """Gumbel noise from numbers in [0, 1) that are multiples of 2⁻²³."""
    return -torch.log(-torch.log(uniform + 2.0**-24))


def beneath(highest: Float[Tensor, "B S 1"], place: Float[Tensor, "B S N"]) -> Float[Tensor, "B S N"]:
    """Places as if they had been drawn on condition that the highest of each prefix is the given one.

    -log(exp(-highest) - exp(-max place) + exp(-place)), without overflow.
    """
    lower = place - place.amax(-1, keepdim=True)
    shift = highest - place + torch.log1p(-lower.exp())
    moved = highest - shift.clamp(min=0) - torch.log1p((-shift.abs()).exp())
    return torch.where((place > -math.inf) & (highest > -math.inf), moved, -math.inf)


@torch.no_grad()
def roll_out_distinct(
    network: Network,
    problem: Problem,
    batch: Any,
    prepared: Any,
    starts: Int[Tensor, "B S"],
    keys: Int[Tensor, "B S"],
    temperature: float = 1.0,
) -> Rollout:
    """S different samples for each row of the batch; likelihoods are not measured. Where a tour may start anywhere, its
    start is drawn as well, from equal probabilities; else all have the first of the given ones."""
    race, nodes = Race.begin(starts), batch.travel.shape[1]
    starts, same = (
        starts[:, :1].expand_as(starts),
        torch.arange(starts.shape[1], device=starts.device).expand_as(starts),
    )
    if problem.spec.context_first:
        uniform = draws.uniforms_of_nodes(keys, START, nodes)
        race, _, starts = race.step(torch.full_like(uniform, -math.log(nodes)), uniform)
    state = problem.start(batch, starts.contiguous())
    first = state.current
    parents: list[Tensor] = []
    actions: list[Tensor] = []
    while not bool(state.done.all()):
        allowed = problem.allowed(batch, state)
        if bool((allowed.sum(-1) > 1).any()):
            view = View(state.current, state.first, problem.context(batch, state), allowed)
            log_p = log_softmax(network.step(prepared, view) / temperature)
            race, parent, action = race.step(log_p, draws.uniforms_of_nodes(keys, len(actions), nodes))
            state = map_tensors(state, lambda field: _pick(field, parent))  # noqa: B023
        else:
            parent, action = same, allowed.to(torch.uint8).argmax(-1)
        state = problem.step(batch, state, action)
        parents.append(parent)
        actions.append(action)
    unknown = torch.full(starts.shape, math.nan, device=starts.device)
    cost, penalty = problem.cost(batch, state), problem.penalty(batch, state)
    return Rollout(_traced(first, parents, actions), cost, penalty, unknown, unknown[:, 0])


def _pick(field: Tensor, parent: Int[Tensor, "B S"]) -> Tensor:
    index = parent.view(*parent.shape, *[1] * (field.dim() - 2)).expand(*parent.shape, *field.shape[2:])
    return field.gather(1, index)


def _traced(first: Tensor, parents: list[Tensor], actions: list[Tensor]) -> Int[Tensor, "B S T1"]:
    """The sequences, from their last nodes back to their starts."""
    sequence, at = [], torch.arange(first.shape[1], device=first.device).expand_as(first)
    for parent, action in zip(reversed(parents), reversed(actions), strict=True):
        sequence.append(action.gather(1, at))
        at = parent.gather(1, at)
    return torch.stack([first.gather(1, at), *reversed(sequence)], -1)
