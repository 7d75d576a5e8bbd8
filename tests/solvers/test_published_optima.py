"""Published instances: solvers find the published optima, in the rounding of the files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from egam.io import read
from egam.judge import judge
from egam.solvers import SOLVERS, installed, solve_proven

DATA = Path(os.environ.get("EGAM_DATA") or Path(__file__).parents[3] / "shared" / "data")
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the published instances are not here")

CASES = [  # file, optimum, solvers that find it within a second or prove it
    ("tsplib/burma14.tsp", 3323, ("highs", "gurobi", "cp-sat", "held-karp", "fast-tsp", "or-tools", "lkh", "pyvrp")),
    ("tsplib/berlin52.tsp", 7542, ("highs", "gurobi", "cp-sat", "fast-tsp", "lkh")),
    ("cvrplib/E-n13-k4.vrp", 247, ("hygese", "pyvrp", "lkh", "or-tools")),
]


@pytest.mark.parametrize(("file", "best", "name"), [(*case[:2], name) for case in CASES for name in case[2]])
def test_published_optimum(file, best, name):
    if not installed(name):
        pytest.skip(f"{SOLVERS[name].package} is not installed")
    exact = name in ("highs", "gurobi", "cp-sat", "held-karp")
    instance = read(DATA / file)
    solution, proven = solve_proven(name, instance, 60 if exact else 0.5)
    verdict = judge(instance, solution)
    assert verdict.feasible and verdict.cost == best and proven == exact
