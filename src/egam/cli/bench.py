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
    name: Annotated[
        str, typer.Argument(help="1, 2, 3, parameters or generalisation, as in the paper; a problem; or training.")
    ],
    results: Annotated[Path, typer.Option(help="The folder of egam bench run, or its results.csv.")],
    size: Annotated[int, typer.Option(help="N; the paper's main tables are at 50.")] = 50,
    problem: Annotated[str, typer.Option(help="Of the table of generalisation.")] = "vrptw",
    latex: Annotated[bool, typer.Option("--latex", help="LaTeX (booktabs) instead of Markdown.")] = False,
    out: Annotated[Path | None, typer.Option(help="A file instead of stdout.")] = None,
) -> None:
    """One of the paper's tables from results.csv, with the paper's own figures beside ours."""
    from egam.bench.results import read_results
    from egam.bench.tables import table as make
    from egam.bench.training_table import training_table
    from egam.files import write_text

    if name == "training":
        found = [training_table(results / "training")]
    else:
        found = make(name, read_results(results), size, problem)
    text = "\n".join(each.latex() if latex else each.markdown() for each in found)
    if out is None:
        print(text, end="")
    else:
        write_text(out, text)


@bench.command()
def references(folder: Annotated[Path, typer.Argument(help="The folder of reference costs.")] = REFERENCES) -> None:
    """What the stored reference costs are: solver, time, how many are proven, mean cost."""
    from egam.bench.reference_table import reference_table

    print(reference_table(folder).markdown(), end="")


# ---- figures ----------------------------------------------------------------------------------------------------

figure = typer.Typer(no_args_is_help=True, help="Figures (.png, .svg or .pdf) from runs and results.")
bench.add_typer(figure, name="figure")

Picture = Annotated[Path, typer.Option("--out", help="The .png, .svg or .pdf to write.")]
Runs = Annotated[list[str], typer.Argument(help="Folders of egam train, or LABEL=FOLDER.")]
Results = Annotated[Path, typer.Option(help="The folder of egam bench run.")]


@figure.command()
def dynamics(runs: Runs, out: Picture) -> None:
    """Loss, cost and feasible share in training and validation."""
    from egam.bench.figures import canvas, curves
    from egam.bench.figures.dynamics import dynamics as draw

    canvas.check_name(out)
    canvas.write(draw([curves.read(each) for each in runs]), out)


@figure.command()
def layers(
    runs: Runs, out: Picture, smooth: Annotated[float, typer.Option(help="Share of the value before.")] = 0.9
) -> None:
    """Validation curves of networks of several depths."""
    from egam.bench.figures import canvas, curves
    from egam.bench.figures.layers import layers as draw

    canvas.check_name(out)
    canvas.write(draw([curves.read(each) for each in runs], smooth), out)


@figure.command()
def heatmap(results: Results, out: Picture, problem: str = "vrptw") -> None:
    """Sizes trained on against sizes tested on."""
    from egam.bench.figures import canvas
    from egam.bench.figures.heatmap import heatmap as draw
    from egam.bench.results import read_results

    canvas.check_name(out)
    canvas.write(draw(read_results(results), problem), out)


@figure.command()
def tradeoff(
    results: Results, out: Picture, set_name: Annotated[str, typer.Option("--set", help="tsp20, ...")]
) -> None:
    """Gap against seconds per instance over all methods of a set."""
    from egam.bench.figures import canvas
    from egam.bench.figures.tradeoff import tradeoff as draw
    from egam.bench.results import read_results

    canvas.check_name(out)
    canvas.write(draw(read_results(results), set_name), out)


@figure.command()
def solutions(
    results: Results,
    out: Picture,
    set_name: Annotated[str, typer.Option("--set", help="tsp20, ...")],
    method: Annotated[list[str], typer.Option(help="A file of the set's folder without .npz, such as or-tools_1s.")],
    instance: Annotated[int, typer.Option(min=0, help="Its number in the set.")] = 0,
) -> None:
    """Solutions of several methods to one instance, side by side."""
    from egam.bench.figures import canvas
    from egam.bench.figures.solutions import solutions as draw

    canvas.check_name(out)
    canvas.write(draw(results, set_name, instance, method), out)
