"""3 --- 2 --- 4   nodes on a grid of 0.3 x 0.4: 0-1 .3, 1-2 .4, 2-3 .3, 2-4 .3, 3-0 .4, 0-2 .5, 1-3 .5, 1-4 .5, 3-4 .6,
|     |     /   0-4 sqrt(.6² + .4²) = .7211
0 --- 1 --    the same five nodes in every file of this folder"""

import numpy as np
import pytest
import torch

from egam.problems.tsp import TSP

COORDS = np.array([[[0, 0], [0.3, 0], [0.3, 0.4], [0, 0.4], [0.6, 0.4]]])


def test_five_nodes():
    problem = TSP()
    batch = problem.to_batch({"coords": COORDS})
    state = problem.start(batch, torch.tensor([[1, 0]]))  # two rollouts, from 1 and from 0
    assert problem.allowed(batch, state).tolist() == [
        [[True, False, True, True, True], [False, True, True, True, True]]
    ]
    for action in ([2, 1], [4, 2], [3, 3], [0, 4]):
        assert not state.done.any()
        state = problem.step(batch, state, torch.tensor([action]))
    assert state.done.all()
    # 1-2-4-3-0-1: .4 + .3 + .6 + .4 + .3 = 2.0; 0-1-2-3-4-0: .3 + .4 + .3 + .6 + .7211 = 2.3211
    assert problem.cost(batch, state)[0].tolist() == pytest.approx([2.0, 2.321110], abs=1e-6)
    assert problem.penalty(batch, state).tolist() == [[0, 0]]
    assert problem.to_solution([1, 2, 4, 3, 0]).routes == ((1, 2, 4, 3),)


def test_users_units_become_the_unit_square():
    batch = TSP().to_batch({"coords": 1000 * COORDS - 70}, generated=False)
    assert batch.unit.tolist() == pytest.approx([600])  # the longer side
    assert batch.coords[0, 4].tolist() == pytest.approx([1, 2 / 3])
    assert batch.travel[0, 0, 2].item() == pytest.approx(500 / 600)
