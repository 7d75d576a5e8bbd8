"""What a body asks for, read strictly: every key is known, every value in its limits, before anything is queued."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from egam.decode.strategies import Decoding
from egam.errors import BadInput, nearest
from egam.instance import LARGEST, Instance
from egam.io import instance_from_dict, parse
from egam.io.json import load_object
from egam.io.source import decode, shown
from egam.serve.limits import Limits, too_large
from egam.solution import Solution

SOLVE = ("instance", "instances", "method", "samples", "decoding", "time_limit", "seed")
PARSE = ("name", "text", "problem", "format", "capacity", "min_prize", "speed", "measure")
JUDGE = ("instance", "routes")
LARGEST_SEED = 2**32 - 1
LONGEST_NAME = 200  # characters of a file's name
VISITS = 10  # per node of routes to be judged, right or wrong
HEADINGS = 20  # lines of a file that hold no stop, at most
DIMENSION = re.compile(r"^\s*DIMENSION\s*[:=]?\s*(\d{1,9})", re.M | re.I)


@dataclass(frozen=True)
class Options:
    """How to solve; the words of `egam.solve`."""

    method: str = "egam"
    samples: int | None = None
    decoding: str | None = None
    time_limit: float | None = None
    seed: int = 0

    @property
    def said(self) -> str:
        """What there is of samples and decoding, in words."""
        return f"decoding {self.decoding}" if self.decoding else f"{self.samples or 'the usual'} samples"


def load(body: bytes) -> dict[str, Any]:
    """One JSON object without NaN, Infinity, twice the same key or depths."""
    return load_object(decode("request", body))


def read_solve(data: dict[str, Any], limits: Limits) -> tuple[list[Instance], Options]:
    data = _known(data, SOLVE)
    if ("instance" in data) == ("instances" in data):
        raise BadInput("request: one of instance and instances is expected, and one only")
    given = [data["instance"]] if "instance" in data else data["instances"]
    if not isinstance(given, list) or not given:
        raise BadInput(f"request: instances is {shown(given)}; a list of one or more is expected")
    most = min(limits.instances, limits.queue)
    if len(given) > most:
        raise too_large("request: there are", len(given), most, " instances")
    options = _options(data, limits)
    if options.time_limit is not None and options.time_limit * len(given) > limits.seconds:
        asked = f"request: time_limit times {len(given)} instances is" if len(given) > 1 else "request: time_limit is"
        raise too_large(asked, options.time_limit * len(given), limits.seconds, " s")
    where = ["instance"] if "instance" in data else [f"instances[{number}]" for number in range(len(given))]
    return [_instance(one, place, limits) for one, place in zip(given, where, strict=True)], options


def read_parse(data: dict[str, Any], limits: Limits) -> Instance:
    """The instance that a file's text holds. Nothing is read from disk."""
    data = _known(data, PARSE)
    name, text = (_text(data, key, needed=True) for key in ("name", "text"))
    assert name is not None and text is not None
    if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
        raise BadInput(f"request: name is {shown(name)}; a file's name of up to {LONGEST_NAME} characters is expected")
    _check_length(text, name, limits)
    instance = parse(
        text,
        name,
        _text(data, "problem"),
        format=_text(data, "format"),
        capacity=_number(data, "capacity"),
        min_prize=_number(data, "min_prize"),
        speed=_number(data, "speed"),
        measure=_text(data, "measure"),
    )
    return _within(instance, name, limits)


def read_judge(data: dict[str, Any], limits: Limits) -> tuple[Instance, Solution]:
    data = _known(data, JUDGE)
    instance = _instance(data.get("instance"), "instance", limits)
    routes = data.get("routes")
    if not isinstance(routes, list) or not all(isinstance(route, list) for route in routes):
        raise BadInput(f"request: routes is {shown(routes)}; a list of lists of node numbers is expected")
    if (visits := sum(len(route) + 1 for route in routes)) > VISITS * instance.size:
        raise too_large(f"request: {instance.size} nodes have", visits, VISITS * instance.size, " visits and routes")
    for number, route in enumerate(routes):
        for place, node in enumerate(route):
            if type(node) is not int or abs(node) > 10**9:
                raise BadInput(f"request: routes[{number}][{place}] is {shown(node)}; a node number is expected")
    return instance, Solution.of(routes)


