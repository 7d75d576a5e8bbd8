"""The OpenAPI document of the service, written from the same tables that requests are read by."""

from __future__ import annotations

from typing import Any

from egam import __version__
from egam.instance import KINDS, LARGEST
from egam.io.json import PROPERTIES
from egam.serve.asked import LARGEST_SEED, LONGEST_NAME
from egam.serve.limits import Limits

Schema = dict[str, Any]
NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
AMOUNT: Schema = {"type": "number", "minimum": 0, "maximum": LARGEST}
ROUTES: Schema = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}
EVERYWHERE = ("name", "names", "coords", "geographic", "rounding", "matrix", "notes")
ERRORS = {
    "400": "What was sent cannot be used; the sentence says where, what was found and what is accepted.",
    "401": "A key is needed, and this is not it.",
    "403": "A page of another web site asked.",
    "408": "The body took too long to arrive.",
    "413": "More than a limit of this server allows.",
    "429": "The queue is full; Retry-After says when to come again.",
    "500": "An error of the server.",
    "501": "The method needs a package that is not installed here.",
    "503": "The server is shutting down, or not well.",
}
VROOM_TEXT = """VROOM's input and output for one kind of vehicle: `vehicles` with start, end, capacity and time_window,
`jobs` with location_index, service, delivery or pickup and one time window, and `matrices`. A field that is not
modelled is refused by name. The body has VROOM's code: 0, 1 for an internal error, 2 for the input."""


def document(limits: Limits, with_key: bool) -> Schema:
    """The whole document."""
    told = {
        "title": "EGAM",
        "version": __version__,
        "description": "Routes from a neural network, and from classical solvers, over HTTP.",
    }
    components: Schema = {"schemas": _schemas(limits)}
    if with_key:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    paths = _paths()
    if with_key:
        for path in paths.values():
            for method, call in path.items():
                if method == "post":
                    call["security"] = [{"key": []}]
        paths["/metrics"]["get"]["security"] = [{"key": []}]
    return {"openapi": "3.1.0", "info": told, "paths": paths, "components": components}


# ---- paths ------------------------------------------------------------------------------------------------------


def _paths() -> Schema:
    stream = "With a time_limit and `Accept: text/event-stream`, events `improvement` and a last `result` or `error`."
    solve = _post("Solve one instance or a list", "SolveRequest", "SolveAnswer", f"One result per instance. {stream}")
    solve["responses"]["200"]["content"]["text/event-stream"] = {"schema": TEXT}
    vroom = _post("Solve a request of VROOM", "VroomRequest", "VroomAnswer", VROOM_TEXT, "VroomError")
    parse = _post("Read the text of a file", "ParseRequest", "ParseAnswer", "TSPLIB, Solomon, CSV, JSON or a matrix.")
    judge = _post("Score routes", "JudgeRequest", "Verdict", "Cost, broken rules and timetable of given routes.")
    return {
        "/": {"get": _get("The page", "text/html"), "post": {**vroom, "operationId": "vroom_at_the_root"}},
        "/solve": {"post": {**solve, "operationId": "solve"}},
        "/vroom": {"post": {**vroom, "operationId": "vroom"}},
        "/parse": {"post": {**parse, "operationId": "parse"}},
        "/judge": {"post": {**judge, "operationId": "judge"}},
        "/health": {"get": _get("Solves four nodes", schema={"type": "object", "required": ["status"]})},
        "/methods": {"get": _get("Methods and limits", schema={"type": "object", "required": ["methods", "limits"]})},
        "/weights": {"get": _get("Weights of the network", schema={"type": "object", "required": ["weights"]})},
        "/metrics": {"get": _get("Counters for Prometheus", "text/plain")},
        "/docs": {"get": _get("This, to read", "text/html")},
        "/openapi.json": {"get": _get("This document", schema={"type": "object"})},
    }


def _get(summary: str, kind: str = "application/json", schema: Schema = TEXT) -> Schema:
    responses = {"200": {"description": "Fine.", "content": {kind: {"schema": schema}}}}
    return {"summary": summary, "responses": {**responses, **_errors("Error", ("401", "500", "503"))}}


def _post(summary: str, asked: str, answered: str, description: str, error: str = "Error") -> Schema:
    return {
        "summary": summary,
        "description": description,
        "requestBody": {"required": True, "content": {"application/json": {"schema": _ref(asked)}}},
        "responses": {
            "200": {"description": "Fine.", "content": {"application/json": {"schema": _ref(answered)}}},
            **_errors(error, tuple(ERRORS)),
        },
    }


def _errors(schema: str, statuses: tuple[str, ...]) -> Schema:
    content = {"application/json": {"schema": _ref(schema)}}
    return {status: {"description": ERRORS[status], "content": content} for status in statuses}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


# ---- schemas ----------------------------------------------------------------------------------------------------


def _schemas(limits: Limits) -> Schema:
    schemas = {f"Instance-{problem}": _instance(problem, limits) for problem in KINDS}
    return {
        "Instance": {"oneOf": [_ref(name) for name in schemas]},
        **schemas,
        "SolveRequest": _solve_request(limits),
        "SolveAnswer": _object({"results": {"type": "array", "items": _ref("Result")}}, ("results",), closed=False),
        "Result": _result(),
        "ParseRequest": _parse_request(),
        "ParseAnswer": _object({"instance": _ref("Instance"), "notes": _list(TEXT)}, ("instance", "notes")),
        "JudgeRequest": _object({"instance": _ref("Instance"), "routes": ROUTES}, ("instance", "routes")),
        "Verdict": _object(
            {
                "cost": NUMBER,
                "feasible": {"type": "boolean"},
                "length": NUMBER,
                "violations": _list(_ref("Violation")),
                "schedule": _list(_ref("Stop")),
            },
            ("cost", "feasible", "length", "violations", "schedule"),
            closed=False,
        ),
        "Violation": _object(
            {"node": {"type": "integer"}, "kind": TEXT, "amount": NUMBER, "text": TEXT},
            ("node", "kind", "amount", "text"),
            closed=False,
        ),
        "Stop": _stop(),
        **_vroom_schemas(limits),
        "Error": _object({"error": TEXT}, ("error",)),
    }


