"""CSV with a header: one row per stop, the depot or start first.

Commas, semicolons or tabs separate cells; decimal commas are understood where they can be nothing else. Lines `# key =
value` above the header hold what belongs to no stop (problem, capacity, ...); arguments of `read` do the same. Which
columns there are decides the problem, unless it is named.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from egam.errors import BadInput, nearest
from egam.instance import KINDS, LARGEST, Instance, kind_of
from egam.io.draft import Draft, Options
from egam.io.source import LARGEST_SIZE, NUMBER, Source, plain, shown

COLUMNS = {  # heading -> what it holds
    "name": "name",
    "id": "name",
    "x": "x",
    "y": "y",
    "lon": "lon",
    "longitude": "lon",
    "lng": "lon",
    "lat": "lat",
    "latitude": "lat",
    "demand": "demand",
    "prize": "prize",
    "penalty": "penalty",
    "window_start": "window_start",
    "ready_time": "window_start",
    "window_end": "window_end",
    "due_time": "window_end",
    "service_time": "service_time",
    "draft_limit": "draft_limit",
}
PAIRS = {"coords": (("x", "y"), ("lon", "lat")), "window": (("window_start", "window_end"),)}
EMPTY_AT_DEPOT = ("demand", "prize", "penalty", "service_time")  # an empty cell of the first row is 0 there
ABOUT = ("problem", "name", "capacity", "min_prize", "speed", "rounding", "note")  # keys of lines above the header
OPEN = {"window_start": 0.0, "window_end": 1e12}  # what an empty cell stands for: no bound
CLOCK = re.compile(r"(\d{1,2}):(\d\d)(:\d\d)?")
DELIMITERS = ",;\t"
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)


@dataclass
class Table:
    """What a file holds, by column and by key."""

    source: Source
    about: dict[str, tuple[str, int]] = field(default_factory=dict)  # key -> value, line
    notes: list[str] = field(default_factory=list)
    columns: dict[str, list[str]] = field(default_factory=dict)  # what it holds -> cells
    lines: list[int] = field(default_factory=list)  # of the rows
    header: int = 0  # its line
    decimal_comma: bool = False

    def number(self, column: str, row: int) -> float:
        cell, line = self.columns[column][row], self.lines[row]
        if not cell and row == 0 and column in EMPTY_AT_DEPOT:
            return 0.0
        if not cell and column in OPEN:
            return OPEN[column]
        if column in OPEN and CLOCK.fullmatch(cell):
            sentence = f"{column} of node {row}{self.called(row)} is {cell}; a number is expected"
            raise self.source.bad(f"{sentence}, in the unit of travel, such as {_minutes(cell)} minutes", line)
        text = cell.replace(",", ".") if self.decimal_comma and DECIMAL_COMMA.fullmatch(cell) else cell
        return self.source.number(f"{column} of node {row}{self.called(row)}", text, line)

    def numbers(self, *columns: str) -> np.ndarray:
        rows = [[self.number(column, row) for column in columns] for row in range(len(self.lines))]
        return np.array(rows).reshape(-1, len(columns))

    def called(self, row: int) -> str:
        return f" ({self.columns['name'][row]})" if "name" in self.columns and self.columns["name"][row] else ""


def looks_like(text: str) -> bool:
    """Is the first line that is no comment a header of ours?"""
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    return any(_heading(cell) in COLUMNS for cell in re.split(rf"[{DELIMITERS}]", first))


def parse(source: Source, options: Options) -> Instance:
    table = _table(source, options)
    draft = Draft(source, problem="", name=table.about["name"][0] if "name" in table.about else None)
    draft.notes = table.notes
    if table.decimal_comma:
        draft.notes.append("commas in numbers are read as decimal points")
    _read_columns(table, draft)
    _read_about(table, options, draft)
    draft.problem = options.problem or _stated(table) or _inferred(source, draft.fields, table.header)
    _read_travel(table, options, draft)
    return draft.finish(options.problem)


def _table(source: Source, options: Options) -> Table:
    table = Table(source)
    skipped = _read_about_lines(table)
    text = "\n".join(source.lines[skipped:])
    if not text.strip():
        raise source.bad("has no header; a line such as name,x,y is expected", len(source.lines))
    delimiter = max(DELIMITERS, key=source.lines[skipped].count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        header = [_heading(cell) for cell in next(reader)]
        table.header = skipped + reader.line_num
        rows = list(_rows(source, reader, skipped, len(header)))
    except csv.Error as error:
        raise source.bad(f"is no CSV: {error}", skipped + reader.line_num) from None
    while header and not header[-1] and all(len(row) >= len(header) and not row[len(header) - 1] for _, row in rows):
        rows = [(line, row[: len(header) - 1]) for line, row in rows]  # spreadsheets leave empty columns behind
        header = header[:-1]
    meanings = _meanings(table, header, options)
    if len(rows) > LARGEST_SIZE:
        raise source.bad(f"has {len(rows)} rows; up to {LARGEST_SIZE} stops are accepted")
    for line, row in rows:
        if len(row) != len(header):
            raise source.bad(f"the row has {len(row)} cells; {len(header)}, as the header, are expected", line)
    table.lines = [line for line, _ in rows]
    table.columns = {held: [row[place] for _, row in rows] for place, held in enumerate(meanings) if held}
    table.decimal_comma = delimiter != "," and _has_decimal_commas(table)
    return table


def _rows(source: Source, reader: Any, skipped: int, width: int) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of each row; comments may stand in between."""
    first = skipped + reader.line_num  # index of the line where the next row begins
    for row in reader:
        begins, first = first, skipped + reader.line_num
        if not any(map(str.strip, row)):
            continue
        if source.lines[begins].lstrip().startswith("#"):
            if len(row) == width:
                sentence = "begins with #: if it is a comment, take it out; if that is a name, put it in quotes"
                raise source.bad(f"the row {sentence}", begins + 1)
            continue
        yield skipped + reader.line_num, [cell.replace("\u00a0", " ").strip() for cell in row]


