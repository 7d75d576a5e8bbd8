"""Routes and tours by PyVRP (iterated local search): capacity, time windows, and customers that may be left out.

Numbers are whole (see integers.py). The depot closes for nobody, as in the judge. Where as many customers as possible
are to be served, each is worth more than any detour. Where penalties and a least prize count instead, a second vehicle
takes whom the first leaves out: it pays penalties for ways, and has room for the prize that need not be collected. If
PyVRP finds nothing feasible in time, a best infeasible solution is returned, and the judge will say what is wrong with
it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from egam.instance import Instance
from egam.solution import Solution
from egam.solvers import need
from egam.solvers.integers import whole, whole_loads

COARSE = 4e4  # steps per node: PyVRP's price of an overload of 1 ends at 100,000 steps, which must exceed any detour
WORTH_ANY_WAY = 2.5  # of the longest way: who has such a penalty is never left out
DETOUR = 10  # scaled units of travel that one more customer is worth


def solve(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    need("pyvrp")
    import pyvrp
    import pyvrp.exceptions
    from pyvrp.stop import MaxRuntime

    model = pyvrp.Model()
    customers = (_with_a_vehicle_for_the_rest if instance.penalty is not None else _as_it_is)(instance, model)
    with warnings.catch_warnings():  # that a tour is hard to find is what the judge will say
        warnings.simplefilter("ignore", pyvrp.exceptions.PenaltyBoundWarning)
        best = model.solve(MaxRuntime(seconds), seed=seed, display=False, collect_stats=False).best
    routes = [
        [customers[stop.idx] for stop in route if stop.is_client()]
        for route in best.routes()
        if route.vehicle_type() == 0
    ]
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


def _with_a_vehicle_for_the_rest(instance: Instance, model: Any) -> list[int]:
    """The same for prizes and penalties; the rest is the second type of vehicle's."""
    assert instance.prize is not None and instance.penalty is not None and instance.min_prize is not None
    numbers = whole(instance, COARSE * instance.size)
    spare = np.maximum(instance.prize * 0 + instance.prize.sum() - instance.min_prize, 0.0)
    loads, limit = whole_loads(instance.prize, spare, instance.min_prize or 1.0, 1e9)
    most = WORTH_ANY_WAY * float(instance.travel.max())
    penalties = np.rint(np.minimum(instance.penalty, most) * numbers.steps).astype(np.int64)
    places = [model.add_location(0, 0) for _ in range(instance.size)]
    model.add_depot(places[0])
    driven, left_out = model.add_profile(), model.add_profile()
    model.add_vehicle_type(1, [int(loads.sum())], profile=driven)
    model.add_vehicle_type(1, [int(limit[0])], profile=left_out)
    for node in range(1, instance.size):
        model.add_client(places[node], delivery=[int(loads[node])])
    _add_ways(model, places, numbers.travel, driven)
    _add_ways(model, places, np.broadcast_to(penalties, numbers.travel.shape), left_out)
    return list(range(1, instance.size))


def _add_ways(model: Any, places: list[Any], lengths: np.ndarray, profile: Any = None) -> None:
    for i, origin in enumerate(places):
        for j, target in enumerate(places):
            if i != j:
                length = int(lengths[i, j])
                model.add_edge(origin, target, distance=length, duration=length, profile=profile)


def _loads(instance: Instance) -> tuple[list[int], list[list[int]]]:
    """Capacity, and what each node takes of it; nothing where there is none."""
    if instance.demand is None or instance.capacity is None:
        return [], [[] for _ in range(instance.size)]
    demand, limit = whole_loads(instance.demand, instance.demand * 0 + instance.capacity, instance.capacity, 1e9)
    return [int(limit[0])], [[int(load)] for load in demand]
