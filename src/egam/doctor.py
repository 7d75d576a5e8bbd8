"""What `egam doctor` tells: versions, threads, devices, what is installed, and how fast this machine multiplies."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import time
from typing import Any

from egam import __version__
from egam.machine import cores, keep_pages
from egam.solvers import SOLVERS, installed

SIDE = 2048  # of the matrices whose product is timed
OPTIONAL = {"matplotlib": "pip install matplotlib", "tensorboard": "pip install tensorboard"}  # package -> its line
LKH = ("LKH", "LKH-3", "lkh")


def facts(quick: bool = False) -> dict[str, Any]:
    """Everything, as JSON can hold it; `quick` leaves the measurement out."""
    import torch

    found: dict[str, Any] = {
        "egam": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": importlib.metadata.version("numpy"),
        "platform": platform.platform(),
        "cores": cores(),
        "threads": torch.get_num_threads(),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS"),
        "devices": devices(),
        "mallopt": keep_pages(),
        "packages": packages(),
        "lkh": next((path for name in LKH if (path := shutil.which(name))), None),
        "matmul_gflops": None if quick else matmul_peak(),
    }
    return found


def devices() -> list[str]:
    """What --device accepts here."""
    import torch

    names = ["cpu", *(f"cuda:{k} ({torch.cuda.get_device_name(k)})" for k in range(torch.cuda.device_count()))]
    return [*names, "mps"] if torch.backends.mps.is_available() else names


def packages() -> dict[str, dict[str, Any]]:
    """Optional package -> is it there, what is it for, which line installs it."""
    table: dict[str, dict[str, Any]] = {}
    for name, solver in SOLVERS.items():
        if solver.package != "numpy":  # ours, always there
            use = f"solver of {', '.join(solver.problems)}"
            table[name] = {"installed": installed(name), "use": use, "install": solver.pip}
    for name, line in OPTIONAL.items():
        use = {"matplotlib": "plots", "tensorboard": "training curves"}[name]
        table[name] = {"installed": importlib.util.find_spec(name) is not None, "use": use, "install": line}
    return table


def matmul_peak(side: int = SIDE, repeats: int = 5) -> float:
    """Best of `repeats`: float32 GFLOP/s of a side³ product on the CPU."""
    import torch

    left, right = torch.rand(side, side), torch.rand(side, side)
    product, best = torch.empty(side, side), float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        torch.mm(left, right, out=product)
        best = min(best, time.perf_counter() - began)
    return 2 * side**3 / best / 1e9
