"""Tours through everybody by dynamic programming over sets of visited nodes (Held and Karp), exact, numpy only.

best[S, j] = min over i in S - {j} of best[S - {j}, i] + travel[i, j]. The load on arrival depends on S alone, so a
draft limit only forbids some (S, j); sets that leave somebody behind whose limit is already too low are dropped at
once, which makes draft limits easy here and hard elsewhere. Without limits about 20 nodes are possible. No seed.
"""

from __future__ import annotations

import time

import numpy as np

from egam.instance import Instance
from egam.judge import LOAD_SLACK
from egam.solution import Solution
from egam.solvers.simple import simple_solution

MOST_SETS = 1_000_000  # of one size; N of them are in memory at a time
LARGEST = 63  # nodes: a set of customers is a whole number of 64 bits


def solve(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    return solve_proven(instance, seconds, seed)[0]


def solve_proven(instance: Instance, seconds: float, seed: int = 0) -> tuple[Solution, bool]:
    if instance.size > LARGEST:
        return simple_solution(instance), False
    deadline = time.monotonic() + seconds
    customers = instance.size - 1
    bits = np.int64(1) << np.arange(customers, dtype=np.int64)
    travel, demand, limit = instance.travel[1:, 1:], np.zeros(customers), np.full(customers, np.inf)
    if instance.draft_limit is not None and instance.demand is not None:
        demand, limit = instance.demand[1:], instance.draft_limit[1:] + LOAD_SLACK * instance.demand.sum()

    keep = _survives(bits, bits, demand, limit) & (demand <= limit)
    sets, best = bits[keep], np.where(np.eye(customers, dtype=bool), instance.travel[0, 1:], np.inf)[keep]
    history = [(sets, np.zeros((len(sets), customers), dtype=np.int8))]  # sets of each size, and who came before j
    for _ in range(customers - 1):
        if time.monotonic() > deadline or len(sets) > MOST_SETS:
            return simple_solution(instance), False
        loads = _loads(sets, bits, demand)
        origins = [np.flatnonzero((sets & bits[j] == 0) & (loads + demand[j] <= limit[j])) for j in range(customers)]
        grown = np.unique(np.concatenate([sets[rows] | bits[j] for j, rows in enumerate(origins)]))
        grown = grown[_survives(grown, bits, demand, limit)]
        if not len(grown):
            break
        grown_best = np.full((len(grown), customers), np.inf)
        before = np.zeros((len(grown), customers), dtype=np.int8)
        for j, rows in enumerate(origins):
            places = np.minimum(np.searchsorted(grown, sets[rows] | bits[j]), len(grown) - 1)
            kept = grown[places] == sets[rows] | bits[j]
            rows, places = rows[kept], places[kept]
            totals = best[rows] + travel[:, j]
            before[places, j] = totals.argmin(1)
            grown_best[places, j] = totals.min(1)
        sets, best = grown, grown_best
        history.append((sets, before))

    if len(history) < customers or not len(sets):  # no order keeps the limits
        return simple_solution(instance), True
    last = int((best[0] + instance.travel[1:, 0]).argmin())
    return Solution.of([_backwards(history, bits, last)]), True


def _loads(sets: np.ndarray, bits: np.ndarray, demand: np.ndarray) -> np.ndarray:
    return ((sets[:, None] & bits) != 0) @ demand


def _survives(sets: np.ndarray, bits: np.ndarray, demand: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Could everybody who is left still be the next?"""
    if np.isinf(limit).all():
        return np.ones(len(sets), dtype=bool)
    fits = _loads(sets, bits, demand)[:, None] + demand <= limit
    return (fits | ((sets[:, None] & bits) != 0)).all(1)


def _backwards(history: list[tuple[np.ndarray, np.ndarray]], bits: np.ndarray, last: int) -> list[int]:
    route = [last + 1]
    everybody = bits.sum()
    for sets, before in reversed(history[1:]):
        earlier = int(before[np.searchsorted(sets, everybody), last])
        everybody, last = everybody - bits[last], earlier
        route.append(last + 1)
    return route[::-1]
