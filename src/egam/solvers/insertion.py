"""Insertion: a route grows by one customer at a time, put where the way becomes least longer; numpy only, no seed.

`cheapest` takes the customer whose insertion costs least, `farthest` the one farthest from all routes. Only places are
looked at where every rule is still kept by everybody on the route; a new route begins when there is none. With time
windows or draft limits that bind everybody, customers come in the order of their limits instead: those inserted late
find no place otherwise.
"""

from __future__ import annotations

import numpy as np

from egam.instance import Instance
from egam.judge import LOAD_SLACK, PRIZE_SLACK, TIME_SLACK
from egam.solution import Solution


def cheapest(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    return _insert(instance, farthest=False)


def farthest(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    return _insert(instance, farthest=True)


def _insert(instance: Instance, farthest: bool) -> Solution:
    routes: list[list[int]] = [[]]
    left = np.arange(1, instance.size)
    while len(left):
        nodes = _next(instance, routes, left, farthest)
        costs = np.concatenate([places(instance, route, nodes) for route in routes], axis=1)  # [K, all places]
        if instance.penalty is not None:
            costs = costs - instance.penalty[nodes, None]
            if costs.min() >= 0 and _enough_prize(instance, routes[0]):
                break
        if np.isinf(costs.min()):
            if instance.kind.many_routes and routes[-1]:
                routes.append([])
                continue
            if instance.kind.optional_stops:
                break
            costs = np.concatenate([_longer(instance, route, nodes) for route in routes], axis=1)  # some rule breaks
        row, column = np.unravel_index(int(np.argmin(costs)), costs.shape)
        number, place = _which(routes, int(column))
        routes[number].insert(place, int(nodes[row]))
        left = left[left != nodes[row]]
    return Solution.of(route for route in routes if route)


def _next(instance: Instance, routes: list[list[int]], left: np.ndarray, farthest: bool) -> np.ndarray:
    """Who may be inserted now."""
    if not instance.kind.optional_stops and (instance.window is not None or instance.draft_limit is not None):
        limit = instance.draft_limit if instance.window is None else instance.window[:, 1]
        assert limit is not None
        return left[[int(np.argmin(limit[left]))]]
    if not farthest:
        return left
    there = [0, *(node for route in routes for node in route)]
    return left[[int(np.argmax(instance.travel[there][:, left].min(0)))]]


def _which(routes: list[list[int]], column: int) -> tuple[int, int]:
    for number, route in enumerate(routes):
        if column <= len(route):
            return number, column
        column -= len(route) + 1
    raise AssertionError("a column beyond all routes")


def _longer(instance: Instance, route: list[int], nodes: np.ndarray) -> np.ndarray:
    """[K, P] by how much the way grows if a node is put before each stop of the route or at its end."""
    before, after = [0, *route], [*route, 0]
    travel = instance.travel
    return travel[before][:, nodes].T + travel[nodes][:, after] - travel[before, after]


def places(instance: Instance, route: list[int], nodes: np.ndarray) -> np.ndarray:
    """[K, P] as `_longer`, infinite where a rule would be broken."""
    allowed = np.ones((len(nodes), len(route) + 1), dtype=bool)
    if instance.demand is not None:
        demand = instance.demand[nodes, None]
        loads = np.concatenate(([0.0], np.cumsum(instance.demand[route])))  # on arrival at each place
        if instance.capacity is not None:
            allowed &= loads[-1] + demand <= instance.capacity * (1 + LOAD_SLACK / 2)
        if instance.draft_limit is not None:
            slack = LOAD_SLACK / 2 * float(instance.demand.sum())
            room = np.concatenate((instance.draft_limit[route] - loads[1:], [np.inf]))
            allowed &= loads + demand <= instance.draft_limit[nodes, None] + slack
            allowed &= demand <= np.minimum.accumulate(room[::-1])[::-1] + slack
    if instance.window is not None:
        allowed &= _in_time(instance, route, nodes)
    return np.where(allowed, _longer(instance, route, nodes), np.inf)


def _in_time(instance: Instance, route: list[int], nodes: np.ndarray) -> np.ndarray:
    """[K, P] would the node and all after it still be served in time?"""
    assert instance.window is not None
    travel, start = instance.travel, instance.window[:, 0]
    end = instance.window[:, 1] + TIME_SLACK / 2 * instance.scale
    stops, size = [0, *route], len(route) + 1
    begins, latest = np.empty(size), np.full(size, np.inf)  # service at the stop before, and at the one after a place
    begins[0] = start[0]
    for k in range(1, size):
        begins[k] = max(begins[k - 1] + travel[stops[k - 1], stops[k]], start[stops[k]])
    for k in range(size - 2, -1, -1):
        later = latest[k + 1] - travel[route[k], route[k + 1]] if k + 1 < len(route) else np.inf
        latest[k] = min(end[route[k]], later)
    own = np.maximum(begins + travel[stops][:, nodes].T, start[nodes, None])
    return (own <= end[nodes, None]) & (own + travel[nodes][:, [*route, 0]] <= latest)


def _enough_prize(instance: Instance, route: list[int]) -> bool:
    assert instance.prize is not None and instance.min_prize is not None
    return bool(instance.prize[route].sum() >= instance.min_prize * (1 - PRIZE_SLACK / 2))
