"""What a training run wrote down: metrics.csv as columns of numbers, and how a run is called in a figure."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from egam import catalogue
from egam.errors import BadInput, EgamError
from egam.methods import METHODS


@dataclass(frozen=True)
class Run:
    label: str
    columns: dict[str, np.ndarray]  # NaN where a row has nothing

    def curve(self, column: str) -> tuple[np.ndarray, np.ndarray]:
        """Thousand instances seen, and the column, where it has a value."""
        values = self.columns[column]
        there = np.isfinite(values)
        return self.columns["instances"][there] / 1000, values[there]


def read(text: str) -> Run:
    """`FOLDER` or `LABEL=FOLDER` of `egam train`."""
    label, _, where = text.rpartition("=")
    path = Path(where) / "metrics.csv"
    try:
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; the folder of `egam train` is expected") from None
    if not rows or "instances" not in rows[0]:
        raise BadInput(f"{path}: holds no metrics yet; a run writes some after its first steps")
    try:
        columns = {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0]}
    except (TypeError, ValueError):
        raise BadInput(f"{path}: not a metrics.csv of ours: something in it is not a number") from None
    return Run(label or _named(Path(where)), columns)


def _named(folder: Path) -> str:
    """`EGAM, 4 layers`, as the weights say; the folder's name if there are none yet."""
    try:
        entry = catalogue.find(folder)
    except EgamError:
        return folder.name
    title = METHODS[entry.method].title if entry.method in METHODS else entry.method
    return f"{title}, {entry.config['shape']['encoder_layers']} layers"


def smoothed(values: np.ndarray, keep: float) -> np.ndarray:
    """Exponential smoothing: each value is `keep` of the one before and the rest of its own."""
    result = values.astype(float).copy()
    for k in range(1, len(result)):
        result[k] = keep * result[k - 1] + (1 - keep) * result[k]
    return result
