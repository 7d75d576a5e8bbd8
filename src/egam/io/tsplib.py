"""TSPLIB and CVRPLIB files (.tsp, .atsp, .vrp), and the same with LKH-3's sections for time windows and draft limits.

A reader of our own: the package vrplib (2.2.0) knows neither GEO nor ATT nor seven of the nine EXPLICIT layouts, does
not round EUC_2D, takes repeated ids, nan, wrong counts and unknown sections without a word, and names no line. A file
is split into keywords and sections, each with its line; then every section is checked against DIMENSION. What is not
modelled is refused by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from egam.errors import nearest
from egam.instance import SMALLEST_SIZE, Instance
from egam.io.draft import Draft, Options
from egam.io.source import LARGEST_SIZE, Source, plain, shown
from egam.metric import METRICS

TYPES = {  # TYPE -> problem
    "TSP": "tsp",
    "ATSP": "atsp",
    "CVRP": "cvrp",
    "ACVRP": "cvrp",
    "PCTSP": "pctsp",
    "TSPTW": "tsptw",
    "TSPDL": "tspdl",
    "VRPTW": "vrptw",
}
KEYWORDS = (
    *("NAME", "COMMENT", "TYPE", "DIMENSION", "CAPACITY", "MIN_PRIZE", "VEHICLES", "EDGE_WEIGHT_TYPE"),
    *("EDGE_WEIGHT_FORMAT", "NODE_COORD_TYPE", "DISPLAY_DATA_TYPE", "DISTANCE", "SERVICE_TIME", "EOF"),
)
SECTIONS = {  # section -> field of the instance
    "NODE_COORD_SECTION": "coords",
    "DISPLAY_DATA_SECTION": "coords",
    "EDGE_WEIGHT_SECTION": "matrix",
    "DEMAND_SECTION": "demand",
    "DEPOT_SECTION": "depot",
    "TIME_WINDOW_SECTION": "window",
    "DRAFT_LIMIT_SECTION": "draft_limit",
    "NODE_SCORE_SECTION": "prize",
    "NODE_PENALTY_SECTION": "penalty",
}
REFUSED = {  # what is not modelled, and would change the problem if it were ignored
    "SERVICE_TIME_SECTION": "service times",
    "SALESMEN": "several salesmen",
    "COST_LIMIT": "a limit on the cost of a tour",
    "SCALE": "a scale of distances",
    "GRID_SIZE": "distances on a torus",
    "DEMAND_DIMENSION": "several goods",
    "RISK_THRESHOLD": "risks",
    "EDGE_DATA_FORMAT": "graphs with missing edges",
    "EDGE_DATA_SECTION": "graphs with missing edges",
    "FIXED_EDGES_SECTION": "edges that must be used",
    "BACKHAUL_SECTION": "backhauls",
    "PICKUP_AND_DELIVERY_SECTION": "pickups and deliveries",
    "REQUIRED_NODES_SECTION": "required nodes",
}
TABLES = {"coords": 2, "demand": 1, "window": 2, "draft_limit": 1, "prize": 1, "penalty": 1}  # columns beside the id
NOUNS = {"coords": "coordinate", "window": "time window", "draft_limit": "draft limit", "prize": "score"}
LAYOUTS = {  # EDGE_WEIGHT_FORMAT -> (is the triangle above the diagonal when read by rows?, with the diagonal?)
    "UPPER_ROW": (True, False),
    "LOWER_ROW": (False, False),
    "UPPER_DIAG_ROW": (True, True),
    "LOWER_DIAG_ROW": (False, True),
    "UPPER_COL": (False, False),  # by columns above is, for a symmetric matrix, by rows below
    "LOWER_COL": (True, False),
    "UPPER_DIAG_COL": (False, True),
    "LOWER_DIAG_COL": (True, True),
}
FORMATS = ("FULL_MATRIX", *LAYOUTS)
EXACT = "EXACT_2D"  # Euclidean distances as they are
WEIGHT_TYPES = (*(metric for metric in METRICS if metric != "GREAT_CIRCLE"), EXACT, "EXPLICIT")
KEYWORD_LINE = re.compile(r"([A-Za-z]\w*)\s*[:=]?\s*(.*)", re.ASCII)
MARK = "egam: "  # comments that begin so hold what TSPLIB has no place for

Row = tuple[int, list[str]]  # line, words


@dataclass
class Scan:
    """Keywords and sections of a file, not yet understood."""

    source: Source
    values: dict[str, tuple[str, int]] = field(default_factory=dict)  # keyword -> value, line
    comments: list[Row] = field(default_factory=list)
    sections: dict[str, list[Row]] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)  # section -> line of its keyword

    def value(self, keyword: str) -> str:
        return self.values.get(keyword, ("", 0))[0]

    def line(self, keyword: str) -> int | None:
        return self.values[keyword][1] if keyword in self.values else self.starts.get(keyword)


def looks_like(text: str) -> bool:
    """Is there a keyword of TSPLIB with a value, or a section?"""
    return bool(re.search(r"^\s*(DIMENSION|EDGE_WEIGHT_TYPE|TYPE|NAME)\s*[:=]|^\s*\w+_SECTION\b", text, re.M | re.I))


def parse(source: Source, options: Options) -> Instance:
    scan = _scan(source)
    size = _dimension(scan)
    draft = Draft(source, problem=_problem(scan), name=scan.value("NAME") or None)
    draft.words = {column: section for section, column in SECTIONS.items()} | {"coords": "NODE_COORD_SECTION"}
    draft.words |= {"capacity": "CAPACITY", "min_prize": "MIN_PRIZE"}
    _read_travel(scan, size, draft)
    for section, column in SECTIONS.items():
        if section in scan.sections and column in TABLES and column not in draft.fields:
            draft.fields[column] = _table(scan, section, size, TABLES[column], draft)
    for keyword, scalar in (("CAPACITY", "capacity"), ("MIN_PRIZE", "min_prize")):
        if keyword in scan.values:
            text, line = scan.values[keyword]
            draft.fields[scalar] = source.number(keyword, text, line)
            draft.lines[scalar, None] = line
    _note_vehicles(scan, draft, options.problem or draft.problem)
    _read_comments(scan, size, draft)
    _put_depot_first(draft, _depot(scan, size), size)
    instance = draft.finish(options.problem)
    _check_distance(scan, instance)
    return instance


def _scan(source: Source) -> Scan:
    scan, section, ended = Scan(source), "", False
    for number, line in enumerate(source.lines, start=1):
        text = line.strip().strip("\x1a")
        if not text or (ended and text.upper() == "EOF"):
            continue
        if ended:
            raise source.bad(f"there is text after EOF: {shown(text)}; one instance per file is accepted", number)
        if not text[0].isalpha():
            if not section:
                raise source.bad(f"{shown(text)} stands in no section; a keyword is expected", number)
            scan.sections[section].append((number, text.split()))
            continue
        section = _keyword(scan, text, number)
        ended = section == "EOF"
    return scan


def _keyword(scan: Scan, text: str, number: int) -> str:
    """Note a keyword and its value; the section that it opens, if it does."""
    source, match = scan.source, KEYWORD_LINE.fullmatch(text)
    keyword, value = (match[1].upper(), match[2].strip()) if match else (text.split()[0], "")
    if keyword in REFUSED or (keyword == "SERVICE_TIME" and source.number(keyword, value, number) != 0):
        what = REFUSED.get(keyword, "service times")
        raise source.bad(f"{keyword} ({what}) is not modelled; take it out to solve without it", number)
    if keyword == "TOUR_SECTION" or (keyword == "TYPE" and value.upper() == "TOUR"):
        raise source.bad("is a tour, not an instance; read_solution reads it", number)
    if keyword not in KEYWORDS and keyword not in SECTIONS:
        near = nearest(keyword, [*KEYWORDS, *SECTIONS]) or f"; accepted: {', '.join((*KEYWORDS, *SECTIONS))}"
        raise source.bad(f"unknown keyword {shown(keyword)}{near}", number)
    if keyword in SECTIONS and value.strip(":= "):
        raise source.bad(f"{keyword} is followed by {shown(value)}; its data begin on the next line", number)
    if keyword == "COMMENT":
        scan.comments.append((number, [value]))
        return ""
    if keyword in scan.values or keyword in scan.sections:
        raise source.bad(f"{keyword} is there a second time; the first is in line {scan.line(keyword)}", number)
    if keyword in SECTIONS:
        scan.sections[keyword], scan.starts[keyword] = [], number
        return keyword
    scan.values[keyword] = (value, number)
    return keyword if keyword == "EOF" else ""


def _needed(scan: Scan, keyword: str, example: str) -> tuple[str, int]:
    if not scan.value(keyword):
        sentence = f"{keyword} is missing; a line such as '{keyword} : {example}' is needed"
        raise scan.source.bad(sentence, scan.line(keyword))
    return scan.values[keyword]


def _choice(scan: Scan, keyword: str, example: str, accepted: tuple[str, ...]) -> str:
    text, line = _needed(scan, keyword, example)
    word, _, rest = text.upper().partition(" ")
    if word not in accepted or (rest.strip() and not rest.strip().startswith("(")):
        near = nearest(word, list(accepted))
        raise scan.source.bad(f"{keyword} is {shown(text)}{near}; accepted: {', '.join(accepted)}", line)
    return word


def _problem(scan: Scan) -> str:
    return TYPES[_choice(scan, "TYPE", "TSP", tuple(TYPES))]


def _dimension(scan: Scan) -> int:
    text, line = _needed(scan, "DIMENSION", "52")
    size = scan.source.whole("DIMENSION", text, line)
    if not SMALLEST_SIZE <= size <= LARGEST_SIZE:
        raise scan.source.bad(f"DIMENSION is {size}; {SMALLEST_SIZE} to {LARGEST_SIZE} nodes are accepted", line)
    return size


def _read_travel(scan: Scan, size: int, draft: Draft) -> None:
    source, weights = scan.source, _choice(scan, "EDGE_WEIGHT_TYPE", "EUC_2D", WEIGHT_TYPES)
    if scan.value("NODE_COORD_TYPE").upper() == "THREED_COORDS":
        raise source.bad("NODE_COORD_TYPE is THREED_COORDS; two coordinates are accepted", scan.line("NODE_COORD_TYPE"))
    if weights == "EXPLICIT":
        draft.fields["matrix"] = _matrix(scan, size)
        draft.lines["matrix", None] = scan.starts["EDGE_WEIGHT_SECTION"]
        if "NODE_COORD_SECTION" in scan.sections and "DISPLAY_DATA_SECTION" in scan.sections:
            line = scan.starts["DISPLAY_DATA_SECTION"]
            raise source.bad("there are coordinates in NODE_COORD_SECTION too; one of both is accepted", line)
        return
    if "EDGE_WEIGHT_SECTION" in scan.sections:
        line = scan.starts["EDGE_WEIGHT_SECTION"]
        raise source.bad(f"EDGE_WEIGHT_TYPE is {weights}, so that there can be no EDGE_WEIGHT_SECTION", line)
    if "NODE_COORD_SECTION" not in scan.sections:
        sentence = f"NODE_COORD_SECTION is missing; EDGE_WEIGHT_TYPE {weights} needs it"
        raise source.bad(sentence, scan.line("EDGE_WEIGHT_TYPE"))
    if "DISPLAY_DATA_SECTION" in scan.sections:
        _table(scan, "DISPLAY_DATA_SECTION", size, 2, draft)
        draft.notes.append("DISPLAY_DATA_SECTION is left out: distances follow from NODE_COORD_SECTION")
    coords = _table(scan, "NODE_COORD_SECTION", size, 2, draft)
    if weights == "GEO":
        coords = _degrees(coords)[:, ::-1]
        draft.geographic = True
    draft.fields["coords"] = coords
    draft.rounding = "" if weights == EXACT else weights


def _table(scan: Scan, section: str, size: int, columns: int, draft: Draft) -> np.ndarray:
    """[N] or [N, 2] numbers of the nodes 1 to N, which come in any order."""
    source, name = scan.source, SECTIONS[section]
    values = np.zeros((size, columns))
    seen: dict[int, int] = {}
    rows = scan.sections[section]
    if rows and rows[-1][1] == ["-1"]:
        rows = rows[:-1]
    for line, words in rows:
        if len(words) != columns + 1:
            sentence = f"a line of {section} has {len(words)} words; a node and {columns} numbers are expected"
            raise source.bad(sentence.replace("1 numbers", "a number"), line)
        node = source.whole(f"node of {section}", words[0], line)
        if not 1 <= node <= size:
            raise source.bad(f"node of {section} is {node}; 1 to {size}, the DIMENSION, are accepted", line)
        if node in seen:
            raise source.bad(f"node {node} is in {section} a second time; the first is in line {seen[node]}", line)
        seen[node] = line
        draft.lines[name, node - 1] = line
        what = f"{NOUNS.get(name, name)} of node {node}"
        values[node - 1] = [source.number(what, word, line) for word in words[1:]]
    if len(seen) < size:
        missing = next(node for node in range(1, size + 1) if node not in seen)
        last = rows[-1][0] if rows else scan.starts[section]
        raise source.bad(f"{section} has {len(seen)} nodes of {size}, the DIMENSION; node {missing} is missing", last)
    return values[:, 0] if columns == 1 else values


def _matrix(scan: Scan, size: int) -> np.ndarray:
    source, layout = scan.source, _choice(scan, "EDGE_WEIGHT_FORMAT", "FULL_MATRIX", FORMATS)
    if "EDGE_WEIGHT_SECTION" not in scan.sections:
        line = scan.line("EDGE_WEIGHT_TYPE")
        raise source.bad("EDGE_WEIGHT_SECTION is missing; EDGE_WEIGHT_TYPE EXPLICIT needs it", line)
    rows = scan.sections["EDGE_WEIGHT_SECTION"]
    upper, diagonal = LAYOUTS.get(layout, (True, True))
    needed = size * size if layout == "FULL_MATRIX" else size * (size - 1) // 2 + size * diagonal
    found = sum(len(words) for _, words in rows)
    if found != needed:
        last = rows[-1][0] if rows else scan.starts["EDGE_WEIGHT_SECTION"]
        sentence = f"EDGE_WEIGHT_SECTION has {found} numbers; {layout} with DIMENSION {size} needs {needed}"
        raise source.bad(sentence, last)
    values = np.array([value for line, words in rows for value in source.numbers("an edge weight", words, line)])
    full = layout == "FULL_MATRIX"
    matrix = values.reshape(size, size) if full else _from_triangle(values, size, upper, diagonal)
    off_diagonal = ~np.eye(size, dtype=bool)
    if (matrix[off_diagonal] < 0).any():
        worst = matrix[off_diagonal & (matrix < 0)][0]
        number = int(np.argmax(values == worst))
        lines = [line for line, words in rows for _ in words]
        raise source.bad(f"an edge weight is {plain(worst)}; 0 or more is accepted", lines[number])
    return matrix


def _from_triangle(values: np.ndarray, size: int, upper: bool, diagonal: bool) -> np.ndarray:
    matrix, start = np.zeros((size, size)), 0
    for row in range(size):
        low, high = (row + 1 - diagonal, size) if upper else (0, row + diagonal)
        matrix[row, low:high] = matrix[low:high, row] = values[start : start + high - low]
        start += high - low
    return matrix


def _degrees(values: np.ndarray) -> np.ndarray:
    """TSPLIB's DDD.MM, degrees and minutes, in decimal degrees."""
    whole = np.trunc(values)
    return whole + 5 * (values - whole) / 3


