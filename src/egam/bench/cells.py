"""What is to be measured: one cell per set, method and way to run it (a time limit, or a decoding).

A method is a classical solver by name or trained weights by folder or name, `LABEL=WEIGHTS` to call them otherwise.
Every method runs on those sets that it solves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from egam import catalogue
from egam.bench.datasets import Dataset
from egam.catalogue import Entry
from egam.decode.strategies import Decoding
from egam.errors import BadInput, nearest
from egam.methods import METHODS
from egam.solvers import SOLVERS, need


@dataclass(frozen=True)
class Cell:
    set_name: str
    label: str  # of the method
    form: str  # "1s", "greedy", ..., or "" for a rule that takes no time
    seconds: float = 0.0  # classical
    entry: Entry | None = None  # learned

    @property
    def name(self) -> str:
        """Of its files, beside those of the set."""
        return "_".join(filter(None, (self.label, self.form.replace(":", "-")))).replace("/", "-")

    def __str__(self) -> str:
        return f"{self.set_name} {self.label} {self.form}".strip()


def plan(
    sets: dict[str, Dataset],
    methods: Sequence[str],
    seconds: Sequence[float],
    weights: Sequence[str],
    decodings: Sequence[str],
) -> list[Cell]:
    """All cells, set by set; refuses what could only be found out hours later."""
    for value in seconds:
        if not value > 0:
            raise BadInput(f"--seconds is {value:g}; a number above 0 is expected")
    for text in decodings:
        Decoding.parse(text)
    problems = {dataset.problem for dataset in sets.values()}
    cells = [cell for method in methods for cell in _classical(method, sets, problems, seconds)]
    cells += [cell for text in weights for cell in _learned(text, sets, problems, decodings)]
    names = [(cell.set_name, cell.name) for cell in cells]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadInput(f"{twice[0][1]} on {twice[0][0]} is asked for twice; call one of them otherwise: LABEL=WEIGHTS")
    return sorted(cells, key=lambda cell: list(sets).index(cell.set_name))


def _classical(method: str, sets: dict[str, Dataset], problems: set[str], seconds: Sequence[float]) -> list[Cell]:
    if method not in SOLVERS:
        raise BadInput(f"unknown solver '{method}'{nearest(method, list(SOLVERS))}; accepted: {', '.join(SOLVERS)}")
    solver = SOLVERS[method]
    if not problems & set(solver.problems):
        raise BadInput(f"{method} solves {', '.join(solver.problems)}; the sets are of {', '.join(sorted(problems))}")
    need(method)
    limits = [(f"{value:g}s", value) for value in seconds] if solver.timed else [("", 1.0)]
    return [
        Cell(name, method, form, seconds=value)
        for name, dataset in sets.items()
        if dataset.problem in solver.problems
        for form, value in limits
    ]


def _learned(text: str, sets: dict[str, Dataset], problems: set[str], decodings: Sequence[str]) -> list[Cell]:
    label, _, where = text.rpartition("=")
    entry = catalogue.find(where)
    if entry.problem not in problems:
        raise BadInput(f"{where} solves {entry.problem}; the sets are of {', '.join(sorted(problems))}")
    label = label or METHODS[entry.method].title if entry.method in METHODS else label or entry.method
    return [
        Cell(name, label, form, entry=entry)
        for name, dataset in sets.items()
        if dataset.problem == entry.problem
        for form in decodings
    ]
