"""`egam eval`: a trained network on a test set."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egam.cli.app import LARGEST_SEED, Json, Quiet, about_set, app, bar, console
from egam.errors import BadInput

if TYPE_CHECKING:
    from egam.bench.datasets import Dataset
    from egam.problems.base import Problem


@app.command("eval")
def evaluate(
    weights: Annotated[Path, typer.Argument(help="The folder of a run, or of weights.")],
    public: Annotated[bool, typer.Option("--public", help="On the public test set.")] = False,
    data: Annotated[Path | None, typer.Option(help="On a file of egam generate.")] = None,
    size: Annotated[int | None, typer.Option(help="Of the instances; what was trained on if not given.")] = None,
    count: Annotated[int | None, typer.Option(help="Instances; 1000, or all of --data, if not given.")] = None,
    decode: Annotated[
        list[str] | None,
        typer.Option(
            help="greedy, sample:N, 8xN, [8x]distinct:N, 8xgreedy, [8x]starts; 8xN@T: temperature T. "
            "Repeatable; greedy if none."
        ),
    ] = None,
    references: Annotated[Path | None, typer.Option(help="For gaps: of egam.bench.references, or .npy.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Of sampled solutions.")] = 0,
    memory: Annotated[float, typer.Option(help="GiB that decoding may use.")] = 4.0,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps.")] = "cpu",
    check: Annotated[bool, typer.Option("--check/--no-check", help="Score up to 100 solutions again.")] = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure a trained network on a test set; without --public or --data on one drawn from a fixed seed."""
    if public and data is not None:
        raise BadInput("--public and --data are both given; one test set is accepted")
    from egam.bench import datasets
    from egam.bench.evaluate import evaluate as measure
    from egam.bench.evaluate import usable
    from egam.decode.strategies import Decoding
    from egam.weights import load_model

    decodings = {text: Decoding.parse(text) for text in decode or ["greedy"]}
    folder = weights.parent if weights.name in ("model.safetensors", "config.json") else weights
    network, problem, about = load_model(folder)
    dataset = _dataset(problem, about, public, data, size, count)
    costs = datasets.read_references(references, dataset) if references else None
    network.to(usable(device))
    rows = {}
    for text, decoding in decodings.items():
        with bar(text, dataset.count, not quiet and not as_json) as progress:
            most = 100 if check else 0
            found = measure(network, problem, dataset.arrays, decoding, costs, seed, memory, device, most, progress)
            rows[text] = asdict(found)
    if as_json:
        head = {"weights": str(folder), **about_set(dataset), "seed": seed, "references": str(references or "") or None}
        print(json.dumps({**head, "results": [{"decode": text, **row} for text, row in rows.items()]}))
    else:
        _table(f"{folder}: {dataset}", rows)


def _dataset(
    problem: Problem, about: dict[str, Any], public: bool, data: Path | None, size: int | None, count: int | None
) -> Dataset:
    from egam.bench import datasets

    if data is not None:
        dataset = datasets.read(data)
        if dataset.problem != problem.name:
            raise BadInput(f"{data}: holds {dataset.problem}; the weights are for {problem.name}")
        if size not in (None, dataset.size):
            raise BadInput(f"{data}: holds instances of size {dataset.size}, not {size}")
        if count is not None and not 1 <= count <= dataset.count:
            raise BadInput(f"{data}: holds {dataset.count} instances; --count {count} cannot be taken from them")
        return dataset.first(count or dataset.count)
    if size is None:
        trained = about.get("trained")
        last = str(trained.get("size", "") if isinstance(trained, dict) else "").rpartition("-")[2]
        if not last.isdigit():
            raise BadInput("the weights do not say what size they were trained on; give one with --size")
        size = int(last)
    make = datasets.public if public else datasets.seeded
    return make(problem, size, 1000 if count is None else count)


def _table(title: str, rows: dict[str, dict[str, Any]]) -> None:
    from rich.table import Table

    def shown(value: float | None, form: str) -> str:
        return "–" if value is None else format(value, form)

    table = Table(title=title, title_justify="left")
    for column in ("decode", "cost", "± 95 %", "infeasible %", "feasible", "reference", "gap %", "seconds", "ms each"):
        table.add_column(column, justify="left" if column == "decode" else "right")
    for text, row in rows.items():
        table.add_row(
            text,
            shown(row["cost"], ".4f"),
            shown(row["cost_ci95"], ".4f"),
            f"{row['infeasible_percent']:.2f}",
            f"{row['feasible']} of {row['count']}",
            shown(row["reference_cost"], ".4f"),
            shown(row["gap_percent"], ".3f"),
            f"{row['seconds']:.2f}",
            f"{1000 * row['seconds_per_instance']:.2f}",
        )
    console().print(table)
    row = next(iter(rows.values()))
    print(f"threads: {row['threads']}; solutions of each row that the judge scored again: {row['checked']}")
