"""What the stored reference costs are: one line per file, for docs/benchmarks.md and `egam bench references`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from egam.bench import rows
from egam.bench.render import Table
from egam.errors import BadInput

HUNDRED = ("tsptw",)  # costs are printed in units of 100, as the literature does


def reference_table(folder: Path) -> Table:
    files = sorted(folder.glob("*.npz"), key=_order)
    if not files:
        raise BadInput(f"{folder}: holds no reference costs; `python -m egam.bench.references` makes them")
    columns = ["set", "instances", "from", "solver", "seconds at most", "proven", "without a feasible solution", "cost"]
    return Table("Reference costs", columns, [_line(path) for path in files])


def _order(path: Path) -> tuple[int, str]:
    return int(rows.read(path).about["size"]), path.stem


def _line(path: Path) -> list[str]:
    found = rows.read(path)
    about, solved = found.about, found.feasible
    unit = 100.0 if about["problem"] in HUNDRED else 1.0
    infeasible = int((~solved & found.proven).sum())
    unknown = int((~solved & ~found.proven).sum())
    without = f"{infeasible}" + (f", {unknown} not known" if unknown else "")
    solver = f"{about['solver']} {about['version']}"
    return [
        path.stem,
        f"{len(found.cost):,}",
        str(about["set"]),
        solver,
        f"{about['seconds']:g}",
        f"{int(found.proven.sum()):,}",
        without,
        f"{np.mean(found.cost[solved]) / unit:.4f}",
    ]
