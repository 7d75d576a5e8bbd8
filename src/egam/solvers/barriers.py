"""Matrices that say 999999 where there is no road: such entries are cut to what still keeps every best plan off them.

Left as they are they spoil the scale: solvers with whole numbers, or with tolerances relative to the largest number,
then see all real ways as nearly equal. Any plan that keeps all rules bounds what a best one can cost, so that no best
plan uses a way that costs as much alone; the cut changes neither the best plans nor their cost.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from egam.instance import Instance
from egam.judge import judge
from egam.solvers.simple import simple_solution

UNUSUAL = 100.0  # times a usual entry: from there on it is worth a look


def without_barriers(instance: Instance) -> Instance:
    """The same instance, or one with smaller numbers where none of its best plans goes."""
    if instance.matrix is None or instance.rounding or instance.matrix.max() <= UNUSUAL * instance.scale:
        return instance
    cut = np.minimum(instance.matrix, _bound(instance))
    return instance if (cut == instance.matrix).all() else replace(instance, matrix=cut)


def _bound(instance: Instance) -> np.ndarray | float:
    """A way that costs more is in no best plan."""
    verdict = judge(instance, simple_solution(instance))
    if verdict.feasible and instance.kind.cost != "unserved":
        return verdict.cost
    if instance.window is None:
        return np.inf
    too_late = float(instance.window[1:, 1].max() - instance.window[0, 0]) + instance.scale
    bound = np.full(instance.size, max(too_late, 0.0))
    bound[0] = np.inf  # whoever comes home may be late
    return bound