def _depot(scan: Scan, size: int) -> int:
    """Index of the depot; the first node if none is named."""
    words = [(line, word) for line, words in scan.sections.get("DEPOT_SECTION", []) for word in words]
    if words and words[-1][1] == "-1":
        words.pop()
    if not words:
        return 0
    line, word = words[0]
    depot = scan.source.whole("DEPOT_SECTION", word, line)
    if len(words) > 1:
        sentence = f"DEPOT_SECTION goes on with {shown(words[1][1])}; one depot and -1 are accepted"
        raise scan.source.bad(sentence, words[1][0])
    if not 1 <= depot <= size:
        raise scan.source.bad(f"the depot is {depot}; 1 to {size}, the DIMENSION, are accepted", line)
    return depot - 1


def _put_depot_first(draft: Draft, depot: int, size: int) -> None:
    """Node 0 becomes the depot; if that moves nodes, they keep their ids as names unless they have names."""
    order = [depot, *(node for node in range(size) if node != depot)]
    draft.label = lambda node: f"node {order[node] + 1}"
    if depot == 0:
        return
    draft.names = [draft.names[node] if draft.names else str(node + 1) for node in order]
    for name, value in draft.fields.items():
        if name == "matrix":
            draft.fields[name] = value[np.ix_(order, order)]
        elif name in TABLES:
            draft.fields[name] = value[order]
    place: dict[int | None, int | None] = {node: new for new, node in enumerate(order)} | {None: None}
    draft.lines = {(name, place[node]): line for (name, node), line in draft.lines.items()}


