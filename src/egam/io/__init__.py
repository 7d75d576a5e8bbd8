"""Files in, files out: `read` and `write` for instances, `read_solution` and `write_solution` for routes.

The format is found by content, then by suffix; `format=` forces one. "-" is standard input or output. `parse` does the
same with text and never touches the disk. One file per format; `FORMATS` and `SOLUTION_FORMATS` list them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egam.errors import BadInput, nearest
from egam.files import write_text
from egam.instance import Instance, kind_of
from egam.io import csv, geojson, json, osrm, sol, solomon, square, tour, tsplib
from egam.io.draft import Options
from egam.io.json import SCHEMA, instance_from_dict, instance_to_dict
from egam.io.source import Source, as_source, load
from egam.judge import judge
from egam.solution import Solution

__all__ = [
    "FORMATS",
    "SCHEMA",
    "SOLUTION_FORMATS",
    "dump",
    "dump_solution",
    "instance_from_dict",
    "instance_to_dict",
    "parse",
    "parse_solution",
    "read",
    "read_solution",
    "write",
    "write_solution",
]
TSPLIB_SUFFIXES = (".tsp", ".atsp", ".vrp", ".tsptw", ".tspdl", ".pctsp", ".vrptw")
CSV_OPTIONS = ("capacity", "min_prize", "matrix", "speed", "measure", "columns", "ignore_columns")


@dataclass(frozen=True)
class Format:
    """How instances are read from and written to one kind of file."""

    title: str
    suffixes: tuple[str, ...]
    parse: Callable[[Source, Options], Instance]
    dump: Callable[[Instance], str] | None = None
    options: tuple[str, ...] = ()  # arguments of `read` that it has a use for

    @property
    def reads(self) -> bool:
        return True

    @property
    def writes(self) -> bool:
        return self.dump is not None


@dataclass(frozen=True)
class SolutionFormat:
    """How solutions are read from and written to one kind of file."""

    title: str
    suffixes: tuple[str, ...]
    dump: Callable[[Solution, Instance, float], str]
    parse: Callable[[Source, Instance], Solution] | None = None

    @property
    def reads(self) -> bool:
        return self.parse is not None

    @property
    def writes(self) -> bool:
        return True


FORMATS: dict[str, Format] = {
    "tsplib": Format("TSPLIB and CVRPLIB", TSPLIB_SUFFIXES, tsplib.parse, tsplib.dump),
    "solomon": Format("Solomon's time windows", (".txt",), solomon.parse),
    "csv": Format("one row per stop", (".csv", ".tsv"), csv.parse, csv.dump, CSV_OPTIONS),
    "matrix": Format("a bare square of travel costs", (), square.parse),
    "json": Format("JSON of this package", (".json",), json.parse, json.dump),
    "osrm": Format("reply of OSRM's /table", (), osrm.parse, options=("measure",)),
}
SOLUTION_FORMATS: dict[str, SolutionFormat] = {
    "sol": SolutionFormat("CVRPLIB solution", (".sol",), sol.dump_solution, sol.parse_solution),
    "tour": SolutionFormat("TSPLIB tour", (".tour",), tour.dump_solution, tour.parse_solution),
    "json": SolutionFormat("JSON of this package", (".json",), json.dump_solution, json.parse_solution),
    "geojson": SolutionFormat("GeoJSON for maps", (".geojson",), geojson.dump_solution),
}


def read(
    path: str | Path,
    problem: str | None = None,
    *,
    format: str | None = None,
    capacity: float | None = None,
    min_prize: float | None = None,
    matrix: Any = None,
    speed: float | None = None,
    measure: str | None = None,
    columns: Mapping[str, str] | None = None,
    ignore_columns: bool = False,
) -> Instance:
    """One instance from a file; `matrix` is a file too (an OSRM reply or a square of numbers), or numbers. Columns of
    CSV may have other headings, `columns={"demand": "Order Qty"}`, and unknown ones be left out, `ignore_columns`."""
    stops = None
    if isinstance(matrix, str | os.PathLike):
        matrix, stops = _matrix_from(load(matrix), measure)
    options = Options(problem, capacity, min_prize, matrix, stops, speed, measure, columns, ignore_columns or None)
    return _parse(load(path), format, options)


def parse(
    text: str,
    name: str,
    problem: str | None = None,
    *,
    format: str | None = None,
    capacity: float | None = None,
    min_prize: float | None = None,
    matrix: Any = None,
    speed: float | None = None,
    measure: str | None = None,
    columns: Mapping[str, str] | None = None,
    ignore_columns: bool = False,
) -> Instance:
    """One instance from text; `name` stands for the file in messages, and its suffix counts as one."""
    options = Options(problem, capacity, min_prize, matrix, None, speed, measure, columns, ignore_columns or None)
    return _parse(as_source(name, text), format, options)


def write(instance: Instance, path: str | Path, format: str | None = None) -> None:
    """Write an instance whole or not at all."""
    _put(path, dump(instance, format or _by_suffix(path, FORMATS, "instances")))


def dump(instance: Instance, format: str) -> str:
    """The text of an instance in a format."""
    chosen = FORMATS[_known(format, FORMATS)]
    if chosen.dump is None:
        writing = [name for name, other in FORMATS.items() if other.writes]
        raise BadInput(f"{format} is read only; instances are written as {', '.join(writing)}")
    return chosen.dump(instance)


def read_solution(path: str | Path, instance: Instance, format: str | None = None) -> Solution:
    """The routes of a file, as they stand there; `judge` says what is wrong with them."""
    return _parse_solution(load(path), instance, format)


def parse_solution(text: str, name: str, instance: Instance, format: str | None = None) -> Solution:
    """The same from text; `name` stands for the file in messages."""
    return _parse_solution(as_source(name, text), instance, format)


def write_solution(
    solution: Solution, instance: Instance, path: str | Path, format: str | None = None, cost: float | None = None
) -> None:
    """Write routes whole or not at all; without `cost`, with the judge's."""
    chosen = format or _by_suffix(path, SOLUTION_FORMATS, "solutions")
    _put(path, dump_solution(solution, instance, chosen, cost))


