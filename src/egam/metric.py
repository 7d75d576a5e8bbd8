"""How coordinates become travel costs: TSPLIB's distance functions with their own rounding, and great circles.

`METRICS` maps the name a file gives (EDGE_WEIGHT_TYPE) to a function of two sets of points; "GREAT_CIRCLE" is ours.
GEO and GREAT_CIRCLE take (longitude, latitude) in degrees, all others a plane. Exact Euclidean lengths: instance.py.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

EARTH = 6371008.8  # metres: the mean radius of the Earth
GEO_EARTH, GEO_PI = 6378.388, 3.141592  # TSPLIB's kilometres and its short pi, which its optima depend on
BLOCK = 512  # rows computed at once, so that the largest tables need little more than themselves


def distance_table(metric: str, coords: np.ndarray) -> np.ndarray:
    """[N, N] travel costs of [N, 2] coordinates; 0 on the diagonal."""
    size = len(coords)
    table = np.empty((size, size))
    for start in range(0, size, BLOCK):
        table[start : start + BLOCK] = METRICS[metric](coords[start : start + BLOCK, None], coords[None])
    np.fill_diagonal(table, 0.0)
    return table


def flat_map(metric: str, coords: np.ndarray) -> np.ndarray:
    """[N, 2] longitudes and latitudes on a plane, in the unit of the metric: east and north of one another."""
    radius = GEO_EARTH if metric == "GEO" else EARTH
    longitude, latitude = np.radians(coords).T
    order = np.sort(longitude % (2 * np.pi))
    gaps = np.diff(order, append=order[0] + 2 * np.pi)
    west = order[(int(np.argmax(gaps)) + 1) % len(order)]  # the widest empty strip is where the map is cut open
    east = (longitude - west + 1e-12) % (2 * np.pi)
    return radius * np.stack([east * np.cos(latitude.mean()), latitude], -1)


def _nearest(value: np.ndarray) -> np.ndarray:
    return np.floor(value + 0.5)  # TSPLIB's nint; numpy's rint would round halves to even


def _euclidean(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.sqrt((a[..., 0] - b[..., 0]) ** 2 + (a[..., 1] - b[..., 1]) ** 2)


def _man_2d(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return _nearest(np.abs(a - b).sum(-1))


def _max_2d(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return _nearest(np.abs(a - b)).max(-1)


def _att(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    exact = np.sqrt(((a - b) ** 2).sum(-1) / 10)
    rounded = _nearest(exact)
    return np.where(rounded < exact, rounded + 1, rounded)


def _geo(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = a * (GEO_PI / 180), b * (GEO_PI / 180)
    q1 = np.cos(a[..., 0] - b[..., 0])
    q2 = np.cos(a[..., 1] - b[..., 1])
    q3 = np.cos(a[..., 1] + b[..., 1])
    cosine = np.clip(0.5 * ((1 + q1) * q2 - (1 - q1) * q3), -1, 1)
    return np.floor(GEO_EARTH * np.arccos(cosine) + 1)


def _great_circle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = np.radians(a), np.radians(b)
    half = np.sin((a - b) / 2) ** 2
    both = np.cos(a[..., 1]) * np.cos(b[..., 1])
    return 2 * EARTH * np.arcsin(np.sqrt(np.clip(half[..., 1] + both * half[..., 0], 0, 1)))


METRICS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "EUC_2D": lambda a, b: _nearest(_euclidean(a, b)),
    "CEIL_2D": lambda a, b: np.ceil(_euclidean(a, b)),
    "FLOOR_2D": lambda a, b: np.floor(_euclidean(a, b)),
    "MAN_2D": _man_2d,
    "MAX_2D": _max_2d,
    "ATT": _att,
    "GEO": _geo,
    "GREAT_CIRCLE": _great_circle,
}
ON_THE_GLOBE = ("GEO", "GREAT_CIRCLE")
