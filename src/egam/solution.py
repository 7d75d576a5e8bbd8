"""A solution: the routes of one instance, as node numbers, without any score.

A route starts and ends at node 0 without saying so: `[[3, 1], [2]]` is 0-3-1-0-2-0, and `[[0, 3, 1, 0], [0, 2, 0]]` is
taken for the same. Every kind of problem uses this form; those with one vehicle have one route.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from egam.errors import BadInput


@dataclass(frozen=True)
class Solution:
    routes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, routes: Iterable[Iterable[int]]) -> Solution:
        """From lists of node numbers."""
        if isinstance(routes, str) or not isinstance(routes, Iterable):
            raise BadInput(f"routes is {routes!r}; a list of routes, each a list of node numbers, is expected")
        return cls(tuple(_route(number, route) for number, route in enumerate(routes)))

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


def _route(number: int, route: Any) -> tuple[int, ...]:
    """Node numbers, without node 0 at the ends."""
    if isinstance(route, str) or not isinstance(route, Iterable):
        raise BadInput(f"routes[{number}] is {route!r}; a list of node numbers is expected")
    nodes = list(route)
    for place, node in enumerate(nodes):
        if not isinstance(node, Integral) and not (isinstance(node, float) and node.is_integer()):
            raise BadInput(f"routes[{number}][{place}] is {node!r}; a node number is expected")
    numbers = [int(node) for node in nodes]
    begin = next((place for place, node in enumerate(numbers) if node != 0), len(numbers))
    end = next((place for place in range(len(numbers), begin, -1) if numbers[place - 1] != 0), begin)
    return tuple(numbers[begin:end])
