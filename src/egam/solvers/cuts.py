"""What exact solvers of tours ask of a graph: who hangs together, the cheapest cut, and the route of a solution.

`used` is a symmetric [N, N] table: how often, possibly in part, a solution of the integer program or of its relaxation
uses each edge.
"""

from __future__ import annotations

import numpy as np

EPSILON = 1e-6


def reachable(linked: np.ndarray, start: int) -> np.ndarray:
    reached = np.zeros(len(linked), dtype=bool)
    reached[start] = True
    while True:
        further = reached | linked[reached].any(0)
        if (further == reached).all():
            return reached
        reached = further


def minimum_cut(capacity: np.ndarray, node: int) -> tuple[float, np.ndarray]:
    """The cheapest way to cut `node` off from node 0 (augmenting paths): its price, and who is on the node's side."""
    rest, flow = capacity.copy(), 0.0
    while True:
        parent = np.full(len(rest), -1)
        parent[node] = node
        front = [node]
        while front and parent[0] < 0:
            origin = front.pop(0)
            for target in np.flatnonzero((rest[origin] > EPSILON) & (parent < 0)):
                parent[target] = origin
                front.append(int(target))
        if parent[0] < 0:
            return flow, parent >= 0
        path = [0]
        while path[-1] != node:
            path.append(int(parent[path[-1]]))
        steps = list(zip(path[1:], path, strict=False))
        push = min(rest[step] for step in steps)
        for i, j in steps:
            rest[i, j] -= push
            rest[j, i] += push
        flow += push


def walk(used: np.ndarray) -> list[int]:
    """The route of a connected integer solution."""
    left = np.rint(used).astype(int)
    route, node = [], 0
    while left[node].any():
        target = int(np.argmax(left[node] > 0))
        left[node, target] -= 1
        left[target, node] -= 1
        node = target
        route.append(node)
    return route[:-1]
