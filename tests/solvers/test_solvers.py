"""Each solver finds what trying everything finds, on instances small enough to try everything."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest

from egam.errors import BadInput, NotInstalled
from egam.instance import KINDS, Instance
from egam.judge import judge
from egam.solution import Solution
from egam.solvers import REFERENCE, SOLVERS, installed, solve_classical, solve_proven

SIZE = 7


def make(problem: str, seed: int) -> Instance:
    """A small instance in raw units of its own (a map of 30 x 30)."""
    rng = np.random.default_rng([seed, *problem.encode()])
    coords = rng.random((SIZE, 2)) * 30
    none = np.zeros(1)
    match problem:
        case "tsp":
            return Instance("tsp", coords=coords)
        case "atsp":
            travel = Instance("tsp", coords=coords).travel
            return Instance("atsp", coords=coords, matrix=travel * (1 + 0.6 * rng.random(travel.shape)))
        case "cvrp":
            demand = np.concatenate((none, rng.integers(1, 10, SIZE - 1)))
            return Instance("cvrp", coords=coords, demand=demand, capacity=15)
        case "pctsp":
            prize, penalty = (np.concatenate((none, rng.random(SIZE - 1) * most)) for most in (0.6, 25))
            return Instance("pctsp", coords=coords, prize=prize, penalty=penalty, min_prize=1)
        case "tspdl":
            limit = np.array([SIZE - 1, 1, *rng.integers(2, SIZE, SIZE - 3), SIZE - 1])
            limit = np.maximum(limit, [0, 1, 2, 3, 4, 5, 6])
            return Instance("tspdl", coords=coords, demand=[0] + [1] * (SIZE - 1), draft_limit=limit)
        case "tsptw":  # a random tour is in time, so one exists
            order = [0, *rng.permutation(np.arange(1, SIZE))]
            travel = Instance("tsp", coords=coords).travel
            arrival = np.zeros(SIZE)
            arrival[order[1:]] = np.cumsum(travel[order[:-1], order[1:]])
            window = np.stack((arrival - 30 * rng.random(SIZE), arrival + 30 * rng.random(SIZE)), axis=1)
            window[0] = 0, 1000
            return Instance("tsptw", coords=coords, window=window)
        case "vrptw":
            start = rng.random(SIZE) * 90
            window = np.stack((start, start + 10 * rng.random(SIZE)), axis=1)
            window[0] = 0, 1000
            return Instance("vrptw", coords=coords, window=window)
    raise AssertionError(problem)


def candidates(instance: Instance):
    """All solutions worth a look."""
    customers = range(1, instance.size)
    fewest = 0 if instance.kind.optional_stops else instance.size - 1
    for count in range(fewest, instance.size):
        for order in itertools.permutations(customers, count):
            yield Solution.of([order])


def partitions(items: list[int]):
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for count in range(len(rest) + 1):
        for others in itertools.combinations(rest, count):
            for more in partitions([item for item in rest if item not in others]):
                yield [[first, *others], *more]


def brute_force(instance: Instance) -> float:
    if not instance.kind.many_routes:
        verdicts = (judge(instance, solution) for solution in candidates(instance))
        return min(verdict.cost for verdict in verdicts if verdict.feasible)

    def shortest(group):
        return min((judge(instance, Solution.of([order])).length, order) for order in itertools.permutations(group))

    tours = {}
    best = np.inf
    for groups in partitions(list(range(1, instance.size))):
        for group in groups:
            tours.setdefault(tuple(group), None)
            if tours[tuple(group)] is None:
                tours[tuple(group)] = shortest(group)[1]
        verdict = judge(instance, Solution.of(tours[tuple(group)] for group in groups))
        best = min(best, verdict.cost) if verdict.feasible else best
    return best


PAIRS = [(name, problem) for name, solver in SOLVERS.items() for problem in solver.problems]


@pytest.mark.parametrize(("name", "problem"), PAIRS)
def test_solver_equals_brute_force(name, problem):
    if not installed(name):
        pytest.skip(f"{SOLVERS[name].package} is not installed")
    for seed in range(2):
        instance = make(problem, seed)
        solution, proven = solve_proven(name, instance, seconds=0.3 if name in ("hygese", "pyvrp", "fast-tsp") else 20)
        verdict = judge(instance, solution)
        assert verdict.feasible, verdict.violations
        assert verdict.cost == pytest.approx(brute_force(instance), rel=1e-6)
        assert proven == (name in ("highs", "cp-sat", "held-karp"))


@pytest.mark.parametrize("problem", KINDS)
def test_every_problem_has_a_reference(problem):
    assert problem in SOLVERS[REFERENCE[problem]].problems


@pytest.mark.parametrize(("name", "problem"), PAIRS)
def test_three_nodes_are_enough(name, problem):
    if not installed(name):
        pytest.skip(f"{SOLVERS[name].package} is not installed")
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
    if not installed(name):
        pytest.skip(f"{SOLVERS[name].package} is not installed")
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
