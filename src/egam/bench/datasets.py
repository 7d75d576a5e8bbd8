"""Test sets: the seeded one, the public one, or a file of `egam generate`; and the reference costs of a set.

A set file is an .npz of one array per field of `Instance`, [B, ...] in raw units, and `about`, a JSON string. What a
set is called (`origin`) decides which reference costs fit: "public", "seeded" (drawn from [1234, size], as
references.py does), or the seed it was drawn from.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from egam.bench.public import public_set
from egam.errors import BadInput
from egam.files import write_atomically
from egam.instance import Instance, kind_of
from egam.npz import read_npz
from egam.problems import get_problem
from egam.problems.base import Arrays, Problem

SEED = 1234  # of the seeded sets


@dataclass(frozen=True)
class Dataset:
    """Equally sized instances of one problem, and where they are from."""

    problem: str
    variant: str
    size: int  # as the literature counts
    origin: str
    arrays: Arrays

    @property
    def count(self) -> int:
        return len(next(iter(self.arrays.values())))

    def first(self, count: int) -> Dataset:
        arrays = {field: values[:count] for field, values in self.arrays.items()}
        return Dataset(self.problem, self.variant, self.size, self.origin, arrays)

    def instance(self, number: int) -> Instance:
        values: dict[str, Any] = {field: values[number] for field, values in self.arrays.items()}
        return Instance(self.problem, name=f"{self.problem} instance {number}", **values)

    def __str__(self) -> str:
        name = f"{self.problem}{self.size} {self.variant}".strip()
        return f"{self.count} instances of {name} ({self.origin})"


def seeded(problem: Problem, size: int, count: int, seed: int = SEED) -> Dataset:
    """Drawn from the seed [seed, size]; for most problems another set for another count."""
    if count < 1:
        raise BadInput(f"{count} instances are asked for; 1 or more are accepted")
    arrays = problem.generate(np.random.default_rng([seed, size]), count, size)
    origin = "seeded" if seed == SEED else f"seed {seed}"
    return Dataset(problem.name, problem.variant, size, origin, arrays)


def public(problem: Problem, size: int, count: int, seed: int | None = None) -> Dataset:
    """The first `count` instances of a public test set; with another seed, of a set made in the same way."""
    arrays = public_set(problem.name, problem.variant, size, count, seed)
    return Dataset(problem.name, problem.variant, size, "public" if seed is None else f"public, seed {seed}", arrays)


def write(path: Path, dataset: Dataset, about: dict[str, Any], force: bool = False) -> None:
    """All or nothing; an existing file stays unless `force`."""
    if path.suffix != ".npz":
        raise BadInput(f"{path}: a name that ends with .npz is expected")
    if path.exists() and not force:
        raise BadInput(f"{path}: exists already; name another file, or overwrite it with --force")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path.parent}: cannot be created: {error.strerror}") from None
    described = {
        "problem": dataset.problem,
        "variant": dataset.variant,
        "size": dataset.size,
        "count": dataset.count,
        "set": dataset.origin,
        **about,
    }

    def fill(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, about=np.array(json.dumps(described)), **dataset.arrays)

    write_atomically(path, fill)


def read(path: Path) -> Dataset:
    """A file of `write`, every instance of it checked."""
    arrays, about = read_npz(path, ("problem", "variant", "size"))
    kind_of(about["problem"])
    known = {field.name for field in fields(Instance)} - {"problem", "name"}
    for field, values in arrays.items():
        if field not in known:
            raise BadInput(f"{path}: unknown array '{field}'; accepted: {', '.join(sorted(known))}")
        if values.ndim == 0:
            raise BadInput(f"{path}: {field} is a single value; one per instance is expected")
    counts = {field: len(values) for field, values in arrays.items()}
    if len(set(counts.values())) != 1 or not min(counts.values()):
        found = ", ".join(f"{count} of {field}" for field, count in counts.items()) or "no arrays"
        raise BadInput(f"{path}: holds {found}; the same number of each, 1 or more, is expected")
    problem = get_problem(about["problem"], about["variant"])
    dataset = Dataset(problem.name, problem.variant, int(about["size"]), str(about.get("set", path)), arrays)
    for number in range(dataset.count):
        try:
            dataset.instance(number)
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None
    return dataset


def read_references(path: Path, dataset: Dataset) -> np.ndarray:
    """[B] reference costs in raw units, NaN where the reference is infeasible; refuses those of another set."""
    if path.suffix == ".npy":
        return _published_costs(path, dataset)
    arrays, about = read_npz(path, ("problem", "variant", "size", "count", "set"))
    if "cost" not in arrays or arrays["cost"].ndim != 1:
        raise BadInput(f"{path}: holds no cost per instance; a file of `python -m egam.bench.references` is expected")
    found = (about["problem"], about["variant"], about["size"], about["set"])
    expected = (dataset.problem, dataset.variant, dataset.size, dataset.origin)
    if found != expected:
        raise BadInput(f"{path}: reference costs of {_named(*found)}; those of {_named(*expected)} are expected")
    costs = np.asarray(arrays["cost"], dtype=np.float64)
    if len(costs) < dataset.count:
        raise BadInput(f"{path}: {len(costs)} reference costs for {dataset.count} instances; use --count {len(costs)}")
    drawn = about.get("drawn", len(costs))
    if dataset.origin != "public" and (len(costs), drawn) != (dataset.count, dataset.count):  # another set, perhaps
        first = f"{len(costs)} reference costs" if drawn == len(costs) else f"costs of the first {len(costs)}"
        raise BadInput(f"{path}: {first} of a set drawn with --count {drawn}; this one has {dataset.count} instances")
    return costs[: dataset.count]


def _published_costs(path: Path, dataset: Dataset) -> np.ndarray:
    """Costs of a public set as others publish them: one number per instance, in the literature's units, in the set's
    order. That they are of this set is for the user to know."""
    if dataset.origin != "public":
        raise BadInput(f"{path}: a bare list of costs is accepted for public sets; this is {dataset}")
    try:
        costs = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise BadInput(f"{path}: not a readable .npy file: {error}") from None
    if costs.ndim != 1 or costs.dtype.kind not in "fiu" or len(costs) < dataset.count:
        shape = " x ".join(map(str, costs.shape))
        raise BadInput(f"{path}: holds {shape} of {costs.dtype}; a number for each of {dataset.count} is expected")
    return costs[: dataset.count].astype(np.float64) * get_problem(dataset.problem, dataset.variant).unit


def _named(problem: str, variant: str, size: int, origin: str) -> str:
    return f"{problem}{size} {variant}".strip() + f", {origin} set"
