"""What a set of short training runs learned: a table beside random and classical costs, and their curves.

    python -m egam.bench.learning run-tsp20 run-cvrp20 --references benchmarks/references --out docs/learning

writes docs/learning/table.md, curves.png and a copy of each run's metrics. Needs matplotlib (`pip install egam[plot]`).
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from egam.bench.datasets import Dataset, public, seeded
from egam.bench.evaluate import Evaluation, evaluate
from egam.bench.program import program
from egam.decode import draws
from egam.decode.rollout import roll_out
from egam.decode.strategies import Decoding
from egam.errors import BadInput, NotInstalled
from egam.nn.decoder import View
from egam.problems.base import Problem, paper_cost
from egam.weights import load_model

DECODINGS = ("greedy", "8x20")


class Uniform:
    """The network that knows nothing: every allowed node is as likely as any other."""

    def encode(self, features: Any) -> None:
        return None

    def prepare(self, encoded: Any) -> None:
        return None

    def step(self, prepared: Any, view: View) -> Tensor:
        return torch.zeros(view.allowed.shape).masked_fill(~view.allowed, -math.inf)

    def score(self, prepared: Any, view: View, groups: int) -> Tensor:
        return self.step(prepared, view)


@dataclass
class Learned:
    """One run on its test set."""

    name: str
    problem: Problem
    dataset: Dataset
    trained: dict[str, Any]
    random_cost: float
    random_feasible: float
    results: dict[str, Evaluation]
    reference: np.ndarray  # raw costs, NaN where there is no feasible solution
    solver: str
    unsolvable: int  # instances proven to have no feasible solution
    metrics: list[dict[str, str]]


def measure(folder: Path, references: Path, count: int) -> Learned:
    network, problem, about = load_model(folder)
    size = int(str(about["trained"]["size"]).split("-")[-1])
    variant = f"-{problem.variant}" if problem.variant else ""
    path = references / f"{problem.name}{size}{variant}.npz"
    if not path.exists():
        raise BadInput(f"{path}: no such file; `python -m egam.bench.references` makes it")
    with np.load(path) as file:
        costs, proven, feasible = file["cost"], file["proven"], file["feasible"]
        made = json.loads(str(file["about"]))
    dataset = (public if made["set"] == "public" else seeded)(problem, size, made["count"]).first(count)
    random_cost, random_feasible = random_policy(problem, dataset)
    results = {
        form: evaluate(network, problem, dataset.arrays, Decoding.parse(form), references=costs[: dataset.count])
        for form in DECODINGS
    }
    with (folder / "metrics.csv").open(newline="") as lines:
        metrics = list(csv.DictReader(lines))
    unsolvable = int((proven & ~feasible)[: dataset.count].sum())
    return Learned(
        name=f"{problem.name}{size}{variant}",
        problem=problem,
        dataset=dataset,
        trained=about["trained"],
        random_cost=random_cost,
        random_feasible=random_feasible,
        results=results,
        reference=costs[: dataset.count],
        solver=made["solver"],
        unsolvable=unsolvable,
        metrics=metrics,
    )


def random_policy(problem: Problem, dataset: Dataset) -> tuple[float, float]:
    """Mean cost and feasible share of one random rollout of each instance, feasible or not."""
    batch = problem.to_batch(dataset.arrays)
    keys = draws.keys(0, torch.arange(dataset.count), torch.arange(1))
    rollout = roll_out(Uniform(), problem, batch, None, torch.zeros_like(keys), keys)
    cost = paper_cost(problem, batch, rollout.cost)
    return float(cost.mean()), float((rollout.penalty == 0).float().mean())


def table(rows: list[Learned]) -> str:
    lines = [
        "| set | minutes | instances seen | random: cost (feasible) | greedy: cost, gap, infeasible "
        "| 8x20: cost, gap, infeasible | reference: cost (solver) |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        reference = row.reference[np.isfinite(row.reference)] / row.problem.unit
        without = f"; {row.unsolvable} have no feasible solution" if row.unsolvable else ""
        lines.append(
            f"| {row.name}, {row.dataset.count} instances ({row.dataset.origin}{without}) "
            f"| {row.trained['minutes']:.0f} | {row.trained['instances']:,} "
            f"| {row.random_cost:.3f} ({100 * row.random_feasible:.1f} %) "
            f"| {_cell(row.results['greedy'])} | {_cell(row.results['8x20'])} | {reference.mean():.3f} ({row.solver}) |"
        )
    return "\n".join(lines) + "\n"


def _cell(result: Evaluation) -> str:
    cost = "–" if result.cost is None else f"{result.cost:.3f} ± {result.cost_ci95 or 0:.3f}"
    gap = "–" if result.gap_percent is None else f"{result.gap_percent:.2f} %"
    return f"{cost}, {gap}, {result.infeasible_percent:.1f} %"


def plot(rows: list[Learned], path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise NotInstalled("plots need matplotlib: pip install 'egam[plot]'") from None
    figure = Figure(figsize=(12, 3.0 * math.ceil(len(rows) / 3)), layout="constrained")
    for number, row in enumerate(rows):
        axis = figure.add_subplot(math.ceil(len(rows) / 3), 3, number + 1)
        seen = [m for m in row.metrics if m["validation_cost"]]
        steps = [float(m["instances"]) / 1000 for m in seen]
        every = [float(m["instances"]) / 1000 for m in row.metrics]
        axis.plot(
            every,
            [float(m["train_cost"]) for m in row.metrics],
            color="#56B4E9",
            linewidth=1,
            label="sampled, training",
        )
        axis.plot(
            steps, [float(m["validation_cost"]) for m in seen], color="#0072B2", marker=".", label="greedy, validation"
        )
        reference = row.reference[np.isfinite(row.reference)].mean() / row.problem.unit
        axis.axhline(reference, color="#009E73", linestyle="--", label=f"reference ({row.solver})")
        axis.set_title(f"{row.name} (random: {row.random_cost:.2f})", fontsize=10)
        axis.set_xlabel("thousand instances")
        axis.set_ylabel("cost")
        if row.random_feasible < 1:
            share = axis.twinx()
            share.plot(steps, [100 * float(m["validation_feasible"]) for m in seen], color="#D55E00", linewidth=1)
            share.set_ylabel("feasible %", color="#D55E00")
            share.set_ylim(0, 100)
        axis.legend(fontsize=7)
    figure.savefig(path, dpi=110)


@program
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--references", type=Path, required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    rows = []
    for folder in chosen.runs:
        print(f"measuring {folder}", file=sys.stderr, flush=True)
        rows.append(measure(folder, chosen.references, chosen.count))
    chosen.out.mkdir(parents=True, exist_ok=True)
    for folder, row in zip(chosen.runs, rows, strict=True):
        shutil.copyfile(folder / "metrics.csv", chosen.out / f"{row.name}.csv")
    (chosen.out / "table.md").write_text(table(rows))
    plot(rows, chosen.out / "curves.png")
    print((chosen.out / "table.md").read_text())


if __name__ == "__main__":
    sys.exit(main())
