"""Classical solvers: one adapter per file, all with the call `solve(instance, seconds, seed=0) -> Solution`.

They are the yardsticks of the benchmarks and a choice for users. Each needs an optional package, which only its own
file imports. Adapters return routes and no cost: `judge` scores them like everything else. Exact ones also have
`solve_proven`, which says whether the solution is proven optimal.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from dataclasses import dataclass

from egam.errors import BadInput, EgamError, NotInstalled, nearest
from egam.instance import KINDS, Instance
from egam.solution import Solution


@dataclass(frozen=True)
class Classical:
    """Which file talks to a solver, what it solves and how it is installed."""

    module: str  # in this package
    package: str  # what Python imports
    problems: tuple[str, ...]
    pip: str  # the line that installs it
    program: str = ""  # on PATH, serves instead of the package
    entry: str = "solve"  # the function in the module
    timed: bool = True  # False: a rule that ends by itself at once, whatever time it is given


SOLVERS: dict[str, Classical] = {
    "fast-tsp": Classical("fasttsp", "fast_tsp", ("tsp",), "pip install fast-tsp"),
    "hygese": Classical("hgs", "hygese", ("cvrp",), "pip install hygese"),
    "highs": Classical("highs", "highspy", ("tsp", "pctsp"), "pip install highspy"),
    "gurobi": Classical("gurobi", "gurobipy", ("tsp", "pctsp"), "pip install gurobipy"),
    "pyvrp": Classical("vrp", "pyvrp", ("tsp", "atsp", "cvrp", "pctsp", "tsptw", "vrptw"), "pip install pyvrp"),
    "cp-sat": Classical("cpsat", "ortools", ("tsp", "atsp", "tsptw", "tspdl", "vrptw"), "pip install ortools"),
    "or-tools": Classical("routing", "ortools", tuple(KINDS), "pip install ortools"),
    "lkh": Classical("lkh", "LKHpy", ("tsp", "atsp", "cvrp", "tsptw", "tspdl"), "pip install LKHpy", program="LKH"),
    "held-karp": Classical("held_karp", "numpy", ("tsp", "atsp", "tspdl"), "pip install numpy"),
    "nearest-neighbour": Classical("neighbour", "numpy", tuple(KINDS), "pip install numpy", timed=False),
    "earliest-deadline": Classical("deadline", "numpy", ("tsptw", "tspdl", "vrptw"), "pip install numpy", timed=False),
    "cheapest-insertion": Classical(
        "insertion", "numpy", tuple(KINDS), "pip install numpy", entry="cheapest", timed=False
    ),
    "farthest-insertion": Classical(
        "insertion", "numpy", ("tsp", "atsp"), "pip install numpy", entry="farthest", timed=False
    ),
}

REFERENCE: dict[str, str] = {  # problem -> the solver whose costs gaps are measured against
    "tsp": "fast-tsp",
    "atsp": "cp-sat",
    "cvrp": "hygese",
    "pctsp": "highs",
    "tsptw": "pyvrp",
    "tspdl": "cp-sat",
    "vrptw": "cp-sat",
}


class SolverFailed(EgamError):
    """A classical solver crashed or gave no answer."""


def solve_classical(name: str, instance: Instance, seconds: float, seed: int = 0) -> Solution:
    """Solve with the solver called `name` in about `seconds`; a proof may end it earlier."""
    return solve_proven(name, instance, seconds, seed)[0]


def solve_proven(name: str, instance: Instance, seconds: float, seed: int = 0) -> tuple[Solution, bool]:
    """The solution, and whether the solver proved that there is none better.

    Heuristics never do. Proven and yet not feasible means: proven that no solution keeps all rules.
    """
    check(name, instance.problem)
    if not seconds > 0:
        raise BadInput(f"seconds is {seconds:g}; a number above 0 is expected")
    from egam.solvers.barriers import without_barriers

    instance = without_barriers(instance)
    adapter = importlib.import_module(f"egam.solvers.{SOLVERS[name].module}")
    if hasattr(adapter, "solve_proven"):
        return adapter.solve_proven(instance, seconds, seed)
    return getattr(adapter, SOLVERS[name].entry)(instance, seconds, seed), False


def check(name: str, problem: str) -> None:
    """Raise unless there is a solver called `name` that solves `problem`."""
    if name not in SOLVERS:
        raise BadInput(f"unknown solver '{name}'{nearest(name, list(SOLVERS))}; accepted: {', '.join(SOLVERS)}")
    if problem not in SOLVERS[name].problems:
        raise BadInput(f"{name} does not solve {problem}; it solves {', '.join(SOLVERS[name].problems)}")


def installed(name: str) -> bool:
    """Is the package of this solver there, or its program? Nothing is imported to find out."""
    solver = SOLVERS[name]
    if solver.program and shutil.which(solver.program):
        return True
    return importlib.util.find_spec(solver.package) is not None


def need(name: str) -> None:
    """Raise the sentence that names the install line unless the solver's package is there."""
    if not installed(name):
        solver = SOLVERS[name]
        program = f"the program {solver.program} on PATH or " if solver.program else ""
        raise NotInstalled(f"{name} needs {program}the package {solver.package}; install it with: {solver.pip}")


def need_symmetric(name: str, instance: Instance) -> None:
    """Raise unless every way costs the same in both directions."""
    if not instance.symmetric:
        raise BadInput(f"{name} needs a symmetric matrix, but some way costs something else than its way back")
