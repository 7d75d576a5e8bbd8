"""The paper's printed numbers, from paper.toml. They are never mixed with measured ones: tables show them beside."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SIZE = 50  # of its main tables
TABLES = {1: ("tsp", "cvrp", "pctsp"), 2: ("tsptw", "tspdl"), 3: ("vrptw",)}  # number -> problems
TITLES = {"lkh": "LKH-3", "gurobi": "Gurobi", "or-tools": "OR-Tools"}  # our solvers -> the paper's names
UNLIMITED = ("LKH-3", "Gurobi")  # the paper names no time limit; a row of ours with any stands beside


@dataclass(frozen=True)
class Printed:
    """One method on one problem."""

    method: str
    form: str
    cost: float
    gap: float
    time: str
    infeasible: float | None = None


def printed(problem: str) -> list[Printed]:
    """The rows of the paper's tables 1 to 3 on one problem, in its order."""
    rows = (row for row in _read()["row"] if problem in row)
    return [Printed(row["method"], row["form"], **row[problem]) for row in rows]


def parameters() -> list[dict[str, Any]]:
    """The table of parameters: method, layers, millions, and cost where the paper has one."""
    return _read()["parameters"]


def by_size() -> dict[str, dict[int, float]]:
    """The table of generalisation: method -> size -> cost."""
    return {row["method"]: {int(key): row[key] for key in row if key.isdigit()} for row in _read()["sizes"]}


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "paper.toml").read_text())
