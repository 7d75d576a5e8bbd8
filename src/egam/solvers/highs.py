"""TSP and PCTSP by HiGHS: integer programming with connectivity cuts added as they are needed, exact.

Variables: x_e, how often an undirected edge is used, and y_i, whether a customer is visited; y_i is fixed to 1 in the
TSP. Every visited node has degree 2, enough prize is collected, and for every set S without the depot and every k in S,
x(edges leaving S) >= 2 y_k. These cuts are found first by minimum cuts on the linear relaxation, then by components
of integer solutions until the solution is one route. Columns whose reduced cost exceeds the gap between relaxation and
optimum cannot be in a better solution: a gap is guessed, and raised to what was found if that is above the guess. HiGHS
runs in a child process: its library cannot share one with OR-Tools.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from egam.instance import Instance
from egam.solution import Solution
from egam.solvers import need, need_symmetric
from egam.solvers.child import in_child
from egam.solvers.cuts import minimum_cut, reachable, walk
from egam.solvers.simple import simple_solution

FIRST_GAP = 0.02  # between relaxation and optimum as a share of the cost, guessed


def solve(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    return solve_proven(instance, seconds, seed)[0]


def solve_proven(instance: Instance, seconds: float, seed: int = 0) -> tuple[Solution, bool]:
    need("highs")
    need_symmetric("highs", instance)
    unit = float(instance.travel.max()) or 1.0
    optional = instance.prize is not None and instance.prize.sum() >= (instance.min_prize or 0.0)
    request = {
        "lengths": (instance.travel / unit).tolist(),
        "penalty": None if instance.penalty is None else (instance.penalty / unit).tolist(),
        "share": None,
        "seconds": seconds,
        "seed": seed,
    }
    if optional:  # else everybody must be visited, which is always enough
        assert instance.prize is not None and instance.min_prize is not None
        request["share"] = (instance.prize / instance.min_prize).tolist()
    route = in_child("highs", request, seconds)["route"]
    if route is None:  # the time was too short
        return simple_solution(instance), False
    return Solution.of([route]), True


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The child's part."""
    deadline = time.monotonic() + request["seconds"]
    program = _Program(np.array(request["lengths"]), request["penalty"], request["share"], request["seed"])
    for _ in range(200):  # cuts on the relaxation: each round is cheap and saves rounds of the next loop
        solution = program.run(deadline - time.monotonic())
        if solution is None:
            return {"route": None}
        if not program.cut_off_fractions(*solution):
            break
    bound, reduced = program.objective, program.reduced
    program.demand_integers()
    gap = max(FIRST_GAP * (bound + sum(request["penalty"] or [0.0])), 1e-6)
    while True:
        program.leave_out(np.abs(reduced) > gap)
        found = program.connected(deadline)
        if found is not None and program.objective <= bound + gap:  # whatever was left out costs more
            return {"route": walk(found[0])}
        if time.monotonic() > deadline:
            return {"route": None}
        gap = 2 * gap if found is None else program.objective - bound + 1e-9


