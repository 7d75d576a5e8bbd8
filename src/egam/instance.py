"""One routing instance in the user's own units: immutable, self-validating, numpy only.

An `Instance` is what users build, files hold, classical solvers read and the judge scores. Node 0 is the depot
or start. Travel is Euclidean between `coords` unless a cost `matrix` is given; it may be asymmetric, whatever the
problem. What a kind of problem carries, and what its solutions must do, is one row of `KINDS`. Networks never see this
class: they see a `Batch` (see problems/base.py), which is scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from egam.errors import BadInput, nearest
from egam.metric import METRICS, ON_THE_GLOBE, distance_table, flat_map

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
LARGEST = 1e15  # of any number: beyond, whole numbers are not exact any more, and squares and sums not finite
SMALLEST_SIZE = 3  # nodes, depot or start included
SAME = 1e-9  # relative difference up to which a given matrix is the one that `rounding` gives


class BadValue(BadInput):
    """A value that an instance cannot have; readers of files say in which line of theirs it stands."""

    def __init__(self, where: str, text: str, field: str, node: int | None = None, label: str = "") -> None:
        super().__init__(f"{where}: {text.replace('<node>', label)}")
        self.text, self.field, self.node = text, field, node


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
    names: tuple[str, ...] | None = None  # of the stops, all different
    geographic: bool = False  # coords are (longitude, latitude) in degrees; without a matrix, travel is in metres
    rounding: str = ""  # a key of METRICS: the matrix is not given but follows from coords by this rule
    notes: tuple[str, ...] = ()  # what a reader of a file left out or changed, as sentences

    def __post_init__(self) -> None:
        kind_of(self.problem)
        self._set("name", _line_of_text("instance", "name", self.name))
        notes = (self.notes,) if isinstance(self.notes, str) else self.notes
        self._set("notes", tuple(filter(None, (_line_of_text(self._where, "notes", note) for note in notes))))
        for field in ("matrix", *PER_NODE):
            if (value := getattr(self, field)) is not None:
                self._set(field, _frozen_array(self._where, field, value))
        for field in SCALARS:
            if (value := getattr(self, field)) is not None:
                self._set(field, _positive_number(self._where, field, value))
        self._check_fields()
        self._check_names()
        self._check_geography()
        self._check_values()

    @classmethod
    def tsp(
        cls,
        coords: ArrayLike | None = None,
        *,
        matrix: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        name: str = "",
        geographic: bool = False,
    ) -> Instance:
        """The shortest closed tour through all nodes."""
        return cls._of("tsp", {}, coords, matrix, names, name, geographic)

    @classmethod
    def atsp(
        cls,
        coords: ArrayLike | None = None,
        *,
        matrix: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        name: str = "",
        geographic: bool = False,
    ) -> Instance:
        """The cheapest closed tour where the way back may cost something else."""
        return cls._of("atsp", {}, coords, matrix, names, name, geographic)

    @classmethod
    def cvrp(
        cls,
        coords: ArrayLike | None = None,
        *,
        demand: ArrayLike,
        capacity: float,
        matrix: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        name: str = "",
        geographic: bool = False,
    ) -> Instance:
        """Routes from the depot, node 0, none of which carries more than the capacity."""
        own = {"demand": demand, "capacity": capacity}
        return cls._of("cvrp", own, coords, matrix, names, name, geographic)

    @classmethod
    def pctsp(
        cls,
        coords: ArrayLike | None = None,
        *,
        prize: ArrayLike,
        penalty: ArrayLike,
        min_prize: float,
        matrix: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        name: str = "",
        geographic: bool = False,
    ) -> Instance:
        """A tour that collects `min_prize`; its length and the penalties of those left out count."""
        own = {"prize": prize, "penalty": penalty, "min_prize": min_prize}
        return cls._of("pctsp", own, coords, matrix, names, name, geographic)

    @classmethod
    def tsptw(
        cls,
        coords: ArrayLike | None = None,
        *,
        window: ArrayLike,
        matrix: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        name: str = "",
        geographic: bool = False,
    ) -> Instance:
        """The shortest tour that reaches every node within its time window."""
        return cls._of("tsptw", {"window": window}, coords, matrix, names, name, geographic)

    @classmethod
    def tspdl(
        cls,
        coords: ArrayLike | None = None,
        *,
        demand: ArrayLike,
        draft_limit: ArrayLike,
        matrix: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        name: str = "",
        geographic: bool = False,
    ) -> Instance:
        """The shortest tour of a ship that loads at every port and nowhere lies too deep."""
        own = {"demand": demand, "draft_limit": draft_limit}
        return cls._of("tspdl", own, coords, matrix, names, name, geographic)

    @classmethod
    def vrptw(
        cls,
        coords: ArrayLike | None = None,
        *,
        window: ArrayLike,
        matrix: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        name: str = "",
        geographic: bool = False,
    ) -> Instance:
        """As many customers as one vehicle can serve in their time windows."""
        return cls._of("vrptw", {"window": window}, coords, matrix, names, name, geographic)

    @classmethod
    def _of(
        cls,
        problem: str,
        own: dict[str, Any],
        coords: Any,
        matrix: Any,
        names: Sequence[str] | None,
        name: str,
        geographic: bool,
    ) -> Instance:
        stops: Any = names  # _check_names makes a tuple of it
        return cls(problem, coords=coords, matrix=matrix, names=stops, name=name, geographic=geographic, **own)

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

    @cached_property
    def symmetric(self) -> bool:
        """Does every way cost what its way back costs?"""
        return self.matrix is None or bool((self.matrix == self.matrix.T).all())

    @cached_property
    def scale(self) -> float:
        """The raw length that stands for 1: the longer side of the map; of a matrix its largest entry / sqrt 2, or
        twice a usual entry if that is less: where there is no road, matrices say 999999."""
        if self.matrix is None:
            assert self.coords is not None
            return float(np.ptp(self.coords, axis=0).max())
        usual = np.median(self.matrix[~np.eye(self.size, dtype=bool)])
        largest = float(self.matrix.max()) / 2**0.5
        return min(largest, 2 * float(usual)) if usual > 0 else largest

    @cached_property
    def plane(self) -> np.ndarray | None:
        """[N, 2] coords to draw or to feed to a network, in the unit of travel if travel follows from coords.

        Longitudes and latitudes are put on a flat map: in kilometres for GEO, else in metres.
        """
        if self.coords is None or not self.geographic:
            return self.coords if self.coords is None or self.rounding != "ATT" else self.coords / 10**0.5
        return flat_map(self.rounding, self.coords)

    def stop_name(self, node: int) -> str:
        """The user's name of a stop, or its number."""
        if self.names is None or not 0 <= node < self.size:
            return str(node)
        return self.names[node]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        return all(_same(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))

    def __hash__(self) -> int:
        return hash((self.problem, self.name, self.size))

    @property
    def _where(self) -> str:
        return self.name or f"{self.problem} instance"

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)

    def _bad(self, text: str, field: str, node: int | None = None) -> BadValue:
        label = "" if node is None else f"node {node}" + (f" ({self.names[node]})" if self.names else "")
        return BadValue(self._where, text, field, node, label)

    def _check_fields(self) -> None:
        needed = self.kind.fields
        if self.coords is None and self.matrix is None:
            raise self._bad("has neither coords nor a matrix; one of them is needed", "coords")
        for field in ("coords", "matrix"):
            value = getattr(self, field)
            if value is not None and value.ndim != 2:
                raise self._bad(f"{field} has shape {value.shape}; a table of two dimensions is expected", field)
        for field in needed:
            if getattr(self, field) is None:
                raise self._bad(f"{field} is missing; {self.problem} needs {', '.join(needed)}", field)
        for field in (*PER_NODE, *SCALARS):
            if field != "coords" and field not in needed and getattr(self, field) is not None:
                accepted = ", ".join(("coords", "matrix", *needed))
                raise self._bad(f"{field} is given, but {self.problem} has no use for it; it takes {accepted}", field)
        if self.size < SMALLEST_SIZE:
            raise self._bad(f"has {self.size} nodes; {SMALLEST_SIZE} or more are needed", "coords")
        if self.matrix is not None and self.matrix.shape != (self.size, self.size):
            raise self._bad(f"matrix has shape {self.matrix.shape}; {(self.size, self.size)} is expected", "matrix")
        for field, columns in PER_NODE.items():
            value = getattr(self, field)
            expected = (self.size,) if columns == 1 else (self.size, columns)
            if value is not None and value.shape != expected:
                raise self._bad(f"{field} has shape {value.shape}; {expected} is expected", field)

    def _check_names(self) -> None:
        if self.names is None:
            return
        names = () if isinstance(self.names, str) else self.names
        if not np.iterable(names) or not all(isinstance(name, str | int | np.integer) for name in names):
            raise BadValue(self._where, "names is not a list of texts, one for each stop", "names")
        self._set("names", tuple(str(name).strip() for name in names))
        if len(self.names) != self.size:
            text = f"there are {len(self.names)} names for {self.size} nodes; one for each is expected"
            raise BadValue(self._where, text, "names")
        first: dict[str, int] = {}
        for node, name in enumerate(self.names):
            if not name or not name.isprintable():
                text = f"the name of node {node} is {name!r}; a line of text is expected"
                raise BadValue(self._where, text, "names", node)
            if name in first:
                text = f"nodes {first[name]} and {node} are both called '{name}'; names of stops must differ"
                raise BadValue(self._where, text, "names", node)
            first[name] = node

    def _check_geography(self) -> None:
        """Fill in the matrix that `rounding` or longitudes and latitudes stand for."""
        if not isinstance(self.geographic, bool | np.bool_):
            raise self._bad(f"geographic is {self.geographic!r}; True or False is expected", "geographic")
        self._set("geographic", bool(self.geographic))
        if self.rounding and self.rounding not in METRICS:
            near = nearest(str(self.rounding), list(METRICS))
            raise self._bad(f"rounding is '{self.rounding}'{near}; accepted: {', '.join(METRICS)}", "rounding")
        if self.geographic:
            self._check_degrees()
        if self.geographic and self.matrix is None and not self.rounding:
            self._set("rounding", "GREAT_CIRCLE")
        if not self.rounding:
            return
        if self.coords is None or self.geographic != (self.rounding in ON_THE_GLOBE):
            of = "longitudes and latitudes" if self.rounding in ON_THE_GLOBE else "coords on a plane"
            raise self._bad(f"rounding is {self.rounding}, a rule for {of}, which are not given", "rounding")
        table = distance_table(self.rounding, self.coords)
        table.setflags(write=False)
        if self.matrix is not None and not np.allclose(self.matrix, table, rtol=SAME, atol=0):
            text = f"the matrix is not what rounding {self.rounding} makes of coords; give one of them"
            raise self._bad(text, "matrix")
        if self.matrix is None:
            self._set("matrix", table)

    def _check_degrees(self) -> None:
        if self.coords is None:
            raise self._bad("geographic is set without coords; longitudes and latitudes are expected", "coords")
        for column, (what, low, high) in enumerate((("longitude", -180, 360), ("latitude", -90, 90))):
            values = self.coords[:, column]
            if (bad := (values < low) | (values > high)).any():
                node = int(np.argmax(bad))
                text = f"{what} of <node> is {values[node]:g}; {low} to {high} degrees are accepted, longitude first"
                raise self._bad(text, "coords", node)

    def _check_values(self) -> None:
        if self.matrix is not None and (self.matrix < 0).any():
            i, j = np.argwhere(self.matrix < 0)[0]
            text = f"matrix[{i}, {j}] is {self.matrix[i, j]:g}; travel costs must be 0 or more"
            raise self._bad(text, "matrix", int(i))
        for field in ("demand", "prize", "penalty", "draft_limit"):
            value = getattr(self, field)
            if value is not None and (value < 0).any():
                node = int(np.argmax(value < 0))
                raise self._bad(f"{field} of <node> is {value[node]:g}; 0 or more is accepted", field, node)
            if value is not None and value[0] != 0 and field != "draft_limit":
                raise self._bad(f"{field} of <node>, the depot, is {value[0]:g}; 0 is expected", field, 0)
        if self.capacity is not None and self.demand is not None and (self.demand > self.capacity).any():
            node = int(np.argmax(self.demand > self.capacity))
            text = f"demand of <node> is {self.demand[node]:g}, above capacity {self.capacity:g}"
            raise self._bad(text, "demand", node)
        if self.window is not None and (self.window[:, 1] < self.window[:, 0]).any():
            node = int(np.argmax(self.window[:, 1] < self.window[:, 0]))
            start, end = self.window[node]
            raise self._bad(f"window of <node> ends at {end:g}, before it starts at {start:g}", "window", node)


