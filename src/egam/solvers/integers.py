"""Travel times and windows as whole numbers, for the solvers that know no others.

One scaled unit (see `judge.scale_of`) becomes 200,000 N steps, and windows close N / 2 steps later than given. Rounding
errors add up to at most N / 2 steps over a route, so no schedule that the judge accepts without its tolerance is lost,
and any schedule accepted here is at most N steps, half of the judge's tolerance, late.
"""

from __future__ import annotations

import numpy as np

from egam.instance import Instance
from egam.judge import scale_of


def steps_per_unit(instance: Instance) -> float:
    """Whole steps per raw unit of travel."""
    return 2e5 * instance.size / (scale_of(instance) or 1.0)


def whole_travel(instance: Instance) -> np.ndarray:
    """[N, N] travel in steps."""
    return np.rint(instance.travel * steps_per_unit(instance)).astype(np.int64)


def whole_window(instance: Instance) -> np.ndarray:
    """[N, 2] windows in steps after departure; an end below 0 can never be met."""
    assert instance.window is not None
    steps = (instance.window - instance.window[0, 0]) * steps_per_unit(instance)
    start = np.maximum(np.rint(steps[:, 0]), 0)
    end = np.rint(steps[:, 1]) + instance.size // 2
    return np.stack((start, end), axis=1).astype(np.int64)
