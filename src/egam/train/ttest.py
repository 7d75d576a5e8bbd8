"""The one-sided paired t-test by which a trained network replaces its baseline's copy.

Student's distribution comes from the regularised incomplete beta function, and that from its continued fraction, so
that no statistics package is needed.
"""

from __future__ import annotations

import math

import numpy as np

TINY = 1e-300  # in the place of 0 in a denominator
PRECISION = 1e-14
MOST_TERMS = 10_000


def p_lower(candidate: np.ndarray, current: np.ndarray) -> float:
    """The chance of seeing `candidate` lower than `current` by so much, pair by pair, if their means were equal."""
    differences = np.asarray(candidate, dtype=float) - np.asarray(current, dtype=float)
    count, mean = len(differences), float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(count)
    if error == 0:
        return 0.5 if mean == 0 else float(mean > 0)
    return student_cdf(mean / error, count - 1)


def student_cdf(t: float, freedom: float) -> float:
    """P(T <= t) of Student's distribution: the tail beyond |t| is I_x(ν/2, 1/2) / 2 with x = ν / (ν + t²)."""
    tail = 0.5 * regularised_beta(freedom / 2, 0.5, freedom / (freedom + t * t))
    return tail if t < 0 else 1 - tail


def regularised_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b)"""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast below this point only
        return 1 - regularised_beta(b, a, 1 - x)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(front) / (a * _fraction(a, b, x))


def _fraction(a: float, b: float, x: float) -> float:
    """1 + d_1 / (1 + d_2 / (1 + ..)), by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for term in range(1, MOST_TERMS):
        k = term // 2
        if term % 2:
            numerator = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        else:
            numerator = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        d = 1 / (1 + numerator * d or TINY)
        c = 1 + numerator / c or TINY
        value *= c * d
        if abs(c * d - 1) < PRECISION:
            break
    return value
