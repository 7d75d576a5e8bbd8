"""Repairs, by hand."""

import numpy as np

from egam.instance import Instance
from egam.judge import judge
from egam.repair import repaired
from egam.solution import Solution

LINE = np.stack([np.arange(5.0), np.zeros(5)], 1)


def test_a_route_that_is_too_heavy_is_cut():
    """Capacity 3e9. Heavy 1e9 + 30, light 1e9 - 60: three heavy ones are 90 too much, two and a light one just fit."""
    heavy, light = 1e9 + 30, 1e9 - 60
    given = Instance.cvrp(LINE, demand=[0, heavy, heavy, heavy, light], capacity=3e9)
    assert repaired(given, Solution.of([[1, 2, 3, 4]])) == Solution.of([[1, 2], [3, 4]])
    assert repaired(given, Solution.of([[1, 2, 4], [3]])) == Solution.of([[1, 2, 4], [3]])


def test_nobody_goes_home_while_somebody_waits():
    """At 1 at time 1; then 2 at 2, 3 at 3, and 4 closed at 3.5 before 4."""
    given = Instance.vrptw(LINE, window=[[0, 99], [0, 99], [0, 99], [0, 99], [0, 3.5]])
    assert repaired(given, Solution.of([[1]])) == Solution.of([[1, 2, 3]])
    assert judge(given, Solution.of([[1, 2, 3]])).cost == 1


def test_late_visits_are_left_out():
    """4 at time 4, late; without it 1 is reached at 1, and so on: 1-2-3 are served, 4 is not."""
    given = Instance.vrptw(LINE, window=[[0, 99], [0, 1.5], [0, 99], [0, 99], [0, 3.5]])
    assert judge(given, Solution.of([[4, 1]])).cost == 4
    assert repaired(given, Solution.of([[4, 1]])) == Solution.of([[1, 2, 3]])


def test_a_one_way_street_turns_a_route_round():
    """0-1-2-0 costs 1 + 1 + 9, 0-2-1-0 costs 2 + 1 + 1; the single stop 3 has no other way round."""
    matrix = np.array([[0, 1, 2, 4], [1, 0, 1, 9], [9, 1, 0, 9], [4, 9, 9, 0]], dtype=float)
    given = Instance.cvrp(matrix=matrix, demand=[0, 1, 1, 1], capacity=2)
    assert repaired(given, Solution.of([[1, 2], [3]])) == Solution.of([[2, 1], [3]])
    timed = Instance.tsptw(matrix=matrix, window=[[0, 99]] * 4)
    assert repaired(timed, Solution.of([[1, 2, 3]])) == Solution.of([[1, 2, 3]])  # windows look at the order


def test_the_rest_stays():
    given = Instance.tsp(LINE)
    assert repaired(given, Solution.of([[4, 1]])) == Solution.of([[4, 1]])
