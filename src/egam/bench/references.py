"""Reference costs of a test set by a classical solver: what gaps are measured against.

    python -m egam.bench.references --problem tsp --size 20 --count 1000 --seconds 0.5 --out tsp20.npz

The set is the public one where it can be regenerated, else drawn from the seed [1234, size]; the latter is another set
for another --count. The file holds, per instance: cost (judged, raw units; NaN where the solution breaks a rule),
feasible, proven (none better exists; proven and not feasible: no solution keeps the rules), seconds (taken); and as
JSON strings: routes, and about (solver, its version, time limit, set and the exact command).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import multiprocessing
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from egam.errors import BadInput, EgamError
from egam.files import write_atomically
from egam.instance import Instance, kind_of
from egam.judge import judge
from egam.solution import Solution
from egam.solvers import REFERENCE, SOLVERS, need, solve_proven

Row = tuple[float, bool, bool, float, Solution]  # cost, feasible, proven, seconds taken, solution


def load_set(problem: str, variant: str, size: int, count: int) -> tuple[list[Instance], str, str]:
    """The instances, the variant by its name, and "public" or "seeded"."""
    from egam.bench import datasets  # imports torch, which the workers do without
    from egam.problems import get_problem

    chosen = get_problem(problem, variant)
    try:
        dataset = datasets.public(chosen, size, count)
    except BadInput:  # there is none, or it is smaller
        dataset = datasets.seeded(chosen, size, count)
    return [dataset.instance(number) for number in range(count)], chosen.variant, dataset.origin


def solve_one(task: tuple[str, Instance, float, int]) -> Row:
    solver, instance, seconds, seed = task
    begun = time.perf_counter()
    solution, proven = solve_proven(solver, instance, seconds, seed)
    taken = time.perf_counter() - begun
    verdict = judge(instance, solution)
    return verdict.cost if verdict.feasible else float("nan"), verdict.feasible, proven, taken, solution


def solve_all(solver: str, instances: list[Instance], seconds: float, seed: int, workers: int) -> list[Row]:
    """All rows in order, `workers` at a time, with a line of progress now and then."""
    tasks = [(solver, instance, seconds, seed) for instance in instances]
    if workers == 1:
        return _watched(map(solve_one, tasks), len(tasks))
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        return _watched(pool.imap(solve_one, tasks), len(tasks))


def _watched(rows: Any, total: int) -> list[Row]:
    begun = said = time.monotonic()
    done: list[Row] = []
    for row in rows:
        done.append(row)
        now = time.monotonic()
        if now - said > 5 or len(done) == total:
            said, left = now, (now - begun) / len(done) * (total - len(done))
            print(f"{len(done)}/{total} in {now - begun:.0f} s, {left:.0f} s left", file=sys.stderr, flush=True)
    return done


def write(path: Path, rows: list[Row], about: dict[str, Any]) -> None:
    """All or nothing: a reader never sees half a file."""
    cost, feasible, proven, seconds, solutions = zip(*rows, strict=True)

    def save(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez_compressed(
                file,
                cost=np.array(cost, dtype=np.float64),
                feasible=np.array(feasible),
                proven=np.array(proven),
                seconds=np.array(seconds, dtype=np.float64),
                routes=np.array(json.dumps([solution.routes for solution in solutions])),
                about=np.array(json.dumps(about)),
            )

    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, save)


def version(solver: str) -> str:
    """Of the package behind a solver."""
    try:
        return importlib.metadata.version(SOLVERS[solver].pip.split()[-1])
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser("python -m egam.bench.references", description="reference costs of a test set")
    parser.add_argument("--problem", required=True)
    parser.add_argument("--variant", default="", help="of the problem; its default one if not given")
    parser.add_argument("--size", type=int, required=True, help="as the literature counts")
    parser.add_argument("--count", type=int, default=1000, help="instances")
    parser.add_argument("--seconds", type=float, default=1.0, help="time limit per instance")
    parser.add_argument("--solver", default="", help="any that solves the problem; its reference one if not given")
    parser.add_argument("--seed", type=int, default=0, help="of the solver")
    parser.add_argument("--workers", type=int, default=2, help="instances solved at the same time")
    parser.add_argument("--out", type=Path, required=True, help="the .npz to write")
    chosen = parser.parse_args(arguments)
    try:
        return _run(chosen, shlex.join(["python", "-m", "egam.bench.references", *arguments]))
    except EgamError as error:
        print(f"egam: {error}", file=sys.stderr)
        return error.exit_code


def _run(chosen: argparse.Namespace, command: str) -> int:
    kind_of(chosen.problem)
    for option in ("count", "workers"):
        if getattr(chosen, option) < 1:
            raise BadInput(f"--{option} is {getattr(chosen, option)}; 1 or more is expected")
    if chosen.out.suffix != ".npz":
        raise BadInput(f"--out is {chosen.out}; a name that ends with .npz is expected")
    solver = chosen.solver or REFERENCE[chosen.problem]
    if solver in SOLVERS:  # solve_proven explains the others
        need(solver)
    instances, variant, origin = load_set(chosen.problem, chosen.variant, chosen.size, chosen.count)
    begun = time.monotonic()
    rows = solve_all(solver, instances, chosen.seconds, chosen.seed, chosen.workers)
    about = {
        "problem": chosen.problem,
        "variant": variant,
        "size": chosen.size,
        "count": chosen.count,
        "set": origin,
        "solver": solver,
        "version": version(solver),
        "seconds": chosen.seconds,
        "seed": chosen.seed,
        "workers": chosen.workers,
        "wall_seconds": round(time.monotonic() - begun, 3),
        "command": command,
    }
    write(chosen.out, rows, about)
    costs = [row[0] for row in rows if row[1]]
    mean = f"{np.mean(costs):.6f}" if costs else "none"
    print(
        f"{chosen.out}: mean cost {mean} over {len(costs)} feasible of {len(rows)} ({origin} set), "
        f"{sum(row[2] for row in rows)} proven, {np.mean([row[3] for row in rows]):.3f} s each"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
