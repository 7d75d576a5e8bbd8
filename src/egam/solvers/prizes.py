"""Tours that collect a least prize and pay for whom they leave out, by PyVRP (vrp.py calls this).

Penalties PyVRP knows itself; a least prize it does not. Two ways around that, one after the other:
    priced      a unit of prize is worth so much that the best tour just about collects enough (Lagrange's dual): finds
                many good tours, and is blind to what lies between two prices
    shared out  a second vehicle takes whom the first leaves out: it pays penalties for ways, and has room for the prize
                that need not be collected: exact, and good at the last improvements of a good tour
Measured in docs/log.md.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from egam.instance import Instance
from egam.solvers.integers import COARSE, whole, whole_loads

WORTH_ANY_WAY = 2.5  # of the longest way: who has such a penalty is never left out
PRICED = 0.5  # share of the time
ROUND = 4e-4  # seconds per node of one search at one price
LEAST = 2e-3  # seconds that are worth another search
DEAREST = 1e6  # times the first price
AROUND = 0.15  # how far prices spread around the settled one


@dataclass
class Tour:
    nodes: list[int]
    cost: float  # way and penalties
    prize: float
    enough: bool

    @staticmethod
    def of(nodes: list[int], instance: Instance) -> Tour:
        assert instance.prize is not None and instance.penalty is not None and instance.min_prize is not None
        before, after = [0, *nodes], [*nodes, 0]
        left_out = float(instance.penalty.sum() - instance.penalty[nodes].sum())
        prize = float(instance.prize[nodes].sum())
        enough = prize >= float(instance.min_prize) * (1 - 1e-9)
        return Tour(nodes, float(instance.travel[before, after].sum()) + left_out, prize, enough)


def solve(instance: Instance, seconds: float, seed: int = 0) -> list[int]:
    """The nodes of a tour, the depot left out."""
    began = time.perf_counter()
    found = _priced(instance, PRICED * seconds, seed)
    left = seconds - (time.perf_counter() - began)
    shared = _shared_out(instance, found, left, seed) if found.enough and left > LEAST else found
    return shared.nodes if shared.enough and shared.cost < found.cost else found.nodes


# ---- priced -----------------------------------------------------------------------------------------------------


def _priced(instance: Instance, seconds: float, seed: int) -> Tour:
    """Between a tour with too little prize and one with enough the price is the difference of their costs by that of
    their prizes; when that has settled, prices near it bring other tours. Each tour is filled up to the least prize,
    and the cheapest is returned."""
    assert instance.min_prize is not None
    search, rng = PricedSearch(instance), np.random.default_rng(seed)
    end, number = time.perf_counter() + seconds, 0
    price, first = 0.0, 2 * float(instance.travel.max()) / max(float(instance.min_prize), 1e-9)
    short: Tour | None = None  # with too little prize
    enough: Tour | None = None  # with enough, since it was paid for
    best, tour = filled([], instance), Tour.of([], instance)
    while (left := end - time.perf_counter()) > LEAST:
        tour = Tour.of(search(price, tour.nodes, min(left, ROUND * instance.size), seed + number), instance)
        best = min(best, filled(tour.nodes, instance), key=lambda each: (not each.enough, each.cost))
        number += 1
        if not tour.enough:
            short = tour
        elif price > 0:
            enough = tour
        if short is None:
            continue  # unpaid prizes are enough
        if enough is None or enough.prize <= short.prize:
            price = min(2 * price or first, first * DEAREST)
            continue
        settled = max(0.0, (enough.cost - short.cost) / (enough.prize - short.prize))
        price = settled if abs(settled - price) > 1e-9 * first else price * float(rng.lognormal(0, AROUND))
    return best


class PricedSearch:
    """PyVRP on the instance, given a price per unit of prize."""

    def __init__(self, instance: Instance) -> None:
        import pyvrp

        self.instance, self.numbers = instance, whole(instance, COARSE * instance.size)
        model = pyvrp.Model()
        places = [model.add_location(0, 0) for _ in range(instance.size)]
        model.add_depot(places[0])
        model.add_vehicle_type(1)
        for node in range(1, instance.size):
            model.add_client(places[node], required=False)
        self.data = _with_ways(model.data(), self.numbers.travel)

    def __call__(self, price: float, start: list[int], seconds: float, seed: int) -> list[int]:
        import pyvrp

        instance = self.instance
        assert instance.prize is not None and instance.penalty is not None
        most = WORTH_ANY_WAY * float(instance.travel.max())
        worth = np.rint(np.minimum(instance.penalty + price * instance.prize, most) * self.numbers.steps)
        clients = [pyvrp.Client(node, prize=int(worth[node]), required=False) for node in range(1, instance.size)]
        data = self.data.replace(clients=clients)
        begun = pyvrp.Solution(data, [[node - 1 for node in start]]) if start else None
        return _first_vehicle(data, seconds, seed, begun)


def filled(nodes: list[int], instance: Instance) -> Tour:
    """The tour with further customers, the cheapest per prize first, until the prize is enough or all are visited."""
    assert instance.prize is not None and instance.penalty is not None and instance.min_prize is not None
    nodes, travel = list(nodes), instance.travel
    while not (tour := Tour.of(list(nodes), instance)).enough:
        left = np.array([node for node in range(1, instance.size) if node not in nodes and instance.prize[node] > 0])
        if not len(left):
            break
        before, after = [0, *nodes], [*nodes, 0]
        detour = travel[before][:, left] + travel[left][:, after].T - travel[before, after][:, None]  # [places, left]
        useful = np.minimum(instance.prize[left], float(instance.min_prize) - tour.prize)
        chosen = int(((detour.min(0) - instance.penalty[left]) / useful).argmin())
        nodes.insert(int(detour[:, chosen].argmin()), int(left[chosen]))
    return tour


# ---- shared out -------------------------------------------------------------------------------------------------


def _shared_out(instance: Instance, start: Tour, seconds: float, seed: int) -> Tour:
    """What a second vehicle for the rest finds from a tour with enough prize."""
    import pyvrp

    assert instance.prize is not None and instance.penalty is not None and instance.min_prize is not None
    numbers = whole(instance, COARSE * instance.size)
    spare = np.maximum(instance.prize * 0 + instance.prize.sum() - instance.min_prize, 0.0)
    loads, limit = whole_loads(instance.prize, spare, instance.min_prize or 1.0, 1e9)
    most = WORTH_ANY_WAY * float(instance.travel.max())
    penalties = np.rint(np.minimum(instance.penalty, most) * numbers.steps).astype(np.int64)
    model = pyvrp.Model()
    places = [model.add_location(0, 0) for _ in range(instance.size)]
    model.add_depot(places[0])
    driven, left_out = model.add_profile(), model.add_profile()
    model.add_vehicle_type(1, [int(loads.sum())], profile=driven)
    model.add_vehicle_type(1, [int(limit[0])], profile=left_out)
    for node in range(1, instance.size):
        model.add_client(places[node], delivery=[int(loads[node])])
    data = _with_ways(model.data(), numbers.travel, np.broadcast_to(penalties, numbers.travel.shape))
    rest = sorted(set(range(1, instance.size)) - set(start.nodes))
    routes = [
        pyvrp.Route(data, [node - 1 for node in nodes], vehicle)
        for vehicle, nodes in enumerate((start.nodes, rest))
        if nodes
    ]
    return Tour.of(_first_vehicle(data, seconds, seed, pyvrp.Solution(data, routes)), instance)


# ---- both -------------------------------------------------------------------------------------------------------


def _with_ways(data: Any, *profiles: np.ndarray) -> Any:
    """The data with travel that is as long as it lasts, a table for each profile."""
    tables = [np.array(lengths, dtype=np.int64) for lengths in profiles]
    for table in tables:
        np.fill_diagonal(table, 0)
    return data.replace(distance_matrices=tables, duration_matrices=tables)


def _first_vehicle(data: Any, seconds: float, seed: int, begun: Any) -> list[int]:
    """Whom the first type of vehicle visits in what PyVRP finds."""
    import pyvrp
    from pyvrp.stop import MaxRuntime

    found = pyvrp.solve(data, MaxRuntime(seconds), seed, collect_stats=False, initial_solution=begun)
    driven = [route for route in found.best.routes() if route.vehicle_type() == 0]
    return [stop.idx + 1 for route in driven for stop in route if stop.is_client()]
