"""TSPLIB tours (.tour, .opt.tour): the ids of the nodes in order, ended by -1.

Ids are those of the instance's file. Where several routes are allowed, the depot's id, or, as LKH writes it, an id
above the number of nodes, begins the next one. Whether all nodes are there is the judge's business.
"""

from __future__ import annotations

import re

from egam.errors import BadInput
from egam.instance import Instance
from egam.io.source import Source, rounded, shown
from egam.io.tsplib import ids_of
from egam.solution import Solution

HEAD = re.compile(r"(NAME|TYPE|COMMENT|DIMENSION)\b\s*[:=]?\s*(.*)", re.I)


def looks_like(text: str) -> bool:
    return bool(re.search(r"^\s*TOUR_SECTION\b", text, re.M | re.I))


def parse_solution(source: Source, instance: Instance) -> Solution:
    nodes = {number: node for node, number in enumerate(ids_of(instance))}
    sequence = [_node(number, nodes, instance) for number in _ids(source)]
    if 0 not in sequence:
        return Solution.of([sequence])
    start = sequence.index(0)
    return Solution.from_sequence([*sequence[start:], *sequence[:start]])


def _node(number: int, nodes: dict[int, int], instance: Instance) -> int:
    if number in nodes:
        return nodes[number]
    return 0 if instance.kind.many_routes and number > instance.size else number - 1  # one that the judge does not know


def _ids(source: Source) -> list[int]:
    ids: list[int] = []
    inside = ended = False
    for line, text in enumerate(source.lines, start=1):
        words = text.split()
        if not words or words[0].upper() == "EOF":
            continue
        if words[0].upper().rstrip(":") == "TOUR_SECTION":
            inside = True
        elif not inside:
            match = HEAD.fullmatch(text.strip())
            if not match or (match[1].upper() == "TYPE" and match[2].strip().upper() != "TOUR"):
                raise source.bad(f"{shown(text.strip())} is no line of a tour; TYPE : TOUR is expected", line)
        else:
            for word in words:
                number = source.whole("a node of the tour", word, line)
                if ended:
                    raise source.bad(f"{shown(word)} follows the -1 that ends the tour; one tour is accepted", line)
                ended = number == -1
                ids += [] if ended else [number]
    if not ids:
        raise source.bad("has no tour; ids of nodes after TOUR_SECTION are expected")
    return ids


def dump_solution(solution: Solution, instance: Instance, cost: float) -> str:
    ids = ids_of(instance)
    if not all(0 <= node < instance.size for node in solution.visits):
        raise BadInput(f"{instance.name or 'instance'}: the solution visits nodes that do not exist")
    sequence = [ids[node] for route in solution.routes or ((),) for node in (0, *route)]
    lines = [f"NAME : {instance.name or instance.problem}", "TYPE : TOUR", f"COMMENT : cost {rounded(cost)}"]
    lines += [f"DIMENSION : {len(sequence)}", "TOUR_SECTION", *map(str, sequence), "-1", "EOF", ""]
    return "\n".join(lines)
