"""VROOM's requests, read strictly: https://github.com/VROOM-Project/vroom/blob/master/docs/API.md

A field that is not modelled here is refused by its name unless it says what VROOM assumes without it (no skills,
priority 0). So is an unknown field. A null is as good as nothing. What is read becomes a `VroomRequest`, of which
vroom.py makes instances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from egam.errors import BadInput, nearest
from egam.instance import LARGEST
from egam.io.source import shown
from egam.metric import distance_table
from egam.serve.limits import Limits, too_large

NEVER: Any = object()  # no value of the field is the same as leaving it out
BODY = ("vehicles", "jobs", "matrices", "matrix")
BODY_NEUTRAL: dict[str, list[Any]] = {"shipments": [[]], "options": [{}, {"g": False}]}
JOB = ("id", "description", "location", "location_index", "service", "delivery", "pickup", "amount", "time_windows")
JOB_NEUTRAL: dict[str, list[Any]] = {
    "skills": [[]],
    "priority": [0],
    "setup": [0],
    "setup_per_type": [{}],
    "service_per_type": [{}],
}
VEHICLE = ("id", "description", "profile", "start", "start_index", "end", "end_index", "capacity", "time_window")
VEHICLE_NEUTRAL: dict[str, list[Any]] = {
    "skills": [[]],
    "breaks": [[]],
    "steps": [[]],
    "speed_factor": [1],
    "costs": [{}],
    "type": [NEVER],
    "max_tasks": [NEVER],
    "max_travel_time": [NEVER],
    "max_distance": [NEVER],
}
TABLES = ("durations", "costs", "distances")


@dataclass(frozen=True)
class Place:
    """What a request says about where something is, and where that is in the tables."""

    row: int
    location: tuple[float, ...] | None
    location_index: int | None

    def to_dict(self) -> dict[str, Any]:
        said = {"location": self.location, "location_index": self.location_index}
        return {key: value for key, value in said.items() if value is not None}


@dataclass(frozen=True)
class Job:
    id: int
    description: str | None
    place: Place
    service: float
    delivery: float
    pickup: float
    window: tuple[float, float] | None


@dataclass(frozen=True)
class VroomRequest:
    """Vehicles of one kind and jobs; rows of the tables are places."""

    vehicles: tuple[tuple[int, str | None], ...]  # id and description
    start: Place | None
    end: Place | None
    capacity: float | None
    hours: tuple[float, float] | None
    jobs: tuple[Job, ...]
    picks_up: bool  # amounts are picked up at the jobs, not delivered there
    durations: np.ndarray  # [P, P]
    costs: np.ndarray | None  # [P, P]; as the durations if None
    distances: np.ndarray | None  # [P, P]


def read_vroom(body: dict[str, Any], limits: Limits, speed: float | None = None) -> VroomRequest:
    """The request, or a sentence that names the field. `speed`, in m/s, stands in for a routing engine."""
    body = _without_nulls(body)
    _check_keys("", body, BODY, BODY_NEUTRAL)
    vehicles = _records(body, "vehicles", limits)
    jobs = _records(body, "jobs", limits)
    tables = _tables(body, vehicles[0].get("profile", "car"))
    places = _Places(tables["durations"])
    kind = _vehicle(vehicles[0], places)
    for number, vehicle in enumerate(vehicles[1:], start=1):
        _check_same_kind(vehicles[0], vehicle, f"vehicles[{number}]")
    read = tuple(_job(job, f"jobs[{number}]", places) for number, job in enumerate(jobs))
    _check_ids([job.id for job in read], "jobs")
    named = tuple(_named(vehicle, f"vehicles[{number}]") for number, vehicle in enumerate(vehicles))
    _check_ids([number for number, _ in named], "vehicles")
    durations = tables["durations"]
    if durations is None:
        durations = _as_the_crow_flies(list(places.seen), speed)
    return VroomRequest(
        vehicles=named,
        start=kind["start"],
        end=kind["end"],
        capacity=kind["capacity"],
        hours=kind["hours"],
        jobs=read,
        picks_up=_picks_up(read, kind["capacity"]),
        durations=durations,
        costs=tables["costs"],
        distances=tables["distances"],
    )


# ---- fields -----------------------------------------------------------------------------------------------------


def _check_keys(where: str, record: dict[str, Any], modelled: tuple[str, ...], neutral: dict[str, list[Any]]) -> None:
    dot = f"{where}." if where else ""
    for key, value in record.items():
        if key in neutral and any(_equal(value, plain) for plain in neutral[key]):
            continue
        if key in modelled:
            continue
        if key in neutral:
            raise BadInput(f"{dot}{key} is not modelled by this service; leave it out")
        near = nearest(key, [*modelled, *neutral])
        raise BadInput(f"{dot}{shown(key)[1:-1]} is unknown{near}; accepted: {', '.join(modelled)}")


def _equal(value: Any, plain: Any) -> bool:
    return not isinstance(value, bool) and value == plain


def _without_nulls(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value is not None}


def _records(body: dict[str, Any], key: str, limits: Limits) -> list[dict[str, Any]]:
    records = body.get(key)
    if not isinstance(records, list) or not records or not all(isinstance(record, dict) for record in records):
        found = "missing" if key not in body else shown(records)
        raise BadInput(f"{key} is {found}; a list of one or more objects is expected")
    if len(records) >= limits.nodes:
        raise too_large(f"{key} has", len(records), limits.nodes - 1, " entries")
    return [_without_nulls(record) for record in records]


def _number(where: str, value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= LARGEST:
        raise BadInput(f"{where} is {shown(value)}; a number from 0 to {LARGEST:g} is expected")
    return float(value)


def _text(where: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise BadInput(f"{where} is {shown(value)}; a text is expected")
    return value


def _one_amount(where: str, value: Any) -> float:
    if not isinstance(value, list) or len(value) > 1:
        raise BadInput(f"{where} is {shown(value)}; a list of one number is expected, as one dimension is modelled")
    return _number(f"{where}[0]", value[0]) if value else 0.0


def _window(where: str, value: Any) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise BadInput(f"{where} is {shown(value)}; [start, end] is expected")
    start, end = _number(f"{where}[0]", value[0]), _number(f"{where}[1]", value[1])
    if end < start:
        raise BadInput(f"{where} ends at {end:g}, before it starts at {start:g}")
    return start, end


def _check_ids(ids: list[int], what: str) -> None:
    seen: set[int] = set()
    for number, one in enumerate(ids):
        if one in seen:
            raise BadInput(f"{what}[{number}].id is {one}, which an earlier one has; ids must differ")
        seen.add(one)


def _named(record: dict[str, Any], where: str) -> tuple[int, str | None]:
    one = record.get("id")
    if type(one) is not int or not 0 <= one < 2**64:
        raise BadInput(f"{where}.id is {shown(one)}; a whole number of 0 or more is expected")
    return one, _text(f"{where}.description", record.get("description"))


# ---- vehicles and jobs ------------------------------------------------------------------------------------------


def _vehicle(vehicle: dict[str, Any], places: _Places) -> dict[str, Any]:
    where = "vehicles[0]"
    _check_keys(where, vehicle, VEHICLE, VEHICLE_NEUTRAL)
    start = places.find(where, vehicle, "start", "start_index")
    end = places.find(where, vehicle, "end", "end_index")
    if start is None and end is None:
        raise BadInput(f"{where} has neither start nor end; at least one of them is expected")
    capacity, hours = vehicle.get("capacity", []), vehicle.get("time_window")
    return {
        "start": start,
        "end": end,
        "capacity": None if capacity == [] else _one_amount(f"{where}.capacity", capacity),
        "hours": None if hours is None else _window(f"{where}.time_window", hours),
    }


def _check_same_kind(first: dict[str, Any], vehicle: dict[str, Any], where: str) -> None:
    _check_keys(where, vehicle, VEHICLE, VEHICLE_NEUTRAL)
    for key in VEHICLE[2:]:
        if first.get(key, "car" if key == "profile" else None) != vehicle.get(key, "car" if key == "profile" else None):
            raise BadInput(f"{where}.{key} differs from that of vehicles[0]; vehicles of one kind are modelled")


def _picks_up(jobs: tuple[Job, ...], capacity: float | None) -> bool:
    """Are amounts picked up at the jobs? Some picked up and some delivered is more than is modelled."""
    delivers = next((number for number, job in enumerate(jobs) if job.delivery), None)
    picks_up = next((number for number, job in enumerate(jobs) if job.pickup), None)
    if delivers is not None and picks_up is not None:
        found = f"jobs[{delivers}] has a delivery and jobs[{picks_up}] a pickup"
        raise BadInput(f"{found}; requests with one of the two are modelled")
    if capacity is None and (delivers is not None or picks_up is not None):
        number, key = (picks_up, "pickup") if delivers is None else (delivers, "delivery")
        raise BadInput(f"jobs[{number}].{key} is given, but the vehicles have no capacity")
    return picks_up is not None


def _job(job: dict[str, Any], where: str, places: _Places) -> Job:
    _check_keys(where, job, JOB, JOB_NEUTRAL)
    number, description = _named(job, where)
    if "amount" in job and "delivery" in job:
        raise BadInput(f"{where} has both delivery and its old name amount; one of them is accepted")
    delivery = "amount" if "amount" in job else "delivery"
    windows = job.get("time_windows")
    if windows is not None and (not isinstance(windows, list) or len(windows) != 1):
        raise BadInput(f"{where}.time_windows is {shown(windows)}; a list of one window is expected")
    place = places.find(where, job, "location", "location_index")
    if place is None:
        key = "location" if places.table is None else "location_index"
        raise BadInput(f"{where}.{key} is missing")
    return Job(
        id=number,
        description=description,
        place=place,
        service=_number(f"{where}.service", job.get("service", 0)),
        delivery=_one_amount(f"{where}.{delivery}", job.get(delivery, [])),
        pickup=_one_amount(f"{where}.pickup", job.get("pickup", [])),
        window=_window(f"{where}.time_windows[0]", windows[0]) if windows else None,
    )


# ---- places and tables ------------------------------------------------------------------------------------------


class _Places:
    """Rows of the given table, or, without one, the locations seen so far."""

    def __init__(self, table: np.ndarray | None) -> None:
        self.table = table
        self.seen: dict[tuple[float, ...], int] = {}

    def find(self, where: str, record: dict[str, Any], key: str, index_key: str) -> Place | None:
        location = None if key not in record else _location(f"{where}.{key}", record[key])
        index = record.get(index_key)
        if index_key in record and (type(index) is not int or index < 0):
            raise BadInput(f"{where}.{index_key} is {shown(index)}; a row of the matrix is expected")
        if self.table is None:
            if location is None and index is not None:
                raise BadInput(f"{where}.{index_key} is given, but matrices are missing")
            if location is None:
                return None
            return Place(self.seen.setdefault(location, len(self.seen)), location, index)
        if index is None:
            if location is not None:
                raise BadInput(f"{where}.{index_key} is missing; matrices are given, and it names the row")
            return None
        if index >= len(self.table):
            raise BadInput(f"{where}.{index_key} is {index}; the matrix has rows 0 to {len(self.table) - 1}")
        return Place(index, location, index)


def _location(where: str, value: Any) -> tuple[float, ...]:
    if (
        not isinstance(value, list)
        or len(value) != 2
        or not all(type(x) in (int, float) and abs(x) <= LARGEST for x in value)
    ):
        raise BadInput(f"{where} is {shown(value)}; [longitude, latitude] is expected")
    return tuple(value)


def _tables(body: dict[str, Any], profile: Any) -> dict[str, np.ndarray | None]:
    """durations, costs and distances of the vehicles' profile; `matrix` is VROOM's old name for the car's durations."""
    if not isinstance(profile, str):
        raise BadInput(f"vehicles[0].profile is {shown(profile)}; a text is expected")
    matrices = body.get("matrices", {})
    if "matrix" in body:
        if matrices or profile != "car":
            raise BadInput("matrix, the old name of matrices.car.durations, stands beside matrices or another profile")
        matrices = {"car": {"durations": body["matrix"]}}
    if not isinstance(matrices, dict) or not all(isinstance(tables, dict) for tables in matrices.values()):
        raise BadInput(f"matrices is {shown(matrices)}; an object of profiles is expected")
    if not matrices:
        return dict.fromkeys(TABLES)
    if profile not in matrices:
        raise BadInput(f"matrices has no {shown(profile)}, the vehicles' profile{nearest(profile, list(matrices))}")
    given = _without_nulls(matrices[profile])
    where = f"matrices.{shown(profile)[1:-1]}"
    _check_keys(where, given, TABLES, {})
    if "durations" not in given:
        raise BadInput(f"{where}.durations is missing; times and costs follow from it")
    tables = {name: _square(f"{where}.{name}", given[name]) if name in given else None for name in TABLES}
    sizes = {name: len(table) for name, table in tables.items() if table is not None}
    if len(set(sizes.values())) > 1:
        said = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise BadInput(f"{where}: the tables have different numbers of rows ({said})")
    return tables


