"""A trained network on every instance of a set: decoded in parts, judged, and not lost when killed.

Every solution is scored by the judge, so that costs are those of the classical solvers' judge and not the tensors' own.
An instance's share of the time is its part's time divided by its size.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from egam.bench import journal
from egam.bench.datasets import Dataset
from egam.bench.evaluate import check_by_judge
from egam.bench.progress import Progress
from egam.bench.rows import Row
from egam.decode.strategies import Decoding, decode
from egam.judge import judge
from egam.nn import Model
from egam.problems.base import Problem

PART = {"cpu": 100}  # instances between entries of the journal
LARGE_PART = 2000  # elsewhere: small batches leave a GPU idle


def decode_all(
    network: Model,
    problem: Problem,
    dataset: Dataset,
    decoding: Decoding,
    seed: int,
    device: str,
    memory_gib: float,
    journal_path: Path,
    work: dict[str, Any],
    label: str = "",
) -> tuple[list[Row], float]:
    """All rows in order, and the seconds that decoding took in this and in earlier attempts."""
    size = PART.get(device, LARGE_PART)
    parts = range(0, dataset.count, size)
    with journal.opened(journal_path, work) as book:
        before = sum(len(rows) for _, rows in book.done.values())
        progress = Progress(dataset.count, before, label)
        for first in parts:
            if str(first) in book.done:
                continue
            arrays = {field: values[first : first + size] for field, values in dataset.arrays.items()}
            decoded = decode(network, problem, arrays, decoding, seed, memory_gib, device, first=first)
            check_by_judge(problem, arrays, decoded, 10)
            each = decoded.seconds / len(decoded.cost)
            rows = []
            for number, sequence in enumerate(decoded.sequences, start=first):
                solution = problem.to_solution(sequence.tolist())
                verdict = judge(dataset.instance(number), solution)
                cost = verdict.cost if verdict.feasible else math.nan
                rows.append(Row(cost, verdict.feasible, False, each, solution.routes).to_json())
            book.add(first, [decoded.seconds, rows])
            progress.step(len(rows))
        wall = sum(seconds for seconds, _ in book.done.values())
        return [Row.from_json(row) for first in parts for row in book.done[str(first)][1]], wall
