"""What shipped weights reach, for their card: python -m egam.bench.card NAME [NAME ...]; without a name, of all.

Greedy on 1,000 instances of N = 20 and 50 and 100 of N = 100, 8x20 and 8xdistinct:20 on the first tenth of them
(--all: on all), of the public set where there is one, with gaps where benchmarks/references has costs; and the
greedy cost of 64 seeded instances, which a test finds again. Writes measured.json and README.md into the weights'
folder. A quarter of an hour for all weights on two cores, with --all three hours. --size and --decode measure one size
or decoding alone, as after a new reference, and leave what is known of the others.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from egam import catalogue
from egam.bench import sets
from egam.bench.datasets import Dataset, seeded
from egam.bench.evaluate import evaluate
from egam.bench.program import program
from egam.card import MEASURED, measured, write_card
from egam.decode.strategies import Decoding, decode
from egam.errors import BadInput
from egam.files import write_text
from egam.machine import cores, keep_pages, processor
from egam.nn import Model
from egam.problems.base import Problem
from egam.weights import load_entry

SIZES = {20: 1000, 50: 1000, 100: 100}  # N -> instances
DECODINGS = {"greedy": 1.0, "8x20": 0.1, "8xdistinct:20": 0.1}  # decoding -> the share of them that it solves
GOLDEN = {"size": 20, "count": 64, "seed": 64}
SAME = 1e-3  # golden costs of the same weights differ by less, as a share: processors round differently


def golden(network: Model, problem: Problem) -> dict[str, Any]:
    """Greedy cost, in the literature's units, of instances that are easily made again."""
    dataset = seeded(problem, GOLDEN["size"], GOLDEN["count"], GOLDEN["seed"])
    solved = decode(network, problem, dataset.arrays, Decoding())
    cost = float(solved.cost[solved.feasible].mean() / problem.unit) if solved.feasible.any() else None
    return {**GOLDEN, "cost": cost, "feasible": int(solved.feasible.sum())}


def measure(
    entry: catalogue.Entry,
    references: Path,
    command: str,
    everything: bool,
    sizes: Iterable[int],
    decodings: Iterable[str],
) -> dict[str, Any]:
    network, problem, _ = load_entry(entry)
    found = []
    for size in sizes:
        whole, costs, about = test_set(problem, size, SIZES[size], references)
        for form in decodings:
            unsolvable = about.get("unsolvable", np.zeros(whole.count))
            dataset = whole if everything else whole.first(round(DECODINGS[form] * whole.count))
            known = None if costs is None else costs[: dataset.count]
            result = evaluate(network, problem, dataset.arrays, Decoding.parse(form), references=known)
            gap = "" if result.gap_percent is None else f", gap {result.gap_percent:.2f} %"
            cost = "none feasible" if result.cost is None else f"{result.cost:.4f}"
            print(f"{entry.name}: {dataset}, {form}: {cost}{gap}, {result.seconds:.0f} s", flush=True)
            found.append(
                {
                    "set": f"{_set(problem, size)}, {dataset.origin}",
                    "count": result.count,
                    "decoding": form,
                    "cost": result.cost,
                    "cost_ci95": result.cost_ci95,
                    "gap_percent": result.gap_percent,
                    "infeasible_percent": result.infeasible_percent,
                    "unsolvable_percent": 100 * float(np.mean(unsolvable[: result.count])),
                    "reference_cost": result.reference_cost,
                    "solver": about.get("solver"),
                    "seconds_per_instance": result.seconds_per_instance,
                    "threads": result.threads,
                }
            )
    return {
        "command": command,
        "commit": commit(),
        "machine": machine(),
        "golden": golden(network, problem),
        "rows": found,
    }


def _set(problem: Problem, size: int) -> str:
    return f"{problem.name}{size} {problem.variant}".strip()


def with_some_anew(known: dict[str, Any], found: dict[str, Any], problem: Problem, name: str) -> dict[str, Any]:
    """What was known, with the rows that were measured anew; both must be of the same weights."""
    if not _same(known.get("golden"), found["golden"]):
        raise BadInput(f"{name}: what is known of other rows is not of these weights; measure all of them")
    every = {(row["set"].partition(",")[0], row["decoding"]): row for row in [*known["rows"], *found["rows"]]}
    order = [(_set(problem, size), form) for size in SIZES for form in DECODINGS]
    rows = [every[key] for key in order if key in every]
    both = {key: " and ".join(dict.fromkeys([known[key], found[key]])) for key in ("commit", "machine")}
    return {**known, **both, "command": f"{known['command']}` and `{found['command']}", "rows": rows}


