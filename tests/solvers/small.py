"""Instances small enough to try everything, and trying everything."""

from __future__ import annotations

import itertools
from dataclasses import fields, replace

import numpy as np

from egam.instance import Instance
from egam.judge import judge
from egam.solution import Solution

SIZE = 7


def make(problem: str, seed: int) -> Instance:
    """A small instance in raw units of its own (a map of 30 x 30)."""
    rng = np.random.default_rng([seed, *problem.encode()])
    coords = rng.random((SIZE, 2)) * 30
    none = np.zeros(1)
    match problem:
        case "tsp":
            return Instance("tsp", coords=coords)
        case "atsp":
            travel = Instance("tsp", coords=coords).travel
            return Instance("atsp", coords=coords, matrix=travel * (1 + 0.6 * rng.random(travel.shape)))
        case "cvrp":
            demand = np.concatenate((none, rng.integers(1, 10, SIZE - 1)))
            return Instance("cvrp", coords=coords, demand=demand, capacity=15)
        case "pctsp":
            prize, penalty = (np.concatenate((none, rng.random(SIZE - 1) * most)) for most in (0.6, 25))
            return Instance("pctsp", coords=coords, prize=prize, penalty=penalty, min_prize=1)
        case "tspdl":
            limit = np.array([SIZE - 1, 1, *rng.integers(2, SIZE, SIZE - 3), SIZE - 1])
            limit = np.maximum(limit, [0, 1, 2, 3, 4, 5, 6])
            return Instance("tspdl", coords=coords, demand=[0] + [1] * (SIZE - 1), draft_limit=limit)
        case "tsptw":  # a random tour is in time, so one exists
            order = [0, *rng.permutation(np.arange(1, SIZE))]
            travel = Instance("tsp", coords=coords).travel
            arrival = np.zeros(SIZE)
            arrival[order[1:]] = np.cumsum(travel[order[:-1], order[1:]])
            window = np.stack((arrival - 30 * rng.random(SIZE), arrival + 30 * rng.random(SIZE)), axis=1)
            window[0] = 0, 1000
            return Instance("tsptw", coords=coords, window=window)
        case "vrptw":
            start = rng.random(SIZE) * 90
            window = np.stack((start, start + 10 * rng.random(SIZE)), axis=1)
            window[0] = 0, 1000
            return Instance("vrptw", coords=coords, window=window)
    raise AssertionError(problem)


def candidates(instance: Instance):
    """All solutions worth a look."""
    customers = range(1, instance.size)
    fewest = 0 if instance.kind.optional_stops else instance.size - 1
    for count in range(fewest, instance.size):
        for order in itertools.permutations(customers, count):
            yield Solution.of([order])


def partitions(items: list[int]):
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for count in range(len(rest) + 1):
        for others in itertools.combinations(rest, count):
            for more in partitions([item for item in rest if item not in others]):
                yield [[first, *others], *more]


def brute_force(instance: Instance) -> float:
    if not instance.kind.many_routes:
        verdicts = (judge(instance, solution) for solution in candidates(instance))
        return min(verdict.cost for verdict in verdicts if verdict.feasible)

    def shortest(group):
        return min((judge(instance, Solution.of([order])).length, order) for order in itertools.permutations(group))

    tours = {}
    best = np.inf
    for groups in partitions(list(range(1, instance.size))):
        for group in groups:
            tours.setdefault(tuple(group), None)
            if tours[tuple(group)] is None:
                tours[tuple(group)] = shortest(group)[1]
        verdict = judge(instance, Solution.of(tours[tuple(group)] for group in groups))
        best = min(best, verdict.cost) if verdict.feasible else best
    return best


def in_units(instance: Instance, length: float, load: float = 1.0) -> Instance:
    """The same instance with lengths and times in another unit, and loads in another."""
    changed = {name: length for name in ("coords", "matrix", "penalty", "window")}
    changed |= {name: load for name in ("demand", "capacity", "draft_limit", "prize", "min_prize")}
    return replace(
        instance,
        **{
            field.name: getattr(instance, field.name) * changed[field.name]
            for field in fields(instance)
            if field.name in changed and getattr(instance, field.name) is not None
        },
    )
