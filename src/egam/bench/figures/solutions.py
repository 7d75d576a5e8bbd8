"""One instance, several methods: their solutions side by side, as measured by `egam bench run`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from egam.bench import rows, sets
from egam.bench.figures.canvas import paper
from egam.bench.tables import form_of, title_of
from egam.errors import BadInput
from egam.instance import Instance
from egam.judge import judge
from egam.plot import draw
from egam.solution import Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def solutions(folder: Path, set_name: str, number: int, methods: Sequence[str]) -> Figure:
    """`methods` are names of files in the set's folder, without .npz: `or-tools_1s`, `EGAM_greedy`."""
    found = {method: _read(folder / set_name, method) for method in methods}
    if not found:
        raise BadInput("no method is given")
    about = next(iter(found.values())).about
    if any(each.about["set"] != about["set"] for each in found.values()):
        raise BadInput(f"{folder / set_name}: the methods were measured on different sets")
    least = min(len(each.cost) for each in found.values())
    if not 0 <= number < least:
        raise BadInput(f"instance {number} is asked for; 0 to {least - 1} were measured by all of the methods")
    instance = sets.load(set_name, number + 1)[1].instance(number)
    columns = min(4, len(found))
    lines = math.ceil(len(found) / columns)
    figure = paper(5.2 * columns, 5.6 * lines)
    for place, each in enumerate(found.values(), start=1):
        _draw(figure.add_subplot(lines, columns, place), instance, number, each)
    return figure


def _draw(axis: object, instance: Instance, number: int, result: rows.Rows) -> None:
    solution = Solution.of(result.routes[number])
    verdict = judge(instance, solution)
    about = result.about
    cost = f"{verdict.cost / about['unit']:.3f}" if instance.kind.cost != "unserved" else f"{verdict.cost:.0f} unserved"
    broken = "" if verdict.feasible else ", infeasible"
    title = f"{title_of(about)} {form_of(about['form'])}".strip()
    draw(instance, solution, axis, verdict, title=f"{title}: {cost}{broken}", strip=False)  # type: ignore[arg-type]


def _read(folder: Path, method: str) -> rows.Rows:
    path = folder / f"{method}.npz"
    if not path.exists():
        known = ", ".join(sorted(each.stem for each in folder.glob("*.npz"))) or "nothing"
        raise BadInput(f"{path}: no such file; measured there: {known}")
    return rows.read(path)
