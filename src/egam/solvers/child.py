"""Run an adapter's `answer(request)` in a process of its own: some solvers crash, or clash with another's library.

The request and the answer are JSON. `python -m egam.solvers.child MODULE` is the other end: whatever a solver prints
goes to stderr, so that stdout carries the answer alone.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from egam.solvers import SolverFailed

GRACE = 60.0  # seconds beyond the time limit before a silent child is given up


def in_child(module: str, request: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The answer of `egam.solvers.{module}` to `request`."""
    package_root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (package_root, os.environ.get("PYTHONPATH"))))
    try:
        child = subprocess.run(
            [sys.executable, "-m", "egam.solvers.child", module],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=seconds + GRACE,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SolverFailed(f"the solver process of {module} gave no answer in {seconds + GRACE:g} s") from None
    if child.returncode != 0:
        last_words = (child.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise SolverFailed(f"the solver process of {module} ended with {child.returncode}: {last_words}")
    try:
        return json.loads(child.stdout)
    except ValueError:
        raise SolverFailed(f"the solver process of {module} answered '{child.stdout.strip()[:80]}'") from None


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    answer = importlib.import_module(f"egam.solvers.{sys.argv[1]}").answer(request)
    json.dump(answer, answers)
    answers.close()


if __name__ == "__main__":
    main()
