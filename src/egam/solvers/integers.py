"""Travel, windows and loads as whole numbers, for the solvers that know no others.

Whole numbers stay what they are. Else one scaled unit (see `Instance.scale`) becomes 200,000 N steps, or fewer where
the solver's numbers would become too large, and windows close N / 2 steps later than given: rounding errors add up to
at most N / 2 steps over a route, so no schedule that the judge accepts without its tolerance is lost, and any schedule
accepted here is at most N steps, half of the judge's tolerance, late.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from egam.instance import Instance
from egam.judge import LOAD_SLACK, TIME_SLACK

LARGEST = 1e15  # a sum of steps; far from 2^63, and exact in float64
LARGEST_AS_GIVEN = 1e6  # whole numbers up to here are taken as they are
COARSE = 4e4  # steps per node for PyVRP with loads: its price of an overload ends at 100,000 steps, above any detour


@dataclass(frozen=True)
class Whole:
    """Times and lengths of an instance in whole steps."""

    steps: float  # per raw unit
    travel: np.ndarray  # [N, N]
    window: np.ndarray | None  # [N, 2] after departure; an end below 0 can never be met


def whole(instance: Instance, largest: float = LARGEST) -> Whole:
    """`largest` bounds the length of a route and the end of its schedule, in steps."""
    travel, window = instance.travel, None
    horizon = float(travel.max(1).sum())
    if instance.window is not None:
        window = instance.window - instance.window[0, 0]
        start = np.maximum(window[:, 0], 0.0)
        horizon += float(start.max())  # nobody needs to come later
        window = np.stack((start, np.minimum(window[:, 1], horizon)), axis=1)
    values = travel if window is None else np.concatenate((travel.ravel(), window.ravel()))
    if (values == np.rint(values)).all() and np.abs(values).max() <= LARGEST_AS_GIVEN and horizon <= largest:
        return Whole(1.0, travel.astype(np.int64), None if window is None else window.astype(np.int64))
    steps = min(2e5 * instance.size / (instance.scale or 1.0), largest / (2 * horizon or 1.0))
    if window is not None:
        rounding = instance.size / 2
        slack = max(0.0, min(rounding, TIME_SLACK * instance.scale * steps - rounding))
        window = np.stack((np.rint(window[:, 0] * steps), np.rint(window[:, 1] * steps) + np.floor(slack)), axis=1)
        window = window.astype(np.int64)
    return Whole(steps, np.rint(travel * steps).astype(np.int64), window)


def whole_loads(demand: np.ndarray, limit: np.ndarray, unit: float, largest: float = 1e13) -> tuple[np.ndarray, ...]:
    """Demands and limits in whole steps; `unit` is the load of which the judge tolerates a share of `LOAD_SLACK`.

    Decimal numbers and multiples of one number become whole ones exactly. Others are rounded so finely that all errors
    stay within the tolerance; if `largest`, the bound of the sum, does not allow that, demands are rounded up and
    limits down.
    """
    if not demand.any():
        return demand.astype(np.int64), np.ones(limit.shape, dtype=np.int64)  # LKH knows no capacity of 0
    total = float(demand.sum())
    limit = np.minimum(limit, total)  # more is never on board
    tolerance = LOAD_SLACK * unit
    smallest = float(demand[demand > 0].min())
    for steps in (*(10.0**digits for digits in range(7)), *(number / smallest for number in range(1, 10))):
        whole_demand = np.rint(demand * steps)
        error = np.abs(whole_demand / steps - demand).max()
        if whole_demand.sum() <= largest and error <= tolerance / (2 * len(demand)):
            return whole_demand.astype(np.int64), np.floor((limit + tolerance / 2) * steps).astype(np.int64)
    fine = len(demand) / tolerance
    if fine * total <= largest:
        return np.rint(demand * fine).astype(np.int64), np.floor(limit * fine + len(demand) / 2).astype(np.int64)
    coarse = largest / (2 * total)
    return np.ceil(demand * coarse).astype(np.int64), np.floor(limit * coarse).astype(np.int64)
