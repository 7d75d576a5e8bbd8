"""Our own JSON: instances by the fields of `Instance`, and solutions. Strict: what the schema does not name is refused.

`SCHEMA` is the JSON Schema of an instance, published as docs/instance.schema.json. Lengths that must agree, and the
rules that a schema cannot say, are checked by `Instance`.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from egam.errors import BadInput, nearest
from egam.instance import KINDS, LARGEST, PER_NODE, SCALARS, SMALLEST_SIZE, Instance
from egam.io.draft import Draft, Options
from egam.io.source import LARGEST_SIZE, Source, shown
from egam.metric import METRICS
from egam.solution import Solution

_NUMBER = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
_AMOUNT = {"type": "number", "minimum": 0, "maximum": LARGEST}
_ABOVE_0 = {"type": "number", "exclusiveMinimum": 0, "maximum": LARGEST}
_PER_NODE = {"type": "array", "minItems": SMALLEST_SIZE, "maxItems": LARGEST_SIZE}
_PAIR = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2}
PROPERTIES = {
    "problem": {"enum": list(KINDS)},
    "name": {"type": "string"},
    "names": {**_PER_NODE, "items": {"type": "string", "minLength": 1}, "uniqueItems": True},
    "coords": {**_PER_NODE, "items": _PAIR, "description": "x, y of each node; node 0 is the depot or start"},
    "geographic": {"type": "boolean", "description": "coords are longitude, latitude in degrees"},
    "rounding": {"enum": list(METRICS), "description": "TSPLIB's rule by which coords give the travel costs"},
    "matrix": {
        **_PER_NODE,
        "items": {**_PER_NODE, "items": _NUMBER},
        "description": "travel cost from row to column, 0 or more off the diagonal; it takes as long as it costs",
    },
    "demand": {**_PER_NODE, "items": _AMOUNT, "description": "0 for node 0"},
    "capacity": _ABOVE_0,
    "prize": {**_PER_NODE, "items": _AMOUNT, "description": "0 for node 0"},
    "penalty": {**_PER_NODE, "items": _AMOUNT, "description": "0 for node 0"},
    "min_prize": _ABOVE_0,
    "window": {**_PER_NODE, "items": _PAIR, "description": "earliest and latest start of service at each node"},
    "draft_limit": {**_PER_NODE, "items": _AMOUNT},
    "notes": {"type": "array", "items": {"type": "string"}},
}
DEPTH = {"coords": 2, "matrix": 2, "window": 2}  # lists in lists; 1 for all other lists of numbers
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A routing instance of EGAM",
    "type": "object",
    "properties": PROPERTIES,
    "required": ["problem"],
    "additionalProperties": False,
    "anyOf": [{"required": ["coords"]}, {"required": ["matrix"]}],
    "allOf": [  # each problem takes its own fields and no others
        {
            "if": {"properties": {"problem": {"const": problem}}, "required": ["problem"]},
            "then": {
                "required": list(kind.fields),
                "properties": {f: False for f in (*PER_NODE, *SCALARS) if f not in (*kind.fields, "coords")},
            },
        }
        for problem, kind in KINDS.items()
    ],
}


def load_object(source: Source) -> dict[str, Any]:
    """A JSON object without duplicate keys, NaN or Infinity."""
    data = _load(source)
    if not isinstance(data, dict):
        raise source.bad("is JSON, but no object; { ... } is expected")
    return data


def load_list(source: Source) -> list[Any]:
    """A square of travel costs as a JSON list of lists."""
    return _numbers(source, "[", "the matrix", _load(source), 2)


def _load(source: Source) -> Any:
    """Any JSON, as strict as that."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        record: dict[str, Any] = {}
        for key, value in items:
            if key in record:
                line = _line_of(source, f'"{key}"', last=True)
                raise source.bad(f"the key {shown(key)} is there twice; once is accepted", line)
            record[key] = value
        return record

    def constant(word: str) -> None:
        raise source.bad(f"{word} is no number of JSON; finite numbers are accepted", _line_of(source, word))

    try:
        return json.loads(source.text, object_pairs_hook=pairs, parse_constant=constant)
    except BadInput:
        raise
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise source.bad(f"is no JSON: {reason} in column {error.colno}", error.lineno) from None
    except RecursionError:
        raise source.bad("is JSON nested too deeply; an object of lists is expected") from None
    except ValueError:  # Python's limit on the digits of a whole number
        raise source.bad(f"has a number with thousands of digits; numbers up to {LARGEST:g} are accepted") from None


def parse(source: Source, options: Options) -> Instance:
    data = load_object(source)
    return _draft(source, data, data.get("name")).finish(options.problem)


def instance_from_dict(data: dict[str, Any], where: str = "instance") -> Instance:
    """The instance that a dict of the schema describes; `where` begins the messages."""
    source = Source(where, "")
    if not isinstance(data, dict):
        raise source.bad(f"is {shown(data)}; an object is expected")
    return _draft(source, data, data.get("name", "")).finish(None)


def instance_to_dict(instance: Instance) -> dict[str, Any]:
    """The JSON of an instance; fields that it does not have are left out."""
    data: dict[str, Any] = {}
    for key in PROPERTIES:
        value = getattr(instance, key)
        if key == "matrix" and instance.rounding:
            continue  # it follows from coords
        if key == "rounding" and value == "GREAT_CIRCLE":
            continue  # as it does for all longitudes and latitudes
        if isinstance(value, np.ndarray):
            data[key] = _whole_where_whole(value.tolist())
        elif value:
            data[key] = _whole_where_whole(list(value) if isinstance(value, tuple) else value)
    return data


