"""The plain rules by hand, and what their look ahead is worth."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from egam.instance import Instance
from egam.judge import judge
from egam.solution import Solution
from egam.solvers import insertion, solve_classical
from egam.solvers.integers import whole, whole_loads
from egam.solvers.neighbour import _others_can_follow
from egam.solvers.simple import simple_solution

LINE = [[0, 0], [1, 0], [3, 0], [7, 0], [2, 0]]  # stops at 1, 3, 7, 2


def routes(name: str, instance: Instance) -> list[list[int]]:
    return [list(route) for route in solve_classical(name, instance, 1).routes]


def test_nearest_neighbour_by_hand():
    assert routes("nearest-neighbour", Instance("tsp", coords=LINE)) == [[1, 4, 2, 3]]
    full = Instance("cvrp", coords=LINE, demand=[0, 1, 1, 1, 2], capacity=3)
    assert routes("nearest-neighbour", full) == [[1, 4], [2, 3]]
    # A prize of 2 is enough: home after the second stop.
    rich = Instance("pctsp", coords=LINE, prize=[0, 1, 1, 1, 1], penalty=[0, 1, 1, 1, 1], min_prize=2)
    assert routes("nearest-neighbour", rich) == [[1, 4]]
    # From 0 at time 0 service can start at 5, 3, 7, 2: stop 4 is first; from there at 2: 5, 3, 7; at 3: 5 is 2 away.
    late = Instance("tsptw", coords=LINE, window=[[0, 99], [5, 9], [0, 9], [0, 99], [0, 9]])
    assert routes("nearest-neighbour", late) == [[4, 2, 1, 3]]
    # As many as possible: stop 1 closes at 0.5 and cannot be reached; 3 closes before anybody could come back from 2.
    few = Instance("vrptw", coords=LINE, window=[[0, 99], [0, 0.5], [0, 9], [0, 6.5], [0, 9]])
    assert routes("nearest-neighbour", few) == [[4, 2]]


def test_earliest_deadline_by_hand():
    window = [[0, 99], [0, 8], [0, 3], [0, 7.5], [0, 9]]
    assert routes("earliest-deadline", Instance("tsptw", coords=LINE, window=window)) == [[2, 3, 1, 4]]
    # One vehicle, as many as it can: 3 at time 3, 7 at time 7, then 1 closes at 8 and 2 at 9: neither is reached.
    assert routes("earliest-deadline", Instance("vrptw", coords=LINE, window=window)) == [[2, 3]]
    ship = Instance("tspdl", coords=LINE, demand=[0, 1, 1, 1, 1], draft_limit=[4, 4, 2, 1, 3])
    assert routes("earliest-deadline", ship) == [[3, 2, 4, 1]]


def test_insertion_by_hand():
    # On a line every insertion between two neighbours is free: the tour is as long as twice the farthest stop.
    for name in ("cheapest-insertion", "farthest-insertion"):
        instance = Instance("tsp", coords=LINE)
        assert judge(instance, solve_classical(name, instance, 1)).cost == pytest.approx(14)
    # Nothing is worth its way but what must be: the prize of 1 is cheapest at stop 1, and stop 4 pays for its 2 more.
    poor = Instance("pctsp", coords=LINE, prize=[0, 1, 1, 1, 1], penalty=[0, 0.1, 0.2, 0.3, 3], min_prize=1)
    assert routes("cheapest-insertion", poor) == [[1, 4]] or routes("cheapest-insertion", poor) == [[4, 1]]


@pytest.mark.parametrize("seed", range(5))
def test_insertion_looks_only_at_places_that_keep_the_rules(seed):
    """Each place that `places` allows gives a route that the judge accepts, and each that it forbids does not."""
    rng = np.random.default_rng(seed)
    size, coords = 9, rng.random((9, 2)) * 10
    start = rng.random(size) * 20
    window = np.stack((start, start + 12), axis=1)
    window[0] = 0, 1e3
    ship = {"demand": [0, *rng.integers(1, 4, size - 1)], "draft_limit": rng.integers(4, 16, size)}
    for instance in (Instance("tsptw", coords=coords, window=window), Instance("tspdl", coords=coords, **ship)):
        route = [int(node) for node in simple_solution(instance).routes[0][:4]]
        if any(violation.kind in ("late", "draft") for violation in judged(instance, route)):
            continue
        rest = np.array([node for node in range(1, size) if node not in route])
        longer = insertion.places(instance, route, rest)
        for row, node in enumerate(rest):
            for place in range(len(route) + 1):
                trial = [*route[:place], int(node), *route[place:]]
                broken = [each for each in judged(instance, trial) if each.kind in ("late", "draft")]
                assert np.isfinite(longer[row, place]) == (not broken)


def judged(instance: Instance, route: list[int]):
    return judge(instance, Solution.of([route])).violations


@pytest.mark.parametrize("seed", range(20))
def test_nearest_looks_ahead_exactly(seed):
    """A port may be next exactly if some order of the others keeps all limits: by trying all orders."""
    rng = np.random.default_rng(seed)
    demand = np.array([0, *rng.integers(1, 4, 5)], dtype=float)
    limit = np.array([99, *rng.integers(1, 14, 5)], dtype=float)
    instance = Instance("tspdl", coords=rng.random((6, 2)), demand=demand, draft_limit=limit)
    left = np.arange(1, 6)
    found = _others_can_follow(instance, [], left)
    for first, can in zip(left, found, strict=True):
        orders = [order for order in permutations(left) if order[0] == first]
        fits = [(np.cumsum(demand[list(order)]) <= limit[list(order)]).all() for order in orders]
        assert can == any(fits)


def test_whole_numbers_stay_what_they_are():
    instance = Instance("tsptw", matrix=[[0, 3, 4], [3, 0, 5], [4, 5, 0]], window=[[10, 99], [12, 13], [0, 20]])
    numbers = whole(instance)
    assert numbers.steps == 1 and numbers.travel.tolist() == [[0, 3, 4], [3, 0, 5], [4, 5, 0]]
    # After departure at 10: from 2 to 3, from 0 (not -10) to 10; nobody needs to come after 2 + 4 + 5 + 5 = 16.
    assert numbers.window is not None and numbers.window.tolist() == [[0, 16], [2, 3], [0, 10]]


@pytest.mark.parametrize("far", [1e3, 1e9, 1e15])
def test_far_deadlines_do_not_overflow(far):
    instance = Instance("tsptw", coords=np.random.default_rng(0).random((5, 2)), window=[[0, far]] * 5)
    numbers = whole(instance)
    assert numbers.window is not None and numbers.window[1:, 1].min() > 0 and numbers.window.max() < 2**62
    assert (numbers.window[1:, 1] >= numbers.travel.max(1).sum()).all()


@pytest.mark.parametrize(
    ("demand", "capacity", "expected"),
    [
        ([0, 1, 2], 3.0, ([0, 1, 2], 3)),
        ([0, 0.25, 0.5], 0.6, ([0, 25, 50], 60)),
        ([0, 1e-7, 3e-7], 4e-7, ([0, 1, 3], 4)),  # multiples of the smallest
        ([0, 0, 0], 1.0, ([0, 0, 0], 1)),  # LKH knows no capacity of 0
        ([0, 2, 2], 1e9, ([0, 2, 2], 4)),  # more than everything is never on board
    ],
)
def test_loads_become_whole_exactly(demand, capacity, expected):
    found, limit = whole_loads(np.array(demand, dtype=float), np.full(3, capacity), capacity)
    assert (found.tolist(), int(limit[0])) == expected


def test_coarse_loads_err_on_the_safe_side():
    demand = np.array([0, np.pi, np.e, 2**0.5])
    found, limit = whole_loads(demand, np.full(4, 6.0), 6.0, largest=100)
    steps = 100 / (2 * demand.sum())
    assert (found >= demand * steps).all() and (limit <= 6 * steps).all() and found.sum() <= 100