def _same(before: dict[str, Any] | None, now: dict[str, Any]) -> bool:
    if before is None or before["feasible"] != now["feasible"]:
        return False
    return before["cost"] == now["cost"] or abs(before["cost"] - now["cost"]) <= SAME * now["cost"]


def test_set(
    problem: Problem, size: int, count: int, references: Path
) -> tuple[Dataset, np.ndarray | None, dict[str, Any]]:
    """The set, its reference costs if there are any, and whose they are."""
    name, dataset = sets.load(sets.set_name(problem.name, problem.variant, size), count)
    known = sets.references(name, dataset, references)
    if known is None:
        return dataset, None, {}
    unsolvable = known.proven & ~known.feasible
    return dataset, known.cost[:count], {"solver": known.about["solver"], "unsolvable": unsolvable[:count]}


def table() -> str:
    """All shipped weights in one Markdown table, as their measured.json tells; docs/weights.md has it."""
    lines = [
        f"| weights | set | {' | '.join(f'{form}: cost, gap, infeasible' for form in DECODINGS)} | reference |",
        "|---|---|" + "---|" * len(DECODINGS) + "---|",
    ]
    for entry in catalogue.shipped().values():
        found: dict[str, dict[str, Any]] = {}
        for row in measured(entry.folder).get("rows", []):
            found.setdefault(row["set"], {})[row["decoding"]] = row
        for name, rows in found.items():
            one = next(iter(rows.values()))
            unsolvable = f" ({one['unsolvable_percent']:.1f} % unsolvable)" if one["unsolvable_percent"] else ""
            cells = " | ".join(_cell(rows.get(form)) for form in DECODINGS)
            lines.append(f"| `{entry.name}` | {name}{unsolvable} | {cells} | {one['solver'] or '–'} |")
    return "\n".join(lines)


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    cost = "–" if row["cost"] is None else f"{row['cost']:.3f}"
    gap = "–" if row["gap_percent"] is None else f"{row['gap_percent']:.2f} %"
    return f"{cost}, {gap}, {row['infeasible_percent']:.1f} % of {row['count']:,}"


def commit() -> str:
    try:
        found = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True
        )
    except OSError:
        return "an unknown commit"
    return f"commit {found.stdout.strip()}" if found.returncode == 0 else "an unknown commit"


def machine() -> str:
    return f"{torch.get_num_threads()} of {cores()} cores ({processor()}), PyTorch {torch.__version__}"


@program
def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m egam.bench.card", description="what shipped weights reach")
    parser.add_argument("names", nargs="*", help="of shipped weights; none: print the table of all")
    parser.add_argument("--all", action="store_true", dest="everything", help="samples on as many instances as greedy")
    parser.add_argument("--size", type=int, choices=SIZES, help="measure only this N and keep the other rows")
    parser.add_argument("--decode", choices=DECODINGS, help="measure only this decoding and keep the other rows")
    parser.add_argument("--references", type=Path, default=Path("benchmarks/references"))
    chosen = parser.parse_args(arguments)
    if not chosen.names:
        print(table())
    keep_pages()
    for name in chosen.names:
        entry = catalogue.find(name)
        network, problem, _ = load_entry(entry)
        one = [] if chosen.size is None else ["--size", str(chosen.size)]
        one += [] if chosen.decode is None else ["--decode", chosen.decode]
        command = " ".join(["python -m egam.bench.card", name, *["--all"] * chosen.everything, *one])
        sizes = SIZES if chosen.size is None else [chosen.size]
        decodings = DECODINGS if chosen.decode is None else [chosen.decode]
        found = measure(entry, chosen.references, command, chosen.everything, sizes, decodings)
        if one:
            found = with_some_anew(measured(entry.folder), found, problem, name)
        write_text(entry.folder / MEASURED, json.dumps(found, indent=1) + "\n")
        write_card(entry, sum(parameter.numel() for parameter in network.parameters()))


if __name__ == "__main__":
    sys.exit(main())
