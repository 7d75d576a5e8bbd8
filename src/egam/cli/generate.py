"""`egam generate`: random instances, or a public test set, in a file."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from egam.cli.app import LARGEST_SEED, Json, Quiet, Variant, about_set, app
from egam.errors import BadInput
from egam.instance import kind_of


@app.command()
def generate(
    problem: Annotated[str, typer.Argument(help="tsp, atsp, cvrp, pctsp, tsptw, tspdl or vrptw.")],
    size: Annotated[int, typer.Option(help="Nodes, or customers where there is a depot, as the literature counts.")],
    out: Annotated[Path, typer.Option(help="The .npz to write.")],
    variant: Variant = "",
    count: Annotated[int, typer.Option(help="Instances.")] = 1000,
    seed: Annotated[
        int | None, typer.Option(min=0, max=LARGEST_SEED, help="1234 if not given; the public sets' own with --public.")
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="The public test set, number for number.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write random instances, or the first ones of a public test set, to a file."""
    kind_of(problem)
    if out.exists() and not force:
        raise BadInput(f"{out}: exists already; name another file, or overwrite it with --force")
    from egam.bench import datasets
    from egam.problems import get_problem

    chosen = get_problem(problem, variant)
    if public:
        dataset = datasets.public(chosen, size, count, seed)
    else:
        dataset = datasets.seeded(chosen, size, count, datasets.SEED if seed is None else seed)
    command = shlex.join(["egam", *sys.argv[1:]])
    datasets.write(out, dataset, {"seed": seed, "command": command}, force)
    if as_json:
        print(json.dumps({"file": str(out), **about_set(dataset)}))
    elif not quiet:
        print(f"{out}: {dataset}")
