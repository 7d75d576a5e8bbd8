"""`egam convert`: an instance, or with --instance a plan, from one format to another."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from egam.cli.app import Quiet, app
from egam.cli.reading import Capacity, Column, Format, IgnoreColumns, Matrix, Measure, MinPrize, Problem, Reading, Speed


@app.command()
def convert(
    source: Annotated[str, typer.Argument(help="What to read; - is stdin.")],
    target: Annotated[str, typer.Argument(help="What to write; - is stdout, and needs --to.")],
    format: Format = "",
    to: Annotated[str, typer.Option(help="Format to write, where the name does not tell.")] = "",
    instance: Annotated[str, typer.Option(help="The instance of a plan: SOURCE and TARGET are then plans.")] = "",
    problem: Problem = "",
    capacity: Capacity = None,
    min_prize: MinPrize = None,
    matrix: Matrix = "",
    speed: Speed = None,
    measure: Measure = "",
    column: Column = None,
    ignore_columns: IgnoreColumns = False,
    quiet: Quiet = False,
) -> None:
    """Rewrite a file in another format."""
    from egam.io import read_solution, write, write_solution

    if instance:
        given = Reading(problem, "", capacity, min_prize, matrix, speed, measure, column, ignore_columns).read(instance)
        write_solution(read_solution(source, given, format or None), given, target, to or None)
    else:
        given = Reading(problem, format, capacity, min_prize, matrix, speed, measure, column, ignore_columns).read(
            source
        )
        write(given, target, to or None)
    if not quiet:
        for note in given.notes:
            print(f"note: {note}", file=sys.stderr)
