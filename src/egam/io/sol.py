"""CVRPLIB solutions (.sol): `Route #1: 5 3 7`, one line per route, and `Cost 784`.

Customers are numbered from 1 on, the depot is 0; depots at the ends of a route are dropped. Whether nodes exist and
rules are kept is the judge's business. The stated cost is not used: the judge computes it.
"""

from __future__ import annotations

import re

from egam.instance import Instance
from egam.io.source import Source, rounded, shown
from egam.solution import Solution

ROUTE = re.compile(r"route\s*#?\s*\d*\s*:\s*(.*)", re.I)
ABOUT = re.compile(r"(cost|time|instance name|authors?|date|reference|solution|comment)\b.*", re.I)


def looks_like(text: str) -> bool:
    return bool(re.search(r"^\s*route\s*#?\s*\d*\s*:", text, re.M | re.I))


def parse_solution(source: Source, instance: Instance) -> Solution:
    routes = []
    for line, text in enumerate(source.lines, start=1):
        if match := ROUTE.fullmatch(text.strip()):
            routes.append(_route(source, match[1].split(), line))
        elif text.strip() and not ABOUT.fullmatch(text.strip()):
            raise source.bad(f"{shown(text.strip())} is no route; lines such as 'Route #1: 5 3 7' are expected", line)
    if not routes:
        raise source.bad("has no route; lines such as 'Route #1: 5 3 7' are expected")
    return Solution.of(route for route in routes if route)


def _route(source: Source, words: list[str], line: int) -> list[int]:
    nodes = [source.whole("a customer", word, line) for word in words]
    while nodes and nodes[0] == 0:
        nodes.pop(0)
    while nodes and nodes[-1] == 0:
        nodes.pop()
    return nodes


def dump_solution(solution: Solution, instance: Instance, cost: float) -> str:
    lines = [f"Route #{number}: {' '.join(map(str, route))}" for number, route in enumerate(solution.routes, start=1)]
    return "\n".join([*lines, f"Cost {rounded(cost)}", ""])
