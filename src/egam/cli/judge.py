"""`egam judge`: the cost of any plan from any tool, and every rule that it breaks."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from egam.cli.app import NOT_FEASIBLE, Json, Strict, app
from egam.cli.reading import Capacity, Column, Format, IgnoreColumns, Matrix, Measure, MinPrize, Problem, Reading, Speed


@app.command()
def judge(
    instance: Annotated[str, typer.Argument(help="The instance's file; - is stdin.")],
    plan: Annotated[str, typer.Argument(help="The routes: .sol, .tour or .json; - is stdin.")],
    problem: Problem = "",
    capacity: Capacity = None,
    min_prize: MinPrize = None,
    matrix: Matrix = "",
    speed: Speed = None,
    measure: Measure = "",
    column: Column = None,
    ignore_columns: IgnoreColumns = False,
    format: Format = "",
    plan_format: Annotated[str, typer.Option(help="Of the plan, where it cannot be told: sol, tour or json.")] = "",
    plot: Annotated[str, typer.Option(help="Picture to write: .png, .svg or .pdf.")] = "",
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Score a plan: its cost, and every broken rule in words."""
    from egam.errors import BadInput
    from egam.io import read_solution
    from egam.judge import judge as score
    from egam.result import Result

    if instance == plan == "-":
        raise BadInput("instance and plan are both -; one of them can be stdin")
    given = Reading(problem, format, capacity, min_prize, matrix, speed, measure, column, ignore_columns).read(instance)
    solution = read_solution(plan, given, plan_format or None)
    result = Result(given, solution, score(given, solution), method="", notes=given.notes)
    if plot:
        from egam.plot import save

        save(plot, given, solution, result.verdict)
    if as_json:
        found = result.to_dict()
        print(json.dumps({key: found[key] for key in found if key not in SOLVING}, ensure_ascii=False))
    else:
        print(result)
    if strict and not result.feasible:
        raise typer.Exit(NOT_FEASIBLE)


SOLVING = ("proven", "method", "weights", "decoding", "tries", "seconds")  # keys of a result that no plan has
