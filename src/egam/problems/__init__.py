"""The table of problems. A new one is one file beside this one and one line here (and one in instance.KINDS)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from egam.errors import BadInput, nearest
from egam.instance import kind_of
from egam.problems.atsp import ATSP
from egam.problems.base import Problem
from egam.problems.cvrp import CVRP
from egam.problems.pctsp import PCTSP
from egam.problems.tsp import TSP
from egam.problems.tspdl import TSPDL
from egam.problems.tsptw import TSPTW
from egam.problems.vrptw import VRPTW

PROBLEMS: dict[str, tuple[Callable[..., Problem], tuple[str, ...]]] = {  # name -> class, variants (default first)
    "tsp": (TSP, ()),
    "atsp": (ATSP, ("road", "matrix")),
    "cvrp": (CVRP, ()),
    "pctsp": (PCTSP, ()),
    "tsptw": (TSPTW, ("medium", "easy", "hard")),
    "tspdl": (TSPDL, ("medium", "easy", "hard")),
    "vrptw": (VRPTW, ()),
}


def get_problem(name: str, variant: str = "", mask: str = "paper", beta: float = 1.0, hint: str = "paper") -> Problem:
    """The problem of that name; without a variant, its default one."""
    kind_of(name)  # explains an unknown name
    problem, variants = PROBLEMS[name]
    if variant and not variants:
        raise BadInput(f"variant '{variant}' of {name} is unknown: {name} has no variants")
    if variant and variant not in variants:
        near = nearest(variant, list(variants))
        raise BadInput(f"variant '{variant}' of {name} is unknown{near}; accepted: {', '.join(variants)}")
    given: dict[str, Any] = {"variant": variant} if variant else {}
    for key, value in (("mask", mask), ("hint", hint)):
        known: tuple[str, ...] = getattr(problem, f"{key}s", ("paper",))
        if value not in known:
            near = nearest(value, list(known))
            raise BadInput(f"{key} '{value}' of {name} is unknown{near}; accepted: {', '.join(known)}")
        if value != "paper":
            given[key] = value
    if beta != 1:
        if not hasattr(problem, "beta"):
            raise BadInput(f"beta {beta:g} of {name}: {name} has no penalty that it could weigh")
        given["beta"] = beta
    return problem(**given)
