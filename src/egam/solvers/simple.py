"""A plain solution in no time: what solvers start from, and return when their time was too short.

The best of the plain rules (neighbour.py, deadline.py, insertion.py); then, on a single route, stops move one at a time
as long as that helps.
"""

from __future__ import annotations

import numpy as np

from egam.instance import Instance
from egam.judge import judge
from egam.solution import Solution
from egam.solvers import deadline, insertion, neighbour

LARGEST_INSERTED = 200  # nodes; beyond, insertion takes longer than "no time"
LARGEST_IMPROVED = 200


def simple_solution(instance: Instance) -> Solution:
    tried = [neighbour.solve(instance, 1.0)]
    if instance.window is not None or instance.draft_limit is not None:
        tried.append(deadline.solve(instance, 1.0))
    if instance.size <= LARGEST_INSERTED:
        tried.append(insertion.cheapest(instance, 1.0))
    verdicts = [judge(instance, solution) for solution in tried]
    best = min(range(len(tried)), key=lambda k: (not verdicts[k].feasible, verdicts[k].cost))
    if len(tried[best].routes) != 1 or instance.kind.optional_stops:
        return tried[best]
    return _improved(instance, list(tried[best].routes[0]))


def _improved(instance: Instance, route: list[int]) -> Solution:
    """Move single stops while that shortens the route and keeps the rules."""
    improving = instance.size <= LARGEST_IMPROVED and judge(instance, Solution.of([route])).feasible
    while improving:
        improving = False
        for node in list(route):
            at = route.index(node)
            rest = [*route[:at], *route[at + 1 :]]
            longer = insertion.places(instance, rest, np.array([node]))[0]
            best = int(np.argmin(longer))
            if longer[best] < longer[at] - 1e-9 * instance.travel.max():
                route, improving = [*rest[:best], node, *rest[best:]], True
    return Solution.of([route])
