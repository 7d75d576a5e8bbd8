"""What shipped weights reach, for their card: python -m egam.bench.card NAME [NAME ...]; without a name, of all.

Greedy on 1,000 instances of N = 20 and 50 and 100 of N = 100, 8x20 on the first tenth of them
(--all: on all), of the public set where there is one, with gaps where benchmarks/references has costs; and the
greedy cost of 64 seeded instances, which a test finds again. Writes measured.json and README.md into the weights'
folder. A quarter of an hour for all weights on two cores, with --all two hours.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from egam import catalogue
from egam.bench import rows
from egam.bench.datasets import Dataset, public, read_references, seeded
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
DECODINGS = {"greedy": 1.0, "8x20": 0.1}  # decoding -> the share of them that it solves
GOLDEN = {"size": 20, "count": 64, "seed": 64}


def golden(network: Model, problem: Problem) -> dict[str, Any]:
    """Greedy cost, in the literature's units, of instances that are easily made again."""
    dataset = seeded(problem, GOLDEN["size"], GOLDEN["count"], GOLDEN["seed"])
    solved = decode(network, problem, dataset.arrays, Decoding())
    cost = float(solved.cost[solved.feasible].mean() / problem.unit) if solved.feasible.any() else None
    return {**GOLDEN, "cost": cost, "feasible": int(solved.feasible.sum())}


def measure(entry: catalogue.Entry, references: Path, command: str, everything: bool) -> dict[str, Any]:
    network, problem, _ = load_entry(entry)
    found = []
    for size, count in SIZES.items():
        whole, costs, about = test_set(problem, size, count, references)
        for form, share in DECODINGS.items():
            unsolvable = about.get("unsolvable", np.zeros(whole.count))
            dataset = whole if everything else whole.first(round(share * whole.count))
            known = None if costs is None else costs[: dataset.count]
            result = evaluate(network, problem, dataset.arrays, Decoding.parse(form), references=known)
            gap = "" if result.gap_percent is None else f", gap {result.gap_percent:.2f} %"
            cost = "none feasible" if result.cost is None else f"{result.cost:.4f}"
            print(f"{entry.name}: {dataset}, {form}: {cost}{gap}, {result.seconds:.0f} s", flush=True)
            found.append(
                {
                    "set": f"{problem.name}{size} {problem.variant}".strip() + f", {dataset.origin}",
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


def test_set(
    problem: Problem, size: int, count: int, references: Path
) -> tuple[Dataset, np.ndarray | None, dict[str, Any]]:
    """The set, its reference costs if there are any, and whose they are."""
    path = references / (f"{problem.name}{size}" + (f"-{problem.variant}" if problem.variant else "") + ".npz")
    if not path.exists():
        try:
            return public(problem, size, count), None, {}
        except BadInput:
            return seeded(problem, size, count), None, {}
    stored = rows.read(path)
    dataset = (public if stored.about["set"] == "public" else seeded)(problem, size, stored.about["count"])
    about = {"solver": stored.about["solver"], "unsolvable": stored.proven & ~stored.feasible}
    return dataset, read_references(path, dataset), about


def table() -> str:
    """All shipped weights in one Markdown table, as their measured.json tells; docs/weights.md has it."""
    lines = [
        "| weights | set | greedy: cost, gap, infeasible | 8x20: cost, gap, infeasible | reference |",
        "|---|---|---|---|---|",
    ]
    for entry in catalogue.shipped().values():
        found = measured(entry.folder).get("rows", [])
        for greedy, sampled in zip(found[::2], found[1::2], strict=True):
            unsolvable = f" ({greedy['unsolvable_percent']:.1f} % unsolvable)" if greedy["unsolvable_percent"] else ""
            solver = greedy["solver"] or "–"
            lines.append(
                f"| `{entry.name}` | {greedy['set']}{unsolvable} | {_cell(greedy)} | {_cell(sampled)} | {solver} |"
            )
    return "\n".join(lines)


def _cell(row: dict[str, Any]) -> str:
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
    parser.add_argument("--all", action="store_true", dest="everything", help="8x20 on as many instances as greedy")
    parser.add_argument("--references", type=Path, default=Path("benchmarks/references"))
    chosen = parser.parse_args(arguments)
    if not chosen.names:
        print(table())
    keep_pages()
    for name in chosen.names:
        entry = catalogue.find(name)
        command = f"python -m egam.bench.card {name}" + (" --all" if chosen.everything else "")
        found = measure(entry, chosen.references, command, chosen.everything)
        write_text(entry.folder / MEASURED, json.dumps(found, indent=1) + "\n")
        write_card(entry, sum(parameter.numel() for parameter in load_entry(entry)[0].parameters()))


if __name__ == "__main__":
    sys.exit(main())
