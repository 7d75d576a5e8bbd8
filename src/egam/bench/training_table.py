"""What training runs took and reached: one line per folder with the config.toml and metrics.csv of a run."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np

from egam.bench.figures.curves import read
from egam.bench.model_tables import count_parameters
from egam.bench.render import MISSING, Table
from egam.errors import BadInput
from egam.methods import METHODS

NOTE = (
    "Instances per second: median over the reports of a run. Minutes: all instances at that rate, without pauses. "
    "Validation: greedy, on instances of the training's own, the same for all runs of a problem."
)


def training_table(folder: Path) -> Table:
    """Of all runs in a folder, problem by problem."""
    runs = sorted(path.parent for path in folder.glob("*/metrics.csv"))
    if not runs:
        raise BadInput(f"{folder}: holds no runs; a folder of folders with config.toml and metrics.csv is expected")
    lines = [_line(run) for run in runs]
    problems = [line[0] for line in lines]
    columns = [
        "Problem",
        "Method",
        "Layers",
        "Parameters",
        "Instances",
        "Instances/s",
        "Minutes",
        "Validation",
        "Feasible",
    ]
    breaks = [at for at in range(1, len(lines)) if problems[at] != problems[at - 1]]
    return Table("Training", columns, lines, [NOTE], breaks)


def _line(run: Path) -> list[str]:
    try:
        config = tomllib.loads((run / "config.toml").read_text())
        problem, method, layers = config["problem"], METHODS[config["method"]], config["encoder_layers"]
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{run / 'config.toml'}: not the config of a run ({error})") from None
    columns = read(str(run)).columns
    rate, instances = float(np.median(columns["instances_per_second"])), columns["instances"][-1]
    return [
        f"{problem.upper()}{config['size']}",
        method.title,
        str(layers),
        f"{count_parameters(method.title, layers, problem):,}",
        f"{instances:,.0f}",
        f"{rate:.1f}",
        f"{instances / rate / 60:.0f}",
        _last(columns["validation_cost"], ".3f"),
        _last(100 * columns["validation_feasible"], ".1f", " %"),
    ]


def _last(values: np.ndarray, form: str, unit: str = "") -> str:
    there = values[np.isfinite(values)]
    return f"{there[-1]:{form}}{unit}" if len(there) else MISSING
