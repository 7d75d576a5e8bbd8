"""What happens at each stop of a solution: one row per visit, as tables show it and JSON holds it.

The judge says whether rules are kept; this says when a stop is reached and how full the vehicle is then. The clock is
the judge's: it starts when node 0 opens (or at 0), travel takes as long as it costs, early arrivals wait. Customers
that no route visits come last, without times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from egam.instance import Instance
from egam.judge import Verdict, judge
from egam.solution import Solution


@dataclass(frozen=True)
class Stop:
    """One visit, or one customer left out."""

    route: int | None  # counted from 1; None if nobody comes
    node: int
    name: str
    arrival: float | None  # before waiting
    wait: float | None
    start: float | None  # of service
    load: float | None  # taken on so far on this route, here included; None if the problem has no loads
    status: str  # "served", "failed" (late or too deep), "unvisited", or "depot" for node 0 inside a route
    violation: str  # what is wrong here, as a sentence; empty if nothing is


def schedule(instance: Instance, solution: Solution, verdict: Verdict | None = None) -> list[Stop]:
    """All stops in order of visit, then the unvisited; unknown nodes are left out as the judge does."""
    verdict = verdict or judge(instance, solution)
    failed = set(verdict.failed)
    rows = []
    for number, route in enumerate(solution.routes, start=1):
        clock = 0.0 if instance.window is None else float(instance.window[0, 0])
        load, place = 0.0, 0
        for node in (node for node in route if 0 <= node < instance.size):
            arrival = clock + float(instance.travel[place, node])
            clock = arrival if instance.window is None else max(arrival, float(instance.window[node, 0]))
            load += 0.0 if instance.demand is None else float(instance.demand[node])
            place = node
            rows.append(
                Stop(
                    route=number,
                    node=node,
                    name=instance.stop_name(node),
                    arrival=arrival,
                    wait=clock - arrival,
                    start=clock,
                    load=None if instance.demand is None else load,
                    status="depot" if node == 0 else "failed" if node in failed else "served",
                    violation=_said(instance, verdict, node, clock, node in failed),
                )
            )
    left_out = [
        Stop(None, node, instance.stop_name(node), None, None, None, None, "unvisited", _text(verdict, node))
        for node in verdict.unvisited
    ]
    return [*rows, *left_out]


def times(instance: Instance, solution: Solution) -> list[list[float]]:
    """Of each route: when the vehicle leaves node 0, when service begins at each stop, when the vehicle is back."""
    begins = schedule(instance, solution)
    found = []
    for number, route in enumerate(solution.routes, start=1):
        opening = 0.0 if instance.window is None else float(instance.window[0, 0])
        stops = [(stop.node, float(stop.start or 0.0)) for stop in begins if stop.route == number]
        last, clock = stops[-1] if stops else (0, opening)
        back = [clock + float(instance.travel[last, 0])] if route else []
        found.append([opening, *(start for _, start in stops), *back])
    return found


def schedule_rows(instance: Instance, solution: Solution, verdict: Verdict | None = None) -> list[dict[str, Any]]:
    """The same as JSON holds it."""
    return [dict(vars(stop)) for stop in schedule(instance, solution, verdict)]


def _said(instance: Instance, verdict: Verdict, node: int, time: float, failed: bool) -> str:
    """The judge's sentences; where coming late breaks no rule but serves nobody, the same sentence about it."""
    if (text := _text(verdict, node)) or not failed or instance.window is None:
        return text
    end = float(instance.window[node, 1])
    return f"node {node} is reached at {time:g}, {time - end:g} after its window closed at {end:g}"


def _text(verdict: Verdict, node: int) -> str:
    """Node 0 stands for the solution as a whole, except where it is inside a route."""
    found = [v.text for v in verdict.violations if v.node == node and (node != 0 or v.kind == "depot")]
    return "; ".join(dict.fromkeys(found))
