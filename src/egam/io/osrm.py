"""The reply of OSRM's /table service: a matrix of travel times or lengths, with the places that it is between.

Times in seconds are taken unless measure="distances" asks for metres. The reply has no demands or time windows: give it
as `matrix=` beside a CSV file for those. Mapbox and openrouteservice answer in the same form.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from egam.errors import nearest
from egam.instance import Instance
from egam.io.draft import Draft, Options
from egam.io.json import load_object
from egam.io.source import LARGEST_SIZE, Source, shown

MEASURES = ("durations", "distances")


def looks_like(text: str) -> bool:
    return bool(re.search(r'"(code|durations|distances)"\s*:', text)) and not re.search(r'"problem"\s*:', text)


def parse(source: Source, options: Options) -> Instance:
    matrix, data, notes = _table(source, options.measure)
    directed = bool((matrix != matrix.T).any())
    draft = Draft(source, problem="atsp" if directed else "tsp", fields={"matrix": matrix}, notes=notes)
    if (coords := _places(source, data, len(matrix))) is not None:
        draft.fields["coords"] = coords
        draft.geographic = True
    return draft.finish(options.problem)


def matrix_of(source: Source, measure: str | None) -> np.ndarray:
    return _table(source, measure)[0]


def _table(source: Source, measure: str | None) -> tuple[np.ndarray, dict[str, Any], list[str]]:
    data, notes = load_object(source), []
    if measure is not None and measure not in MEASURES:
        near = nearest(str(measure), list(MEASURES))
        raise source.bad(f"measure is {shown(measure)}{near}; accepted: {', '.join(MEASURES)}")
    if (code := data.get("code", "Ok")) != "Ok":
        said = f" ({shown(data['message'])})" if "message" in data else ""
        raise source.bad(f"OSRM answered {shown(code)}{said}; a reply with code Ok is needed")
    found = [name for name in MEASURES if data.get(name) is not None]
    if not found or (measure and measure not in found):
        asked = measure or "durations or distances"
        raise source.bad(f"{asked} are missing; ask for them with annotations=duration,distance")
    chosen = measure or found[0]
    if len(found) > 1 and not measure:
        notes.append("travel is the durations of the reply; measure=distances takes the distances")
    if data.get("fallback_speed_cells"):
        notes.append(f"{len(data['fallback_speed_cells'])} entries are OSRM's straight-line estimates")
    return _square(source, chosen, data[chosen]), data, notes


def _square(source: Source, name: str, rows: Any) -> np.ndarray:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise source.bad(f"{name} is no table; a list of rows is expected")
    if len(rows) > LARGEST_SIZE:
        raise source.bad(f"{name} has {len(rows)} rows; up to {LARGEST_SIZE} are accepted")
    for i, row in enumerate(rows):
        if len(row) != len(rows):
            sentence = f"row {i} of {name} has {len(row)} entries and there are {len(rows)} rows; a square is expected"
            raise source.bad(f"{sentence}: ask for all sources and destinations")
        for j, value in enumerate(row):
            if value is None and i != j:
                raise source.bad(f"{name}[{i}][{j}] is null: OSRM found no way from place {i} to place {j}")
            if i != j and (type(value) not in (int, float) or not 0 <= value < math.inf):
                raise source.bad(f"{name}[{i}][{j}] is {shown(value)}; a number of 0 or more is expected")
    rows = [[0 if i == j else value for j, value in enumerate(row)] for i, row in enumerate(rows)]
    try:
        return np.array(rows, dtype=np.float64)
    except OverflowError:
        raise source.bad(f"{name} has a number too large for any way") from None


def _places(source: Source, data: dict[str, Any], size: int) -> np.ndarray | None:
    """[N, 2] longitudes and latitudes of the sources, which must be the destinations too."""
    ends = [data.get(name) for name in ("sources", "destinations")]
    if ends == [None, None]:
        return None
    places = [_locations(source, name, end) for name, end in zip(("sources", "destinations"), ends, strict=True)]
    if places[0] != places[1]:
        raise source.bad("sources and destinations of the reply are not the same places in the same order")
    if len(places[0]) != size:
        raise source.bad(f"there are {len(places[0])} sources for {size} rows; one for each is expected")
    return np.array(places[0], dtype=np.float64)


def _locations(source: Source, name: str, ends: Any) -> list[list[float]]:
    places = []
    for number, end in enumerate(ends if isinstance(ends, list) else [None]):
        place = end.get("location") if isinstance(end, dict) else None
        if not isinstance(place, list) or len(place) != 2 or not all(type(x) in (int, float) for x in place):
            raise source.bad(f"{name}[{number}].location is {shown(place)}; [longitude, latitude] is expected")
        places.append(place)
    return places