def _note_vehicles(scan: Scan, draft: Draft, problem: str) -> None:
    if "VEHICLES" not in scan.values:
        return
    text, line = scan.values["VEHICLES"]
    vehicles = scan.source.whole("VEHICLES", text, line)
    if vehicles != 1 or problem == "cvrp":
        draft.notes.append(f"VEHICLES {vehicles} is left out: the number of routes is free in cvrp and 1 elsewhere")


def _check_distance(scan: Scan, instance: Instance) -> None:
    """A limit on the length of routes is not modelled: it may only be so large that no route could reach it."""
    if "DISTANCE" in scan.values:
        text, line = scan.values["DISTANCE"]
        if scan.source.number("DISTANCE", text, line) < instance.travel.max(1).sum():
            sentence = "DISTANCE (a limit on the length of routes) is not modelled; take it out to solve without it"
            raise scan.source.bad(sentence, line)


def _read_comments(scan: Scan, size: int, draft: Draft) -> None:
    """What our own writer put into comments."""
    names: dict[int, str] = {}
    for line, (text,) in scan.comments:
        if not text.startswith(MARK):
            continue
        key, _, value = text.removeprefix(MARK).partition(" = ")
        if key == "note":
            draft.notes.append(value)
        elif key == "geographic":
            draft.geographic = True
        elif key == "rounding":
            draft.rounding = value
        elif match := re.fullmatch(r"stop (\d{1,9})", key, re.ASCII):
            names[int(match[1])] = value
        else:
            sentence = f"{shown(text)} is unknown; 'egam:' is followed by stop, note, geographic or rounding"
            raise scan.source.bad(sentence, line)
        draft.lines[{"note": "notes"}.get(key, "names" if key.startswith("stop") else key), None] = line
    if names:
        if sorted(names) != list(range(1, size + 1)):
            line = draft.lines["names", None]
            raise scan.source.bad(f"{len(names)} stops are named; all of 1 to {size} or none are expected", line)
        draft.names = [names[node] for node in range(1, size + 1)]


