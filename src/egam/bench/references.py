"""Reference costs of a test set by a classical solver: what gaps are measured against.

    python -m egam.bench.references --problem tsp --size 20 --count 1000 --seconds 0.5 --out tsp20.npz

The set is the public one where it can be regenerated, else 1,000 instances drawn from the seed [1234, size], or the
first of them (sets.py). The file is described in rows.py. A run that was killed goes on where it was when the same
command is given again: what is done so far is in OUT.partial.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np

from egam.bench import rows
from egam.bench.classical import solve_all
from egam.bench.program import program
from egam.errors import BadInput
from egam.instance import Instance, kind_of
from egam.solvers import REFERENCE, SOLVERS, check, need


def load_set(problem: str, variant: str, size: int, count: int) -> tuple[list[Instance], dict[str, Any]]:
    """The instances, and which ones they are."""
    from egam.bench import sets  # imports torch, which the workers do without

    _, dataset = sets.load(sets.set_name(problem, variant, size), count)
    which = {"problem": problem, "variant": dataset.variant, "size": size, "count": count, "set": dataset.origin}
    if dataset.origin == "seeded":
        which["drawn"] = max(count, sets.SEEDED)
    return [dataset.instance(number) for number in range(count)], which


def version(solver: str) -> str:
    """Of the package behind a solver."""
    try:
        return importlib.metadata.version(SOLVERS[solver].pip.split()[-1])
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


@program
def main(arguments: list[str] | None = None) -> None:
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
    _run(chosen, shlex.join(["python", "-m", "egam.bench.references", *arguments]))


def _run(chosen: argparse.Namespace, command: str) -> None:
    kind_of(chosen.problem)
    for option in ("count", "workers"):
        if getattr(chosen, option) < 1:
            raise BadInput(f"--{option} is {getattr(chosen, option)}; 1 or more is expected")
    if chosen.out.suffix != ".npz":
        raise BadInput(f"--out is {chosen.out}; a name that ends with .npz is expected")
    solver = chosen.solver or REFERENCE[chosen.problem]
    check(solver, chosen.problem)
    need(solver)
    instances, which = load_set(chosen.problem, chosen.variant, chosen.size, chosen.count)
    work = {
        **which,
        "solver": solver,
        "version": version(solver),
        "seconds": chosen.seconds,
        "seed": chosen.seed,
    }
    partial = chosen.out.with_name(chosen.out.name + ".partial")
    found, wall = solve_all(solver, instances, chosen.seconds, chosen.seed, chosen.workers, partial, work)
    about = {**work, "workers": chosen.workers, "wall_seconds": wall, "command": command}
    rows.write(chosen.out, found, about)
    partial.unlink()
    costs = [row.cost for row in found if row.feasible]
    mean = f"{np.mean(costs):.6f}" if costs else "none"
    print(
        f"{chosen.out}: mean cost {mean} over {len(costs)} feasible of {len(found)} ({which['set']} set), "
        f"{sum(row.proven for row in found)} proven, {np.mean([row.seconds for row in found]):.3f} s each"
    )


if __name__ == "__main__":
    sys.exit(main())
