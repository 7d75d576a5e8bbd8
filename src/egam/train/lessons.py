"""Lessons: random instances with a classical solver's solutions, for a network to imitate (imitation.py).

A folder with one file per size, `SIZE.npz`: the fields of the instances as in a test set, `visits` (their routes as
node sequences, 0 between two routes, -1 behind the last visit) and `about`, which names problem, variant, size, solver
and the command that made it. `egam lessons` (bench/lessons.py) makes them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from egam.errors import BadInput
from egam.files import write_atomically
from egam.npz import read_npz
from egam.problems.base import Arrays, Problem

Routes = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Lessons:
    """Solved instances of several sizes."""

    arrays: dict[int, Arrays]  # size -> fields, [B, ...]
    routes: dict[int, list[Routes]]  # size -> of each instance
    solvers: set[str]

    def about(self) -> dict[str, Any]:
        """For those who read about the weights later."""
        return {"solver": ", ".join(sorted(self.solvers)), "instances": sum(map(len, self.routes.values()))}

    def size(self, rng: np.random.Generator, sizes: tuple[int, int]) -> int:
        """One of the sizes there are within the given bounds."""
        fitting = [size for size in sorted(self.arrays) if sizes[0] <= size <= sizes[1]]
        return fitting[int(rng.integers(len(fitting)))]

    def draw(self, rng: np.random.Generator, batch: int, size: int) -> tuple[Arrays, list[Routes]]:
        """A random batch of one size, without repetition as long as there are enough."""
        there = len(self.routes[size])
        chosen = rng.permutation(there)[np.arange(batch) % there]
        arrays = {field: values[chosen] for field, values in self.arrays[size].items()}
        return arrays, [self.routes[size][number] for number in chosen]


def write_lessons(path: Path, arrays: Arrays, routes: Sequence[Routes], about: dict[str, Any]) -> None:
    sequences = [_visits(each) for each in routes]
    visits = np.full((len(sequences), max(map(len, sequences))), -1, dtype=np.int32)
    for row, sequence in zip(visits, sequences, strict=True):
        row[: len(sequence)] = sequence

    def fill(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, about=np.array(json.dumps(about)), visits=visits, **arrays)

    write_atomically(path, fill)


def read_lessons(folder: Path, problem: Problem, sizes: tuple[int, int]) -> Lessons:
    """The lessons of a folder that have one of the given sizes; there must be one, and all must fit the problem."""
    lessons = Lessons({}, {}, set())
    for path in sorted(folder.glob("*.npz")):
        arrays, about = read_npz(path, ("problem", "variant", "size", "solver"))
        if (about["problem"], about["variant"]) != (problem.name, problem.variant):
            found = f"{about['problem']} {about['variant']}".strip()
            raise BadInput(
                f"{path}: lessons of {found}; those of {f'{problem.name} {problem.variant}'.strip()} are expected"
            )
        if "visits" not in arrays or arrays["visits"].ndim != 2:
            raise BadInput(f"{path}: holds no visits; a file of `egam lessons` is expected")
        if sizes[0] <= about["size"] <= sizes[1]:
            visits = arrays.pop("visits")
            lessons.arrays[about["size"]] = arrays
            lessons.solvers.add(str(about["solver"]))
            lessons.routes[about["size"]] = [_routes(row) for row in visits.tolist()]
    if not lessons.arrays:
        span = str(sizes[0]) if sizes[0] == sizes[1] else f"{sizes[0]} to {sizes[1]}"
        raise BadInput(f"{folder}: holds no lessons of size {span}; `egam lessons` makes some")
    return lessons


def _visits(routes: Routes) -> list[int]:
    """[[3, 1], [2]] -> 3 1 0 2"""
    return [node for route in routes for node in (*route, 0)][:-1]


def _routes(visits: list[int]) -> list[list[int]]:
    routes: list[list[int]] = [[]]
    for node in visits:
        if node == 0:
            routes.append([])
        elif node > 0:
            routes[-1].append(node)
    return routes
