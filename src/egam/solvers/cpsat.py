"""Tours with clocks or loads by OR-Tools' CP-SAT: exact where time allows, one worker.

One model for all: a circuit over arcs (i, j), a self-loop for a stop that may be left out, and per node a number that
grows along the circuit: the start of service (windows) or the load (draft limits). Arcs that no schedule can use are
left out. A proof is up to the rounding in integers.py. For "unserved" costs only visits in time are modelled: with the
triangle inequality a late visit never helps.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from egam.instance import Instance
from egam.solution import Solution
from egam.solvers import need
from egam.solvers.integers import Whole, whole, whole_loads
from egam.solvers.simple import simple_solution


def solve(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    return solve_proven(instance, seconds, seed)[0]


def solve_proven(instance: Instance, seconds: float, seed: int = 0) -> tuple[Solution, bool]:
    need("cp-sat")
    from ortools.sat.python import cp_model

    numbers = whole(instance)
    usable = _usable_arcs(instance, numbers)
    if not usable[0].any():  # nobody can be reached in time
        return simple_solution(instance), True
    model = cp_model.CpModel()
    nodes = range(instance.size)
    arcs = {(i, j): model.new_bool_var("") for i in nodes for j in nodes if usable[i, j]}
    skipped = {node: model.new_bool_var("") for node in nodes if node and instance.kind.optional_stops}
    model.add_circuit(
        [(i, j, literal) for (i, j), literal in arcs.items()]
        + [(node, node, literal) for node, literal in skipped.items()]
    )
    if instance.window is not None:
        _clock(model, numbers, arcs)
    if instance.draft_limit is not None:
        _load(model, instance, arcs)
    if instance.kind.cost == "unserved":
        model.minimize(sum(skipped.values()))
    else:
        model.minimize(sum(int(numbers.travel[arc]) * literal for arc, literal in arcs.items()))
        _hint(model, simple_solution(instance), arcs)

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.linearization_level = 2
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return simple_solution(instance), status == cp_model.INFEASIBLE
    follower = {i: j for (i, j), literal in arcs.items() if solver.boolean_value(literal)}
    return Solution.of([_route(follower)]), status == cp_model.OPTIMAL


def _clock(model: Any, numbers: Whole, arcs: dict[tuple[int, int], Any]) -> None:
    """Service starts inside the window, and travel after the service before."""
    travel, window = numbers.travel, numbers.window
    assert window is not None
    # A node that cannot be served keeps a harmless clock: no arc leads to it.
    time = [model.new_int_var(int(start), int(max(start, end)), "") for start, end in window]
    for (i, j), literal in arcs.items():
        if i == 0 and j != 0:
            model.add(time[j] >= int(travel[0, j])).only_enforce_if(literal)
        elif j != 0:
            model.add(time[j] >= time[i] + int(travel[i, j])).only_enforce_if(literal)


def _load(model: Any, instance: Instance, arcs: dict[tuple[int, int], Any]) -> None:
    """The load on leaving a node is what was there before plus its demand, within its draft limit."""
    assert instance.demand is not None and instance.draft_limit is not None
    demand, limit = whole_loads(instance.demand, instance.draft_limit, float(instance.demand.sum()))
    total = int(demand.sum())
    most = np.maximum(demand, np.minimum(limit, total))
    load = [model.new_int_var(int(low), int(high), "") for low, high in zip(demand, most, strict=True)]
    for (i, j), literal in arcs.items():
        if i == 0 and j != 0:
            model.add(load[j] == int(demand[j])).only_enforce_if(literal)
        elif j == 0 and i != 0:
            model.add(load[i] == total).only_enforce_if(literal)
        else:
            model.add(load[j] == load[i] + int(demand[j])).only_enforce_if(literal)
    if (demand[1:] == 1).all():  # then loads are positions
        model.add_all_different(load[1:])


def _usable_arcs(instance: Instance, numbers: Whole) -> np.ndarray:
    """[N, N] bool: arcs that some schedule may use."""
    usable = ~np.eye(instance.size, dtype=bool)
    if numbers.window is not None:
        travel, window = numbers.travel, numbers.window
        shortest = _shortest(travel)
        start = np.maximum(window[:, 0], shortest[0])  # of service, at the earliest
        start[0] = 0
        servable = start <= window[:, 1]
        servable[0] = True
        usable &= servable[:, None] & servable[None, :]
        usable[:, 1:] &= (start[:, None] + travel <= window[None, :, 1])[:, 1:]
        if not instance.kind.optional_stops:
            before = ~(start[:, None] + shortest <= window[None, :, 1]).T  # no way from j to i in time: i comes first
            before[0], before[:, 0] = True, False
            np.fill_diagonal(before, False)
            between = before.astype(np.int64) @ before.astype(np.int64)  # how many k with i before k before j
            usable &= between == 0
            usable[1:, 0] &= ~before[1:].any(1)  # who comes before somebody is not the last
    if instance.draft_limit is not None and instance.demand is not None:
        usable[1:, 1:] &= instance.demand[1:, None] + instance.demand[None, 1:] <= instance.draft_limit[None, 1:] + 1e-6
        usable[1:, 0] &= instance.demand.sum() <= instance.draft_limit[1:] + 1e-6  # the last carries everything
    return usable


def _shortest(travel: np.ndarray) -> np.ndarray:
    """Travel by the best detours: a matrix need not keep the triangle inequality."""
    shortest = travel.copy()
    for via in range(len(travel)):
        shortest = np.minimum(shortest, shortest[:, via, None] + shortest[None, via, :])
    return shortest


def _hint(model: Any, solution: Solution, arcs: dict[tuple[int, int], Any]) -> None:
    nodes = [0, *solution.visits, 0]
    used = set(pairwise(nodes))
    if used <= set(arcs):
        for arc, literal in arcs.items():
            model.add_hint(literal, arc in used)


def _route(follower: dict[int, int]) -> list[int]:
    route, node = [], follower[0]
    while node != 0:
        route.append(node)
        node = follower[node]
    return route