def _read_about_lines(table: Table) -> int:
    """Take the lines above the header; how many there are."""
    source = table.source
    for number, line in enumerate(source.lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            return number - 1
        key, sign, value = line.lstrip("# \t").partition("=")
        key, value = key.strip().lower(), value.strip()
        if not sign or not re.fullmatch(r"\w+", key):
            continue  # a comment
        if key not in ABOUT:
            sentence = f"unknown key {shown(key)}{nearest(key, list(ABOUT))}; accepted: {', '.join(ABOUT)}"
            raise source.bad(sentence, number)
        if key in table.about:
            raise source.bad(f"{key} is given a second time; the first is in line {table.about[key][1]}", number)
        if key == "note":
            table.notes.append(value)
        else:
            table.about[key] = (value, number)
    return len(source.lines)


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")[:2]
    return 60 * int(hours) + int(minutes)


def _heading(cell: str) -> str:
    return re.sub(r"[\s-]+", "_", cell.strip().strip('"').lower())


def _meanings(table: Table, header: list[str], options: Options) -> list[str]:
    """What each column holds; nothing for those that are left out."""
    if all(NUMBER.fullmatch(cell) for cell in header):
        raise table.source.bad("has no header; a first line such as name,x,y is expected", table.header)
    renamed = _renamed(table, header, options.columns or {})
    found: list[str] = []
    held: dict[str, str] = {}
    for name in header:
        meaning = renamed.get(name) or COLUMNS.get(name, "")
        if meaning in renamed.values() and name not in renamed:
            meaning = ""  # another column was named for it
        elif not meaning and not options.ignore_columns:
            sentence = f"unknown column {shown(name)}{nearest(name, list(COLUMNS))}; accepted: {', '.join(COLUMNS)}"
            hint = "others can be named (--column) or left out (--ignore-columns)"
            raise table.source.bad(f"{sentence}; {hint}", table.header)
        if meaning in held:
            raise table.source.bad(f"the columns {held[meaning]} and {name} say the same; keep one", table.header)
        if meaning:
            held[meaning] = name
        found.append(meaning)
    if left_out := [name for name, meaning in zip(header, found, strict=True) if not meaning]:
        table.notes.append(f"columns that were left out: {', '.join(name or '(no heading)' for name in left_out)}")
    return found


def _renamed(table: Table, header: list[str], columns: Mapping[str, str]) -> dict[str, str]:
    """heading -> what it holds, as the caller says."""
    renamed: dict[str, str] = {}
    for name, heading in columns.items():
        if name not in COLUMNS:
            sentence = f"columns names {shown(name)}{nearest(str(name), list(COLUMNS))}; accepted: {', '.join(COLUMNS)}"
            raise table.source.bad(sentence)
        if _heading(str(heading)) not in header:
            sentence = f"there is no column {shown(heading)} for {name}; the header has {', '.join(header)}"
            raise table.source.bad(sentence, table.header)
        if _heading(str(heading)) in renamed or COLUMNS[name] in renamed.values():
            raise table.source.bad(f"columns names {shown(heading)} or {name} twice; once is accepted")
        renamed[_heading(str(heading))] = COLUMNS[name]
    return renamed


def _has_decimal_commas(table: Table) -> bool:
    """Numbers such as 3,5 and none such as 3.5: then the comma can only be the decimal one."""
    cells = [cell for name, cells in table.columns.items() if name != "name" for cell in cells]
    return any(DECIMAL_COMMA.fullmatch(cell) for cell in cells) and not any("." in cell for cell in cells)


def _read_columns(table: Table, draft: Draft) -> None:
    held = table.columns
    for name, choices in PAIRS.items():
        for pair in choices:
            if (missing := [column for column in pair if column not in held]) == list(pair):
                continue
            if missing:
                sentence = f"column {missing[0]} is missing; {' and '.join(pair)} go together"
                raise table.source.bad(sentence, table.header)
            if name in draft.fields:
                raise table.source.bad("there are x, y and lon, lat; one pair is accepted", table.header)
            draft.fields[name] = table.numbers(*pair)
            if name == "window" and not all(cell for column in pair for cell in held[column]):
                draft.notes.append("empty cells of time windows are read as open")
            draft.geographic |= pair == ("lon", "lat")
    for name in ("demand", "prize", "penalty", "draft_limit"):
        if name in held:
            draft.fields[name] = table.numbers(name)[:, 0]
    if "service_time" in held:
        draft.service = table.numbers("service_time")[:, 0]
        if (draft.service < 0).any():
            row = int(np.argmax(draft.service < 0))
            cell = held["service_time"][row]
            raise table.source.bad(f"service_time of node {row} is {cell}; 0 or more is accepted", table.lines[row])
    draft.names = held.get("name")
    draft.lines = {(name, row): line for name in (*draft.fields, "names") for row, line in enumerate(table.lines)}
    draft.lines |= {(name, None): table.header for name in draft.fields}
    draft.words = {"window": "window_start, window_end"}


def _read_about(table: Table, options: Options, draft: Draft) -> None:
    for name, argument in (("capacity", options.capacity), ("min_prize", options.min_prize)):
        if (value := _scalar(table, name, argument)) is not None:
            draft.fields[name] = value
        if name in table.about:
            draft.lines[name, None] = table.about[name][1]
    if "rounding" in table.about:
        draft.rounding = table.about["rounding"][0]
        draft.lines["rounding", None] = table.about["rounding"][1]


def _scalar(table: Table, name: str, argument: Any) -> Any:
    """What a line above the header says, or an argument; not two different things."""
    if name not in table.about:
        return argument
    text, line = table.about[name]
    value = table.source.number(name, text, line)
    if argument is not None and argument != value:
        raise table.source.bad(f"{name} is {plain(value)} here, but {argument} was asked for; drop one", line)
    return value


def _stated(table: Table) -> str:
    """The problem that a line above the header names, or nothing."""
    problem, line = table.about.get("problem", ("", 0))
    if "problem" in table.about and problem not in KINDS:
        near = nearest(problem, list(KINDS))
        raise table.source.bad(f"problem is {shown(problem)}{near}; accepted: {', '.join(KINDS)}", line)
    return problem


def _inferred(source: Source, fields: dict[str, Any], header: int) -> str:
    """The one problem that takes just these columns."""
    held = set(fields) - {"coords", "capacity", "min_prize"}
    fitting = [name for name, kind in KINDS.items() if set(kind.fields) - {"capacity", "min_prize"} == held]
    fitting = [name for name in fitting if name != "atsp"]  # a tsp unless a matrix says otherwise
    if len(fitting) != 1:
        found = " and ".join(sorted(held))
        fit = f"both {' and '.join(fitting)} take" if fitting else "no problem takes"
        raise source.bad(f"{fit} {found}; name the problem: {', '.join(KINDS)}", header)
    return fitting[0]


def _read_travel(table: Table, options: Options, draft: Draft) -> None:
    """The matrix, if one is given, or times from lengths, if there is a speed."""
    source, speed = table.source, _scalar(table, "speed", options.speed)
    if options.measure is not None and options.matrix is None:
        raise source.bad("measure is given, but there is no OSRM reply to take it from; one can be given as matrix")
    if options.matrix is not None:
        if speed is not None:
            raise source.bad("matrix and speed are given; a matrix has its times already")
        matrix = _matrix(source, options, draft)
        draft.fields["matrix"], draft.rounding = matrix, ""
        if draft.problem == "tsp" and not options.problem and not _stated(table) and (matrix != matrix.T).any():
            draft.problem = "atsp"
        return
    if "coords" not in draft.fields:
        raise source.bad("has no coordinates; columns x and y, or lon and lat, or a matrix are needed", table.header)
    if speed is None:
        if draft.geographic and not draft.rounding and "window" in kind_of(draft.problem).fields:
            sentence = "has time windows, but how long a way takes is not known from lon and lat"
            raise source.bad(f"{sentence}; give a matrix of times, or speed in metres per unit of time", table.header)
        return
    if not (isinstance(speed, int | float) and 0 < speed <= LARGEST):
        raise source.bad(f"speed is {shown(speed)}; a number above 0 is expected")
    if speed != 1:
        draft.fields["matrix"], draft.rounding = _lengths(draft) / speed, ""
        unit = "metres" if draft.geographic else "units of length"
        draft.notes.append(f"travel takes its length divided by a speed of {speed:g} {unit} per unit of time")


def _matrix(source: Source, options: Options, draft: Draft) -> np.ndarray:
    """[N, N] the given travel costs, in the order of the file's stops if both have names."""
    try:
        matrix = np.array(options.matrix, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise source.bad("the matrix is not a table of numbers") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise source.bad(f"the matrix has shape {matrix.shape}; a square is expected")
    np.fill_diagonal(matrix, 0.0)
    if options.stops is None or draft.names is None:
        draft.names = draft.names or options.stops
        return matrix
    if sorted(options.stops) != sorted(draft.names):
        odd = sorted(set(draft.names) ^ set(options.stops)) or ["one of them"]
        raise source.bad(f"the matrix and the file do not name the same stops: {shown(odd[0])} is not in both")
    order = [options.stops.index(name) for name in draft.names]
    return matrix[np.ix_(order, order)]


def _lengths(draft: Draft) -> np.ndarray:
    try:
        return Instance(
            "tsp", coords=draft.fields["coords"], geographic=draft.geographic, rounding=draft.rounding, name="coords"
        ).travel
    except BadInput as error:
        raise draft.source.bad(str(error)) from None


def dump(instance: Instance) -> str:
    if instance.matrix is not None and not instance.rounding:
        raise BadInput(f"{instance.name or 'instance'}: CSV has no place for a matrix; json and tsplib have")
    out = io.StringIO()
    about: dict[str, Any] = {"problem": instance.problem, "name": instance.name}
    about |= {"capacity": instance.capacity, "min_prize": instance.min_prize}
    about["speed"] = 1.0 if instance.rounding == "GREAT_CIRCLE" and instance.window is not None else None
    about["rounding"] = None if instance.rounding == "GREAT_CIRCLE" else instance.rounding or None
    for key, value in about.items():
        if value is not None:
            out.write(f"# {key} = {plain(value) if isinstance(value, float) else value}\n")
    out.writelines(f"# note = {note}\n" for note in instance.notes)
    columns = _columns(instance)
    marked = any(name.startswith("#") for name in instance.names or ())  # would be comments
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL if marked else csv.QUOTE_MINIMAL)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def _columns(instance: Instance) -> dict[str, list[str]]:
    columns: dict[str, list[str]] = {}
    if instance.names is not None:
        columns["name"] = list(instance.names)
    tables = {"coords": ("lon", "lat") if instance.geographic else ("x", "y"), "window": ("window_start", "window_end")}
    for name in ("coords", *instance.kind.fields):
        value = getattr(instance, name)
        if isinstance(value, np.ndarray):
            for place, heading in enumerate(tables.get(name, (name,))):
                columns[heading] = [plain(number) for number in value.reshape(instance.size, -1)[:, place]]
    return columns
