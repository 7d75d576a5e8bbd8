"""A solution: the routes of one instance, as node numbers, without any score.

A route starts and ends at node 0 without saying so: `[[3, 1], [2]]` is 0-3-1-0-2-0. Every kind of problem uses
this form; those with one vehicle have one route.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Solution:
    routes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, routes: Iterable[Iterable[int]]) -> Solution:
        return cls(tuple(tuple(int(node) for node in route) for route in routes))

    @classmethod
    def from_sequence(cls, nodes: Iterable[int]) -> Solution:
        """Routes of a node sequence in which 0 separates them: 0 3 1 0 2 -> [[3, 1], [2]]."""
        routes: list[list[int]] = [[]]
        for node in nodes:
            if node != 0:
                routes[-1].append(int(node))
            elif routes[-1]:
                routes.append([])
        return cls.of(route for route in routes if route)

    @property
    def visits(self) -> list[int]:
        """All visited nodes in order, without node 0."""
        return [node for route in self.routes for node in route]
