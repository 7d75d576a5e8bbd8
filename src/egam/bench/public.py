"""The public test sets that regenerate from a seed: 10,000 instances each, number for number, nothing to download.

Kool's TSP, CVRP and PCTSP sets use seed 1234 (4321 for his validation sets), PIP's easy and medium TSPTW sets 2025.
What defines a set is the order in which NumPy's legacy generator is asked, so the full set is drawn first and cut
afterwards.
"""

from __future__ import annotations

import numpy as np

from egam.errors import BadInput
from egam.problems.base import Arrays, check_size
from egam.problems.cvrp import capacity
from egam.problems.pctsp import largest_penalty
from egam.problems.tsptw import SIDE, WIDTHS, time_span

FULL = 10_000  # instances in every set
ACCEPTED = "tsp, cvrp, pctsp, tsptw easy, tsptw medium"


def public_set(problem_name: str, variant: str, size: int, count: int = FULL, seed: int | None = None) -> Arrays:
    """The first `count` instances in raw units; `seed` 4321 makes Kool's validation sets."""
    if not 1 <= count <= FULL:
        raise BadInput(f"{count} instances of a public test set are asked for; 1 to {FULL} are accepted")
    if problem_name == "tsptw" and (variant or "medium") in WIDTHS:
        check_size(problem_name, size, size)
        arrays = _tsptw(np.random.RandomState(2025 if seed is None else seed), size, variant or "medium")
    elif problem_name in _KOOL and not variant:
        check_size(problem_name, size + (problem_name != "tsp"), size)
        arrays = _KOOL[problem_name](np.random.RandomState(1234 if seed is None else seed), size)
    else:
        asked = f"{problem_name} {variant}".strip()
        raise BadInput(f"no public test set of '{asked}' can be regenerated; accepted: {ACCEPTED}")
    return {field: values[:count] for field, values in arrays.items()}


def _tsp(random: np.random.RandomState, size: int) -> Arrays:
    return {"coords": random.uniform(size=(FULL, size, 2))}


def _cvrp(random: np.random.RandomState, size: int) -> Arrays:
    depot = random.uniform(size=(FULL, 2))
    customers = random.uniform(size=(FULL, size, 2))
    demand = random.randint(1, 10, size=(FULL, size)).astype(float)
    return {
        "coords": np.concatenate([depot[:, None], customers], 1),
        "demand": _with_depot(demand),
        "capacity": np.full(FULL, capacity(size)),
    }


def _pctsp(random: np.random.RandomState, size: int) -> Arrays:
    depot = random.uniform(size=(FULL, 2))
    customers = random.uniform(size=(FULL, size, 2))
    penalty = random.uniform(size=(FULL, size)) * largest_penalty(size)
    prize = random.uniform(size=(FULL, size)) * 4 / size  # the stochastic prizes that follow are not ours
    return {
        "coords": np.concatenate([depot[:, None], customers], 1),
        "prize": _with_depot(prize),
        "penalty": _with_depot(penalty),
        "min_prize": np.ones(FULL),
    }


def _tsptw(random: np.random.RandomState, size: int, variant: str) -> Arrays:
    span = time_span(size)
    coords = random.uniform(size=(FULL, size, 2)) * SIDE
    starts = random.randint(np.zeros((FULL, size), int), np.full((FULL, size), span))  # not the stream of scalar bounds
    starts[:, 0] = 0
    random.randint(0, size, size=FULL)  # drawn and thrown away when the sets were made
    widths = np.around(span * random.uniform(*WIDTHS[variant], (FULL, size)))
    widths[:, 0] = 2 * span
    ends = np.minimum(starts + widths, 2 * span)
    return {"coords": coords, "window": np.stack([starts, ends], -1)}


def _with_depot(values: np.ndarray) -> np.ndarray:
    """[B, N] of customers -> [B, N + 1] of nodes, 0 for the depot."""
    return np.pad(values, ((0, 0), (1, 0)))


_KOOL = {"tsp": _tsp, "cvrp": _cvrp, "pctsp": _pctsp}
