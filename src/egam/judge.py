"""The one place where solutions are scored: plain Python on raw units, the same for every method.

`judge(instance, solution)` gives the paper's cost, whether all rules are kept, and every broken rule as a sentence.
Which rules apply follows from `KINDS` (several routes? optional stops?) and from the fields an instance carries
(capacity, window, draft_limit, min_prize), never from a problem's name. The cost of a solution that breaks rules is
computed all the same: unknown nodes are left out, everything else is travelled as it stands.

A window bounds the start of service: the clock goes t <- max(t + travel, start), and a visit is late if t is then past
the end. The vehicle leaves at the start of node 0's window. Its return is checked against nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from egam.errors import BadInput
from egam.instance import Instance
from egam.solution import Solution

TIME_SLACK = 1e-5  # of the instance's scale: a visit so little late is in time
PRIZE_SLACK = 1e-5  # of min_prize, as Kool's validity check
LOAD_SLACK = 1e-9  # of the capacity or of the total demand: loads are compared exactly but for rounding errors


@dataclass(frozen=True)
class Violation:
    node: int  # where the rule is broken; 0 if it concerns the solution as a whole
    kind: str  # "unknown", "depot", "repeated", "unvisited", "routes", "overload", "late", "draft" or "prize"
    amount: float  # by how much, in the unit of the rule (load, time, prize, or a count)
    text: str


@dataclass(frozen=True)
class Verdict:
    """The customers split into served, failed (visited, but late or over the draft limit) and unvisited."""

    cost: float  # what the problem minimises, in raw units
    feasible: bool
    length: float  # travelled, in raw units
    violations: tuple[Violation, ...]
    served: tuple[int, ...]  # in order of visit
    failed: tuple[int, ...]  # in order of visit
    unvisited: tuple[int, ...]
    arrivals: tuple[float, ...]  # before any waiting, one per visit of a known node; empty without windows


def judge(instance: Instance, solution: Solution | Iterable[Iterable[int]]) -> Verdict:
    """Score one solution, or the routes of one."""
    if not isinstance(instance, Instance):
        raise BadInput(
            f"instance is of type {type(instance).__name__}; egam.Instance is expected, as egam.read gives it"
        )
    if not isinstance(solution, Solution):
        solution = Solution.of(getattr(solution, "routes", solution))
    kind = instance.kind
    routes = [[node for node in route if 0 <= node < instance.size] for route in solution.routes]
    length = sum(_length(instance.travel, route) for route in routes)
    seen = {node for route in routes for node in route}
    unvisited = tuple(node for node in range(1, instance.size) if node not in seen)
    arrivals, late = _late(instance, routes)
    overdrawn = _overdrawn(instance, routes)

    violations = [*_unknown(instance, solution), *_repeated(routes), *_too_many_routes(instance, routes)]
    violations += _left_out(instance, unvisited)
    violations += _overloaded(instance, routes)
    violations += overdrawn
    violations += _too_little_prize(instance, seen, unvisited)
    if kind.cost != "unserved":  # there, coming too late is allowed: it serves nobody and costs just that
        violations += late

    spoilt = {violation.node for violation in (*late, *overdrawn)}
    order = list(dict.fromkeys(node for route in routes for node in route if node != 0))
    served = tuple(node for node in order if node not in spoilt)
    if kind.cost == "length":
        cost = length
    elif kind.cost == "unserved":
        cost = float(instance.size - 1 - len(served))
    else:
        assert kind.cost == "length + penalties" and instance.penalty is not None
        cost = length + float(instance.penalty[list(unvisited)].sum())
    return Verdict(
        cost=cost,
        feasible=not violations,
        length=length,
        violations=tuple(violations),
        served=served,
        failed=tuple(node for node in order if node in spoilt),
        unvisited=unvisited,
        arrivals=tuple(arrivals),
    )


def _length(travel: np.ndarray, route: list[int]) -> float:
    return float(travel[[0, *route], [*route, 0]].sum()) if route else 0.0


def _unknown(instance: Instance, solution: Solution) -> list[Violation]:
    last = instance.size - 1
    found = []
    for node in solution.visits:
        if not 0 <= node <= last:
            found.append(Violation(node, "unknown", 1.0, f"node {node} does not exist; nodes are 0 to {last}"))
        elif node == 0:
            found.append(Violation(0, "depot", 1.0, "node 0 is inside a route; routes start and end there unsaid"))
    return found


def _repeated(routes: list[list[int]]) -> list[Violation]:
    times = Counter(node for route in routes for node in route if node != 0)
    return [
        Violation(node, "repeated", count - 1.0, f"node {node} is visited {count} times; once is allowed")
        for node, count in times.items()
        if count > 1
    ]


def _too_many_routes(instance: Instance, routes: list[list[int]]) -> list[Violation]:
    count = sum(1 for route in routes if route)
    if instance.kind.many_routes or count <= 1:
        return []
    return [Violation(0, "routes", count - 1.0, f"there are {count} routes; {instance.problem} allows one")]


def _left_out(instance: Instance, unvisited: tuple[int, ...]) -> list[Violation]:
    if instance.kind.optional_stops:
        return []
    return [Violation(node, "unvisited", 1.0, f"node {node} is not visited") for node in unvisited]


def _overloaded(instance: Instance, routes: list[list[int]]) -> list[Violation]:
    if instance.capacity is None or instance.demand is None:
        return []
    found = []
    limit = instance.capacity * (1 + LOAD_SLACK)
    for number, route in enumerate(routes, start=1):
        loads = np.cumsum(instance.demand[route])
        if (loads > limit).any():
            node, excess = route[int(np.argmax(loads > limit))], float(loads[-1] - instance.capacity)
            text = f"route {number} carries {loads[-1]:g}, {excess:g} above the capacity of {instance.capacity:g}"
            found.append(Violation(node, "overload", excess, text))
    return found


def _overdrawn(instance: Instance, routes: list[list[int]]) -> list[Violation]:
    """The load, what was taken on board so far including here, may not exceed the limit of the node."""
    if instance.draft_limit is None or instance.demand is None:
        return []
    found = []
    slack = LOAD_SLACK * float(instance.demand.sum())
    for route in routes:
        for node, load in zip(route, np.cumsum(instance.demand[route]), strict=True):
            limit = instance.draft_limit[node]
            if node != 0 and load > limit + slack:
                excess = float(load - limit)
                text = f"the load at node {node} is {load:g}, {excess:g} above its draft limit of {limit:g}"
                found.append(Violation(node, "draft", excess, text))
    return found


def _late(instance: Instance, routes: list[list[int]]) -> tuple[list[float], list[Violation]]:
    """Arrival times, and the visits whose service would start after their window."""
    if instance.window is None:
        return [], []
    arrivals, found = [], []
    slack = TIME_SLACK * instance.scale
    for route in routes:
        time, place = float(instance.window[0, 0]), 0
        for node in route:
            start, end = instance.window[node]
            time += float(instance.travel[place, node])
            arrivals.append(time)
            time, place = max(time, float(start)), node
            if node != 0 and time > end + slack:
                excess = float(time - end)
                text = f"node {node} is reached at {time:g}, {excess:g} after its window closed at {end:g}"
                found.append(Violation(node, "late", excess, text))
    return arrivals, found


def _too_little_prize(instance: Instance, seen: set[int], unvisited: tuple[int, ...]) -> list[Violation]:
    """Enough prize must be collected; visiting everybody is always enough."""
    if instance.min_prize is None or instance.prize is None or not unvisited:
        return []
    collected = float(instance.prize[sorted(seen)].sum())
    missing = instance.min_prize - collected
    if missing <= PRIZE_SLACK * instance.min_prize:
        return []
    text = f"the collected prize is {collected:g}, {missing:g} below the {instance.min_prize:g} that is needed"
    return [Violation(0, "prize", missing, text)]
