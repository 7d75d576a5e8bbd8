"""Classical solvers, each in a process of its own that ends when its client leaves.

Some hold Python's lock while they search, some cannot be asked to stop, some crash: none of that may touch the server.
The process calls `egam.solve`, as everything else does; `python -m egam.serve.apart` is its side. It imports no torch.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from egam.errors import BadInput, EgamError, NotInstalled
from egam.instance import Instance
from egam.io import instance_from_dict, instance_to_dict
from egam.judge import judge
from egam.result import Result
from egam.solution import Solution
from egam.solvers import SolverFailed

GRACE = 30.0  # seconds beyond the time limit
LOOK = 0.05  # seconds between two looks at whether anybody still waits
PR_SET_PDEATHSIG = 1  # of Linux' prctl
ERRORS = {"BadInput": BadInput, "NotInstalled": NotInstalled}


def solve_apart(
    instance: Instance, method: str, seconds: float, seed: int, should_stop: Callable[[], bool]
) -> Result | None:
    """The result, or None if it was stopped."""
    request = {"instance": instance_to_dict(instance), "method": method, "seconds": seconds, "seed": seed}
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    child = subprocess.Popen(
        [sys.executable, "-m", "egam.serve.apart"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,  # so that solvers which start processes themselves end with it
    )
    said: list[bytes] = []
    talk = threading.Thread(target=lambda: said.append(_talk(child, json.dumps(request).encode())), daemon=True)
    talk.start()
    waited = 0.0
    while talk.is_alive() and waited < seconds + GRACE and not should_stop():
        talk.join(LOOK)
        waited += LOOK
    stopped, silent = should_stop(), talk.is_alive()
    _end(child)
    talk.join(5)
    if stopped:
        return None
    if silent:
        raise SolverFailed(f"{method} gave no answer in {seconds + GRACE:g} s")
    return _result(instance, method, said[0] if said else b"")


def _talk(child: subprocess.Popen[bytes], request: bytes) -> bytes:
    try:
        return child.communicate(request)[0]
    except (OSError, ValueError):  # it died meanwhile
        return b""


def _end(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait(10)


def _result(instance: Instance, method: str, said: bytes) -> Result:
    try:
        answer = json.loads(said)
    except ValueError:
        raise SolverFailed(f"the process of {method} ended without an answer") from None
    if "error" in answer:
        raise ERRORS.get(answer["kind"], SolverFailed)(answer["error"])
    solution = Solution.of(answer["routes"])
    return Result(
        instance=instance,
        solution=solution,
        verdict=judge(instance, solution),
        method=method,
        seconds=answer["seconds"],
        proven=answer["proven"],
        notes=tuple(answer["notes"]),
    )


def main() -> None:
    """The other process: a request on stdin, an answer on stdout, which solvers cannot write to."""
    _end_with_the_server()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    answer: dict[str, Any]
    try:
        from egam.solve import solve

        instance = instance_from_dict(request["instance"])
        result = solve(instance, request["method"], time_limit=request["seconds"], seed=request["seed"])
        told = ("routes", "proven", "seconds", "notes")
        answer = {key: getattr(result, key) for key in told}
    except EgamError as error:
        answer = {"error": str(error), "kind": type(error).__name__}
    json.dump(answer, answers)
    answers.close()


def _end_with_the_server() -> None:
    """Be killed when the server dies; where that cannot be asked for, the time limit ends this process."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()
