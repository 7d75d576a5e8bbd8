"""Methods × sets × ways to run them: each cell measured once, kept per instance, and summed up in one CSV.

In the folder of the results: `SET/METHOD_FORM.npz` per finished cell (see rows.py), `….npz.partial` for the one that a
kill interrupted, and `results.csv`, which is written anew after every cell from all cells that are there. The same
command again does what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egam import __version__
from egam.bench import classical, rows
from egam.bench.cells import Cell
from egam.bench.datasets import Dataset
from egam.bench.references import version
from egam.bench.results import write_results
from egam.errors import BadInput
from egam.machine import processor
from egam.problems import get_problem


@dataclass(frozen=True)
class Settings:
    """How cells are run."""

    folder: Path
    references: Path
    processes: int = 1  # of classical solvers, one instance each
    seed: int = 0
    device: str = "cpu"  # of networks
    memory_gib: float = 4.0
    command: str = ""


def run(cells: Sequence[Cell], sets: dict[str, Dataset], settings: Settings) -> list[dict[str, str]]:
    """Measure what is not measured yet; the rows of results.csv."""
    for cell in cells:
        path = settings.folder / cell.set_name / f"{cell.name}.npz"
        work = _work(cell, sets[cell.set_name], settings)
        if path.exists():
            _same_work(path, work)
            continue
        partial = path.with_name(path.name + ".partial")
        measure = _measure_network if cell.entry is not None else _measure_solver
        found, how = measure(cell, sets[cell.set_name], settings, partial, work)
        rows.write(path, found, {**work, **how, **_machine(), "command": settings.command})
        partial.unlink()
        write_results(settings.folder, settings.references)
    return write_results(settings.folder, settings.references)


def _measure_solver(
    cell: Cell, dataset: Dataset, settings: Settings, partial: Path, work: dict[str, Any]
) -> tuple[list[rows.Row], dict[str, Any]]:
    instances = [dataset.instance(number) for number in range(dataset.count)]
    found, wall = classical.solve_all(
        cell.label,
        instances,
        cell.seconds,
        settings.seed,
        settings.processes,
        partial,
        work,
        label=str(cell),
        forgiving=True,
    )
    return found, {"wall_seconds": wall, "threads": 1, "processes": settings.processes, "device": "cpu"}


def _measure_network(
    cell: Cell, dataset: Dataset, settings: Settings, partial: Path, work: dict[str, Any]
) -> tuple[list[rows.Row], dict[str, Any]]:
    import torch

    from egam.bench.evaluate import usable
    from egam.bench.neural import decode_all
    from egam.decode.strategies import Decoding
    from egam.weights import load_entry

    assert cell.entry is not None
    network, problem, _ = load_entry(cell.entry)
    network.to(usable(settings.device))
    found, wall = decode_all(
        network,
        problem,
        dataset,
        Decoding.parse(cell.form),
        settings.seed,
        settings.device,
        settings.memory_gib,
        partial,
        work,
        label=str(cell),
    )
    parameters = sum(parameter.numel() for parameter in network.parameters())
    threads = torch.get_num_threads()
    how = {"wall_seconds": wall, "threads": threads, "processes": 1, "device": settings.device}
    return found, {**how, "parameters": parameters}


def _work(cell: Cell, dataset: Dataset, settings: Settings) -> dict[str, Any]:
    """What the numbers depend on."""
    problem = get_problem(dataset.problem, dataset.variant)
    work: dict[str, Any] = {
        "problem": dataset.problem,
        "variant": dataset.variant,
        "size": dataset.size,
        "count": dataset.count,
        "set": dataset.origin,
        "unit": problem.unit,
        "method": cell.label,
        "form": cell.form,
        "seed": settings.seed,
    }
    if cell.entry is None:
        return {**work, "kind": "classical", "seconds": cell.seconds, "version": version(cell.label)}
    entry = cell.entry
    return {
        **work,
        "kind": "learned",
        "trained_as": entry.method,
        "network": entry.network,
        "layers": int(entry.config["shape"]["encoder_layers"]),
        "sha256": entry.config["sha256"],
        "trained_sizes": list(entry.sizes or ()),
        "trained": entry.trained,
    }


def _same_work(path: Path, work: dict[str, Any]) -> None:
    about = rows.read(path).about
    for key, value in work.items():
        if about.get(key) != value and key != "trained":
            raise BadInput(
                f"{path}: was measured with {key} {about.get(key)!r}, now it is {value!r}; "
                "name another --out, or delete the file to measure again"
            )


def _machine() -> dict[str, str]:
    return {"machine": processor(), "egam": __version__}
