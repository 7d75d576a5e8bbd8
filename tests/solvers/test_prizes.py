"""Prize collecting by PyVRP: against proven optima, and where the least prize decides."""

import numpy as np
import pytest

from egam.instance import Instance
from egam.judge import judge
from egam.solution import Solution
from egam.solvers import installed, prizes, solve_classical, vrp

pytestmark = pytest.mark.skipif(not (installed("pyvrp") and installed("highs")), reason="pip install .[solvers]")


def random_instance(seed: int, size: int, least: float) -> Instance:
    rng = np.random.default_rng(seed)
    prize, penalty = rng.random(size) * 4 / size, rng.random(size) * 6 / size
    prize[0] = penalty[0] = 0
    return Instance("pctsp", coords=rng.random((size, 2)), prize=prize, penalty=penalty, min_prize=least)


@pytest.mark.parametrize(("seed", "least"), [(1, 0.1), (2, 1.0), (3, 1.0), (4, 1.5)])  # free, binding, nearly all
def test_optimal_where_a_proof_is_quick(seed, least):
    instance = random_instance(seed, 16, least)
    proven = judge(instance, solve_classical("highs", instance, 20.0))
    found = judge(instance, vrp.solve(instance, 0.5))
    assert found.feasible and found.cost == pytest.approx(proven.cost, rel=1e-6)


def test_units_do_not_matter():
    """Kilometres and thousands of prizes instead of the unit square."""
    small = random_instance(5, 16, 1.0)
    large = Instance(
        "pctsp", coords=small.coords * 250, prize=small.prize * 4e4, penalty=small.penalty * 250, min_prize=4e4
    )
    costs = [judge(instance, vrp.solve(instance, 0.5)).cost for instance in (small, large)]
    assert costs[1] / 250 == pytest.approx(costs[0], rel=1e-6)


def test_a_prize_out_of_reach_is_collected_as_far_as_it_goes():
    one = random_instance(6, 8, 1.0)
    beyond = Instance("pctsp", coords=one.coords, prize=one.prize, penalty=one.penalty, min_prize=2 * one.prize.sum())
    assert sorted(judge(beyond, vrp.solve(beyond, 0.1)).served) == list(range(1, 8))


def test_filled_takes_the_cheapest_prize_first():
    """Depot at 0, customers at 1, 2 and -5 on a line: the prize of 2 needs those at 1 and 2, a way of 4."""
    instance = Instance(
        "pctsp", coords=[[0, 0], [1, 0], [2, 0], [-5, 0]], prize=[0, 1, 1, 1], penalty=[0, 0, 0, 0.5], min_prize=2
    )
    tour = prizes.filled([], instance)
    assert sorted(tour.nodes) == [1, 2] and tour.cost == pytest.approx(4.5) and tour.enough
    assert judge(instance, Solution.of([tour.nodes])).cost == pytest.approx(tour.cost)
