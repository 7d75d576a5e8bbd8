"""Routes and tours by PyVRP (iterated local search): capacity, time windows, and customers that may be left out.

Numbers are whole (see integers.py). The depot closes for nobody, as in the judge. Where as many customers as possible
are to be served, each is worth more than any detour. Where penalties and a least prize count instead, see prizes.py. If
PyVRP finds nothing feasible in time, a best infeasible solution is returned, and the judge will say what is wrong with
it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from egam.instance import Instance
from egam.solution import Solution
from egam.solvers import need, prizes
from egam.solvers.integers import COARSE, whole, whole_loads

DETOUR = 10  # scaled units of travel that one more customer is worth


def solve(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    need("pyvrp")
    import pyvrp
    import pyvrp.exceptions
    from pyvrp.stop import MaxRuntime

    with warnings.catch_warnings():  # that a tour is hard to find is what the judge will say
        warnings.simplefilter("ignore", pyvrp.exceptions.PenaltyBoundWarning)
        if instance.penalty is not None:
            return Solution.of([prizes.solve(instance, seconds, seed)])
        model = pyvrp.Model()
        customers = _as_it_is(instance, model)
        best = model.solve(MaxRuntime(seconds), seed=seed, display=False, collect_stats=False).best
    routes = [[customers[stop.idx] for stop in route if stop.is_client()] for route in best.routes()]
    if not instance.kind.many_routes and not instance.kind.optional_stops:
        tour = [node for route in routes for node in route]
        routes = [tour + sorted(set(range(1, instance.size)) - set(tour))]
    return Solution.of(routes)


def _as_it_is(instance: Instance, model: Any) -> list[int]:
    """Fill the model; returns the node of each of its clients."""
    numbers = whole(instance) if instance.capacity is None else whole(instance, COARSE * instance.size)
    optional = instance.kind.optional_stops
    capacity, deliveries = _loads(instance)
    places = [model.add_location(0, 0) for _ in range(instance.size)]
    model.add_depot(places[0])
    model.add_vehicle_type(instance.size - 1 if instance.kind.many_routes else 1, capacity)
    prize = int(DETOUR * (instance.scale or 1.0) * numbers.steps) + 1 if optional else 0
    customers = [node for node in range(1, instance.size) if numbers.window is None or numbers.window[node, 1] >= 0]
    for node in customers:
        start, end = (0, 2**62) if numbers.window is None else (int(time) for time in numbers.window[node])
        model.add_client(
            places[node],
            delivery=deliveries[node],
            tw_early=min(start, end),
            tw_late=end,
            prize=prize,
            required=not optional,
        )
    _add_ways(model, places, numbers.travel)
    return customers


def _add_ways(model: Any, places: list[Any], lengths: np.ndarray) -> None:
    for i, origin in enumerate(places):
        for j, target in enumerate(places):
            if i != j:
                length = int(lengths[i, j])
                model.add_edge(origin, target, distance=length, duration=length)


def _loads(instance: Instance) -> tuple[list[int], list[list[int]]]:
    """Capacity, and what each node takes of it; nothing where there is none."""
    if instance.demand is None or instance.capacity is None:
        return [], [[] for _ in range(instance.size)]
    demand, limit = whole_loads(instance.demand, instance.demand * 0 + instance.capacity, instance.capacity, 1e9)
    return [int(limit[0])], [[int(load)] for load in demand]
