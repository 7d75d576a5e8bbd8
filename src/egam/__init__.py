"""EGAM: a graph attention network with node and edge embeddings that learns to solve routing problems.

What needs no torch is here at once; the rest is imported when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

from egam.errors import BadInput, EgamError, NotInstalled
from egam.instance import KINDS, Instance
from egam.judge import Verdict, judge  # from here on `egam.judge` is the function
from egam.result import Result
from egam.solution import Solution
from egam.solve import solve  # and `egam.solve` this one

__version__ = "0.1.0"

_LATER = {  # name -> the module that has it
    "Decoding": "egam.decode.strategies",
    "evaluate": "egam.bench.evaluate",
    "get_problem": "egam.problems",
    "load_model": "egam.weights",
    "public_set": "egam.bench.public",
    "read": "egam.io",
    "read_solution": "egam.io",
    "write": "egam.io",
    "write_solution": "egam.io",
}

__all__ = [
    "KINDS",
    "BadInput",
    "EgamError",
    "Instance",
    "NotInstalled",
    "Result",
    "Solution",
    "Verdict",
    "judge",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'egam' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, *_LATER, "__version__"])
