"""Training dynamics: loss, cost and feasible share in training and in validation, of one or several runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from egam.bench.figures.canvas import paper, quiet, styles
from egam.bench.figures.curves import Run
from egam.errors import BadInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = {  # column -> title; feasible shares are left out where all is feasible always
    "loss": "Training loss",
    "train_cost": "Training cost (sampled)",
    "feasible": "Training: feasible %",
    "validation_cost": "Validation cost (greedy)",
    "validation_feasible": "Validation: feasible %",
}


def dynamics(runs: Sequence[Run]) -> Figure:
    if not runs:
        raise BadInput("no run is given")
    panels = [column for column in PANELS if _worth_showing(runs, column)]
    figure = paper(4.2 * len(panels), 3.4)
    colours = styles([run.label for run in runs])
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axis, column in zip(axes, panels, strict=True):
        for run in runs:
            seen, values = run.curve(column)
            scale = 100 if column.endswith("feasible") else 1
            marker = "." if column.startswith("validation") else ""
            axis.plot(seen, scale * values, color=colours[run.label][0], linewidth=1.3, marker=marker, label=run.label)
        axis.set_title(PANELS[column], fontsize=10)
        axis.set_xlabel("thousand instances")
        if column.endswith("feasible"):
            axis.set_ylim(-2, 102)
        quiet(axis)
    axes[0].legend(fontsize=8)
    return figure


def _worth_showing(runs: Sequence[Run], column: str) -> bool:
    values = np.concatenate([run.columns.get(column, np.empty(0)) for run in runs])
    values = values[np.isfinite(values)]
    return len(values) > 0 and not (column.endswith("feasible") and (values == 1).all())