def ids_of(instance: Instance) -> list[int]:
    """Node -> its id in a TSPLIB file: the one it was read with if the depot was not first, else its number + 1."""
    natural = list(range(1, instance.size + 1))
    if instance.names is None or not all(re.fullmatch(r"[1-9]\d{0,8}", name, re.ASCII) for name in instance.names):
        return natural
    ids = [int(name) for name in instance.names]
    return ids if ids[0] != 1 and ids[1:] == sorted(ids[1:]) and sorted(ids) == natural else natural


def dump(instance: Instance) -> str:
    ids = ids_of(instance)
    order = sorted(range(instance.size), key=ids.__getitem__)  # nodes in the order of their ids
    kind = next(kind for kind, problem in TYPES.items() if problem == instance.problem)
    lines = [f"NAME : {instance.name or instance.problem}", f"TYPE : {kind}"]
    lines += [f"COMMENT : {MARK}note = {note}" for note in instance.notes]
    if instance.names is not None and ids[0] == 1:
        lines += [f"COMMENT : {MARK}stop {ids[node]} = {instance.names[node]}" for node in order]
    weights, body = _travel_lines(instance, ids, order)
    lines += [f"DIMENSION : {instance.size}"]
    lines += [f"{word} : {plain(value)}" for word, value in _scalars(instance)]
    lines += weights
    lines += body
    for section, name in SECTIONS.items():
        values = getattr(instance, name, None)
        if name in TABLES and name != "coords" and values is not None:
            lines += [section, *_rows(values, ids, order)]
    if instance.problem not in ("tsp", "atsp") or ids[0] != 1:
        lines += ["DEPOT_SECTION", str(ids[0]), "-1"]
    return "\n".join([*lines, "EOF", ""])


