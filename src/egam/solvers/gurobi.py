"""TSP and PCTSP by Gurobi: the integer program of highs.py, whose cuts are added inside the search, exact.

Gurobi is proprietary. The package carries a licence for models of up to 2000 columns, which is enough for tours of 63
nodes; beyond that the user's own licence is needed.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from egam.instance import Instance
from egam.solution import Solution
from egam.solvers import SolverFailed, need, need_symmetric
from egam.solvers.cuts import minimum_cut, reachable, walk
from egam.solvers.simple import simple_solution


def solve(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    return solve_proven(instance, seconds, seed)[0]


def solve_proven(instance: Instance, seconds: float, seed: int = 0) -> tuple[Solution, bool]:
    need("gurobi")
    need_symmetric("gurobi", instance)
    import gurobipy

    deadline = time.monotonic() + seconds
    try:
        with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.Model(env=env) as model:
            model.setParam("Threads", 1)
            model.setParam("Seed", seed % 2**31)
            model.setParam("MIPGap", 0.0)
            model.setParam("MIPGapAbs", 1e-9)
            model.setParam("LazyConstraints", 1)
            model.setParam("PreCrush", 1)
            used = _build(model, instance)
            model.setParam("TimeLimit", max(deadline - time.monotonic(), 0.01))
            model.optimize(_Cutter(gurobipy, used, instance.size))
            if model.SolCount == 0:
                return simple_solution(instance), False
            table = _table({edge: used[edge].X for edge in used}, instance.size)
            return Solution.of([walk(table)]), model.Status == gurobipy.GRB.OPTIMAL
    except gurobipy.GurobiError as error:
        raise SolverFailed(f"gurobi: {error}") from None


def _build(model: Any, instance: Instance) -> dict[tuple[int, int], Any]:
    """Columns of edges and, on the diagonal, of visits."""
    unit = float(instance.travel.max()) or 1.0
    size, prize, penalty = instance.size, instance.prize, instance.penalty
    optional = prize is not None and prize.sum() >= (instance.min_prize or 0.0)
    used = {}
    for i in range(size):
        for j in range(i + 1, size):
            most = 2.0 if i == 0 and optional else 1.0  # 2: there and back
            used[i, j] = model.addVar(0.0, most, float(instance.travel[i, j]) / unit, "I")
    for node in range(1, size):
        saved = 0.0 if penalty is None else float(penalty[node]) / unit
        used[node, node] = model.addVar(0.0 if optional else 1.0, 1.0, -saved, "B")
    for node in range(size):
        degree = sum(used[edge] for edge in used if node in edge and edge[0] != edge[1])
        model.addConstr(degree == (2 * used[node, node] if node else 2))
    if optional and prize is not None and instance.min_prize is not None:
        share = prize / instance.min_prize
        model.addConstr(sum(float(share[node]) * used[node, node] for node in range(1, size)) >= 1.0)
    return used


class _Cutter:
    """Called by the search: forbids solutions that are not one route."""

    def __init__(self, gurobi: Any, used: dict[tuple[int, int], Any], size: int) -> None:
        self.used, self.size, self.where, self.sum = used, size, gurobi.GRB.Callback, gurobi.quicksum
        self.optimal = gurobi.GRB.OPTIMAL
        self.edges, self.columns = list(used), list(used.values())

    def __call__(self, model: Any, where: int) -> None:
        if where == self.where.MIPSOL:
            self._components(model, _table(self._values(model.cbGetSolution(self.columns)), self.size))
        elif where == self.where.MIPNODE and self._solved_root(model):  # the tree does without
            self._fractions(model, self._values(model.cbGetNodeRel(self.columns)))

    def _solved_root(self, model: Any) -> bool:
        return model.cbGet(self.where.MIPNODE_STATUS) == self.optimal and model.cbGet(self.where.MIPNODE_NODCNT) == 0

    def _values(self, values: list[float]) -> dict[tuple[int, int], float]:
        return dict(zip(self.edges, values, strict=True))

    def _components(self, model: Any, used: np.ndarray) -> None:
        left = (used > 0.5).any(1) & ~reachable(used > 0.5, 0)
        while left.any():
            inside = reachable(used > 0.5, int(np.argmax(left)))
            leaving = self._leaving(inside)
            for node in np.flatnonzero(inside).tolist():
                model.cbLazy(leaving >= 2 * self.used[node, node])
            left &= ~inside

    def _fractions(self, model: Any, values: dict[tuple[int, int], float]) -> None:
        used, seen = _table(values, self.size), set()
        for node in range(1, self.size):
            if values[node, node] < 0.01:
                continue
            flow, inside = minimum_cut(used, node)
            if flow < 2 * values[node, node] - 1e-3 and (key := inside.tobytes()) not in seen:
                seen.add(key)
                model.cbLazy(self._leaving(inside) >= 2 * self.used[node, node])

    def _leaving(self, inside: np.ndarray) -> Any:
        side = inside.tolist()
        return self.sum([self.used[i, j] for i, j in self.edges if side[i] != side[j]])


def _table(values: dict[tuple[int, int], float], size: int) -> np.ndarray:
    used = np.zeros((size, size))
    for (i, j), value in values.items():
        if i != j:
            used[i, j] = used[j, i] = value
    return used
