"""Student's distribution against closed forms and printed tables, and the paired test by hand."""

import math

import numpy as np
import pytest

from egam.train.ttest import p_lower, regularised_beta, student_cdf


@pytest.mark.parametrize("t", [-50.0, -3.0, -0.2, 0.0, 0.7, 12.0])
def test_one_and_two_degrees_of_freedom_have_closed_forms(t):
    assert student_cdf(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, abs=1e-13)
    assert student_cdf(t, 2) == pytest.approx(0.5 + t / (2 * math.sqrt(2 + t * t)), abs=1e-13)


@pytest.mark.parametrize(
    ("p", "freedom", "t"),
    [  # upper critical values as printed in tables of Student's distribution
        (0.05, 5, 2.015),
        (0.05, 10, 1.812),
        (0.025, 10, 2.228),
        (0.005, 30, 2.750),
        (0.05, 120, 1.658),
        (0.05, 1_000_000, 1.645),
    ],
)
def test_printed_critical_values(p, freedom, t):
    assert student_cdf(t - 5e-4, freedom) <= 1 - p <= student_cdf(t + 5e-4, freedom)
    assert student_cdf(-t, freedom) == pytest.approx(1 - student_cdf(t, freedom), abs=1e-12)


def test_many_degrees_of_freedom_are_the_normal_distribution():
    """As in a challenge of 10,000 instances; the difference is of the order of 1/ν."""
    for t in (-6.0, -1.6448536, 0.5):
        normal = 0.5 * math.erfc(-t / math.sqrt(2))
        assert student_cdf(t, 9999) == pytest.approx(normal, rel=0.05, abs=1e-12)


def test_beta_function():
    assert regularised_beta(1, 1, 0.3) == pytest.approx(0.3, abs=1e-14)
    assert regularised_beta(2, 3, 0.5) == pytest.approx(11 / 16, abs=1e-14)  # Σ_{k=2}^{4} C(4, k) / 2⁴
    assert regularised_beta(3, 2, 0.0) == 0 and regularised_beta(3, 2, 1.0) == 1


def test_paired_test_by_hand():
    """Differences -1, -2, -3: mean -2, standard deviation 1, t = -2 √3, ν = 2: p = 1/2 - 2√3 / (2 √14) = 0.0370904."""
    current = np.array([5.0, 7.0, 9.0])
    candidate = current - [1, 2, 3]
    assert p_lower(candidate, current) == pytest.approx(0.5 - math.sqrt(3 / 14), abs=1e-12)
    assert p_lower(current, candidate) == pytest.approx(0.5 + math.sqrt(3 / 14), abs=1e-12)


def test_equal_differences():
    current = np.ones(4)
    assert p_lower(current, current) == 0.5  # no difference: not better
    assert p_lower(current - 0.5, current) == 0.0
    assert p_lower(current + 0.5, current) == 1.0


def test_a_fair_coin_rejects_one_time_in_twenty():
    draws = np.random.default_rng(0).normal(size=(4000, 2, 12))
    share = np.mean([p_lower(*pair) < 0.05 for pair in draws])
    assert share == pytest.approx(0.05, abs=0.0104)  # three standard errors
