"""Solomon's text files (and Gehring and Homberger's), read as the VRPTW variant of this package: one vehicle.

Distances are Euclidean and not rounded. Service times become part of the travel times that leave a customer, which
changes nothing for the clock. Vehicles, capacity, demands and the depot's closing time are not part of the variant:
notes say so. With problem="tsptw" or "cvrp" the same file gives those.
"""

from __future__ import annotations

import re

import numpy as np

from egam.instance import Instance
from egam.io.draft import Draft, Options
from egam.io.source import LARGEST_SIZE, Source, shown

COLUMNS = ("CUST NO.", "XCOORD.", "YCOORD.", "DEMAND", "READY TIME", "DUE DATE", "SERVICE TIME")
WORDS = {"window": "READY TIME and DUE DATE", "demand": "DEMAND", "capacity": "CAPACITY"}


def looks_like(text: str) -> bool:
    return bool(re.search(r"^\s*VEHICLE\s*$", text, re.M | re.I) and re.search(r"^\s*CUST", text, re.M | re.I))


def parse(source: Source, options: Options) -> Instance:
    rows = [(number, line.split()) for number, line in enumerate(source.lines, start=1) if line.strip()]
    name, rest = _heading(source, rows)
    vehicles, capacity, line, rest = _fleet(source, rest)
    table, lines = _customers(source, rest)
    draft = Draft(source, problem="vrptw", name=name or None, words=WORDS, service=table[:, 6])
    draft.fields = {"coords": table[:, 1:3], "demand": table[:, 3], "capacity": capacity, "window": table[:, 4:6]}
    draft.lines = {(field, node): at for field in draft.fields for node, at in enumerate(lines)}
    draft.lines["capacity", None] = line
    problem = options.problem or "vrptw"
    if problem in ("vrptw", "tsptw"):
        draft.notes.append(f"one vehicle instead of {vehicles}, and it may come home after the depot has closed")
    elif problem == "cvrp":
        draft.notes.append(f"the number of vehicles, {vehicles}, is left out: the number of routes is free in cvrp")
    return draft.finish(problem)


def _heading(source: Source, rows: list[tuple[int, list[str]]]) -> tuple[str, list[tuple[int, list[str]]]]:
    if [word.upper() for word in rows[0][1]] == ["VEHICLE"]:
        return "", rows[1:]
    if len(rows) < 2 or [word.upper() for word in rows[1][1]] != ["VEHICLE"]:
        line = rows[1][0] if len(rows) > 1 else rows[0][0]
        raise source.bad("VEHICLE is expected after the name of the instance", line)
    return " ".join(rows[0][1]), rows[2:]


def _fleet(source: Source, rows: list[tuple[int, list[str]]]) -> tuple[int, float, int, list[tuple[int, list[str]]]]:
    """Vehicles, capacity, their line, and the rows after the headings."""
    expected = (("NUMBER", "CAPACITY"), None, ("CUSTOMER",), ("CUST",))
    for number, words in enumerate(expected):
        if number >= len(rows):
            raise source.bad(f"ends before {' '.join(words or ('the number of vehicles',))}; the file is cut off")
        line, found = rows[number]
        if words and tuple(word.upper() for word in found[: len(words)]) != words:
            raise source.bad(f"{' '.join(words)} is expected; found {shown(' '.join(found))}", line)
    line, numbers = rows[1]
    if len(numbers) != 2:
        raise source.bad(f"{len(numbers)} words stand under NUMBER and CAPACITY; two numbers are expected", line)
    vehicles = source.whole("NUMBER", numbers[0], line)
    return vehicles, source.number("CAPACITY", numbers[1], line), line, rows[4:]


def _customers(source: Source, rows: list[tuple[int, list[str]]]) -> tuple[np.ndarray, list[int]]:
    """[N, 7] numbers, and the line of each row."""
    if len(rows) > LARGEST_SIZE:
        raise source.bad(f"has {len(rows)} nodes; up to {LARGEST_SIZE} are accepted")
    table, lines = [], []
    for expected, (line, words) in enumerate(rows):
        if len(words) != len(COLUMNS):
            raise source.bad(f"a customer has {len(words)} numbers; {', '.join(COLUMNS)} are expected", line)
        number = source.whole(COLUMNS[0], words[0], line)
        if number != expected:
            raise source.bad(f"{COLUMNS[0]} is {number}; {expected} is expected, as rows are numbered from 0 on", line)
        row = [source.number(f"{what} of node {number}", word, line) for what, word in zip(COLUMNS, words, strict=True)]
        if row[6] < 0:
            raise source.bad(f"SERVICE TIME of node {number} is {words[6]}; 0 or more is accepted", line)
        table.append(row)
        lines.append(line)
    return np.array(table).reshape(-1, len(COLUMNS)), lines
