"""What a method found on every instance of a set, as a compact .npz: costs, feasibility, times and routes.

Per instance: cost (judged, raw units; NaN where the solution breaks a rule), feasible, proven (none better exists;
proven and not feasible: no solution keeps the rules), seconds (taken); and as JSON strings: routes, and about (what was
run on what). Reference costs (references.py) and results (run.py) are both such files.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from egam.errors import BadInput
from egam.files import write_atomically
from egam.npz import read_npz

NEEDED = ("problem", "variant", "size", "count", "set")


@dataclass(frozen=True)
class Row:
    """One instance."""

    cost: float  # NaN if not feasible
    feasible: bool
    proven: bool
    seconds: float
    routes: tuple[tuple[int, ...], ...]

    def to_json(self) -> list[Any]:
        return [self.cost if self.feasible else None, self.feasible, self.proven, round(self.seconds, 6), self.routes]

    @classmethod
    def from_json(cls, values: Any) -> Row:
        cost, feasible, proven, seconds, routes = values
        return cls(math.nan if cost is None else cost, feasible, proven, seconds, tuple(map(tuple, routes)))


@dataclass(frozen=True)
class Rows:
    """All instances of a set, [B] each."""

    cost: np.ndarray
    feasible: np.ndarray
    proven: np.ndarray
    seconds: np.ndarray
    routes: list[list[list[int]]]
    about: dict[str, Any]


def write(path: Path, rows: Sequence[Row], about: dict[str, Any]) -> None:
    """All or nothing: a reader never sees half a file."""

    def save(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez_compressed(
                file,
                cost=np.array([row.cost for row in rows], dtype=np.float64),
                feasible=np.array([row.feasible for row in rows]),
                proven=np.array([row.proven for row in rows]),
                seconds=np.array([row.seconds for row in rows], dtype=np.float64),
                routes=np.array(json.dumps([row.routes for row in rows])),
                about=np.array(json.dumps(about)),
            )

    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, save)


def read(path: Path) -> Rows:
    arrays, about = read_npz(path, NEEDED)
    try:
        rows = Rows(
            cost=arrays["cost"],
            feasible=arrays["feasible"],
            proven=arrays["proven"],
            seconds=arrays["seconds"],
            routes=json.loads(str(arrays["routes"])),
            about=about,
        )
    except (KeyError, ValueError):
        raise BadInput(f"{path}: holds no results per instance; a file of `egam bench run` is expected") from None
    if len({len(rows.cost), len(rows.feasible), len(rows.proven), len(rows.seconds), len(rows.routes)}) != 1:
        raise BadInput(f"{path}: its arrays differ in length; one value per instance in each is expected")
    return rows
