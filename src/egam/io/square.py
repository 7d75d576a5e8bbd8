"""A bare square of travel costs from row to column: numbers with commas, semicolons, tabs or spaces in between.

A first row and a first column may name the stops; lines that begin with `# ` are comments. It is read as atsp if some
way costs something else than its way back, else as tsp, or given as `matrix=` beside a CSV file of stops.
"""

from __future__ import annotations

import re

import numpy as np

from egam.instance import Instance
from egam.io.draft import Draft, Options
from egam.io.source import LARGEST_SIZE, NUMBER, Source, shown

Row = tuple[int, list[str]]  # line, cells


def looks_like(text: str) -> bool:
    """Numbers in the last line, after its first cell, and as many rows as columns, give or take names."""
    rows = [line for line in text.splitlines() if line.strip() and not _is_comment(line)] or [""]
    last = _cells(rows[-1])
    return len(rows) >= 3 and all(NUMBER.fullmatch(cell) for cell in last[1:]) and abs(len(rows) - len(last)) <= 1


def parse(source: Source, options: Options) -> Instance:
    matrix, names, lines = read_square(source)
    directed = bool((matrix != matrix.T).any())
    draft = Draft(source, problem="atsp" if directed else "tsp", fields={"matrix": matrix}, names=names)
    draft.lines = {(name, row): line for name in ("matrix", "names") for row, line in enumerate(lines)}
    return draft.finish(options.problem)


def read_square(source: Source) -> tuple[np.ndarray, list[str] | None, list[int]]:
    """The matrix, the names of its rows if there are any, and the line of each row."""
    lines = enumerate(source.lines, start=1)
    rows = [(number, _cells(line)) for number, line in lines if line.strip() and not _is_comment(line)]
    if not rows:
        raise source.bad("has no numbers; a square of travel costs is expected")
    header: Row | None = None
    corner, *rest = rows[0][1]
    if not corner or not any(NUMBER.fullmatch(cell) for cell in rest):
        header, rows = rows[0], rows[1:]
    names = None
    if (header and not corner) or any(not NUMBER.fullmatch(cells[0]) for _, cells in rows):
        names = [cells[0] for _, cells in rows]
        rows = [(line, cells[1:]) for line, cells in rows]
    if len(rows) > LARGEST_SIZE:
        raise source.bad(f"has {len(rows)} rows; up to {LARGEST_SIZE} are accepted")
    for line, cells in rows:
        if len(cells) != len(rows):
            sentence = f"the row has {len(cells)} numbers and there are {len(rows)} rows; a square is expected"
            raise source.bad(sentence, line)
    if header:
        names = _agreed(source, header, names, len(rows))
    numbers = [source.numbers("a travel cost", cells, line) for line, cells in rows]
    return np.array(numbers).reshape(len(rows), -1), names, [line for line, _ in rows]


def _agreed(source: Source, header: Row, names: list[str] | None, size: int) -> list[str]:
    line, cells = header
    if len(cells) == size + 1:
        cells = cells[1:]
    if len(cells) != size:
        raise source.bad(f"the header has {len(cells)} names for {size} rows; one for each is expected", line)
    if names is not None and names != cells:
        place = next(k for k in range(size) if names[k] != cells[k])
        raise source.bad(f"row {place + 1} is called {shown(names[place])}, its column {shown(cells[place])}", line)
    return cells


def _is_comment(line: str) -> bool:
    """`# like this`; #this may be the name of a stop."""
    return line.lstrip().startswith("# ") or line.strip() == "#"


def _cells(line: str) -> list[str]:
    delimiter = next((letter for letter in ";\t," if letter in line), None)
    cells = line.split(delimiter) if delimiter else re.split(r"\s+", line.strip())
    return [cell.strip().strip('"') for cell in cells]