def _object(properties: Schema, required: tuple[str, ...], closed: bool = True) -> Schema:
    schema: Schema = {"type": "object", "properties": properties, "required": list(required)}
    return {**schema, "additionalProperties": False} if closed else schema


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def _instance(problem: str, limits: Limits) -> Schema:
    """What one problem takes, in the limits of this server; the file format's schema says the same for all."""
    fields = KINDS[problem].fields
    known: Schema = {key: schema for key, schema in PROPERTIES.items() if key in (*EVERYWHERE, *fields)}
    properties: Schema = {key: _within(schema, limits) for key, schema in known.items()}
    properties["problem"] = {"const": problem}
    schema = _object(properties, ("problem", *fields))
    return {**schema, "anyOf": [{"required": ["coords"]}, {"required": ["matrix"]}]}


def _within(schema: Schema, limits: Limits) -> Schema:
    if "maxItems" not in schema or schema["maxItems"] == 2:
        return schema
    return {**schema, "maxItems": limits.nodes, "items": _within(schema["items"], limits)}


def _solve_request(limits: Limits) -> Schema:
    properties = {
        "instance": _ref("Instance"),
        "instances": {"type": "array", "items": _ref("Instance"), "minItems": 1, "maxItems": limits.instances},
        "method": {"type": ["string", "null"], "description": "a name of /methods; egam if not given"},
        "samples": {"type": ["integer", "null"], "minimum": 0, "maximum": limits.samples},
        "decoding": {
            "type": ["string", "null"],
            "description": "greedy, sample:N, 8xN, 8xN@T, [8x]distinct:N, 8xgreedy, [8x]starts",
        },
        "time_limit": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": limits.seconds},
        "seed": {"type": ["integer", "null"], "minimum": 0, "maximum": LARGEST_SEED},
    }
    either = [{"required": ["instance"]}, {"required": ["instances"]}]
    return {**_object(properties, ()), "oneOf": either}


def _parse_request() -> Schema:
    properties: Schema = {
        "name": {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "description": "what the file is called"},
        "text": {"type": "string", "minLength": 1},
        "problem": {"enum": [*KINDS, None]},
        "format": _or_null(TEXT),
        "capacity": _or_null(NUMBER),
        "min_prize": _or_null(NUMBER),
        "speed": _or_null(NUMBER),
        "measure": {"enum": ["durations", "distances", None]},
    }
    return _object(properties, ("name", "text"))


def _result() -> Schema:
    properties = {
        "cost": NUMBER,
        "feasible": {"type": "boolean"},
        "length": NUMBER,
        "routes": ROUTES,
        "violations": _list(_ref("Violation")),
        "schedule": _list(_ref("Stop")),
        "seconds": NUMBER,
        "notes": _list(TEXT),
    }
    return _object(properties, tuple(properties), closed=False)


def _stop() -> Schema:
    properties: Schema = {
        "route": {"type": ["integer", "null"], "description": "counted from 1"},
        "node": {"type": "integer"},
        "name": TEXT,
        "arrival": _or_null(NUMBER),
        "wait": _or_null(NUMBER),
        "start": _or_null(NUMBER),
        "load": _or_null(NUMBER),
        "status": {"enum": ["served", "failed", "unvisited", "depot"]},
        "violation": TEXT,
    }
    return _object(properties, tuple(properties))


def _vroom_schemas(limits: Limits) -> Schema:
    index: Schema = {"type": "integer", "minimum": 0}
    place: Schema = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}
    window: Schema = {"type": "array", "items": AMOUNT, "minItems": 2, "maxItems": 2}
    amount: Schema = {"type": "array", "items": AMOUNT, "maxItems": 1}
    table: Schema = {"type": "array", "items": {"type": "array", "items": AMOUNT}, "minItems": 1}
    named: Schema = {"id": index, "description": TEXT}
    vehicle = {
        **named,
        "profile": TEXT,
        **{key: place for key in ("start", "end")},
        **{key: index for key in ("start_index", "end_index")},
        "capacity": amount,
        "time_window": window,
    }
    job = {
        **named,
        "location": place,
        "location_index": index,
        "service": AMOUNT,
        "delivery": amount,
        "pickup": amount,
        "time_windows": {"type": "array", "items": window, "minItems": 1, "maxItems": 1},
    }
    tables = _object({key: table for key in ("durations", "costs", "distances")}, ("durations",))
    many: Schema = {"type": "array", "minItems": 1, "maxItems": limits.nodes - 1}
    request = {
        "vehicles": {**many, "items": _object(vehicle, ("id",))},
        "jobs": {**many, "items": _object(job, ("id",))},
        "matrices": {"type": "object", "additionalProperties": tables},
    }
    answer = {"code": {"const": 0}, "summary": {"type": "object"}, "unassigned": _list({"type": "object"})}
    return {
        "VroomRequest": _object(request, ("vehicles", "jobs")),
        "VroomAnswer": _object({**answer, "routes": _list({"type": "object"})}, (*answer, "routes")),
        "VroomError": _object({"code": {"enum": [1, 2]}, "error": TEXT}, ("code", "error")),
    }
