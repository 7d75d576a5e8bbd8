"""The five nodes of test_tsp.py."""

import numpy as np
import pytest
import torch

from egam.problems.vrptw import VRPTW

COORDS = np.array([[[0, 0], [0.3, 0], [0.3, 0.4], [0, 0.4], [0.6, 0.4]]])
WINDOW = np.array([[[0, 22], [0.5, 1.0], [0.2, 0.8], [0, 0.1], [1.2, 1.5]]])
ARRAYS = {"coords": COORDS, "window": WINDOW}


def test_five_nodes():
    problem = VRPTW()
    batch = problem.to_batch(ARRAYS)
    state = problem.start(batch, torch.zeros(1, 1, dtype=torch.long))
    seen = []
    for action in (1, 2, 4, 0):
        mask = "".join("01"[ok] for ok in problem.allowed(batch, state)[0, 0].tolist())
        seen.append((mask, round(state.time.item(), 4)))
        assert problem.context(batch, state).item() == pytest.approx(state.time.item() / 20.5)
        state = problem.step(batch, state, torch.tensor([[action]]))
    assert seen == [
        ("11111", 0.0),
        ("10101", 0.5),  # at node 1 at .3, waited until .5; node 3 closed at .1
        ("10001", 0.9),  # at node 2 at .9, after .8: failed, and not allowed again
        ("10000", 1.2),  # at node 4 at 1.2, just when it opens
    ]
    assert state.served[0, 0].tolist() == [True, True, False, False, True]
    assert state.visited[0, 0].tolist() == [True, True, True, False, True]
    assert state.done.item() and problem.cost(batch, state).item() == 2  # 2 failed, 3 not visited
    assert problem.penalty(batch, state).item() == 0
    assert problem.to_solution([0, 1, 2, 4, 0]).routes == ((1, 2, 4),)


def test_the_depot_ends_the_route_at_any_time():
    problem = VRPTW()
    batch = problem.to_batch(ARRAYS)
    state = problem.step(batch, problem.start(batch, torch.zeros(1, 1, dtype=torch.long)), torch.tensor([[0]]))
    assert state.done.item() and problem.cost(batch, state).item() == 4
    assert problem.allowed(batch, state)[0, 0].tolist() == [True, False, False, False, False]


def test_horizon_of_users_instances_is_the_last_closing_time():
    # one unit is .6; the last customer closes at 1.5
    problem = VRPTW()
    batch = problem.to_batch({"coords": COORDS, "window": WINDOW + 7}, generated=False)
    assert batch.horizon.tolist() == pytest.approx([1.5 / 0.6])
    assert problem.features(batch).nodes[0, 1].tolist() == pytest.approx([0.5, 0, 0.5 / 1.5, 1 / 1.5])


def test_generated_windows():
    arrays = VRPTW().generate(np.random.default_rng(1), 200, 20)
    starts, ends = arrays["window"][:, 1:, 0], arrays["window"][:, 1:, 1]
    assert arrays["coords"].shape == (200, 21, 2)
    assert starts.min() >= 0 and 19.9 < starts.max() < 20
    assert 0.1 <= (ends - starts).min() < 0.11 and 0.49 < (ends - starts).max() <= 0.5
