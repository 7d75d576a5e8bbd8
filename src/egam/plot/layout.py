"""Where things go on a route map: positions of stops, limits of the axes, places for labels. numpy only.

Stops stand at their coordinates. A matrix without coordinates is laid out by classical multidimensional scaling of its
symmetric part, and `Layout.note` says so. Label places are chosen greedily: a label that would cover a stop or another
label is left out, which is what thins them where stops are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from egam.instance import Instance

LONGEST_NAME = 18  # characters of a stop's name that are shown
ON_A_LINE = 1e-3  # of the extent: a map narrower than this is a line
LEAST_SIDE = 0.3  # of the longer side: a narrower map is padded
ROOM_FOR_ARCS = 0.7  # the same where all stops are on a line, and legs are arcs
MARGIN = 0.06  # of the longer side, around all stops
AROUND = [(1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0)]  # places of a label, best first


@dataclass(frozen=True)
class Layout:
    positions: np.ndarray  # [N, 2]
    aspect: float  # length of one unit of y in units of x
    on_a_line: bool
    note: str  # what a reader of the map must know about the positions, or ""

    @property
    def span(self) -> np.ndarray:
        """Width and height that the map needs, in units of x."""
        span = np.ptp(self.positions, axis=0) * [1.0, self.aspect]
        longer = float(span.max()) or 1.0
        return np.maximum(span, (ROOM_FOR_ARCS if self.on_a_line else LEAST_SIDE) * longer) + 2 * MARGIN * longer

    @property
    def shape(self) -> float:
        """Width over height that suits the stops."""
        return float(self.span[0] / self.span[1])


def lay_out(instance: Instance) -> Layout:
    if instance.coords is None:
        positions, error = scaled_map(instance.travel)
        share = f"{100 * error:.0f} %"
        note = f"No coordinates given: stops are placed by their travel costs (classical MDS), off by {share} rms."
        return Layout(positions, 1.0, _on_a_line(positions), note)
    positions, aspect = instance.coords, 1.0
    if instance.geographic:
        if np.ptp(positions[:, 0]) > 180:  # across the date line
            positions = np.column_stack([positions[:, 0] % 360, positions[:, 1]])
        aspect = 1.0 / max(float(np.cos(np.radians(positions[:, 1].mean()))), 0.1)
    return Layout(positions, aspect, _on_a_line(positions * [1.0, aspect]), "")


def scaled_map(travel: np.ndarray) -> tuple[np.ndarray, float]:
    """Classical MDS of the symmetric part: positions [N, 2], and the rms error of their distances relative to it."""
    costs = (travel + travel.T) / 2
    values, vectors = np.linalg.eigh(-0.5 * _centred(costs**2))
    values, vectors = values[-2:][::-1], vectors[:, -2:][:, ::-1]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])  # eigenvectors have none of their own
    positions = vectors * signs * np.sqrt(np.maximum(values, 0.0))
    distances = np.sqrt(((positions[:, None] - positions[None, :]) ** 2).sum(-1))
    size = float(np.sqrt((costs**2).sum()))
    return positions, float(np.sqrt(((distances - costs) ** 2).sum())) / size if size else 0.0


def _centred(table: np.ndarray) -> np.ndarray:
    return table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()


def _on_a_line(positions: np.ndarray) -> bool:
    extents = np.linalg.svd(positions - positions.mean(axis=0), compute_uv=False)
    return bool(extents[1] <= ON_A_LINE * extents[0])


def limits(layout: Layout, width_over_height: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Of x and y, so that all stops fit with a margin into an axis of this shape, undistorted."""
    width = max(layout.span[0], layout.span[1] * width_over_height)
    half = np.array([width, width / width_over_height / layout.aspect]) / 2
    middle = (layout.positions.min(axis=0) + layout.positions.max(axis=0)) / 2
    low, high = middle - half, middle + half
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def stop_label(instance: Instance, node: int) -> str:
    """The stop's name as it can be printed: one line, not too long."""
    name = "".join(letter if letter.isprintable() else " " for letter in instance.stop_name(node)).strip()
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1].rstrip() + "…"


def same_places(positions: np.ndarray) -> list[list[int]]:
    """The nodes, grouped by place, in the order of their first node."""
    size = float(np.ptp(positions, axis=0).max()) or 1.0
    groups: dict[tuple[int, int], list[int]] = {}
    for node, (x, y) in enumerate(positions / size):
        groups.setdefault((round(x * 1e6), round(y * 1e6)), []).append(node)
    return list(groups.values())


def place_labels(
    at: np.ndarray,
    sizes: np.ndarray,
    radii: np.ndarray,
    stops: np.ndarray,
    radius: float,
    lines: np.ndarray,
    frame: tuple[float, float],
    most_crossed: float,
) -> list[tuple[int, int] | None]:
    """For each label the direction to its stop in which it is put (one of `AROUND`), or None if there is no room.

    All in points from the lower left corner of the axis: labels of `sizes` [K, 2] belong at `radii` [K] from `at`
    [K, 2]; discs of `radius` around `stops` [M, 2] stay free, and of `lines` [L, 2] few points get covered,
    `most_crossed` at most.
    """
    low, high = np.full_like(sizes, np.inf), np.full_like(sizes, np.inf)  # corners of the labels placed so far
    places: list[tuple[int, int] | None] = []
    for k, (spot, size, away) in enumerate(zip(at, sizes, radii, strict=True)):
        reach = size + away + radius
        stops_near, lines_near = _within(stops, spot, reach), _within(lines, spot, reach)
        best, fewest = None, most_crossed + 1
        for rank, direction in enumerate(AROUND):
            corner = label_corner(spot, size, away, direction)
            if (corner < 0).any() or (corner + size > frame).any():
                continue
            if ((corner < high[:k]) & (corner + size > low[:k])).all(1).any():
                continue
            closest = np.clip(stops_near, corner, corner + size)
            if (((closest - stops_near) ** 2).sum(1) < radius**2).any():
                continue
            crossed = len(_within(lines_near, corner + size / 2, size / 2)) + 0.1 * rank
            if crossed < fewest:
                best, fewest = direction, crossed
        places.append(best)
        if best is not None:
            low[k] = label_corner(spot, size, away, best)
            high[k] = low[k] + size
    return places


def _within(points: np.ndarray, middle: np.ndarray, reach: np.ndarray) -> np.ndarray:
    return points[(np.abs(points - middle) < reach).all(1)]


def label_corner(spot: np.ndarray, size: np.ndarray, radius: float, direction: tuple[int, int]) -> np.ndarray:
    """Lower left corner of a label that touches the disc around its stop."""
    away = np.array(direction) * (radius if 0 in direction else 0.75 * radius)
    return spot + away + size * (np.array(direction) - 1) / 2


def spread(count: int, most: int, first: Sequence[int] = ()) -> list[int]:
    """At most about `most` of 0 .. count-1, evenly spread, those of `first` preferred to their neighbours."""
    apart = -(-count // max(most, 1))
    chosen: list[int] = []
    for place in [*first, *range(0, count, apart)]:
        if all(abs(place - other) >= apart for other in chosen):
            chosen.append(place)
    return sorted(chosen)
