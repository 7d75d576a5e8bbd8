"""Five nodes in a circle: c_ij = .1 ((j - i) mod 5), twice as much from node 0."""

import numpy as np
import pytest
import torch

from egam.problems.atsp import ATSP

MATRIX = np.array([[((j - i) % 5) / 10 * (2 if i == 0 else 1) for j in range(5)] for i in range(5)])[None]


def test_five_nodes():
    problem = ATSP()
    batch = problem.to_batch({"matrix": MATRIX})
    state = problem.start(batch, torch.tensor([[0, 0]]))
    for action in ([1, 4], [2, 3], [3, 2], [4, 1]):
        state = problem.step(batch, state, torch.tensor([action]))
    assert state.done.all()
    # The largest entry, .8, becomes sqrt(2): a unit is .8 / sqrt(2).
    assert batch.unit.item() == pytest.approx(0.8 / np.sqrt(2))
    # 0-1-2-3-4-0: .2 + 4 x .1 = .6; the other way round .8 + 4 x .4 = 2.4
    assert (problem.cost(batch, state)[0] * batch.unit).tolist() == pytest.approx([0.6, 2.4])
    assert problem.to_solution([3, 4, 0, 1, 2]).routes == ((1, 2, 3, 4),)


def test_features():
    features = ATSP().features(ATSP().to_batch({"matrix": MATRIX * np.sqrt(2) / 0.8}))  # a unit is 1
    features.nodes *= 0.8 / np.sqrt(2)
    features.edges *= 0.8 / np.sqrt(2)
    # out of 0: (.2 + .4 + .6 + .8) / 4; into 0: (.4 + .3 + .2 + .1) / 4
    assert features.nodes[0, 0, 2:].tolist() == pytest.approx([0.5, 0.25])
    # out of 1: (.4 + .1 + .2 + .3) / 4; into 1: (.2 + .4 + .3 + .2) / 4
    assert features.nodes[0, 1, 2:].tolist() == pytest.approx([0.25, 0.275])
    assert features.edges[0, 0, 1].tolist() == pytest.approx([0.2, 0.4])  # there, and back
    assert features.edges[0, 1, 0].tolist() == pytest.approx([0.4, 0.2])


def test_road_costs():
    arrays = ATSP().generate(np.random.default_rng(1), 20, 12)
    straight = np.linalg.norm(arrays["coords"][:, :, None] - arrays["coords"][:, None], axis=-1)
    off = ~np.eye(12, dtype=bool)
    detour = (arrays["matrix"] / np.where(off, straight, 1))[:, off]
    assert 1 <= detour.min() < 1.01 and 1.59 < detour.max() <= 1.6
    assert (arrays["matrix"] != arrays["matrix"].transpose(0, 2, 1))[:, off].all()
    assert (arrays["matrix"][:, ~off] == 0).all()


def test_matrix_costs_obey_the_triangle_inequality():
    arrays = ATSP(variant="matrix").generate(np.random.default_rng(1), 20, 12)
    costs = arrays["matrix"]
    assert set(arrays) == {"matrix"} and costs.shape == (20, 12, 12)
    assert (costs[:, :, None, :] <= costs[:, :, :, None] + costs[:, None, :, :] + 1e-12).all()  # i-k <= i-j + j-k
    assert (np.diagonal(costs, axis1=1, axis2=2) == 0).all() and costs.min() >= 0 and costs.max() <= 1
