"""Positions out of matrices."""

import numpy as np
import pytest

from egam.problems import embedding, get_problem
from egam.problems.embedding import explains, measured, positions


def lengths(points):
    return np.linalg.norm(points[:, None] - points[None, :], axis=-1)


@pytest.mark.parametrize("exact_up_to", [400, 10])  # all eigenvectors, or two by iteration
def test_a_euclidean_matrix_gives_its_points_back(exact_up_to, monkeypatch):
    monkeypatch.setattr(embedding, "EXACT_UP_TO", exact_up_to)
    matrix = lengths(np.random.default_rng(1).random((40, 2)) * [3, 1])
    found = positions(matrix)
    scale = lengths(found).max() / matrix.max()
    np.testing.assert_allclose(lengths(found), matrix * scale, atol=1e-6)


def test_another_unit_changes_nothing():
    matrix = np.random.default_rng(2).random((12, 12))
    np.testing.assert_allclose(positions(matrix * 1e6), positions(matrix), atol=1e-12)


def test_a_line_stays_a_line_and_a_point_a_point():
    line = positions(np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0))))
    assert (line[:, 1] == 0).all()
    assert sorted(np.diff(np.sort(line[:, 0]))) == pytest.approx([np.diff(np.sort(line[:, 0]))[0]] * 4)
    assert not positions(np.zeros((4, 4))).any()


def test_a_forbidden_way_counts_as_four_times_the_ninth_decile():
    matrix = np.ones((11, 11)) - np.eye(11)
    matrix[3, 4] = 1e12
    assert measured(matrix).max() == 4
    matrix[3, 4] = 3.5
    assert (measured(matrix) == matrix).all()


def test_a_matrix_that_is_a_map_is_scaled_like_its_map():
    """Points in a strip 1 wide: the embedding turns it, so that its length along the axes is 1 but for the turn."""
    points = np.random.default_rng(3).random((30, 2)) * [1, 0.01]
    points[:2] = [[0, 0], [1, 0]]
    assert explains(positions(lengths(points)), lengths(points))
    batch = get_problem("tsp").to_batch({"matrix": lengths(points)[None]}, generated=False)
    assert batch.unit.item() == pytest.approx(1, abs=0.01)
    noise = np.random.default_rng(4).random((30, 30))
    assert not explains(positions(noise), noise)