def dump(instance: Instance) -> str:
    return _one_key_per_line(instance_to_dict(instance))


def parse_solution(source: Source, instance: Instance) -> Solution:
    """The `routes` of any JSON object, as node numbers or names of stops."""
    routes = load_object(source).get("routes")
    if not isinstance(routes, list) or not all(isinstance(route, list) for route in routes):
        sentence = f"routes is {shown(routes)}; a list of lists of stops is expected"
        raise source.bad(sentence, _line_of(source, '"routes"'))
    nodes = {name: node for node, name in enumerate(instance.names or ())}
    found = []
    for number, route in enumerate(routes):
        for place, stop in enumerate(route):
            if type(stop) is not int and not (isinstance(stop, str) and stop in nodes):
                near = nearest(stop, list(nodes)) if isinstance(stop, str) else ""
                accepted = "node numbers or names of stops are accepted"
                raise source.bad(f"routes[{number}][{place}] is {shown(stop)}{near}; {accepted}")
        found.append([stop if type(stop) is int else nodes[stop] for stop in route])
    return Solution.of(found)


def dump_solution(solution: Solution, instance: Instance, cost: float) -> str:
    data: dict[str, Any] = {"problem": instance.problem, "instance": instance.name, "cost": _whole_where_whole(cost)}
    data["routes"] = [list(route) for route in solution.routes]
    if instance.names is not None:
        data["named_routes"] = [[instance.stop_name(node) for node in route] for route in solution.routes]
    return _one_key_per_line(data)


def _draft(source: Source, data: dict[str, Any], name: Any) -> Draft:
    for key in data:
        if key not in PROPERTIES:
            near = nearest(key, list(PROPERTIES))
            sentence = f"unknown key {shown(key)}{near}; accepted: {', '.join(PROPERTIES)}"
            raise source.bad(sentence, _line_of(source, f'"{key}"'))
    if "problem" not in data:
        raise source.bad(f"the key 'problem' is missing; accepted: {', '.join(KINDS)}")
    for key, expected in (("name", str), ("rounding", str), ("geographic", bool)):
        if key in data and not isinstance(data[key], expected):
            what = "true or false is" if expected is bool else "a text is"
            raise source.bad(f"{key} is {shown(data[key])}; {what} expected", _line_of(source, f'"{key}"'))
    draft = Draft(source, problem=_problem(source, data["problem"]), name=name)
    draft.names, draft.notes = _texts(source, data, "names"), _texts(source, data, "notes") or []
    draft.geographic, draft.rounding = data.get("geographic", False), data.get("rounding", "")
    for key in ("matrix", *PER_NODE, *SCALARS):
        if key in data:
            draft.fields[key] = _numbers(source, key, key, data[key], 0 if key in SCALARS else DEPTH.get(key, 1))
    places = ((key, _line_of(source, f'"{key}"')) for key in data)
    draft.lines = {(key, None): line for key, line in places if line is not None}
    return draft


def _problem(source: Source, problem: Any) -> str:
    if not isinstance(problem, str) or problem not in KINDS:
        sentence = f"problem is {shown(problem)}{nearest(str(problem), list(KINDS))}; accepted: {', '.join(KINDS)}"
        raise source.bad(sentence, _line_of(source, '"problem"'))
    return problem


def _texts(source: Source, data: dict[str, Any], key: str) -> list[str] | None:
    texts = data.get(key)
    if key in data and not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
        raise source.bad(f"{key} is {shown(texts)}; a list of texts is expected", _line_of(source, f'"{key}"'))
    return texts


def _numbers(source: Source, key: str, place: str, value: Any, depth: int) -> Any:
    """Lists of numbers, `depth` deep, and nothing else: no texts, booleans or nulls."""
    if depth == 0:
        if type(value) not in (int, float) or not abs(value) <= LARGEST:
            sentence = f"{place} is {shown(json.dumps(value, default=str))}; a number up to {LARGEST:g} is expected"
            raise source.bad(sentence, _line_of(source, f'"{key}"'))
        return float(value)
    if not isinstance(value, list) or len(value) > LARGEST_SIZE:
        found = f"a list of {len(value)}" if isinstance(value, list) else shown(json.dumps(value, default=str))
        sentence = f"{place} is {found}; a list of up to {LARGEST_SIZE} is expected"
        raise source.bad(sentence, _line_of(source, f'"{key}"'))
    if depth == 1 and all(type(item) in (int, float) and abs(item) <= LARGEST for item in value):
        return value  # all is well, as nearly always: no need to name the places
    return [_numbers(source, key, f"{place}[{number}]", item, depth - 1) for number, item in enumerate(value)]


def _line_of(source: Source, word: str, last: bool = False) -> int | None:
    at = source.text.rfind(word) if last else source.text.find(word)
    return None if at < 0 else source.text.count("\n", 0, at) + 1


def _whole_where_whole(value: Any) -> Any:
    """2.0 as 2, in lists too."""
    if isinstance(value, list):
        return [_whole_where_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _one_key_per_line(data: dict[str, Any]) -> str:
    """Tables with a line for each row, all else on the line of its key."""
    parts = []
    for key, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], list):
            rows = ",\n    ".join(json.dumps(row, ensure_ascii=False) for row in value)
            parts.append(f"  {json.dumps(key)}: [\n    {rows}\n  ]")
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
