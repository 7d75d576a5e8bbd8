"""The five nodes of test_tsp.py."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from egam.problems.tspdl import LIMITED, TSPDL

COORDS = np.array([[[0, 0], [0.3, 0], [0.3, 0.4], [0, 0.4], [0.6, 0.4]]])
ARRAYS = {
    "coords": COORDS,
    "demand": np.array([[0.0, 1, 1, 2, 1]]),  # 5 in total
    "draft_limit": np.array([[5.0, 5, 2, 3, 5]]),
}


def roll(actions):
    problem = TSPDL()
    batch = problem.to_batch(ARRAYS)
    state = problem.start(batch, torch.zeros(1, 1, dtype=torch.long))
    loads = []
    for action in actions:
        assert problem.allowed(batch, state)[0, 0, action]
        state = problem.step(batch, state, torch.tensor([[action]]))
        loads.append(problem.context(batch, state).item())
    assert state.done.item()
    return loads, problem.cost(batch, state).item(), problem.penalty(batch, state).item()


def test_overloaded_tour():
    # loads 1, 2, 4, 5: node 3 bears 3, so 1 of 5 too much. Length .3 + .4 + .3 + .6 + .7211
    loads, cost, penalty = roll((1, 2, 3, 4))
    assert loads == pytest.approx([0.2, 0.4, 0.8, 1.0])
    assert cost == pytest.approx(2.321110, abs=1e-6)
    assert penalty == pytest.approx(1 + 0.2)


def test_feasible_tour_is_not_penalised():
    # loads 1 <= 2, 3 <= 3, 4 <= 5, 5 <= 5. Length .5 + .3 + .5 + .5 + .7211
    loads, cost, penalty = roll((2, 3, 1, 4))
    assert loads == pytest.approx([0.2, 0.6, 0.8, 1.0])
    assert cost == pytest.approx(2.521110, abs=1e-6)
    assert penalty == 0


def test_features():
    problem = TSPDL()
    assert problem.features(problem.to_batch(ARRAYS)).nodes[0, 3].tolist() == pytest.approx([0, 0.4, 0.4, 0.6])
    assert problem.to_solution([0, 2, 3, 1, 4]).routes == ((2, 3, 1, 4),)


@settings(deadline=None, max_examples=40)
@given(st.integers(3, 30), st.sampled_from(sorted(LIMITED)), st.integers(0, 1000))
def test_generated_limits_are_feasible(size, variant, seed):
    arrays = TSPDL(variant=variant).generate(np.random.default_rng(seed), 8, size)
    limits, total = arrays["draft_limit"], size - 1
    assert (limits[:, 0] == total).all() and limits.min() >= 1 and limits.max() == total
    for k in range(1, total + 1):
        assert ((limits[:, 1:] <= k).sum(1) <= k).all()
    assert ((limits < total).sum(1) == min(size * LIMITED[variant] // 100, size - 2)).all()


@pytest.mark.parametrize(("variant", "limited"), [("easy", 25), ("medium", 37), ("hard", 45)])
def test_number_of_limits_at_50_nodes(variant, limited):
    arrays = TSPDL(variant=variant).generate(np.random.default_rng(1), 10, 50)
    assert ((arrays["draft_limit"] < 49).sum(1) == limited).all()