def _square(where: str, rows: Any) -> np.ndarray:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise BadInput(f"{where} is no table; a list of rows is expected")
    for i, row in enumerate(rows):
        if len(row) != len(rows):
            raise BadInput(f"{where}[{i}] has {len(row)} entries and there are {len(rows)} rows; a square is expected")
        if not all(type(value) in (int, float) and 0 <= value <= LARGEST for value in row):
            bad = next(j for j, v in enumerate(row) if type(v) not in (int, float) or not 0 <= v <= LARGEST)
            raise BadInput(f"{where}[{i}][{bad}] is {shown(row[bad])}; a number from 0 to {LARGEST:g} is expected")
    return np.array(rows, dtype=np.float64)


def _as_the_crow_flies(locations: list[tuple[float, ...]], speed: float | None) -> np.ndarray:
    """[P, P] whole seconds between longitudes and latitudes."""
    if speed is None:
        raise BadInput("matrices is missing, and no routing engine is attached; give matrices.car.durations")
    coords = np.array(locations, dtype=np.float64)
    if not on_the_globe(coords):
        raise BadInput("a location is not on the globe; [longitude, latitude] in degrees is expected")
    return np.rint(distance_table("GREAT_CIRCLE", coords) / speed)


def on_the_globe(coords: np.ndarray) -> bool:
    return bool((np.abs(coords) <= [180.0, 90.0]).all())
