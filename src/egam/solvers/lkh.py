"""TSP, ATSP, CVRP, TSPTW and TSPDL by LKH-3 (Helsgaun): the user's own program `LKH` on PATH, else the package LKHpy.

Instance and parameters go to LKH as files, the tour comes back as one. Costs are whole numbers of 32 bits (see
integers.py). LKHpy carries LKH-3.0.12, whose licence allows research use only; it runs in a child process, and its own
return value is needed only where it writes no file. LKH's ship unloads where ours loads, so it solves the way back. It
treats limits as penalties, and gives no tour if it finds none without.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from egam.instance import Instance
from egam.judge import judge
from egam.solution import Solution
from egam.solvers import SolverFailed, need
from egam.solvers.child import GRACE, in_child
from egam.solvers.integers import whole, whole_loads
from egam.solvers.simple import simple_solution

PROGRAM = "LKH"
LARGEST = 1e9  # a sum of lengths, of 2^31
TRIALS = 10_000
RESTARTS = 8  # with draft limits several short runs find more than a long one; see docs/log.md


def solve(instance: Instance, seconds: float, seed: int = 0) -> Solution:
    need("lkh")
    if instance.size == 3 and not instance.kind.many_routes:  # LKH wants four nodes
        return _better_of_two(instance)
    deadline = time.monotonic() + seconds
    for ascent in ("YES", "NO"):  # LKHpy forgets the tour if the ascent before the search already finds the best
        left = max(deadline - time.monotonic(), 0.1)
        with tempfile.TemporaryDirectory(prefix="egam-lkh-") as folder:
            nodes = _tour(Path(folder), instance, left, seed, ascent)
        if nodes:
            return _solution(instance, nodes)
    return simple_solution(instance)  # the time was too short, or nothing keeps the limits


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The child's part."""
    import LKHpy

    try:
        tour = LKHpy.par_file(request["parameters"])
    except IndexError:  # it stumbles over depot copies; the tour is in its file
        tour = []
    return {"nodes": [int(node) for node in tour[:-1]]}


def _tour(folder: Path, instance: Instance, seconds: float, seed: int, ascent: str) -> list[int]:
    """Its nodes; none if LKH found none."""
    (folder / "instance").write_text(_described(instance))
    (folder / "parameters").write_text(_parameters(folder, instance, seconds, seed, ascent))
    nodes = _run(folder, seconds)
    return _nodes((folder / "tour").read_text()) if (folder / "tour").exists() else nodes


