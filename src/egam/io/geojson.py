"""GeoJSON of a solution, for maps: a point for each stop, a line for each route. Written only.

Longitudes and latitudes are needed. Lines go straight from stop to stop; the roads in between are not known here.
"""

from __future__ import annotations

import json
from typing import Any

from egam.errors import BadInput
from egam.instance import Instance
from egam.io.source import plain
from egam.solution import Solution


def need_globe(instance: Instance) -> None:
    """Raise unless the instance can be put on a map of the world."""
    if instance.coords is None or not instance.geographic:
        found = "has no coordinates" if instance.coords is None else "has coordinates on a plane"
        raise BadInput(f"{instance.name or 'instance'}: {found}; GeoJSON needs longitudes and latitudes")


def dump_solution(solution: Solution, instance: Instance, cost: float) -> str:
    need_globe(instance)
    if not all(0 <= node < instance.size for node in solution.visits):
        raise BadInput(f"{instance.name or 'instance'}: the solution visits nodes that do not exist")
    features = [_line(instance, number, route) for number, route in enumerate(solution.routes, start=1)]
    features += _points(instance, solution)
    rows = ",\n".join(json.dumps(feature, ensure_ascii=False) for feature in features)
    about = {"problem": instance.problem, "instance": instance.name, "cost": json.loads(plain(cost))}
    head = json.dumps({"type": "FeatureCollection", **about}, ensure_ascii=False)
    return f'{head[:-1]}, "features": [\n{rows}\n]}}\n'


def _line(instance: Instance, number: int, route: tuple[int, ...]) -> dict[str, Any]:
    nodes = [0, *route, 0]
    length = float(instance.travel[nodes[:-1], nodes[1:]].sum())
    properties: dict[str, Any] = {"route": number, "stops": [instance.stop_name(node) for node in route]}
    properties["length"] = length
    if instance.demand is not None:
        properties["load"] = float(instance.demand[list(route)].sum())
    return _feature("LineString", [_place(instance, node) for node in nodes], properties)


def _points(instance: Instance, solution: Solution) -> list[dict[str, Any]]:
    visits = {
        node: (number, place)
        for number, route in enumerate(solution.routes, start=1)
        for place, node in enumerate(route, start=1)
    }
    points = []
    for node in range(instance.size):
        properties: dict[str, Any] = {"node": node, "name": instance.stop_name(node), "depot": node == 0}
        properties["route"], properties["place"] = visits.get(node, (None, None))
        for name in instance.kind.fields:
            value = getattr(instance, name)
            if not isinstance(value, float):
                properties[name] = value[node].tolist()
        points.append(_feature("Point", _place(instance, node), properties))
    return points


def _place(instance: Instance, node: int) -> list[float]:
    assert instance.coords is not None
    longitude, latitude = instance.coords[node].tolist()
    return [longitude - 360 if longitude > 180 else longitude, latitude]


def _feature(kind: str, coordinates: list[Any], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}, "properties": properties}
