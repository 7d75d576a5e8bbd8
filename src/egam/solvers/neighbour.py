"""Nearest neighbour: always on to the nearest customer that the rules allow next; every problem, numpy only, no seed.

Near is near in travel; with time windows, near in time: whose service can start first. A full vehicle goes home and a
new route begins. Draft limits are kept whenever that is possible: a port is skipped if those left could then not all be
reached in the order of their limits. A tour that collects prizes ends when it has enough of them.
"""

from __future__ import annotations

import numpy as np

from egam.instance import Instance
from egam.judge import LOAD_SLACK, PRIZE_SLACK, TIME_SLACK
from egam.solution import Solution


def solve(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    routes: list[list[int]] = [[]]
    left = np.arange(1, instance.size)
    clock = float(instance.window[0, 0]) if instance.window is not None else 0.0
    while len(left) and not _enough_prize(instance, routes[0]):
        place = routes[-1][-1] if routes[-1] else 0
        near = clock + instance.travel[place, left]
        if instance.window is not None:
            near = np.maximum(near, instance.window[left, 0])
        allowed = _allowed(instance, routes[-1], left, near)
        if not allowed.any():
            if instance.kind.many_routes and routes[-1]:
                routes.append([])
                continue
            if instance.kind.optional_stops:
                break
            allowed[:] = True  # some rule is broken from here on; the judge will say which
        chosen = int(np.argmin(np.where(allowed, near, np.inf)))
        clock = float(near[chosen]) if instance.window is not None else 0.0
        routes[-1].append(int(left[chosen]))
        left = np.delete(left, chosen)
    return Solution.of(route for route in routes if route)


def _enough_prize(instance: Instance, route: list[int]) -> bool:
    if instance.prize is None or instance.min_prize is None:
        return False
    return bool(instance.prize[route].sum() >= instance.min_prize * (1 - PRIZE_SLACK / 2))


def _allowed(instance: Instance, route: list[int], left: np.ndarray, near: np.ndarray) -> np.ndarray:
    """[K] which of those left may come next."""
    allowed = np.ones(len(left), dtype=bool)
    if instance.window is not None:
        allowed &= near <= instance.window[left, 1] + TIME_SLACK / 2 * instance.scale
    if instance.demand is not None:
        load = instance.demand[route].sum() + instance.demand[left]
        if instance.capacity is not None:
            allowed &= load <= instance.capacity * (1 + LOAD_SLACK / 2)
        if instance.draft_limit is not None:
            allowed &= _others_can_follow(instance, route, left)
    return allowed


def _others_can_follow(instance: Instance, route: list[int], left: np.ndarray) -> np.ndarray:
    """[K] does an order keep all limits that begins with this port? That by limits does if any does."""
    assert instance.demand is not None and instance.draft_limit is not None
    order = np.argsort(instance.draft_limit[left], kind="stable")
    demand, limit = instance.demand[left[order]], instance.draft_limit[left[order]]
    slack = LOAD_SLACK / 2 * float(instance.demand.sum())
    load = instance.demand[route].sum()
    room = limit + slack - load - np.cumsum(demand)  # if all come in this order
    earlier = np.concatenate(([np.inf], np.minimum.accumulate(room)[:-1]))  # those who then come later by one demand
    later = np.concatenate((np.minimum.accumulate(room[::-1])[::-1][1:], [np.inf]))
    can = np.empty(len(left), dtype=bool)
    can[order] = (load + demand <= limit + slack) & (demand <= earlier) & (later >= 0)
    return can
