"""Means, gaps and intervals by hand."""

import math

import numpy as np
import pytest

from egam.bench.summary import NORMAL_95, summarise

NAN = math.nan


def test_costs_and_gaps_of_feasible_ones():
    # Costs 110, 330 in units of 100: mean 2.2, deviation 1.1 sqrt 2, half interval 1.96 * 1.1 sqrt 2 / sqrt 2.
    # Of the feasible ones only the first has a reference: gap 110 / 100 - 1 = 10 %.
    cost, feasible = np.array([110.0, 330.0, NAN]), np.array([True, True, False])
    found = summarise(cost, feasible, np.array([100.0, NAN, 50.0]), unit=100.0, counts=False)
    assert (found.count, found.feasible, found.gap_count) == (3, 2, 1)
    assert found.infeasible_percent == pytest.approx(100 / 3)
    assert found.cost == pytest.approx(2.2) and found.cost_ci95 == pytest.approx(NORMAL_95 * 1.1)
    assert found.reference_cost == pytest.approx(1.0)
    assert found.gap_percent == pytest.approx(10) and found.gap_ci95 is None  # one value has no spread


def test_gap_is_the_mean_of_gaps():
    # 10 % and 50 %: mean 30, deviation 20 sqrt 2, half interval 1.96 * 20.
    found = summarise(np.array([11.0, 30.0]), np.array([True, True]), np.array([10.0, 20.0]), 1.0, counts=False)
    assert found.gap_percent == pytest.approx(30) and found.gap_ci95 == pytest.approx(NORMAL_95 * 20)


def test_counts_have_the_gap_of_their_means():
    # 3 of 2: 50 %, although one reference is 0. Residuals 2 - 0 and 1 - 3, divided by the mean reference 1, in percent:
    # 200, -200, deviation 200 sqrt 2, half interval 1.96 * 200.
    found = summarise(np.array([2.0, 1.0]), np.array([True, True]), np.array([0.0, 2.0]), 1.0, counts=True)
    assert found.gap_percent == pytest.approx(50) and found.gap_ci95 == pytest.approx(NORMAL_95 * 200)


@pytest.mark.parametrize("references", [None, np.array([NAN, NAN]), np.array([0.0, 0.0])])
@pytest.mark.parametrize("counts", [True, False])
def test_no_gap_without_a_reference(references, counts):
    found = summarise(np.array([1.0, 2.0]), np.array([True, True]), references, 1.0, counts)
    assert found.gap_percent is None and found.gap_ci95 is None and found.cost == 1.5


def test_nothing_feasible_has_no_cost():
    found = summarise(np.array([NAN]), np.array([False]), np.array([1.0]), 1.0, counts=False)
    assert (found.cost, found.cost_ci95, found.gap_percent, found.gap_count) == (None, None, None, 0)
    assert found.infeasible_percent == 100
