"""All seven problems by OR-Tools' routing library: a first solution, then guided local search until the time is up.

Customers that may be left out are disjunctions; prize, load and time are dimensions. Time windows and draft limits that
bind everybody make a first solution hard to find, so there a first search lets them be broken at a price and ends as
soon as none is; a second one starts from there and keeps them. Where as many customers as possible are to be served,
leaving one out costs more than any travel.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from egam.instance import Instance
from egam.solution import Solution
from egam.solvers import need
from egam.solvers.integers import Whole, whole, whole_loads
from egam.solvers.simple import simple_solution

LARGEST = 1e12  # of sums of lengths: prices and penalties stay far from 2^63
PRICE = 1000  # of a step too late, in steps of travel
PRIZE_STEPS = 10**8  # of the least prize


def solve(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    """The library has no seed."""
    need("or-tools")
    import ortools.constraint_solver.pywrapcp  # noqa: F401  the first import takes its time, which is not the search's

    deadline = time.monotonic() + seconds
    numbers = whole(instance, LARGEST)
    bound = instance.draft_limit is not None or (instance.window is not None and not instance.kind.optional_stops)
    if not bound:
        return _Search(instance, numbers, soft=False).run(deadline, None) or simple_solution(instance)
    rough = _Search(instance, numbers, soft=True).run(deadline, None)
    if rough is None:
        return simple_solution(instance)
    return _Search(instance, numbers, soft=False).run(deadline, rough) or rough


@dataclass(frozen=True)
class _Limits:
    """Bounds of one dimension at each node."""

    low: np.ndarray
    high: np.ndarray
    price: int  # of breaking the upper one by 1, in steps of travel


class _Search:
    """The library's model of one instance; `soft`: windows and draft limits may be broken at a price."""

    def __init__(self, instance: Instance, numbers: Whole, soft: bool) -> None:
        from ortools.constraint_solver import pywrapcp

        self.instance, self.numbers, self.soft = instance, numbers, soft
        self.manager = pywrapcp.RoutingIndexManager(instance.size, _vehicles(instance), 0)
        self.model = pywrapcp.RoutingModel(self.manager)
        self.length = self.model.RegisterTransitMatrix(numbers.travel.tolist())
        self.model.SetArcCostEvaluatorOfAllVehicles(self.length)
        self._add_capacity()
        self._add_prizes()
        self._add_windows()
        self._add_draft_limits()

    def run(self, deadline: float, first: Solution | None) -> Solution | None:
        """The best solution until the deadline, or None. The soft search ends at one without a broken limit."""
        from ortools.constraint_solver import pywrapcp, routing_enums_pb2

        seconds = deadline - time.monotonic()
        if seconds <= 0:
            return None
        parameters = pywrapcp.DefaultRoutingSearchParameters()
        strategies = routing_enums_pb2.FirstSolutionStrategy
        many = self.instance.kind.many_routes  # insertion is better there, and finds nothing where a prize is needed
        parameters.first_solution_strategy = (
            strategies.PARALLEL_CHEAPEST_INSERTION if many else strategies.PATH_CHEAPEST_ARC
        )
        parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
        parameters.time_limit.FromNanoseconds(int(seconds * 1e9))
        if self.soft:
            self.model.AddAtSolutionCallback(self._stop_if_kept)
        if first is None:
            found = self.model.SolveWithParameters(parameters)
        else:
            self.model.CloseModelWithParameters(parameters)
            start = self.model.ReadAssignmentFromRoutes([list(route) for route in first.routes], True)
            if start is None:  # the soft search found nothing that keeps the limits
                return None
            found = self.model.SolveFromAssignmentWithParameters(start, parameters)
        return None if found is None else self._routes(found)

    def _stop_if_kept(self) -> None:
        """A tour that costs what it travels breaks nothing."""
        travelled, node = 0, self.model.Start(0)
        while not self.model.IsEnd(node):
            follower = self.model.NextVar(node).Value()
            travelled += self.model.GetArcCostForVehicle(node, follower, 0)
            node = follower
        if self.model.CostVar().Min() <= travelled:
            self.model.solver().FinishCurrentSearch()

    def _routes(self, found: Any) -> Solution:
        routes = []
        for vehicle in range(self.manager.GetNumberOfVehicles()):
            route, index = [], found.Value(self.model.NextVar(self.model.Start(vehicle)))
            while not self.model.IsEnd(index):
                route.append(self.manager.IndexToNode(index))
                index = found.Value(self.model.NextVar(index))
            routes.append(route)
        return Solution.of(route for route in routes if route)

    def _dimension(self, per_node: np.ndarray, most: int, name: str) -> Any:
        """Grows by the value of each node that is left."""
        callback = self.model.RegisterUnaryTransitVector([int(value) for value in per_node])
        self.model.AddDimension(callback, 0, most, True, name)
        return self.model.GetDimensionOrDie(name)

    def _add_capacity(self) -> None:
        if self.instance.capacity is None or self.instance.demand is None:
            return
        capacity = np.full(self.instance.size, self.instance.capacity)
        demand, limit = whole_loads(self.instance.demand, capacity, self.instance.capacity)
        self._dimension(demand, int(limit[0]), "load")

    def _add_prizes(self) -> None:
        """Whoever may be left out has a price; enough prize must be on board at the end."""
        instance = self.instance
        if not instance.kind.optional_stops:
            return
        if instance.penalty is None:
            penalties = np.full(instance.size, int(self.numbers.travel.max(1).sum()) + 1)
        else:
            penalties = np.rint(instance.penalty * self.numbers.steps).astype(np.int64)
        everybody = instance.prize is not None and instance.prize.sum() < (instance.min_prize or 0.0)
        for node in range(1, instance.size):
            if not everybody:
                self.model.AddDisjunction([self.manager.NodeToIndex(node)], int(penalties[node]))
        if instance.prize is None or instance.min_prize is None or everybody:
            return
        prize = np.rint(instance.prize * (PRIZE_STEPS / instance.min_prize))
        dimension = self._dimension(prize, int(prize.sum()), "prize")
        dimension.CumulVar(self.model.End(0)).SetMin(PRIZE_STEPS - instance.size)

    def _add_windows(self) -> None:
        window = self.numbers.window
        if window is None:
            return
        horizon = int(self.numbers.travel.max(1).sum() + window[:, 0].max() + 1)
        self.model.AddDimension(self.length, horizon, 2 * horizon, False, "time")
        dimension = self.model.GetDimensionOrDie("time")
        dimension.CumulVar(self.model.Start(0)).SetValue(0)
        self._limit(dimension, _Limits(window[:, 0], window[:, 1], PRICE))

    def _add_draft_limits(self) -> None:
        instance = self.instance
        if instance.draft_limit is None or instance.demand is None:
            return
        demand, limit = whole_loads(instance.demand, instance.draft_limit, float(instance.demand.sum()))
        dimension = self._dimension(demand, int(demand.sum()), "load")
        price = int(10 * self.numbers.travel.max() / max(demand.max(), 1)) + 1
        self._limit(dimension, _Limits(0 * demand, limit - demand, price))  # on arrival

    def _limit(self, dimension: Any, limits: _Limits) -> None:
        for node in range(1, self.instance.size):
            index = self.manager.NodeToIndex(node)
            low, high = int(limits.low[node]), int(limits.high[node])
            dimension.CumulVar(index).SetMin(low)
            if self.soft:
                dimension.SetCumulVarSoftUpperBound(index, max(high, 0), limits.price)
            elif high >= low:
                dimension.CumulVar(index).SetMax(high)
            elif self.instance.kind.optional_stops:
                self.model.VehicleVar(index).SetValue(-1)  # can never be served
            else:
                self.model.solver().Add(self.model.solver().FalseConstraint())


def _vehicles(instance: Instance) -> int:
    """Enough: filling one after the other never needs more than twice the load divided by the capacity, and one."""
    if not instance.kind.many_routes or instance.capacity is None or instance.demand is None:
        return 1
    return min(instance.size - 1, int(2 * np.ceil(instance.demand.sum() / instance.capacity)) + 1)
