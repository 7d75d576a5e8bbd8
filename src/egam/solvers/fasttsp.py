"""TSP by fast-tsp: dynamic programming up to 20 nodes, local search beyond.

It takes whole numbers up to 65535, so lengths are rounded to about 1/40000 of the side of the map: up to 20 nodes its
tour is the best for the rounded lengths, not provably for the real ones. It has no seed.
"""

from __future__ import annotations

import numpy as np

from egam.instance import Instance
from egam.solution import Solution
from egam.solvers import need, need_symmetric

LARGEST = 60000  # of 65535


def solve(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    need("fast-tsp")
    need_symmetric("fast-tsp", instance)
    import fast_tsp

    scale = LARGEST / (instance.travel.max() or 1.0)
    tour = fast_tsp.find_tour(np.rint(instance.travel * scale).astype(int).tolist(), duration_seconds=seconds)
    start = tour.index(0)
    return Solution.of([[*tour[start + 1 :], *tour[:start]]])
