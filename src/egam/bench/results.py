"""results.csv: one line per measured cell, made from the files per instance and the reference costs.

Costs are in the paper's units. Nothing here runs anything: the table can be made again at any time.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from egam.bench import rows, sets
from egam.bench.datasets import Dataset
from egam.bench.summary import summarise
from egam.errors import BadInput
from egam.files import write_text
from egam.instance import KINDS

COLUMNS = (
    "set", "problem", "variant", "size", "origin", "count", "kind", "method", "form",
    "feasible", "infeasible_percent", "unsolvable", "cost", "cost_ci95",
    "reference", "reference_proven", "reference_cost", "gap_percent", "gap_ci95", "gap_count",
    "seconds_per_instance", "wall_seconds", "threads", "processes", "device", "machine",
    "network", "layers", "parameters", "trained_as", "trained_on", "trained_instances", "trained_minutes",
    "seed", "file",
)  # fmt: skip


def write_results(folder: Path, references: Path) -> list[dict[str, str]]:
    """Write results.csv of everything in the folder; its rows."""
    files = sorted(folder.glob("*/*.npz"))
    found = [_line(path, folder, references) for path in files]
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "results.csv", text.getvalue())
    return found


def read_results(path: Path) -> list[dict[str, str]]:
    """The rows of results.csv, by the file or its folder."""
    path = path / "results.csv" if path.is_dir() else path
    try:
        with path.open(newline="") as file:
            reader = csv.DictReader(file)
            found = list(reader)
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file; `egam bench run` makes it") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{path}: not readable as CSV: {error}") from None
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise BadInput(f"{path}: not a results.csv of ours; its first line must be {','.join(COLUMNS[:5])},...")
    return found


def _line(path: Path, folder: Path, references: Path) -> dict[str, str]:
    result, name = rows.read(path), path.parent.name
    about = result.about
    reference = sets.references(name, _description(about), references)
    count = len(result.cost)
    counts = KINDS[about["problem"]].cost == "unserved"
    costs = None if reference is None else reference.cost[:count]
    summary = summarise(result.cost, result.feasible, costs, about["unit"], counts)
    sizes, trained = about.get("trained_sizes") or (), about.get("trained") or {}
    values: dict[str, Any] = {
        **vars(summary),
        **{key: about.get(key) for key in COLUMNS if key in about},
        "set": name,
        "origin": about["set"],
        "seconds_per_instance": float(result.seconds.mean()),
        "trained_on": "-".join(str(size) for size in dict.fromkeys(sizes)),
        "trained_instances": trained.get("instances"),
        "trained_minutes": trained.get("minutes"),
        "file": path.relative_to(folder).as_posix(),
    }
    if reference is not None:
        made = reference.about
        values |= {
            "reference": f"{made['solver']} {made['seconds']:g}s",
            "reference_proven": int(reference.proven[:count].sum()),
            "unsolvable": int((reference.proven & ~reference.feasible)[:count].sum()),
        }
    return {column: _text(values.get(column)) for column in COLUMNS}


def _description(about: dict[str, Any]) -> Dataset:
    """The set without its instances: enough to find its references."""
    empty = {"coords": np.empty((about["count"], 0, 2))}
    return Dataset(about["problem"], about["variant"], about["size"], about["set"], empty)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.7g}" if isinstance(value, float) else str(value)
