"""`egam bench`: measure methods on test sets (`run`), print the paper's tables from that (`table`), draw (`figure`)."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from egam.cli.app import LARGEST_SEED, Json, app, console
from egam.errors import BadInput

bench = typer.Typer(no_args_is_help=True, help="Measure methods on test sets: run, table, figure.")
app.add_typer(bench, name="bench")

REFERENCES = Path("benchmarks/references")
Out = Annotated[Path, typer.Option(help="The folder of the results; what is there already is not measured again.")]
References = Annotated[Path, typer.Option(help="The folder of reference costs, for gaps.")]


@bench.command()
def run(
    sets: Annotated[list[str], typer.Option("--set", help="tsp20, tsptw50-medium, ..., or an .npz; repeatable.")],
    out: Out,
    method: Annotated[list[str] | None, typer.Option(help="A classical solver by name; repeatable.")] = None,
    seconds: Annotated[list[float] | None, typer.Option(help="Its time per instance; repeatable. [1]")] = None,
    weights: Annotated[
        list[str] | None, typer.Option(help="A folder or name of trained weights, or LABEL=WEIGHTS; repeatable.")
    ] = None,
    decode: Annotated[list[str] | None, typer.Option(help="As in egam eval; repeatable. [greedy]")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Instances of each set [1000]; all of an .npz.")] = None,
    processes: Annotated[int, typer.Option(min=1, help="Instances that classical solvers work on at a time.")] = 1,
    references: References = REFERENCES,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED)] = 0,
    device: Annotated[str, typer.Option(help="Of networks: cpu, cuda, cuda:1, mps.")] = "cpu",
    memory: Annotated[float, typer.Option(help="GiB that decoding may use.")] = 4.0,
    as_json: Json = False,
) -> None:
    """Measure methods × sets × time limits or decodings into OUT/results.csv; killed, it goes on where it was."""
    if not (method or weights):
        raise BadInput("nothing to measure: give --method or --weights")
    from egam.bench import sets as test_sets
    from egam.bench.cells import plan
    from egam.bench.run import Settings
    from egam.bench.run import run as measure

    loaded = dict(test_sets.load(name, count) for name in sets)
    cells = plan(loaded, method or [], seconds or [1.0], weights or [], decode or ["greedy"])
    command = shlex.join(["egam", *sys.argv[1:]])
    found = measure(cells, loaded, Settings(out, references, processes, seed, device, memory, command))
    if as_json:
        print(json.dumps(found))
    else:
        _print(found, out)


def _print(found: list[dict[str, str]], out: Path) -> None:
    from rich.table import Table

    columns = ("set", "method", "form", "cost", "cost_ci95", "infeasible_percent", "gap_percent", "count")
    table = Table(*columns, "s each", title=str(out / "results.csv"), title_justify="left")
    for row in found:
        table.add_row(*(row[column] for column in columns), row["seconds_per_instance"])
    console().print(table)


@bench.command()
def table(
    name: Annotated[str, typer.Argument(help="1, 2, 3, parameters or generalisation, as in the paper; or a problem.")],
    results: Annotated[Path, typer.Option(help="The folder of egam bench run, or its results.csv.")],
    size: Annotated[int, typer.Option(help="N; the paper's main tables are at 50.")] = 50,
    problem: Annotated[str, typer.Option(help="Of the table of generalisation.")] = "vrptw",
    latex: Annotated[bool, typer.Option("--latex", help="LaTeX (booktabs) instead of Markdown.")] = False,
    out: Annotated[Path | None, typer.Option(help="A file instead of stdout.")] = None,
) -> None:
    """One of the paper's tables from results.csv, with the paper's own figures beside ours."""
    from egam.bench.results import read_results
    from egam.bench.tables import table as make
    from egam.files import write_atomically

    found = make(name, read_results(results), size, problem)
    text = "\n".join(each.latex() if latex else each.markdown() for each in found)
    if out is None:
        print(text, end="")
    else:
        write_atomically(out, lambda temporary: temporary.write_text(text) and None)  # type: ignore[arg-type]
