"""Matrices with huge entries where there is no road."""

from itertools import permutations

import numpy as np
import pytest

from egam import Instance, solve
from egam.judge import judge
from egam.solution import Solution
from egam.solvers import installed, solve_proven
from egam.solvers.barriers import without_barriers

HUGE = 1e9


def matrix_with_barriers(size: int, seed: int, symmetric: bool = True) -> np.ndarray:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(100, 3000, (size, size)).astype(float)
    matrix[1, 2] = matrix[3, 4] = HUGE
    if symmetric:
        matrix = np.triu(matrix, 1)
        matrix = matrix + matrix.T
    return matrix


def brute_force(instance: Instance) -> float:
    tours = ([list(order)] for order in permutations(range(1, instance.size)))
    return min(judge(instance, Solution.of(tour)).cost for tour in tours)


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_best_plans_stay_the_best(symmetric):
    for seed in range(5):
        instance = Instance("atsp", matrix=matrix_with_barriers(7, seed, symmetric))
        cut = without_barriers(instance)
        assert cut.matrix.max() < 7 * 3000
        assert brute_force(cut) == brute_force(instance)


def test_ordinary_matrices_are_left_alone():
    matrix = matrix_with_barriers(8, 0).clip(max=3000)
    instance = Instance("tsp", matrix=matrix)
    assert without_barriers(instance) is instance
    coords = Instance.tsp(np.random.default_rng(0).random((6, 2)))
    assert without_barriers(coords) is coords


def test_where_no_plan_is_known_windows_bound_the_way():
    """Nobody can be served: only the way home keeps its cost, as it may be late."""
    matrix = np.full((5, 5), 1500.0)
    matrix[1, 2] = matrix[3, 0] = HUGE
    window = [[0, 9000], *[[0, 600]] * 4]
    cut = without_barriers(Instance("tsptw", matrix=matrix, window=window))
    assert cut.matrix[1, 2] == pytest.approx(600 + cut.scale) and cut.matrix[3, 0] == HUGE


@pytest.mark.parametrize("name", ["highs", "cp-sat", "pyvrp", "fast-tsp", "or-tools", "held-karp", "lkh"])
def test_every_solver_finds_what_it_finds_without_them(name):
    if not installed(name):
        pytest.skip(f"{name} is not installed")
    instance = Instance("tsp", matrix=matrix_with_barriers(13, 3))
    solution, _ = solve_proven(name, instance, 1.0)
    best, proven = solve_proven("held-karp", Instance("tsp", matrix=instance.matrix.clip(max=1e5)), 10.0)
    assert proven
    cost = judge(instance, best).cost
    assert judge(instance, solution).cost <= cost * (1.02 if name == "or-tools" else 1.0)


def test_the_network_sees_ordinary_ways_beside_a_barrier():
    """Beside 1e9 it goes as it goes beside 20,000: a single greedy tour may be better or worse, all together are not.
    One may end where only the barrier is left, so that it is judged on the lower one."""
    ratios = []
    for seed in range(30):
        barred = Instance("tsp", matrix=matrix_with_barriers(12, seed))
        plain = Instance("tsp", matrix=barred.matrix.clip(max=20_000))
        greedy = judge(plain, solve(barred, samples=0).solution).cost
        ratios.append(greedy / solve(plain, samples=0).cost)
    assert np.median(ratios) < 1.1 and np.exp(np.log(ratios).mean()) < 1.1


@pytest.mark.parametrize("seed", range(5))
def test_what_solve_tries_by_default_does_not_cross_a_barrier(seed):
    barred = Instance("tsp", matrix=matrix_with_barriers(12, seed))
    best, proven = solve_proven("held-karp", Instance("tsp", matrix=barred.matrix.clip(max=20_000)), 10.0)
    assert proven and solve(barred).cost < 1.3 * judge(barred, best).cost < HUGE