class _Program:
    """The integer program, as far as its cuts are known."""

    def __init__(self, lengths: np.ndarray, penalty: list[float] | None, share: list[float] | None, seed: int) -> None:
        import highspy

        self.kinds = highspy.HighsVarType
        self.optimal = highspy.HighsModelStatus.kOptimal
        self.size = len(lengths)
        self.edges = np.stack(np.triu_indices(self.size, 1), axis=1)
        self.highs = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("random_seed", seed),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 1e-9),
        ):
            self.highs.setOptionValue(option, value)
        self.objective = 0.0  # of the last run
        self.relaxed = np.empty(0)  # columns of the last run of the relaxation
        self.reduced = np.empty(0)  # by how much its cost rises per unit by which a column leaves its bound
        self.integer = False
        self.bounds = [(0.0, 2.0 if i == 0 and share is not None else 1.0) for i, _ in self.edges]  # 2: there and back
        self.bounds += [(0.0 if share is not None else 1.0, 1.0)] * (self.size - 1)
        for low, high in self.bounds:
            self.highs.addVar(low, high)
        for column, (i, j) in enumerate(self.edges):
            self.highs.changeColCost(column, float(lengths[i, j]))
        for node in range(1, self.size):
            self.highs.changeColCost(self.visit(node), 0.0 if penalty is None else -float(penalty[node]))
        for node in range(self.size):
            row = {int(column): 1.0 for column in np.flatnonzero((self.edges == node).any(1))}
            if node != 0:
                row[self.visit(node)] = -2.0
            self.add(row, *((2.0, 2.0) if node == 0 else (0.0, 0.0)))
        if share is not None:
            self.add({self.visit(node): share[node] for node in range(1, self.size)}, 1.0, np.inf)

    def visit(self, node: int) -> int:
        """The column of y_node."""
        return len(self.edges) + node - 1

    def add(self, row: dict[int, float], low: float, high: float) -> None:
        columns = np.array(list(row), dtype=np.int32)
        self.highs.addRow(low, high, len(row), columns, np.array(list(row.values())))

    def demand_integers(self) -> None:
        self.integer = True
        for column in range(len(self.edges) + self.size - 1):
            self.highs.changeColIntegrality(column, self.kinds.kInteger)

    def run(self, seconds: float) -> tuple[np.ndarray, np.ndarray] | None:
        """x as a symmetric [N, N] table and y as [N], or None if the time is up."""
        self.highs.setOptionValue("time_limit", max(seconds, 0.0) + self.highs.getRunTime())
        self.highs.run()
        if self.highs.getModelStatus() != self.optimal:
            return None
        solution = self.highs.getSolution()
        values, self.objective = np.array(solution.col_value), float(self.highs.getObjectiveValue())
        if not self.integer:
            self.relaxed, self.reduced = np.rint(values), np.array(solution.col_dual)
        used = np.zeros((self.size, self.size))
        used[self.edges[:, 0], self.edges[:, 1]] = values[: len(self.edges)]
        return used + used.T, np.concatenate(([1.0], values[len(self.edges) :]))

    def leave_out(self, columns: np.ndarray) -> None:
        """Fix columns where the relaxation has them, and free all others."""
        for column, (low, high) in enumerate(self.bounds):
            value = float(self.relaxed[column])
            self.highs.changeColBounds(column, *((value, value) if columns[column] else (low, high)))

    def connected(self, deadline: float) -> tuple[np.ndarray, np.ndarray] | None:
        """The best integer solution that is one route, or None: there is none, or the time is up."""
        while (left := deadline - time.monotonic()) > 0:
            solution = self.run(left)
            if solution is None or not self.cut_off_components(*solution):
                return solution
        return None

    def connect(self, inside: np.ndarray, node: int) -> None:
        """The cut x(edges leaving `inside`) >= 2 y_node."""
        leaving = inside[self.edges[:, 0]] != inside[self.edges[:, 1]]
        self.add({**{int(column): 1.0 for column in np.flatnonzero(leaving)}, self.visit(node): -2.0}, 0.0, np.inf)

    def cut_off_components(self, used: np.ndarray, visited: np.ndarray) -> int:
        """Cuts for the parts of an integer solution that miss the depot; their number."""
        found = 0
        left = visited > 0.5
        left &= ~reachable(used > 0.5, 0)
        while left.any():
            inside = reachable(used > 0.5, int(np.argmax(left)))
            for node in np.flatnonzero(inside):
                self.connect(inside, int(node))
                found += 1
            left &= ~inside
        return found

    def cut_off_fractions(self, used: np.ndarray, visited: np.ndarray) -> int:
        """Cuts that a fractional solution breaks; their number."""
        seen = set()
        for node in np.argsort(-visited[1:]) + 1:
            if visited[node] < 0.01:
                break
            flow, inside = minimum_cut(used, int(node))
            if flow < 2 * visited[node] - 1e-4 and (key := inside.tobytes()) not in seen:
                seen.add(key)
                self.connect(inside, int(node))
        return len(seen)
