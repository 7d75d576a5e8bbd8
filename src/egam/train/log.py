"""What a run tells about itself: metrics.csv always, TensorBoard if it is installed, one console line per report."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

COLUMNS = (
    "step", "minutes", "instances", "lr", "loss", "train_cost", "penalty", "feasible", "entropy", "grad_norm",
    "instances_per_second", "validation_cost", "validation_feasible",
)  # fmt: skip


class MetricsLog:
    """Appends rows to metrics.csv; after a resume, rows of steps after the checkpoint are dropped first."""

    def __init__(self, folder: Path, resumed_step: int = 0, say: Callable[[str], Any] = print):
        self.path, self.say = folder / "metrics.csv", say
        kept: list[list[str]] = []
        if self.path.exists():
            with self.path.open(newline="") as file:
                kept = [row for row in list(csv.reader(file))[1:] if row and int(row[0]) <= resumed_step]
        with self.path.open("w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *kept])
        self.board = _tensorboard(folder)

    def write(self, row: dict[str, float]) -> None:
        with self.path.open("a", newline="") as file:
            csv.writer(file).writerow([_cell(row.get(column)) for column in COLUMNS])
        if self.board is not None:
            for name, value in row.items():
                self.board.add_scalar(name, value, int(row["step"]))
        self.say(_line(row))


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.7g}"


def _line(row: dict[str, float]) -> str:
    text = (
        f"step {int(row['step'])}  {row['minutes']:.1f} min  cost {row['train_cost']:.4f}  loss {row['loss']:+.3f}  "
        f"feasible {100 * row['feasible']:.1f} %  {_entropy(row)}grad {row['grad_norm']:.2f}  "
        f"lr {row['lr']:.1e}  {row['instances_per_second']:.1f} inst/s"
    )
    if "validation_cost" in row:
        text += f"  | validation {row['validation_cost']:.4f}, feasible {100 * row['validation_feasible']:.1f} %"
    return text


def _entropy(row: dict[str, float]) -> str:
    return "" if math.isnan(row["entropy"]) else f"entropy {row['entropy']:.3f}  "  # imitation does not measure it


def _tensorboard(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder / "tensorboard"))
