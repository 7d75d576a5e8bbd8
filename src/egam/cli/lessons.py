"""`egam lessons`: solved instances for a network to imitate."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from egam.cli.app import LARGEST_SEED, Json, Variant, app
from egam.errors import BadInput
from egam.instance import kind_of


@app.command()
def lessons(
    problem: Annotated[str, typer.Argument(help="tsp, atsp, cvrp, pctsp, tsptw, tspdl or vrptw.")],
    size: Annotated[str, typer.Option(help="One N, or a range such as 10-60: so many instances of each size.")],
    out: Annotated[Path, typer.Option(help="The folder to write, one file per size.")],
    variant: Variant = "",
    count: Annotated[int, typer.Option(min=1, help="Instances of each size.")] = 400,
    solver: Annotated[str, typer.Option(help="A classical solver; the problem's reference one if not given.")] = "",
    seconds: Annotated[float, typer.Option(help="For each instance; an exact solver may need less.")] = 0.1,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Of the instances.")] = 7,
    processes: Annotated[int, typer.Option(min=1, help="Instances that are solved at the same time.")] = 1,
    as_json: Json = False,
) -> None:
    """Solve random instances with a classical solver, for `egam train --set lessons=FOLDER` to imitate."""
    kind_of(problem)
    if not seconds > 0:
        raise BadInput(f"--seconds is {seconds:g}; a number above 0 is expected")
    from egam.bench.lessons import make_lessons
    from egam.problems import get_problem
    from egam.solvers import REFERENCE
    from egam.train.config import TrainConfig

    sizes = TrainConfig(size=size).sizes
    command = shlex.join(["egam", *sys.argv[1:]])
    solver = solver or REFERENCE[problem]
    made = make_lessons(get_problem(problem, variant), sizes, count, solver, seconds, seed, processes, out, command)
    if as_json:
        print(json.dumps({"folder": str(out), "solver": solver, "solved": made}))
    else:
        print(f"{out}: {sum(made.values()):,} instances of {len(made)} sizes, solved by {solver}")
