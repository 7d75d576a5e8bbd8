import math

import numpy as np
import pytest
import torch

from egam.problems import get_problem
from egam.problems.base import distances
from egam.problems.symmetry import eightfold, repeat, rotate_reflect


def batch_of(name, variant="", count=3, size=6):
    problem = get_problem(name, variant)
    return problem.to_batch(problem.generate(np.random.default_rng(1), count, size))


def test_repeat_is_copy_major():
    batch = batch_of("cvrp")
    copies = repeat(batch, 4)
    for field in ("coords", "travel", "unit", "demand"):
        original, copied = getattr(batch, field), getattr(copies, field)
        assert torch.equal(copied.view(4, *original.shape), original.expand(4, *original.shape))


def test_eightfold_order():
    # POMO's order: (x, y) (1-x, y) (x, 1-y) (1-x, 1-y) (y, x) (1-y, x) (y, 1-x) (1-y, 1-x), copy-major
    batch = batch_of("tsp", count=2)
    batch.coords[1, 0] = torch.tensor([0.1, 0.3])
    copies = eightfold(batch)
    expected = [[0.1, 0.3], [0.9, 0.3], [0.1, 0.7], [0.9, 0.7], [0.3, 0.1], [0.7, 0.1], [0.3, 0.9], [0.7, 0.9]]
    torch.testing.assert_close(copies.coords[1::2, 0], torch.tensor(expected))
    assert torch.equal(copies.coords[:2], batch.coords)
    assert torch.equal(copies.travel, batch.travel.repeat(8, 1, 1))


def test_rotate_reflect_by_hand():
    # (.9, .6) is (.4, .1) from the centre. u = 1/8: a quarter turn, (-.1, .4); u = 5/8: the same, coordinates swapped
    batch = batch_of("tsp")
    batch.coords[:, 0] = torch.tensor([0.9, 0.6])
    moved = rotate_reflect(batch, torch.tensor([0.0, 1 / 8, 5 / 8]))
    torch.testing.assert_close(moved.coords[:, 0], torch.tensor([[0.9, 0.6], [0.4, 0.9], [0.9, 0.4]]))


@pytest.mark.parametrize("name", ["tsp", "cvrp", "pctsp", "tsptw", "tspdl", "vrptw"])
def test_distances_stay(name):
    batch = batch_of(name, count=20)
    torch.manual_seed(1)
    for copies, times in ((eightfold(batch), 8), (rotate_reflect(batch, torch.rand(20)), 1)):
        torch.testing.assert_close(distances(copies.coords), copies.travel, atol=1e-6, rtol=0)
        assert torch.equal(copies.travel, batch.travel.repeat(times, 1, 1))


def test_half_of_the_copies_are_mirrored():
    batch = batch_of("tsp", count=200)
    u = torch.linspace(0, 1, 201)[:-1]
    moved = rotate_reflect(batch, u)
    (before, after) = ((b.coords[:, 1] - b.coords[:, 0], b.coords[:, 2] - b.coords[:, 0]) for b in (batch, moved))
    turn = [a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] for a, b in (before, after)]  # the sense of rotation 0-1-2
    assert torch.equal((turn[0] * turn[1] < 0), u >= 0.5)
    assert math.isclose((u >= 0.5).float().mean(), 0.5)


def test_nodes_in_one_place_are_left_alone():
    batch = batch_of("tsp")
    batch.coords.zero_()
    assert not eightfold(batch).coords.any()
    assert not rotate_reflect(batch, torch.rand(3)).coords.any()
