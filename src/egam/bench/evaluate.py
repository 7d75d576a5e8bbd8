"""How good a network is on a test set: cost, infeasible share, gap to reference costs, time.

Costs are in the paper's units (`Problem.unit`). Cost and gap are means over the instances that were solved feasibly;
the gap is the mean of per-instance gaps, or, where a cost may be 0 (a count of customers), the gap of the means,
as in the paper. A sample of the solutions is scored again by the judge, which shares no code with the tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from egam.bench.summary import summarise as summary_of
from egam.decode.strategies import Decoded, Decoding, decode
from egam.errors import BadInput, EgamError
from egam.instance import KINDS, Instance
from egam.judge import Violation, judge
from egam.nn import Model
from egam.problems.base import Arrays, Problem

AGREE = 1e-4  # relative: float32 sums along a route and the judge's float64 differ by less


@dataclass(frozen=True)
class Evaluation:
    """A summary (see summary.py) in the paper's units, and how it was made."""

    count: int
    feasible: int
    infeasible_percent: float
    cost: float | None
    cost_ci95: float | None
    reference_cost: float | None
    gap_percent: float | None
    gap_ci95: float | None
    gap_count: int
    seconds: float
    seconds_per_instance: float
    threads: int
    checked: int  # solutions that the judge scored again


def evaluate(
    network: Model,
    problem: Problem,
    arrays: Arrays,
    decoding: Decoding,
    references: np.ndarray | None = None,
    seed: int = 0,
    memory_gib: float = 4.0,
    device: str = "cpu",
    check: int = 100,
    progress: Callable[[int], Any] = lambda done: None,
) -> Evaluation:
    """Decode generated instances and measure; `references` are raw costs, NaN where there is none."""
    decoded = decode(network, problem, arrays, decoding, seed, memory_gib, device, progress=progress)
    checked = check_by_judge(problem, arrays, decoded, check)
    return summarise(decoded, problem, references, checked)


def summarise(decoded: Decoded, problem: Problem, references: np.ndarray | None, checked: int) -> Evaluation:
    counts = KINDS[problem.name].cost == "unserved"
    summary = summary_of(decoded.cost, decoded.feasible, references, problem.unit, counts)
    return Evaluation(
        **asdict(summary),
        seconds=decoded.seconds,
        seconds_per_instance=decoded.seconds / summary.count,
        threads=torch.get_num_threads(),
        checked=checked,
    )


def check_by_judge(problem: Problem, arrays: Arrays, decoded: Decoded, most: int) -> int:
    """Score up to `most` solutions, spread over the set, once more; returns how many. A disagreement is our bug."""
    count = len(decoded.cost)
    numbers = np.unique(np.linspace(0, count - 1, min(most, count)).astype(int))
    for number in numbers:
        instance = Instance(problem.name, **{field: values[number] for field, values in arrays.items()})
        verdict = judge(instance, problem.to_solution(decoded.sequences[number].tolist()))
        claimed = float(decoded.cost[number])
        if abs(claimed - verdict.cost) > AGREE * max(abs(verdict.cost), 1e-9):
            raise EgamError(f"internal: instance {number} decoded at {claimed:g}, but the judge finds {verdict.cost:g}")
        if decoded.feasible[number] and (broken := _beyond_rounding(instance, verdict.violations)):
            raise EgamError(f"internal: instance {number} decoded as feasible, but the judge finds: {broken[0].text}")
    return len(numbers)


def _beyond_rounding(instance: Instance, violations: Sequence[Violation]) -> list[Violation]:
    """Without those that float32 cannot tell from a kept rule."""
    scale = {"late": instance.scale, "prize": instance.min_prize or 0.0}
    return [broken for broken in violations if broken.amount > AGREE * scale.get(broken.kind, 0.0)]


def usable(device: str) -> str:
    """The device's name, or a sentence that says why it cannot be used."""
    try:
        torch.zeros(1, device=torch.device(device))
    except (RuntimeError, AssertionError) as error:
        raise BadInput(f"device '{device}' cannot be used here: {str(error).splitlines()[0]}") from None
    return device
