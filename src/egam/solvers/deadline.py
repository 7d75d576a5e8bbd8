"""Earliest deadline first: customers by the end of their window, or ports by their draft limit; numpy only, no seed.

Where customers may be left out, one that could only be reached too late is. With draft limits this order keeps them
all if any order does.
"""

from __future__ import annotations

import numpy as np

from egam.instance import Instance
from egam.judge import TIME_SLACK
from egam.solution import Solution


def solve(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    window = instance.window
    limits = instance.draft_limit if window is None else window[:, 1]
    assert limits is not None
    order = (np.argsort(limits[1:], kind="stable") + 1).tolist()
    if window is None or not instance.kind.optional_stops:
        return Solution.of([order])
    route: list[int] = []
    clock, place, slack = float(window[0, 0]), 0, TIME_SLACK / 2 * instance.scale
    for node in order:
        begins = max(clock + instance.travel[place, node], window[node, 0])
        if begins <= window[node, 1] + slack:
            clock, place = begins, node
            route.append(node)
    return Solution.of([route] if route else [])
