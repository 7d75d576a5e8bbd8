"""Test sets by name: `tsp20`, `tsptw50-medium`, `vrptw100`, or the path of a file of `egam generate`.

A name stands for the public set where it can be regenerated, else for the 1,000 instances drawn from the seed
[1234, size]; fewer instances are the first of these. Reference costs belong to exactly these sets.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from egam.bench import datasets, rows
from egam.bench.datasets import Dataset
from egam.errors import BadInput
from egam.instance import KINDS
from egam.problems import get_problem

SEEDED = 1000  # instances of a seeded set
_NAME = re.compile(r"([a-z]+)(\d+)(?:-([a-z]+))?")


def set_name(problem: str, variant: str, size: int) -> str:
    return f"{problem}{size}-{variant}" if variant else f"{problem}{size}"


def load(name: str, count: int | None = None) -> tuple[str, Dataset]:
    """The set's full name and its first `count` instances; 1,000, or all of a file, if not given."""
    if name.endswith(".npz"):
        dataset = datasets.read(Path(name))
        if count is not None and count > dataset.count:
            raise BadInput(f"{name}: holds {dataset.count} instances; --count {count} cannot be taken from them")
        return Path(name).stem, dataset.first(count or dataset.count)
    match = _NAME.fullmatch(name)
    if match is None or match[1] not in KINDS:
        example = "a problem, a size and perhaps a variant, such as tsp20 or tsptw50-medium, or an .npz file"
        raise BadInput(f"unknown set '{name}'; accepted: {example}")
    problem, size, wanted = get_problem(match[1], match[3] or ""), int(match[2]), count or SEEDED
    if count is not None and count < 1:
        raise BadInput(f"{count} instances are asked for; 1 or more are accepted")
    try:
        dataset = datasets.public(problem, size, wanted)
    except BadInput:  # there is none, or it is smaller
        dataset = datasets.seeded(problem, size, max(wanted, SEEDED)).first(wanted)
    return set_name(problem.name, problem.variant, size), dataset


def drawn(about: dict[str, Any]) -> int:
    """Of how many seeded instances those of a reference file are the first."""
    return about.get("drawn", about["count"])


def references(name: str, dataset: Dataset, folder: Path) -> rows.Rows | None:
    """The reference results of a set, if `folder` has a file that belongs to it and is long enough."""
    path = folder / f"{name}.npz"
    if not path.exists():
        return None
    found = rows.read(path)
    about = found.about
    same = (about["problem"], about["variant"], about["size"], about["set"]) == (
        *(dataset.problem, dataset.variant, dataset.size),
        dataset.origin,
    )
    known = dataset.origin != "seeded" or drawn(about) == SEEDED  # another count is another set
    return found if same and known and len(found.cost) >= dataset.count else None
