"""A plain solution in no time: what solvers start from, and return when their time was too short.

Customers by deadline, by draft limit, or always the nearest next; then single stops move as long as that helps.
"""

from __future__ import annotations

import numpy as np

from egam.instance import Instance
from egam.judge import judge
from egam.solution import Solution

LARGEST_IMPROVED = 100  # nodes; beyond, improving would take longer than "no time"


def simple_solution(instance: Instance) -> Solution:
    customers = list(range(1, instance.size))
    if instance.kind.cost == "unserved":
        return Solution(())
    if instance.window is not None:
        ends = instance.window[:, 1]
        return _improved(instance, sorted(customers, key=lambda node: ends[node]))
    if instance.draft_limit is not None:
        limits = instance.draft_limit
        return _improved(instance, sorted(customers, key=lambda node: limits[node]))
    tour, left = [0], set(customers)
    while left:
        here = tour[-1]
        tour.append(min(left, key=lambda node: instance.travel[here, node]))
        left.remove(tour[-1])
    return _improved(instance, tour[1:])


def _improved(instance: Instance, route: list[int]) -> Solution:
    """Move single stops while that lowers the cost and keeps the rules."""
    best = judge(instance, Solution.of([route]))
    improving = best.feasible and instance.size <= LARGEST_IMPROVED
    while improving:
        improving = False
        for node in list(route):
            rest = [other for other in route if other != node]
            trials = [[*rest[:k], node, *rest[k:]] for k in range(len(route))]
            lengths = [instance.travel[[0, *trial], [*trial, 0]].sum() for trial in trials]
            for k in np.argsort(lengths)[:3]:
                verdict = judge(instance, Solution.of([trials[k]]))
                if verdict.feasible and verdict.cost < best.cost * (1 - 1e-9):
                    route, best, improving = trials[k], verdict, True
                    break
    return Solution.of([route])
