"""CVRP by hygese, the Python package of Vidal's HGS-CVRP (hybrid genetic search).

It runs in a child process, because it ends the whole process on lengths or loads far from what it expects; lengths are
scaled so that the longest is about 1414, which is 1000 per side of the map. Loads are whole numbers (see integers.py):
it does not see an overload below 0.00001.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from egam.instance import Instance
from egam.solution import Solution
from egam.solvers import need, need_symmetric
from egam.solvers.child import in_child
from egam.solvers.integers import whole_loads
from egam.solvers.simple import simple_solution

LONGEST = 1414.0
LARGEST_DEMAND = 9e4  # of 100,000


def solve(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    need("hygese")
    need_symmetric("hygese", instance)
    assert instance.demand is not None and instance.capacity is not None
    if not instance.travel.any():  # it wants some way to go
        return simple_solution(instance)
    capacity = np.full(instance.size, instance.capacity)
    largest = LARGEST_DEMAND * instance.demand.sum() / (instance.demand.max() or 1.0)
    demand, limit = whole_loads(instance.demand, capacity, instance.capacity, largest)
    if not demand.any():  # it wants some
        demand[1:], limit[:] = 1, instance.size
    request = {
        "lengths": (instance.travel * (LONGEST / (instance.travel.max() or 1.0))).tolist(),
        "coords": None if instance.coords is None else (instance.coords - instance.coords.min(0)).tolist(),
        "demand": demand.tolist(),
        "capacity": int(limit[0]),
        "seconds": seconds,
        "seed": seed,
    }
    return Solution.of(in_child("hgs", request, seconds)["routes"])


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The child's part."""
    import hygese

    data = {
        "distance_matrix": np.array(request["lengths"]),
        "demands": np.array(request["demand"]),
        "vehicle_capacity": request["capacity"],
        "depot": 0,
    }
    if request["coords"] is not None:
        data["x_coordinates"], data["y_coordinates"] = np.array(request["coords"]).T
    parameters = hygese.AlgorithmParameters(timeLimit=request["seconds"], seed=request["seed"])
    result = hygese.Solver(parameters=parameters, verbose=False).solve_cvrp(data)
    return {"routes": [[int(node) for node in route] for route in result.routes]}
