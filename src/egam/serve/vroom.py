"""VROOM's problems as ours, and our routes as VROOM's answer. See docs/service.md for the table of what becomes what.

Node 0 is the vehicle: ways that leave it begin at its start, ways that enter it lead to its end, which may be elsewhere
or nowhere (then they cost nothing). Service makes the ways that leave a job longer. Working hours end the windows of
jobs early enough to get home. What cannot be served is unassigned; no rule is ever broken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from egam.errors import BadInput
from egam.instance import Instance
from egam.serve.vroom_read import Job, Place, VroomRequest, on_the_globe

OK, INTERNAL, INPUT = 0, 1, 2  # VROOM's codes; its 3, the routing engine's, cannot happen here
EXACT = 1e-12  # relative: sums of decimal fractions may be so much off


@dataclass(frozen=True)
class Plan:
    """The jobs that can be served at all, as node 1, 2, ..., and the instances to solve: the first and, if its answer
    leaves jobs out, the next. There are none if no job can be served."""

    request: VroomRequest
    jobs: tuple[Job, ...]
    instances: tuple[Instance, ...]
    leaves: float  # when the vehicle may leave

    def serves_all(self, routes: Sequence[Sequence[int]]) -> bool:
        return sum(map(len, _kept(self, routes))) == len(self.jobs)


def plan(request: VroomRequest) -> Plan:
    timed = request.hours is not None or any(job.window is not None for job in request.jobs)
    if not timed:
        jobs = tuple(job for job in request.jobs if _load(request, job) <= _capacity(request))
        return Plan(request, jobs, (_untimed(request, jobs),) if jobs else (), 0.0)
    _check_timed(request)
    leaves, never_late = _span(request)
    windows = {job: _window(request, job, leaves, never_late) for job in request.jobs}
    possible = {job: (start, end) for job, (start, end) in windows.items() if start <= end}
    return Plan(request, tuple(possible), _timed(request, possible, leaves) if possible else (), leaves)


def answer(plan: Plan, solutions: Sequence[Sequence[Sequence[int]]], milliseconds: tuple[int, int]) -> dict[str, Any]:
    """VROOM's output of the best of the given solutions (lists of routes), with the times of reading and solving."""
    trials = [_routes(plan, _kept(plan, routes)) for routes in solutions] or [[]]
    routes = min(trials, key=lambda routes: (-_served(routes), _total(routes, "cost")))
    assigned = {step["id"] for route in routes for step in route["steps"] if step["type"] == "job"}
    unassigned = [
        _only_given({"id": job.id, "type": "job", **job.place.to_dict(), "description": job.description})
        for job in plan.request.jobs
        if job.id not in assigned
    ]
    summary: dict[str, Any] = {
        "cost": _total(routes, "cost"),
        "routes": len(routes),
        "unassigned": len(unassigned),
        **_amounts(plan.request, sum(_load(plan.request, job) for job in plan.request.jobs if job.id in assigned)),
        **{key: _total(routes, key) for key in ("setup", "service", "duration", "waiting_time", "priority")},
        **({} if plan.request.distances is None else {"distance": _total(routes, "distance")}),
        "violations": [],
        "computing_times": {"loading": milliseconds[0], "solving": milliseconds[1], "routing": 0},
    }
    return {"code": OK, "summary": summary, "unassigned": unassigned, "routes": routes}


# ---- instances --------------------------------------------------------------------------------------------------


def _load(request: VroomRequest, job: Job) -> float:
    return job.pickup if request.picks_up else job.delivery


def _capacity(request: VroomRequest) -> float:
    return np.inf if request.capacity is None else request.capacity


def _between(request: VroomRequest, table: np.ndarray, jobs: Sequence[Job]) -> np.ndarray:
    """[1 + J, 1 + J] ways between the vehicle, node 0, and jobs."""
    rows = [job.place.row for job in jobs]
    ways = np.zeros((len(jobs) + 1, len(jobs) + 1))
    ways[1:, 1:] = table[np.ix_(rows, rows)]
    if request.start is not None:
        ways[0, 1:] = table[request.start.row, rows]
    if request.end is not None:
        ways[1:, 0] = table[rows, request.end.row]
    np.fill_diagonal(ways, 0.0)
    return ways


def _costs(request: VroomRequest) -> np.ndarray:
    return request.durations if request.costs is None else request.costs


def _untimed(request: VroomRequest, jobs: Sequence[Job]) -> Instance:
    ways = _between(request, _costs(request), jobs)
    loads = np.array([0.0, *(_load(request, job) for job in jobs)])
    ways, loads = _three(ways), np.append(loads, [0.0] * (2 - len(jobs)))
    if loads.sum() > _capacity(request):
        return Instance("cvrp", matrix=ways, demand=loads, capacity=request.capacity, **_map(request, jobs))
    symmetric = np.array_equal(ways, ways.T)
    return Instance("tsp" if symmetric else "atsp", matrix=ways, **_map(request, jobs))


