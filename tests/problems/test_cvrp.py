"""The five nodes of test_tsp.py."""

import numpy as np
import pytest
import torch

from egam.problems.cvrp import CVRP, capacity

COORDS = np.array([[[0, 0], [0.3, 0], [0.3, 0.4], [0, 0.4], [0.6, 0.4]]])
ARRAYS = {"coords": COORDS, "demand": np.array([[0.0, 4, 6, 5, 3]]), "capacity": np.array([10.0])}


def test_five_nodes():
    problem = CVRP()
    batch = problem.to_batch(ARRAYS)
    state = problem.start(batch, torch.zeros(1, 1, dtype=torch.long))
    seen = []
    for action in (1, 2, 0, 3, 4):
        mask = "".join("01"[ok] for ok in problem.allowed(batch, state)[0, 0].tolist())
        seen.append((mask, round(problem.context(batch, state).item(), 4), state.done.item()))
        state = problem.step(batch, state, torch.tensor([[action]]))
    assert seen == [
        ("01111", 1.0, False),  # at the depot: not to the depot again
        ("10111", 0.6, False),  # node 2 with .6 just fits
        ("10000", 0.0, False),
        ("00011", 1.0, False),  # the depot refills
        ("10001", 0.5, False),
    ]
    # 0-1-2-0: .3 + .4 + .5; 0-3-4-0: .4 + .6 + .7211; done with the last customer, the way home included
    assert state.done.item()
    assert problem.cost(batch, state).item() == pytest.approx(1.2 + 1.721110, abs=1e-6)
    assert problem.penalty(batch, state).item() == 0
    assert problem.to_solution([0, 1, 2, 0, 3, 4]).routes == ((1, 2), (3, 4))


def test_features():
    features = CVRP().features(CVRP().to_batch(ARRAYS))
    assert features.nodes[0, 2].tolist() == pytest.approx([0.3, 0.4, 0.6])
    assert features.depot[0].tolist() == [0, 0]
    assert features.edges[0, 0, 4].tolist() == pytest.approx([0.721110], abs=1e-6)


@pytest.mark.parametrize(
    ("size", "expected"), [(5, 20), (10, 20), (15, 25), (20, 30), (35, 35), (50, 40), (100, 50), (500, 50)]
)
def test_capacity(size, expected):
    assert capacity(size) == expected


def test_generated_values():
    arrays = CVRP().generate(np.random.default_rng(1), 200, 20)
    assert arrays["coords"].shape == (200, 21, 2)
    assert (arrays["demand"][:, 0] == 0).all() and set(np.unique(arrays["demand"][:, 1:])) == set(range(1, 10))
    assert (arrays["capacity"] == 30).all()
