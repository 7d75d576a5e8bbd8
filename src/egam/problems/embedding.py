"""Positions for nodes that came as a matrix only: classical multidimensional scaling into the plane.

Networks were trained on points in the plane. Of a matrix they see positions whose distances come as near to its
entries as two dimensions allow: for a Euclidean matrix the points themselves, turned and shifted. Against zeros and
random positions this was chosen by measurement (docs/log.md). Deterministic, and the same for a matrix in another unit.
"""

from __future__ import annotations

import numpy as np

EXACT_UP_TO = 400  # nodes; beyond, the two leading vectors are found by iteration
ITERATIONS = 100
FORBIDDEN, OF_MOST = 4.0, 0.9  # an entry above 4 times the ninth decile forbids a way rather than measures it
UNEXPLAINED = 0.02  # share of the squared entries that positions may leave over and still be a map of them
NOTHING = 1e-9  # an eigenvalue of this share of the largest is rounding


def measured(matrix: np.ndarray) -> np.ndarray:
    """[..., N, N] with entries that only forbid a way (99999, say) cut down to what can be compared with the others."""
    limit = FORBIDDEN * np.quantile(matrix, OF_MOST, axis=(-2, -1), keepdims=True)
    return np.where(limit > 0, np.minimum(matrix, limit), matrix)


def positions(matrix: np.ndarray) -> np.ndarray:
    """[N, 2] of one matrix [N, N]; where it is asymmetric, of the mean of both ways."""
    both = measured(matrix + matrix.T)
    largest = both.max()
    if not largest > 0:
        return np.zeros((len(matrix), 2))
    squares = (both / largest) ** 2
    centred = squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean()
    values, vectors = _leading(-centred / 2)
    values = np.where(values > NOTHING * values[0], values, 0.0)
    anchor = np.abs(vectors).argmax(0)  # a vector's sign is free: its largest component is made positive
    return vectors * np.sign(vectors[anchor, [0, 1]]) * np.sqrt(values)


def explains(points: np.ndarray, matrix: np.ndarray) -> bool:
    """Are the distances of points [N, 2], in some unit, nearly the entries of the matrix [N, N]?"""
    both = measured(matrix + matrix.T)
    straight = np.sqrt(((points[:, None] - points[None, :]) ** 2).sum(-1))
    product = (both * straight).sum()
    return bool(product**2 >= (1 - UNEXPLAINED) * (both**2).sum() * (straight**2).sum() > 0)


def _leading(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two largest eigenvalues of a symmetric matrix, not below 0, and their vectors as columns."""
    size = len(gram)
    if size <= EXACT_UP_TO:
        values, vectors = np.linalg.eigh(gram)
        return np.maximum(values[[-1, -2]], 0.0), vectors[:, [-1, -2]]
    shifted = gram + np.abs(gram).sum(1).max() * np.eye(size) * 0.1  # so that large negative ones do not win
    basis = np.random.default_rng(0).standard_normal((size, 6))
    for _ in range(ITERATIONS):
        basis = np.linalg.qr(shifted @ basis)[0]
    values, turn = np.linalg.eigh(basis.T @ gram @ basis)
    return np.maximum(values[[-1, -2]], 0.0), basis @ turn[:, [-1, -2]]