def _run(folder: Path, seconds: float) -> list[int]:
    """Nodes of the tour if LKHpy returns them; as a rule they are in the file."""
    program = shutil.which(PROGRAM)
    if program is None:
        return in_child("lkh", {"parameters": str(folder / "parameters")}, seconds)["nodes"]
    try:
        done = subprocess.run(
            [program, str(folder / "parameters")],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds + GRACE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SolverFailed(f"{program} gave no answer in {seconds + GRACE:g} s") from None
    except OSError as error:
        raise SolverFailed(f"{program} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        last_words = ((done.stdout + done.stderr).strip().splitlines() or ["it said nothing"])[-1]
        raise SolverFailed(f"{program} ended with {done.returncode}: {last_words}")
    return []


def _parameters(folder: Path, instance: Instance, seconds: float, seed: int, ascent: str) -> str:
    limited = bool(instance.kind.fields)
    runs = 1 if instance.draft_limit is None else RESTARTS
    lines = {
        "PROBLEM_FILE": folder / "instance",
        "OUTPUT_TOUR_FILE": folder / "tour",
        "RUNS": runs,
        "MAX_TRIALS": TRIALS,
        "TIME_LIMIT": f"{seconds / runs:g}",
        "SEED": seed % 2**31 or 1,
        "TRACE_LEVEL": 0,
        "PRECISION": 1,
        "SUBGRADIENT": ascent,
        "MAX_CANDIDATES": min(10 if limited else 5, instance.size - 1),  # 5 miss optima of N=20 with draft limits
    }
    if instance.kind.many_routes:
        assert instance.demand is not None and instance.capacity is not None
        lines["SALESMEN"] = min(instance.size - 1, int(np.ceil(instance.demand.sum() / instance.capacity)) + 2)
        lines["MTSP_MIN_SIZE"] = 0
    special = "SPECIAL\n" if limited else ""  # LKH's own choices for problems with limits
    return special + "".join(f"{key} = {value}\n" for key, value in lines.items())


def _described(instance: Instance) -> str:
    """The instance in LKH's extension of the TSPLIB format; nodes count from 1."""
    numbers = whole(instance, LARGEST)
    travel = numbers.travel if instance.draft_limit is None else numbers.travel.T
    symmetric = bool((travel == travel.T).all())
    kind = {"cvrp": "CVRP", "tsptw": "TSPTW", "tspdl": "TSPDL"}.get(instance.problem, "TSP")
    if not symmetric and kind in ("TSP", "CVRP"):
        kind = "A" + kind
    head = [
        "NAME : instance",
        f"TYPE : {kind}",
        f"DIMENSION : {instance.size}",
        "EDGE_WEIGHT_TYPE : EXPLICIT",
        "EDGE_WEIGHT_FORMAT : FULL_MATRIX",
    ]
    sections = ["EDGE_WEIGHT_SECTION", *(" ".join(map(str, row)) for row in travel.tolist())]
    if instance.capacity is not None and instance.demand is not None:
        capacity = np.full(instance.size, instance.capacity)
        demand, limit = whole_loads(instance.demand, capacity, instance.capacity, LARGEST)
        head.append(f"CAPACITY : {limit[0]}")
        sections += ["DEMAND_SECTION", *_per_node(demand)]
    if instance.draft_limit is not None and instance.demand is not None:
        demand, limit = whole_loads(instance.demand, instance.draft_limit, float(instance.demand.sum()), LARGEST)
        limit[0] = demand.sum()  # the judge does not look at the start
        sections += ["DEMAND_SECTION", *_per_node(demand), "DRAFT_LIMIT_SECTION", *_per_node(limit)]
    if numbers.window is not None:
        window = np.maximum(numbers.window, 0)
        window[0] = 0, int(LARGEST)
        sections += ["TIME_WINDOW_SECTION", *_per_node(window)]
    if kind not in ("TSP", "ATSP"):
        sections += ["DEPOT_SECTION", "1", "-1"]
    return "\n".join([*head, *sections, "EOF\n"])


def _per_node(values: np.ndarray) -> list[str]:
    return [f"{node} {' '.join(map(str, np.atleast_1d(row).tolist()))}" for node, row in enumerate(values, start=1)]


def _nodes(text: str) -> list[int]:
    """Of a tour file, counted from 0."""
    words = text.split("TOUR_SECTION", 1)[-1].split()
    return [int(word) - 1 for word in words[: words.index("-1")]]


def _solution(instance: Instance, nodes: list[int]) -> Solution:
    """Numbers above the dimension are copies of the depot, or of any node where LKH doubled them."""
    if len(nodes) >= 2 * instance.size and not instance.kind.many_routes:
        nodes = [node for node in nodes if node < instance.size]
    nodes = [node if node < instance.size else 0 for node in nodes]
    start = nodes.index(0)
    nodes = [*nodes[start:], *nodes[:start]]
    return Solution.from_sequence(nodes if instance.draft_limit is None else nodes[::-1])


def _better_of_two(instance: Instance) -> Solution:
    tours = [Solution.of([[1, 2]]), Solution.of([[2, 1]])]
    verdicts = [judge(instance, tour) for tour in tours]
    return min(zip(verdicts, tours, strict=True), key=lambda pair: (not pair[0].feasible, pair[0].cost))[1]
