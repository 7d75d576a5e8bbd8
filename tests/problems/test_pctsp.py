"""The five nodes of test_tsp.py."""

import numpy as np
import pytest
import torch

from egam.problems.pctsp import PCTSP, largest_penalty

COORDS = np.array([[[0, 0], [0.3, 0], [0.3, 0.4], [0, 0.4], [0.6, 0.4]]])
ARRAYS = {
    "coords": COORDS,
    "prize": np.array([[0, 0.4, 0.6, 0.5, 0.3]]),
    "penalty": np.array([[0, 0.1, 0.2, 0.3, 0.4]]),
    "min_prize": np.array([1.0]),
}


def roll(problem, batch, actions):
    state = problem.start(batch, torch.zeros(1, 1, dtype=torch.long))
    seen = []
    for action in actions:
        mask = "".join("01"[ok] for ok in problem.allowed(batch, state)[0, 0].tolist())
        seen.append((mask, round(problem.context(batch, state).item(), 4)))
        state = problem.step(batch, state, torch.tensor([[action]]))
    return state, seen


def test_ended_at_the_depot():
    problem = PCTSP()
    batch = problem.to_batch(ARRAYS)
    state, seen = roll(problem, batch, (1, 2, 0))
    assert seen == [("01111", 1.0), ("00111", 0.6), ("10011", 0.0)]  # .4 + .6 is just enough: now the depot is allowed
    # 0-1-2-0: .3 + .4 + .5 = 1.2; nodes 3 and 4 left out: .3 + .4
    assert state.done.item() and problem.cost(batch, state).item() == pytest.approx(1.9)
    assert problem.allowed(batch, state)[0, 0].tolist() == [True, False, False, False, False]
    assert problem.penalty(batch, state).item() == 0
    assert problem.to_solution([0, 1, 2, 0]).routes == ((1, 2),)


def test_closes_by_itself_after_the_last_customer():
    problem = PCTSP()
    batch = problem.to_batch({**ARRAYS, "min_prize": np.array([2.0])})  # all prizes are 1.8: never reached
    state, seen = roll(problem, batch, (1, 2, 3, 4))
    assert seen == [("01111", 1.0), ("00111", 0.8), ("00011", 0.5), ("00001", 0.25)]
    # .3 + .4 + .3 + .6 + .7211, nothing left out
    assert state.done.item() and problem.cost(batch, state).item() == pytest.approx(2.321110, abs=1e-6)


def test_penalties_scale_with_lengths():
    # a map 60 wide: one unit is 60, so that a penalty of 30 weighs .5
    batch = PCTSP().to_batch({**ARRAYS, "coords": 100 * COORDS, "penalty": 100 * ARRAYS["penalty"]}, generated=False)
    assert batch.penalty[0].tolist() == pytest.approx([0, 1 / 6, 1 / 3, 0.5, 2 / 3])
    assert PCTSP().features(batch).nodes[0, 3].tolist() == pytest.approx([0, 2 / 3, 0.5, 0.5])  # x, y, prize, penalty


@pytest.mark.parametrize(("size", "tour"), [(20, 2), (50, 3), (100, 4), (35, 2.5), (150, 5), (5, 1.5)])
def test_largest_penalty(size, tour):
    assert largest_penalty(size) == pytest.approx(3 * tour / size)


def test_generated_values():
    arrays = PCTSP().generate(np.random.default_rng(1), 500, 20)
    assert arrays["coords"].shape == (500, 21, 2)
    assert (arrays["prize"][:, 0] == 0).all() and (arrays["penalty"][:, 0] == 0).all()
    assert 0.195 < arrays["prize"].max() <= 0.2 and 0.29 < arrays["penalty"].max() <= 0.3


def test_who_has_a_penalty_above_any_way_is_not_left_out():
    """The longest way is 0-4, .7211, so that a penalty above 1.4422 is never paid; 1.44 may be."""
    problem = PCTSP()
    for penalty, home in ((1.44, True), (1.45, False)):
        batch = problem.to_batch({**ARRAYS, "penalty": np.array([[0, 0.1, 0.2, 0.3, penalty]])})
        state, _ = roll(problem, batch, (1, 2))
        assert problem.allowed(batch, state)[0, 0].tolist() == [home, False, False, True, True]
        state = problem.step(batch, state, torch.tensor([[4]]))
        assert problem.allowed(batch, state)[0, 0, 0]
