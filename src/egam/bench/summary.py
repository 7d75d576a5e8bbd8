"""Means with their uncertainty: cost over feasible solutions, gap to a reference, share of infeasible ones.

Cost and gap are over the instances that were solved feasibly, the gap over those that the reference solved too; how
many that were is always said. The gap is the mean of per-instance gaps or, where a cost may be 0 (a count of
customers), the gap of the means. Intervals are 95 %, from the normal distribution; that of a ratio of means by the
delta method.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

NORMAL_95 = 1.959964


@dataclass(frozen=True)
class Summary:
    """None where there is nothing to take a mean of."""

    count: int
    feasible: int
    infeasible_percent: float
    cost: float | None  # of feasible solutions
    cost_ci95: float | None  # half the width of the interval
    reference_cost: float | None  # mean over the instances that the gap is taken over
    gap_percent: float | None
    gap_ci95: float | None
    gap_count: int  # instances that both solved feasibly


def summarise(
    cost: np.ndarray, feasible: np.ndarray, references: np.ndarray | None, unit: float, counts: bool
) -> Summary:
    """[B] raw costs, and raw reference costs, NaN where there is none; `counts`: costs are numbers of customers."""
    count = len(cost)
    solved = cost[feasible] / unit
    both = feasible & np.isfinite(references) if references is not None else np.zeros(count, dtype=bool)
    own = cost[both] / unit
    reference = references[both] / unit if references is not None else np.empty(0)
    gap = gap_ci = None
    if len(reference) and counts and reference.any():
        ratio = own.mean() / reference.mean()
        gap, gap_ci = 100 * float(ratio - 1), _interval((own - ratio * reference) / reference.mean() * 100)
    elif len(reference) and not counts and (reference > 0).all():
        gaps = 100 * (own / reference - 1)
        gap, gap_ci = float(gaps.mean()), _interval(gaps)
    return Summary(
        count=count,
        feasible=int(feasible.sum()),
        infeasible_percent=100 * float(1 - feasible.mean()),
        cost=float(solved.mean()) if len(solved) else None,
        cost_ci95=_interval(solved),
        reference_cost=float(reference.mean()) if len(reference) else None,
        gap_percent=gap,
        gap_ci95=gap_ci,
        gap_count=int(both.sum()),
    )


def _interval(values: np.ndarray) -> float | None:
    return NORMAL_95 * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else None
