"""Imitation: the other training step, from solved instances (lessons.py) to gradients. Not in the paper.

    ∇L = -mean of ∇ log p(a_t | what was decided before), over the decisions a_t of a classical solver's solutions
A solution can be built in many orders that mean the same: a tour from any start and in both directions, routes in any
order. n of them are drawn for each copy, and scored in the one parallel pass of REINFORCE. No rollout is needed, and
the gradient says of every decision what was right, where REINFORCE only learns which of a few solutions were better.
So it is quick where instances are few; REINFORCE from there (`--init`) learns what the network itself does.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from egam.decode.rollout import Network, follow, log_likelihood
from egam.instance import KINDS
from egam.problems.base import Problem
from egam.train.lessons import Routes
from egam.train.reinforce import Draw, StepReport, features_part, rollout_part, symmetric_copies

IN_TIME = {"window", "draft_limit"}  # with such fields a route cannot be driven backwards


def variety(problem: Problem, n: int) -> int:
    """How many orders of a solution, at most n, are worth drawing."""
    if problem.spec.context_first or KINDS[problem.name].many_routes:
        return n
    return min(n, 2 if _reversible(problem) else 1)


def _reversible(problem: Problem) -> bool:
    return not problem.spec.directed and not IN_TIME & set(KINDS[problem.name].fields)


def orders(problem: Problem, routes: Routes, n: int, rng: np.random.Generator) -> list[list[int]]:
    """n node sequences, start first, that all build this solution: 0 between two routes and behind the last."""
    reversible = _reversible(problem)
    turned = (rng.integers(2) + np.arange(n)) % 2 == 1 if reversible else np.zeros(n, dtype=bool)
    if problem.spec.context_first:
        tour = [0, *(node for route in routes for node in route)]
        starts = rng.permutation(len(tour))[np.arange(n) % len(tour)]
        ways = [tour[::-1] if turn else tour for turn in turned]
        return [[*way[start:], *way[:start]] for way, start in zip(ways, starts, strict=True)]
    sequences = []
    for turn in turned:
        sequence, backwards = [0], turn
        for number in rng.permutation(len(routes)) if KINDS[problem.name].many_routes else range(len(routes)):
            sequence += [*(reversed(routes[number]) if backwards else routes[number]), 0]
            backwards = reversible and bool(rng.integers(2))  # each route for itself
        sequences.append(sequence)
    return sequences


def draw_orders(
    problem: Problem, routes: list[Routes], m: int, n: int, rng: np.random.Generator
) -> Int[Tensor, "mB n T1"]:
    """n orders of each instance's solution for each of its m copies, copy-major, with zeros behind the shorter ones."""
    drawn = [sequence for _ in range(m) for each in routes for sequence in orders(problem, each, n, rng)]
    padded = np.zeros((len(drawn), max(map(len, drawn))), dtype=np.int64)
    for row, sequence in zip(padded, drawn, strict=True):
        row[: len(sequence)] = sequence
    return torch.from_numpy(padded).view(m * len(routes), n, -1)


def imitation_step(
    network: Network,
    problem: Problem,
    batch: Any,
    sequences: Int[Tensor, "mB n T1"],
    draw: Draw,
    micro_batch: int,
    autocast: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> StepReport:
    """Add the gradient of this process's share of the batch to the network's .grad and report."""
    device = batch.travel.device
    m = len(sequences) // len(batch.travel)
    copies = symmetric_copies(batch, m, draw.seed, draw.instances(len(batch.travel), device))
    features = problem.features(copies)
    rollout, followed = follow(problem, copies, sequences.to(device))
    assert rollout.seen is not None
    decisions = (rollout.seen.allowed.sum(-1) > 1).sum(-1) * followed  # [m·B, n]
    weight = followed / (decisions.sum().clamp(min=1) * draw.world)
    loss = 0.0
    for at in range(0, len(copies.travel), micro_batch):
        part = slice(at, at + micro_batch)
        with autocast():
            encoded = network.encode(features_part(features, part))
            likelihood = log_likelihood(network, network.prepare(encoded), rollout_part(rollout, part))
        share = -(weight[part] * torch.where(followed[part], likelihood, 0.0)).sum()
        loss += float(share.detach()) * draw.world
        share.backward()
    return StepReport.of(loss, problem, copies, rollout)
