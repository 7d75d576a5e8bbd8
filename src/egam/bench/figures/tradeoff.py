"""Gap against seconds per instance, over all methods that were measured on a set, neural and classical.

One point per method and way to run it; those of a method are joined. A hollow point left some instances unsolved, so
its gap is over fewer. Seconds are of one instance: classical solvers use one thread, networks decode many at a time on
as many threads as results.csv says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from egam.bench.figures.canvas import paper, quiet, styles
from egam.bench.model_tables import Results
from egam.bench.tables import TITLES, form_of, title_of
from egam.errors import BadInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADROOM = 3.0  # for labels above the worst
SMALLEST = 0.01  # percent; the axis is linear below


def tradeoff(results: Results, set_name: str) -> Figure:
    rows = [row for row in results if row["set"] == set_name and row["gap_percent"]]
    if not rows:
        known = ", ".join(sorted({row["set"] for row in results if row["gap_percent"]})) or "none"
        raise BadInput(f"no results with gaps on '{set_name}'; sets with gaps: {known}")
    figure = paper(8.0, 5.0)
    axis = figure.subplots()
    methods = styles([title_of(row) for row in sorted(rows, key=lambda row: (row["kind"], title_of(row)))])
    for method, (colour, marker) in methods.items():
        own = sorted((row for row in rows if title_of(row) == method), key=_seconds)
        learned = own[0]["kind"] == "learned"
        axis.plot(
            [_seconds(row) for row in own],
            [_gap(row) for row in own],
            color=colour,
            marker=marker,
            linewidth=1.6 if learned else 0.9,
            linestyle="-" if learned else ":",
            label=method,
        )
        for row in own:
            filled = colour if row["feasible"] == row["count"] else "white"
            axis.errorbar(
                _seconds(row), _gap(row), yerr=float(row["gap_ci95"] or 0), color=colour, marker=marker,
                markerfacecolor=filled, markersize=8 if learned else 6, linewidth=0.9,
            )  # fmt: skip
            place = (_seconds(row), _gap(row))
            turn = 90 if abs(_gap(row)) < SMALLEST else 40  # many lie on the line of 0
            text = form_of(row["form"])
            axis.annotate(text, place, (-3, 6), textcoords="offset points", fontsize=7, color=colour, rotation=turn)
    axis.set_xscale("log")
    axis.set_yscale("symlog", linthresh=SMALLEST)
    axis.set_ylim(top=HEADROOM * axis.get_ylim()[1])
    lowest = min(_gap(row) - float(row["gap_ci95"] or 0) for row in rows)
    axis.set_ylim(bottom=-SMALLEST / 2 if lowest >= -SMALLEST / 4 else None)  # as a rule nothing is below the reference
    axis.axhline(0, color="#333333", linewidth=0.8)
    axis.set_xlabel("seconds per instance")
    reference = rows[0]["reference"].partition(" ")[0]
    axis.set_ylabel(f"gap to {TITLES.get(reference, reference)} %")
    unsolved = "; hollow: some instances not solved" if any(row["feasible"] != row["count"] for row in rows) else ""
    axis.set_title(f"{set_name}, {rows[0]['count']} instances (bars: 95 %{unsolved})", fontsize=10)
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    quiet(axis)
    return figure


def _seconds(row: dict[str, str]) -> float:
    return max(float(row["seconds_per_instance"]), 1e-6)


def _gap(row: dict[str, str]) -> float:
    return float(row["gap_percent"])
