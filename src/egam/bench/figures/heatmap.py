"""Generalisation: how much more weights cost on a size than those trained on that size, as a heat map per method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from egam.bench.figures.canvas import paper
from egam.bench.model_tables import Results, trained_and_tested
from egam.errors import BadInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def heatmap(results: Results, problem: str) -> Figure:
    found = trained_and_tested(results, problem)
    if not found:
        raise BadInput(f"no greedy results of weights that were trained on one size of {problem}")
    tables = {title: excess(pairs) for title, pairs in found.items()}
    largest = max((float(np.nanmax(table)) for _, table in tables.values() if np.isfinite(table).any()), default=0.0)
    figure = paper(3.6 * len(tables) + 0.6, 3.9)
    axes = figure.subplots(1, len(tables), squeeze=False)[0]
    for axis, (title, (sizes, table)) in zip(axes, tables.items(), strict=True):
        picture = axis.imshow(np.ma.masked_invalid(table), cmap="Blues", vmin=0, vmax=max(largest, 1e-9))
        axis.set_xticks(range(len(sizes)), [str(size) for size in sizes])
        axis.set_yticks(range(len(sizes)), [str(size) for size in sizes])
        axis.set_xlabel("tested on N")
        axis.set_ylabel("trained on N")
        axis.set_title(f"{title}, {problem.upper()}", fontsize=10)
        for (row, column), value in np.ndenumerate(table):
            text = f"{value:+.1f} %" if np.isfinite(value) else "–"
            colour = "white" if np.isfinite(value) and value > 0.6 * largest > 0 else "#222222"
            axis.text(column, row, text, ha="center", va="center", color=colour, fontsize=9)
    figure.colorbar(picture, ax=list(axes), label="cost above that of own size, %", shrink=0.85)
    return figure


def excess(pairs: dict[tuple[int, int], dict[str, str]]) -> tuple[list[int], np.ndarray]:
    """Sizes, and [trained, tested] percent above weights trained on the tested size; NaN if not measured."""
    sizes = sorted({size for pair in pairs for size in pair})
    table = np.full((len(sizes), len(sizes)), np.nan)
    for (trained, tested), row in pairs.items():
        if (tested, tested) in pairs:
            own = float(pairs[tested, tested]["cost"])
            table[sizes.index(trained), sizes.index(tested)] = 100 * (float(row["cost"]) / own - 1)
    return sizes, table
