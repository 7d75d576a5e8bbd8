"""Validation curves of networks of several depths, smoothed as in the paper (0.9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from egam.bench.figures.canvas import paper, quiet, styles
from egam.bench.figures.curves import Run, smoothed
from egam.errors import BadInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def layers(runs: Sequence[Run], keep: float = 0.9) -> Figure:
    if not 0 <= keep < 1:
        raise BadInput(f"--smooth is {keep:g}; a number from 0 to below 1 is expected")
    figure = paper(6.4, 4.0)
    axis = figure.subplots()
    colours = styles([run.label for run in runs])
    for run in runs:
        seen, values = run.curve("validation_cost")
        if not len(values):
            raise BadInput(f"{run.label}: has no validation costs; train with validation_every above 0")
        axis.plot(seen, values, color=colours[run.label][0], linewidth=0.6, alpha=0.3)
        axis.plot(seen, smoothed(values, keep), color=colours[run.label][0], linewidth=1.8, label=run.label)
    axis.set_xlabel("thousand instances")
    axis.set_ylabel("validation cost (greedy)")
    axis.set_title(f"Validation cost, exponentially smoothed ({keep:g}); thin: as measured", fontsize=10)
    axis.legend(fontsize=8)
    quiet(axis)
    return figure