def _timed(request: VroomRequest, windows: dict[Job, tuple[float, float]], leaves: float) -> tuple[Instance, Instance]:
    """The shortest tour in time; if there is none, or none is found, as many jobs in time as possible."""
    jobs = tuple(windows)
    ways = _between(request, request.durations, jobs)
    ways[1:] += np.array([job.service for job in jobs])[:, None]
    np.fill_diagonal(ways, 0.0)
    whenever = (leaves, max(leaves, *(end for _, end in windows.values())) + ways.max())
    window = np.array([whenever, *windows.values(), *[whenever] * (2 - len(jobs))])
    ways, known = _three(ways), _map(request, jobs)
    tour = Instance("tsptw", matrix=ways, window=window, **known)
    return tour, Instance("vrptw", matrix=ways, window=window, **known)


def _three(ways: np.ndarray) -> np.ndarray:
    """A lone job gets a twin at the same place that wants nothing: instances have three nodes or more."""
    return ways if len(ways) > 2 else ways[np.ix_([0, 1, 1], [0, 1, 1])]


def _map(request: VroomRequest, jobs: Sequence[Job]) -> dict[str, Any]:
    """Longitudes and latitudes, if all are given: the network sees more with them. Costs never follow from them."""
    home = request.start or request.end
    assert home is not None
    locations = [home.location, *(job.place.location for job in jobs), *[jobs[-1].place.location] * (2 - len(jobs))]
    if any(location is None for location in locations):
        return {}
    coords = np.array(locations, dtype=np.float64)
    return {"coords": coords, "geographic": True} if on_the_globe(coords) else {}


def _check_timed(request: VroomRequest) -> None:
    where = "vehicles[0].time_window" if request.hours is not None else "time_windows of jobs"
    if len(request.vehicles) > 1:
        raise BadInput(f"{where}: times are modelled for one vehicle, and there are {len(request.vehicles)}")
    if sum(_load(request, job) for job in request.jobs) > _capacity(request):
        raise BadInput(f"{where}: times are modelled for a vehicle that can carry everything, and this one cannot")
    if request.costs is not None and not np.array_equal(request.costs, request.durations):
        raise BadInput(f"{where}: times are modelled where durations are the costs, and matrices has other costs")


def _span(request: VroomRequest) -> tuple[float, float]:
    """When the vehicle leaves, and a time at which every route is over.

    It leaves when working hours begin; without any, so early that leaving even earlier would help nobody.
    """
    ways = _between(request, request.durations, request.jobs)
    longest = float(ways.max(1).sum() + sum(job.service for job in request.jobs))
    openings = [job.window[0] for job in request.jobs if job.window is not None]
    leaves = request.hours[0] if request.hours is not None else max(0.0, min(openings) - longest)
    return leaves, max([leaves, *openings]) + longest


def _window(request: VroomRequest, job: Job, leaves: float, never_late: float) -> tuple[float, float]:
    """When service may start so that the vehicle is home in time if it goes there next; never if it ends before."""
    start, end = job.window or (leaves, never_late)
    if request.hours is not None:
        home = 0.0 if request.end is None else float(request.durations[job.place.row, request.end.row])
        end = min(end, request.hours[1] - job.service - home)
    return max(start, leaves), end


# ---- answers ----------------------------------------------------------------------------------------------------


def _at_most(value: float, limit: float) -> bool:
    return value <= limit + EXACT * abs(limit)


def _kept(plan: Plan, routes: Sequence[Sequence[int]]) -> list[list[int]]:
    """The routes that there are vehicles for, without twins and without stops that would break a rule."""
    routes = [[node for node in dict.fromkeys(route) if 1 <= node <= len(plan.jobs)] for route in routes]
    if plan.instances and plan.instances[0].window is not None:
        routes = [_in_time(plan, [node for route in routes for node in route])]
    loads = [0.0, *(_load(plan.request, job) for job in plan.jobs)]
    fitting = []
    for route in routes:
        kept: list[int] = []
        load = 0.0
        for node in route:
            if _at_most(load + loads[node], _capacity(plan.request)):
                load += loads[node]
                kept.append(node)
        fitting.append(kept)
    longest_first = sorted(filter(None, fitting), key=len, reverse=True)
    return longest_first[: len(plan.request.vehicles)]


def _in_time(plan: Plan, route: list[int]) -> list[int]:
    """The stops that are reached in time by a vehicle that passes by the others."""
    instance, time, place = plan.instances[0], plan.leaves, 0
    assert instance.window is not None
    kept = []
    for node in route:
        arrival = time + float(instance.travel[place, node])
        start, end = instance.window[node]
        if _at_most(max(arrival, start), end):
            kept.append(node)
            time, place = max(arrival, float(start)), node
    return kept