def _known(data: dict[str, Any], accepted: tuple[str, ...]) -> dict[str, Any]:
    """The keys that are given; a null is as good as nothing."""
    for key in data:
        if key not in accepted:
            near = nearest(key, list(accepted))
            raise BadInput(f"request: unknown key {shown(key)}{near}; accepted: {', '.join(accepted)}")
    return {key: value for key, value in data.items() if value is not None}


def _instance(data: Any, where: str, limits: Limits) -> Instance:
    if isinstance(data, dict):
        for field in ("coords", "matrix"):  # before anything is made of it that is larger than itself
            if isinstance(rows := data.get(field), list) and len(rows) > limits.nodes:
                raise too_large(f"{where}: there are", len(rows), limits.nodes, " nodes")
    return _within(instance_from_dict(data, where), where, limits)


def _check_length(text: str, name: str, limits: Limits) -> None:
    """Refuse too many stops before they are read: their distance table is much larger than the text."""
    if text.lstrip().startswith(("{", "[")):
        data = load_object(decode(name, text.encode(errors="replace")))
        stops = max((len(rows) for rows in data.values() if isinstance(rows, list)), default=0)
    elif said := DIMENSION.findall(text):
        stops = max(map(int, said))
    else:
        stops = sum(1 for line in text.splitlines() if line.strip()) - HEADINGS
    if stops > limits.nodes:
        raise too_large(f"{name}: there are", stops, limits.nodes, " stops")


def _within(instance: Instance, where: str, limits: Limits) -> Instance:
    if instance.size > limits.nodes:
        raise too_large(f"{where}: there are", instance.size, limits.nodes, " nodes")
    return instance


def _options(data: dict[str, Any], limits: Limits) -> Options:
    samples, seed = _whole(data, "samples"), _whole(data, "seed")
    decoding = _text(data, "decoding")
    parsed = Decoding(samples=samples or 0) if decoding is None else Decoding.parse(decoding)
    if parsed.copies * parsed.samples > limits.samples:
        raise too_large("request: there are", parsed.copies * parsed.samples, limits.samples, " samples")
    if seed is not None and seed > LARGEST_SEED:
        raise BadInput(f"request: seed is {seed}; a whole number from 0 to {LARGEST_SEED} is expected")
    time_limit = _number(data, "time_limit")
    if time_limit is not None and time_limit <= 0:
        raise BadInput(f"request: time_limit is {time_limit:g}; seconds above 0 are expected")
    return Options(
        method=_text(data, "method") or "egam",
        samples=samples,
        decoding=decoding,
        time_limit=time_limit,
        seed=seed or 0,
    )


def _text(data: dict[str, Any], key: str, needed: bool = False) -> str | None:
    value = data.get(key)
    if (needed and value is None) or not isinstance(value, str | None):
        raise BadInput(f"request: {key} is {'missing' if value is None else shown(value)}; a text is expected")
    return value


def _number(data: dict[str, Any], key: str) -> float | None:
    value = data.get(key)
    if value is not None and (type(value) not in (int, float) or not abs(value) <= LARGEST):
        raise BadInput(f"request: {key} is {shown(value)}; a number up to {LARGEST:g} is expected")
    return None if value is None else float(value)


def _whole(data: dict[str, Any], key: str) -> int | None:
    value = data.get(key)
    if value is not None and (type(value) is not int or value < 0):
        raise BadInput(f"request: {key} is {shown(value)}; a whole number of 0 or more is expected")
    return value
