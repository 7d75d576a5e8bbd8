"""Proofs that nothing is feasible, and silence where there is none."""

from itertools import permutations

import numpy as np
import pytest

from egam.infeasible import why_infeasible
from egam.instance import Instance
from egam.judge import judge
from egam.solution import Solution

LINE = np.array([[0.0, 0], [1, 0], [2, 0], [3, 0]])  # a step apart
ALWAYS = [0, 100]


def test_a_stop_that_cannot_be_reached_in_time():
    """Stop 3 is 3 away and closes at 2."""
    instance = Instance.tsptw(LINE, window=[ALWAYS, ALWAYS, ALWAYS, [0, 2]], names=["depot", "a", "b", "harbour"])
    sentence = why_infeasible(instance)
    assert "stop harbour cannot be reached before 3" in sentence and "closes at 2" in sentence


def test_the_start_opens_late():
    instance = Instance.tsptw(LINE, window=[[50, 60], ALWAYS, [0, 40], [0, 2]])
    assert "stop 3 (and 1 more) cannot be reached before 53" in why_infeasible(instance)


def test_a_detour_may_be_shorter():
    """0-2 costs 9 directly and 2 over node 1, so that a window up to 3 can be kept: 0-1-2-0."""
    matrix = [[0, 1, 9], [1, 0, 1], [9, 1, 0]]
    instance = Instance.tsptw(matrix=matrix, window=[ALWAYS, ALWAYS, [0, 3]])
    assert why_infeasible(instance) == ""
    assert judge(instance, Solution.of([[1, 2]])).feasible


def test_two_stops_too_late_for_each_other():
    """Stops 1 and 3 are 2 apart: 1 is reached at 1, then 3 at 3 > 2.9; 3 at 3 > 2.9 is out already, so 3 closes at 3.
    After 3, at time 3, stop 1 is reached at 5 > 1.5; after 1, at 1.4 when it opens, 3 is reached at 3.4 > 3."""
    instance = Instance.tsptw(LINE, window=[ALWAYS, [1.4, 1.5], ALWAYS, [0, 3]])
    assert "stops 1 and 3 cannot both be reached in time" in why_infeasible(instance)


def test_draft_limits():
    """Ports 1 and 2 load 2 each with limits 3 and 3: the second of them lies 4 deep."""
    instance = Instance.tspdl(LINE, demand=[0, 2, 2, 1], draft_limit=[9, 3, 3, 9])
    assert "the 2 ports with limits up to 3 load 4 in all" in why_infeasible(instance)
    assert why_infeasible(Instance.tspdl(LINE, demand=[0, 2, 2, 1], draft_limit=[9, 2, 4, 5])) == ""


def test_nothing_to_prove():
    assert why_infeasible(Instance.tsp(LINE)) == ""
    assert why_infeasible(Instance.vrptw(LINE, window=[ALWAYS, [0, 0], [0, 0], [0, 0]])) == ""  # late stops are allowed
    assert why_infeasible(Instance.tsptw(LINE, window=[ALWAYS] * 4)) == ""


def test_stops_of_which_no_order_is_in_time():
    """Stops 1 to 3 are a step apart and reached at 1 to 3; any two of them can be in time, the third never is."""
    triangle = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    matrix = np.abs(triangle[:, None] - triangle).sum(-1)  # from one stop to another 2
    window = [ALWAYS, [0, 3], [0, 3], [0, 3], ALWAYS]
    sentence = why_infeasible(Instance.tsptw(matrix=matrix, window=window, names=["depot", "a", "b", "c", "d"]))
    assert "stops a, b and c cannot all be reached in time, in whatever order" in sentence
    window[1] = [0, 5]
    assert why_infeasible(Instance.tsptw(matrix=matrix, window=window)) == ""


@pytest.mark.parametrize("size", [5, 8])
def test_few_stops_are_proven_infeasible_exactly_if_they_are(size):
    """Where a random instance is proven infeasible, no order of its stops keeps the rules, and the other way round."""
    rng, kinds = np.random.default_rng(0), set()
    for _ in range(60 if size == 5 else 12):
        opens = rng.uniform(0, 0.6 * size, size)
        window = np.stack([opens, opens + rng.uniform(0.2, 1.5, size)], -1)
        instance = Instance.tsptw(rng.random((size, 2)), window=window)
        sentence = why_infeasible(instance)
        orders = (Solution.of([order]) for order in permutations(range(1, size)))
        assert bool(sentence) != any(judge(instance, order).feasible for order in orders)
        kinds |= {word for word in ("directly", "both", "whatever order") if word in sentence} or {sentence}
    assert {"directly", "both", ""} <= kinds
