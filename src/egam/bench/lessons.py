"""Make lessons (train/lessons.py): random instances of several sizes, each solved by a classical solver.

One file per size; sizes that are there already are left alone, and a size that was begun goes on where it was, so that
the same command can be given again after a kill. What the solver cannot solve feasibly is left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from egam.bench import datasets
from egam.bench.classical import solve_all
from egam.errors import BadInput
from egam.npz import read_npz
from egam.problems.base import Problem
from egam.solvers import check, need
from egam.train.lessons import write_lessons


def make_lessons(
    problem: Problem,
    sizes: tuple[int, int],
    count: int,
    solver: str,
    seconds: float,
    seed: int,
    processes: int,
    out: Path,
    command: str,
) -> dict[int, int]:
    """size -> number of instances that were solved; `count` are drawn of each size."""
    check(solver, problem.name)
    need(solver)
    problem.generate(np.random.default_rng(0), 1, sizes[0])  # explains a size that cannot be
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{out}: cannot be created: {error.strerror}") from None
    made = {}
    for size in range(sizes[0], sizes[1] + 1):
        work = {
            "problem": problem.name,
            "variant": problem.variant,
            "size": size,
            "count": count,
            "solver": solver,
            "seconds": seconds,
            "seed": seed,
        }
        path = out / f"{size}.npz"
        made[size] = _there(path, work) if path.exists() else _solve(path, problem, work, processes, command)
    if not any(made.values()):
        raise BadInput(f"{out}: {solver} solved none of the instances; draw more, or allow more seconds")
    return made


def _there(path: Path, work: dict[str, Any]) -> int:
    arrays, about = read_npz(path, tuple(work))
    for key, value in work.items():
        if about[key] != value:
            raise BadInput(f"{path}: was made with {key} {about[key]}, not {value}; name another folder")
    return len(arrays["visits"])


def _solve(path: Path, problem: Problem, work: dict[str, Any], processes: int, command: str) -> int:
    dataset = datasets.seeded(problem, work["size"], work["count"], work["seed"])
    instances = [dataset.instance(number) for number in range(dataset.count)]
    journal, label = path.with_name(path.name + ".partial"), f"N = {work['size']}"
    found, _ = solve_all(
        work["solver"], instances, work["seconds"], 0, processes, journal, work, label=label, forgiving=True
    )
    solved = np.array([row.feasible for row in found])
    if not solved.any():
        return 0  # the journal stays, so that nobody tries again
    arrays = {field: values[solved] for field, values in dataset.arrays.items()}
    write_lessons(path, arrays, [row.routes for row in found if row.feasible], work | {"command": command})
    journal.unlink()
    return int(solved.sum())