def _scalars(instance: Instance) -> list[tuple[str, float]]:
    pairs = (("CAPACITY", instance.capacity), ("MIN_PRIZE", instance.min_prize))
    return [(word, value) for word, value in pairs if value is not None]


def _travel_lines(instance: Instance, ids: list[int], order: list[int]) -> tuple[list[str], list[str]]:
    """Keywords and sections that say what travel costs."""
    coords = instance.coords
    if coords is not None and instance.rounding == "GEO" and (angles := _minutes(coords[:, ::-1])) is not None:
        return ["EDGE_WEIGHT_TYPE : GEO"], ["NODE_COORD_SECTION", *_rows(angles, ids, order)]
    if coords is not None and not instance.geographic and (instance.rounding or instance.matrix is None):
        return [f"EDGE_WEIGHT_TYPE : {instance.rounding or EXACT}"], ["NODE_COORD_SECTION", *_rows(coords, ids, order)]
    head = ["EDGE_WEIGHT_TYPE : EXPLICIT", "EDGE_WEIGHT_FORMAT : FULL_MATRIX"]
    table = instance.travel[np.ix_(order, order)]
    body = ["EDGE_WEIGHT_SECTION", *(" ".join(plain(value) for value in row) for row in table)]
    if coords is None:
        return head, body
    head.append("DISPLAY_DATA_TYPE : TWOD_DISPLAY")
    if instance.geographic:
        head.insert(0, f"COMMENT : {MARK}geographic")
    if instance.rounding:
        head.insert(0, f"COMMENT : {MARK}rounding = {instance.rounding}")
    return head, [*body, "DISPLAY_DATA_SECTION", *_rows(coords, ids, order)]


def _rows(values: np.ndarray, ids: list[int], order: list[int]) -> list[str]:
    return [" ".join([str(ids[node]), *(plain(value) for value in np.atleast_1d(values[node]))]) for node in order]


def _minutes(degrees: np.ndarray) -> np.ndarray | None:
    """DDD.MM that reads back as exactly these decimal degrees; None where there is none."""
    whole = np.trunc(degrees)
    guess = whole + 3 * (degrees - whole) / 5
    for step in (0, 1, -1, 2, -2):
        moved = guess
        for _ in range(abs(step)):
            moved = np.nextafter(moved, np.inf * step)
        guess = np.where(_degrees(guess) == degrees, guess, np.where(_degrees(moved) == degrees, moved, guess))
    return guess if (_degrees(guess) == degrees).all() else None
