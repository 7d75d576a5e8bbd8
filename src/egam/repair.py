"""Small repairs of decoded solutions, each of which can only help: the judge scores the result as any other.

A network decides in single precision, may end a route while somebody could still be served, and of an asymmetric matrix
most weights see the mean of both ways. Nothing here searches.
"""

from __future__ import annotations

import numpy as np

from egam.instance import Instance
from egam.solution import Solution


def repaired(instance: Instance, solution: Solution) -> Solution:
    if instance.kind.cost == "unserved":
        return served_to_the_end(instance, solution)
    if instance.capacity is not None:
        solution = within_capacity(instance, solution)
    if instance.window is None and instance.draft_limit is None:
        solution = turned_round(instance, solution)
    return solution


def within_capacity(instance: Instance, solution: Solution) -> Solution:
    """Routes that a rounding error let in are cut in two where they become too heavy."""
    assert instance.demand is not None and instance.capacity is not None
    routes: list[list[int]] = []
    for route in solution.routes:
        if instance.demand[list(route)].sum() <= instance.capacity:
            routes.append(list(route))
            continue
        routes.append([])
        for node in route:
            if instance.demand[[*routes[-1], node]].sum() > instance.capacity:
                routes.append([])
            routes[-1].append(node)
    return Solution.of(route for route in routes if route)


def turned_round(instance: Instance, solution: Solution) -> Solution:
    """Routes that are cheaper the other way round go that way; for rules that do not look at the order."""
    if instance.symmetric:
        return solution

    def cost(route: tuple[int, ...]) -> float:
        return float(instance.travel[[0, *route], [*route, 0]].sum())

    return Solution(tuple(min(route, route[::-1], key=cost) for route in solution.routes))


def served_to_the_end(instance: Instance, solution: Solution) -> Solution:
    """Visits that come too late are left out, and the vehicle does not go home while it can still serve somebody: it
    goes where service can begin first."""
    assert instance.window is not None
    opens, closes = instance.window.T
    clock, here, route = float(opens[0]), 0, []
    for node in solution.visits:
        if (start := max(clock + instance.travel[here, node], opens[node])) <= closes[node]:
            clock, here = start, node
            route.append(node)
    left = np.ones(instance.size, dtype=bool)
    left[[0, *route]] = False
    while True:
        start = np.maximum(clock + instance.travel[here], opens)
        start[~left | (start > closes)] = np.inf
        node = int(start.argmin())
        if not np.isfinite(start[node]):
            return Solution.of([route])
        clock, here = float(start[node]), node
        route.append(node)
        left[node] = False
