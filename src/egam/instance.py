"""One routing instance in the user's own units: immutable, self-validating, numpy only.

An `Instance` is what users build, files hold, classical solvers read and the judge scores. Node 0 is the depot
or start. Travel is Euclidean between `coords` unless a cost `matrix` is given; it may be asymmetric. What a kind
of problem carries, and what its solutions must do, is one row of `KINDS`. Networks never see this class: they see
a `Batch` (see problems/base.py), which is scaled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from egam.errors import BadInput, nearest


@dataclass(frozen=True)
class Kind:
    """What an instance of one problem carries, and what a solution of it must do."""

    title: str
    fields: tuple[str, ...] = ()  # required beside coords or matrix
    directed: bool = False  # is c_ij allowed to differ from c_ji by definition?
    many_routes: bool = False  # may the solution return to node 0 in between?
    optional_stops: bool = False  # may customers be left out?
    cost: str = "length"  # "length", "length + penalties" or "unserved"


KINDS: dict[str, Kind] = {
    "tsp": Kind("travelling salesman"),
    "atsp": Kind("directed travelling salesman", directed=True),
    "cvrp": Kind("capacitated vehicle routing", ("demand", "capacity"), many_routes=True),
    "pctsp": Kind(
        "prize collecting travelling salesman",
        ("prize", "penalty", "min_prize"),
        optional_stops=True,
        cost="length + penalties",
    ),
    "tsptw": Kind("travelling salesman with time windows", ("window",)),
    "tspdl": Kind("travelling salesman with draft limits", ("demand", "draft_limit")),
    "vrptw": Kind("as many stops in their time windows as possible", ("window",), optional_stops=True, cost="unserved"),
}

PER_NODE = {"coords": 2, "demand": 1, "prize": 1, "penalty": 1, "window": 2, "draft_limit": 1}  # field -> columns
SCALARS = ("capacity", "min_prize")


@dataclass(frozen=True, eq=False)
class Instance:
    """One instance; shapes: N nodes with the depot or start at index 0."""

    problem: str
    coords: np.ndarray | None = None  # [N, 2]
    matrix: np.ndarray | None = None  # [N, N] travel cost (= travel time) from row to column
    demand: np.ndarray | None = None  # [N], demand[0] = 0
    capacity: float | None = None
    prize: np.ndarray | None = None  # [N], prize[0] = 0
    penalty: np.ndarray | None = None  # [N], penalty[0] = 0
    min_prize: float | None = None
    window: np.ndarray | None = None  # [N, 2]: service starts no earlier than [:, 0] and no later than [:, 1]
    draft_limit: np.ndarray | None = None  # [N]
    name: str = ""

    def __post_init__(self) -> None:
        kind_of(self.problem)
        for field in ("matrix", *PER_NODE):
            if (value := getattr(self, field)) is not None:
                object.__setattr__(self, field, _frozen_array(self._where, field, value))
        for field in SCALARS:
            if (value := getattr(self, field)) is not None:
                object.__setattr__(self, field, _finite_number(self._where, field, value))
        self._check_fields()
        self._check_values()

    @property
    def kind(self) -> Kind:
        return KINDS[self.problem]

    @property
    def size(self) -> int:
        """Number of nodes, depot or start included."""
        nodes = self.coords if self.coords is not None else self.matrix
        assert nodes is not None  # _check_fields saw to it
        return len(nodes)

    @cached_property
    def travel(self) -> np.ndarray:
        """[N, N] travel cost from row to column: the matrix if there is one, else Euclidean distances."""
        if self.matrix is not None:
            return self.matrix
        assert self.coords is not None
        return np.sqrt(((self.coords[:, None] - self.coords[None, :]) ** 2).sum(-1))

    @property
    def _where(self) -> str:
        return self.name or f"{self.problem} instance"

    def _check_fields(self) -> None:
        where, needed = self._where, self.kind.fields
        if self.coords is None and self.matrix is None:
            raise BadInput(f"{where}: has neither coords nor a matrix; one of them is needed")
        for field in ("coords", "matrix"):
            value = getattr(self, field)
            if value is not None and value.ndim != 2:
                raise BadInput(f"{where}: {field} has shape {value.shape}; a table of two dimensions is expected")
        for field in needed:
            if getattr(self, field) is None:
                raise BadInput(f"{where}: {field} is missing; {self.problem} needs {', '.join(needed)}")
        for field in (*PER_NODE, *SCALARS):
            if field != "coords" and field not in needed and getattr(self, field) is not None:
                accepted = ", ".join(("coords", "matrix", *needed))
                raise BadInput(f"{where}: {field} is given, but {self.problem} has no use for it; it takes {accepted}")
        if self.size < 3:
            raise BadInput(f"{where}: has {self.size} nodes; 3 or more are needed")
        if self.matrix is not None and self.matrix.shape != (self.size, self.size):
            raise BadInput(f"{where}: matrix has shape {self.matrix.shape}; {(self.size, self.size)} is expected")
        for field, columns in PER_NODE.items():
            value = getattr(self, field)
            expected = (self.size,) if columns == 1 else (self.size, columns)
            if value is not None and value.shape != expected:
                raise BadInput(f"{where}: {field} has shape {value.shape}; {expected} is expected")

    def _check_values(self) -> None:
        where = self._where
        if self.matrix is not None and (self.matrix < 0).any():
            i, j = np.argwhere(self.matrix < 0)[0]
            raise BadInput(f"{where}: matrix[{i}, {j}] is {self.matrix[i, j]:g}; travel costs must be 0 or more")
        for field in ("demand", "prize", "penalty"):
            value = getattr(self, field)
            if value is not None and (value < 0).any():
                node = int(np.argmax(value < 0))
                raise BadInput(f"{where}: {field} of node {node} is {value[node]:g}; 0 or more is accepted")
            if value is not None and value[0] != 0:
                raise BadInput(f"{where}: {field} of node 0, the depot, is {value[0]:g}; 0 is expected")
        if self.capacity is not None and self.demand is not None and (self.demand > self.capacity).any():
            node = int(np.argmax(self.demand > self.capacity))
            raise BadInput(f"{where}: demand of node {node} is {self.demand[node]:g}, above capacity {self.capacity:g}")
        if self.window is not None and (self.window[:, 1] < self.window[:, 0]).any():
            node = int(np.argmax(self.window[:, 1] < self.window[:, 0]))
            start, end = self.window[node]
            raise BadInput(f"{where}: window of node {node} ends at {end:g}, before it starts at {start:g}")


def kind_of(problem: str) -> Kind:
    """The row of `KINDS`, or a sentence that names the nearest problem."""
    if not isinstance(problem, str) or problem not in KINDS:
        raise BadInput(f"unknown problem '{problem}'{nearest(str(problem), list(KINDS))}; accepted: {', '.join(KINDS)}")
    return KINDS[problem]


def _frozen_array(where: str, field: str, value: Any) -> np.ndarray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(f"{where}: {field} is not a table of numbers") from None
    if field == "matrix" and array.ndim == 2:
        np.fill_diagonal(array, 0.0)  # never travelled; files put 9999 there, which would spoil the scale
    if not np.isfinite(array).all():
        place = ", ".join(str(int(k)) for k in np.argwhere(~np.isfinite(array))[0])
        raise BadInput(f"{where}: {field}[{place}] is {array[~np.isfinite(array)][0]}; finite numbers are accepted")
    array.setflags(write=False)
    return array


def _finite_number(where: str, field: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise BadInput(f"{where}: {field} is {value!r}; a number is expected") from None
    if not np.isfinite(number) or number <= 0:
        raise BadInput(f"{where}: {field} is {number}; a finite number above 0 is expected")
    return number