def _routes(plan: Plan, routes: list[list[int]]) -> list[dict[str, Any]]:
    return [_route(plan, number, [plan.jobs[node - 1] for node in route]) for number, route in enumerate(routes)]


def _served(routes: list[dict[str, Any]]) -> int:
    return sum(step["type"] == "job" for route in routes for step in route["steps"])


def _total(routes: list[dict[str, Any]], key: str) -> float:
    return _whole(sum(route[key] for route in routes))


def _route(plan: Plan, number: int, jobs: list[Job]) -> dict[str, Any]:
    request = plan.request
    vehicle, description = request.vehicles[number]
    places = [request.start, *(job.place for job in jobs), request.end]
    legs = list(pairwise(places))  # one more than there are jobs
    durations = [_leg(request.durations, leg) for leg in legs]
    arrivals, waits = _clock(plan, jobs, durations)
    driven, far = np.cumsum([0.0, *durations]), _distances(request, legs)
    loads = _loads(request, jobs)
    steps = []
    for k, place in enumerate(places):
        if place is None:
            continue  # a route without start or end has no such step
        job = jobs[k - 1] if 0 < k <= len(jobs) else None
        steps.append(
            _only_given(
                {
                    "type": "start" if k == 0 else "end" if job is None else "job",
                    **place.to_dict(),
                    **({} if job is None else {"id": job.id, "job": job.id, "description": job.description}),
                    "setup": 0,
                    "service": _whole(job.service if job else 0.0),
                    "waiting_time": _whole(waits[k]),
                    "load": None if request.capacity is None else [_whole(loads[k])],
                    "arrival": _whole(arrivals[k]),
                    "duration": _whole(float(driven[k])),
                    "distance": None if far is None else _whole(float(far[k])),
                    "violations": [],
                }
            )
        )
    return _only_given(
        {
            "vehicle": vehicle,
            "description": description,
            "cost": _whole(sum(_leg(_costs(request), leg) for leg in legs)),
            **_amounts(request, sum(_load(request, job) for job in jobs)),
            "setup": 0,
            "service": _whole(sum(job.service for job in jobs)),
            "duration": _whole(float(driven[-1])),
            "waiting_time": _whole(sum(waits)),
            "priority": 0,
            "distance": None if far is None else _whole(float(far[-1])),
            "steps": steps,
            "violations": [],
        }
    )


def _leg(table: np.ndarray, leg: tuple[Place | None, Place | None]) -> float:
    here, there = leg
    return 0.0 if here is None or there is None else float(table[here.row, there.row])


def _distances(request: VroomRequest, legs: list[tuple[Place | None, Place | None]]) -> np.ndarray | None:
    table = request.distances
    return None if table is None else np.cumsum([0.0, *(_leg(table, leg) for leg in legs)])


def _clock(plan: Plan, jobs: list[Job], durations: list[float]) -> tuple[list[float], list[float]]:
    """Arrival and waiting at start, jobs and end of a vehicle that leaves as late as it can without being late."""
    windows = [job.window or (0.0, np.inf) for job in jobs]
    leaves = plan.leaves
    for _ in jobs:  # each round takes away one wait, or the vehicle cannot leave later
        arrivals, waits = _drive(leaves, jobs, durations)
        first = next((k for k, wait in enumerate(waits) if wait > 0), None)
        if first is None:
            break
        slack = [windows[k][1] - arrivals[k + 1] for k in range(first - 1)]
        later = min([waits[first], *slack])
        if later <= 0:
            break
        leaves += later
    return _drive(leaves, jobs, durations)


def _drive(leaves: float, jobs: list[Job], durations: list[float]) -> tuple[list[float], list[float]]:
    arrivals, waits, time = [leaves], [0.0], leaves
    for job, duration in zip(jobs, durations, strict=False):
        arrival = time + duration
        wait = max(0.0, job.window[0] - arrival) if job.window else 0.0
        arrivals.append(arrival)
        waits.append(wait)
        time = arrival + wait + job.service
    return [*arrivals, time + durations[-1]], [*waits, 0.0]


def _loads(request: VroomRequest, jobs: list[Job]) -> list[float]:
    """After start, each job and end: deliveries leave the vehicle, pickups stay in it."""
    amounts = np.cumsum([0.0, *(_load(request, job) for job in jobs)])
    loads = amounts if request.picks_up else amounts[-1] - amounts
    return [*loads.tolist(), float(loads[-1])]


def _amounts(request: VroomRequest, total: float) -> dict[str, Any]:
    if request.capacity is None:
        return {}
    nothing, all_of_it = [0], [_whole(total)]
    delivery, pickup = (nothing, all_of_it) if request.picks_up else (all_of_it, nothing)
    return {"delivery": delivery, "amount": delivery, "pickup": pickup}


def _only_given(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value is not None}


def _whole(value: float) -> float:
    """VROOM's numbers are whole; ours are if the request's are."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded
