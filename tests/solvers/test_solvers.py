"""Each solver finds what trying everything finds, on instances small enough to try everything."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from small import brute_force, in_units, make

from egam.errors import BadInput, NotInstalled
from egam.instance import KINDS, Instance
from egam.judge import judge
from egam.solution import Solution
from egam.solvers import REFERENCE, SOLVERS, installed, solve_classical, solve_proven

EXACT = ("highs", "gurobi", "cp-sat", "held-karp")
PLAIN = ("nearest-neighbour", "earliest-deadline", "cheapest-insertion", "farthest-insertion")
SYMMETRIC_ONLY = ("fast-tsp", "hygese", "highs", "gurobi")
SHORT = 0.1  # seconds for those that use all of their time; many times what seven nodes need

PAIRS = [(name, problem) for name, solver in SOLVERS.items() for problem in solver.problems]
STRONG = [(name, problem) for name, problem in PAIRS if name not in PLAIN]


@pytest.fixture(autouse=True)
def only_if_installed(request):
    name = request.node.callspec.params.get("name") if hasattr(request.node, "callspec") else None
    if name in SOLVERS and not installed(name):
        pytest.skip(f"{SOLVERS[name].package} is not installed")


def finds(name: str, instance: Instance, best: float) -> bool:
    """Does the solver find the best cost? On a busy machine it gets more time before the answer is no."""
    for seconds in (20,) if name in EXACT else (SHORT, 20 * SHORT):
        verdict = judge(instance, solve_classical(name, instance, seconds))
        if verdict.feasible and verdict.cost == pytest.approx(best, rel=1e-6):
            return True
    return False


@cache
def made(problem: str, seed: int) -> tuple[Instance, float]:
    instance = make(problem, seed)
    return instance, brute_force(instance)


@pytest.mark.parametrize(("name", "problem"), STRONG)
def test_solver_equals_brute_force(name, problem):
    for seed in range(2):
        instance, best = made(problem, seed)
        assert finds(name, instance, best)
    assert solve_proven(name, instance, 20 if name in EXACT else SHORT)[1] == (name in EXACT)


@pytest.mark.parametrize(("name", "problem"), [pair for pair in PAIRS if pair[0] in PLAIN])
def test_plain_rules_are_feasible_and_not_better_than_best(name, problem):
    costs = []
    for seed in range(2):
        instance, best = made(problem, seed)
        solution, proven = solve_proven(name, instance, 1)
        verdict = judge(instance, solution)
        assert not proven and (verdict.feasible or problem == "tsptw")  # there a plain rule may come too late
        assert not verdict.feasible or verdict.cost >= best * (1 - 1e-9)
        costs.append(verdict.cost / max(best, 1))
    assert np.mean(costs) < 2


@pytest.mark.parametrize("units", [(1e6, 1e3), (1e-3, 1e-3)], ids=["large", "small"])
@pytest.mark.parametrize(("name", "problem"), PAIRS)
def test_units_change_nothing(name, problem, units):
    instance, best = made(problem, 0)
    other = in_units(instance, *units)
    factor = 1.0 if problem == "vrptw" else units[0]
    if name in PLAIN:
        verdicts = [judge(each, solve_classical(name, each, 1)) for each in (instance, other)]
        assert verdicts[0].feasible == verdicts[1].feasible
        assert verdicts[1].cost == pytest.approx(verdicts[0].cost * factor)
    else:
        assert finds(name, other, best * factor)


@pytest.mark.parametrize(("name", "problem"), [pair for pair in STRONG if pair[0] not in SYMMETRIC_ONLY])
def test_one_way_streets(name, problem):
    instance, _ = made(problem, 0)
    rng = np.random.default_rng(3)
    matrix = instance.travel * (1 + 0.5 * rng.random(instance.travel.shape))
    instance = replace(instance, coords=None, matrix=matrix)
    if instance.window is not None:  # the ways are longer, so windows end later
        instance = replace(instance, window=instance.window * [1, 1.5])
    assert finds(name, instance, brute_force(instance))


@pytest.mark.parametrize(("name", "problem"), PAIRS)
def test_two_customers_at_one_place(name, problem):
    instance, _ = made(problem, 1)
    coords = instance.coords.copy()
    coords[2], coords[4], coords[5] = coords[1], coords[0], coords[0]  # one pair, and two at the depot
    fields = {"window": np.array([[0.0, 1e4]] * 7)} if problem == "tsptw" else {}
    fields |= {"matrix": Instance("tsp", coords=coords).travel} if problem == "atsp" else {}
    instance = replace(instance, coords=coords, **fields)
    if name in PLAIN:
        assert judge(instance, solve_classical(name, instance, 1)).feasible
    else:
        assert finds(name, instance, brute_force(instance))


@pytest.mark.parametrize("name", ["hygese", "pyvrp", "or-tools", "lkh", "nearest-neighbour", "cheapest-insertion"])
def test_thirds_fill_a_vehicle(name):
    # Six customers at distance 1, three on either side; each takes a third, so two routes of length 2 are enough.
    coords = [[0, 0], [1, 0], [1, 0], [1, 0], [-1, 0], [-1, 0], [-1, 0]]
    instance = Instance("cvrp", coords=coords, demand=[0] + [1 / 3] * 6, capacity=1)
    assert finds(name, instance, 4)


@pytest.mark.parametrize("name", ["pyvrp", "cp-sat", "or-tools", "lkh", "cheapest-insertion"])
def test_windows_may_be_tight_to_the_point(name):
    # 0-1-2-3-0 around a square of side 1 with diagonals of 1.4142: only this order meets 1, 2, 3 exactly at 1, 2, 3.
    window = [[0, 9], [0, 1], [0, 2], [0, 3]]
    instance = Instance("tsptw", coords=[[0, 0], [0, 1], [1, 1], [1, 0]], window=window)
    assert finds(name, instance, 4)


@pytest.mark.parametrize("problem", KINDS)
def test_every_problem_has_a_reference(problem):
    assert problem in SOLVERS[REFERENCE[problem]].problems


@pytest.mark.parametrize(("name", "problem"), PAIRS)
def test_three_nodes_are_enough(name, problem):
    fields = {
        "cvrp": {"demand": [0, 1, 1], "capacity": 2},
        "pctsp": {"prize": [0, 1, 1], "penalty": [0, 9, 0.1], "min_prize": 1},
        "tsptw": {"window": [[0, 99]] * 3},
        "vrptw": {"window": [[0, 99]] * 3},
        "tspdl": {"demand": [0, 1, 1], "draft_limit": [2, 2, 1]},
    }.get(problem, {})
    instance = Instance(problem, coords=[[0, 0], [0, 3], [4, 0]], **fields)
    verdict = judge(instance, solve_classical(name, instance, 0.2))
    expected = {"pctsp": 6.1, "vrptw": 0}.get(problem, 12)  # pctsp: 3 there, 3 back, 0.1 for node 2
    assert verdict.feasible and verdict.cost == pytest.approx(expected)


def test_what_nobody_can_serve_is_left_out():
    if not installed("cp-sat"):
        pytest.skip("ortools is not installed")
    window = [[0, 99], [0, 1], [0, 1], [-5, -1]]
    instance = Instance("vrptw", coords=[[0, 0], [0, 3], [4, 0], [0, 1]], window=window)
    assert solve_proven("cp-sat", instance, 5) == (Solution(()), True)


def test_tsptw_without_any_solution_still_gives_a_tour():
    if not installed("cp-sat"):
        pytest.skip("ortools is not installed")
    instance = Instance("tsptw", coords=[[0, 0], [0, 3], [4, 0]], window=[[0, 99], [0, 1], [0, 99]])
    solution, proven = solve_proven("cp-sat", instance, 5)
    verdict = judge(instance, solution)
    assert proven and [violation.kind for violation in verdict.violations] == ["late"]


def test_highs_and_cp_sat_work_after_each_other():
    if not (installed("highs") and installed("cp-sat")):
        pytest.skip("highspy or ortools is not installed")
    instance = make("tsp", 3)
    costs = [judge(instance, solve_classical(name, instance, 20)).cost for name in ("cp-sat", "highs", "cp-sat")]
    assert costs == pytest.approx([costs[0]] * 3)


@pytest.mark.parametrize("name", ["highs", "cp-sat", "held-karp"])
def test_too_little_time_gives_a_tour_without_a_proof(name):
    instance = Instance("tsp", coords=np.random.default_rng(0).random((40, 2)))
    solution, proven = solve_proven(name, instance, 0.001)
    assert judge(instance, solution).feasible and not proven


@pytest.mark.parametrize("demand", [[0, 1, 1, 1, 1], [0, 2, 1, 3, 1.5]])
def test_held_karp_and_cp_sat_agree_on_draft_limits(demand):
    if not installed("cp-sat"):
        pytest.skip("ortools is not installed")
    coords = np.random.default_rng(1).random((5, 2))
    for limit in ([9, 3, 4, 9, 9], [9, 9, 9, 6, 2], [9, 1, 1, 9, 9]):  # the last: nobody can
        instance = Instance("tspdl", coords=coords, demand=demand, draft_limit=limit)
        results = [solve_proven(name, instance, 10) for name in ("held-karp", "cp-sat")]
        verdicts = [judge(instance, solution) for solution, _ in results]
        assert all(proven for _, proven in results)
        assert verdicts[0].feasible == verdicts[1].feasible
        assert not verdicts[0].feasible or verdicts[0].cost == pytest.approx(verdicts[1].cost)
        assert limit != [9, 1, 1, 9, 9] or not verdicts[0].feasible


@pytest.mark.parametrize(
    ("name", "problem", "seconds", "sentence"),
    [
        ("cpsat", "tsp", 1, "unknown solver 'cpsat' (did you mean 'cp-sat'?); accepted: fast-tsp, hygese"),
        ("hygese", "tsp", 1, "hygese does not solve tsp; it solves cvrp"),
        ("highs", "tsp", 0, "seconds is 0; a number above 0 is expected"),
    ],
)
def test_bad_calls_are_explained(name, problem, seconds, sentence):
    with pytest.raises(BadInput) as refusal:
        solve_classical(name, make(problem, 0), seconds)
    assert sentence in str(refusal.value)


def test_symmetric_solvers_refuse_one_way_streets():
    if not installed("fast-tsp"):
        pytest.skip("fast_tsp is not installed")
    instance = Instance("tsp", matrix=[[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    with pytest.raises(BadInput, match="fast-tsp needs a symmetric matrix"):
        solve_classical("fast-tsp", instance, 1)


@pytest.mark.parametrize("name", [name for name, solver in SOLVERS.items() if solver.package != "numpy"])
def test_a_missing_package_names_its_install_line(name, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda package: None)
    with pytest.raises(NotInstalled) as refusal:
        solve_classical(name, make(SOLVERS[name].problems[0], 0), 1)
    assert SOLVERS[name].pip in str(refusal.value)


def test_no_adapter_imports_torch():
    modules = ["child", "integers", *(solver.module for solver in SOLVERS.values())]
    lines = [f"import egam.solvers.{module}" for module in modules]
    heavy = ["torch", *(solver.package for solver in SOLVERS.values() if solver.package != "numpy")]
    lines += ["import sys", f"assert not set({heavy}) & set(sys.modules)"]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