def dump_solution(solution: Solution, instance: Instance, format: str, cost: float | None = None) -> str:
    """The text of routes in a format."""
    if cost is None:
        cost = judge(instance, solution).cost
    return SOLUTION_FORMATS[_known(format, SOLUTION_FORMATS)].dump(solution, instance, float(cost))


def _parse(source: Source, format: str | None, options: Options) -> Instance:
    if options.problem is not None:
        kind_of(options.problem)
    name = (
        _known(format, FORMATS)
        if format
        else _guess(source, has_columns=bool(options.columns or options.ignore_columns))
    )
    for option in options.given():
        if option not in FORMATS[name].options:
            takes = [other for other, row in FORMATS.items() if option in row.options]
            raise source.bad(f"{option} is given, but is of no use with {name} files; with {' and '.join(takes)} it is")
    return FORMATS[name].parse(source, options)


def _guess(source: Source, has_columns: bool) -> str:
    """What the text looks like, else what the file is called; only CSV has columns."""
    text = source.text
    if text.lstrip().startswith(("{", "[")):
        return "osrm" if osrm.looks_like(text) else "json"
    for name, module in (("tsplib", tsplib), ("solomon", solomon), ("csv", csv), ("matrix", square)):
        if module.looks_like(text):
            return "csv" if has_columns and name == "matrix" else name
    if sol.looks_like(text):
        raise source.bad("is a solution, not an instance; read_solution reads it")
    for name, row in FORMATS.items():
        if source.suffix in row.suffixes:
            return name
    raise source.bad(f"looks like no format that is known here; name one of {', '.join(FORMATS)}")


def _parse_solution(source: Source, instance: Instance, format: str | None) -> Solution:
    name = _known(format, SOLUTION_FORMATS) if format else _guess_solution(source)
    chosen = SOLUTION_FORMATS[name]
    if chosen.parse is None:
        reading = [name for name, row in SOLUTION_FORMATS.items() if row.reads]
        raise source.bad(f"{name} is written only; solutions are read from {', '.join(reading)}")
    return chosen.parse(source, instance)


def _guess_solution(source: Source) -> str:
    if source.text.lstrip().startswith(("{", "[")):
        return "json"
    for name, module in (("tour", tour), ("sol", sol)):
        if module.looks_like(source.text):
            return name
    for name, row in SOLUTION_FORMATS.items():
        if source.suffix in row.suffixes:
            return name
    raise source.bad("looks like no solution; .sol, .tour and .json are accepted")


def _matrix_from(source: Source, measure: str | None) -> tuple[Any, list[str] | None]:
    """The numbers, and the names of their stops if the file has any."""
    if source.text.lstrip().startswith("{"):
        return osrm.matrix_of(source, measure), None
    if measure is not None:
        raise source.bad("measure is given, but this is no OSRM reply")
    if source.text.lstrip().startswith("["):
        return json.load_list(source), None
    return square.read_square(source)[:2]


def _known(format: str, formats: dict[str, Any]) -> str:
    if format not in formats:
        near = nearest(str(format), list(formats))
        raise BadInput(f"unknown format '{format}'{near}; accepted: {', '.join(formats)}")
    return format


def _by_suffix(path: str | Path, formats: dict[str, Any], what: str) -> str:
    suffix = Path(path).suffix.lower()
    if str(path) == "-":
        raise BadInput(f"a format is needed for standard output; accepted: {', '.join(formats)}")
    for name, row in formats.items():
        if row.writes and suffix in row.suffixes:
            return name
    accepted = ", ".join(suffix for row in formats.values() if row.writes for suffix in row.suffixes)
    raise BadInput(f"{path}: the suffix '{suffix}' is none that {what} are written with; accepted: {accepted}")


def _put(path: str | Path, text: str) -> None:
    if str(path) == "-":
        sys.stdout.write(text)
        return
    write_text(Path(path), text)