def kind_of(problem: str) -> Kind:
    """The row of `KINDS`, or a sentence that names the nearest problem."""
    if not isinstance(problem, str) or problem not in KINDS:
        raise BadInput(f"unknown problem '{problem}'{nearest(str(problem), list(KINDS))}; accepted: {', '.join(KINDS)}")
    return KINDS[problem]


def _same(a: Any, b: Any) -> bool:
    return np.array_equal(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else a == b


def _line_of_text(where: str, field: str, value: Any) -> str:
    if not isinstance(value, str):
        raise BadValue(where, f"{field} is {value!r}; a text is expected", field)
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(value.split()))


def _frozen_array(where: str, field: str, value: Any) -> np.ndarray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadValue(where, f"{field} is not a table of numbers", field) from None
    if field == "matrix" and array.ndim == 2:
        np.fill_diagonal(array, 0.0)  # never travelled; files put 9999 there, which would spoil the scale
    largest = LARGEST * (10 if field == "matrix" else 1)  # so that distances of the largest coordinates fit
    if not (fine := np.abs(array) <= largest).all():
        place = ", ".join(str(int(k)) for k in np.argwhere(~fine)[0])
        node = int(np.argwhere(~fine)[0][0]) if array.ndim else None
        found = array[~fine][0]
        accepted = f"numbers up to {largest:g}" if np.isfinite(found) else "finite numbers"
        raise BadValue(where, f"{field}[{place}] is {found:g}; {accepted} are accepted", field, node)
    array.setflags(write=False)
    return array


def _positive_number(where: str, field: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise BadValue(where, f"{field} is {value!r}; a number is expected", field) from None
    if not np.isfinite(number) or number <= 0:
        raise BadValue(where, f"{field} is {number}; a finite number above 0 is expected", field)
    if number > LARGEST:
        raise BadValue(where, f"{field} is {number:g}; numbers up to {LARGEST:g} are accepted", field)
    return number
