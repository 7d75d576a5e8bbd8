"""What `egam doctor` tells: versions, threads, devices, what is installed, and how fast this machine multiplies."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
from typing import Any

from egam import __version__
from egam.machine import cores, keep_pages
from egam.solvers import SOLVERS, installed

OPTIONAL = {  # package -> what for, and the line that installs it
    "matplotlib": ("plots", "pip install matplotlib"),
    "tensorboard": ("training curves", "pip install tensorboard"),
    "fastapi": ("egam serve", "pip install 'egam[serve]'"),
    "uvicorn": ("egam serve", "pip install 'egam[serve]'"),
}
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
        "matmul_gflops": None if quick else matmul_rate(),
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
    for name, (use, line) in OPTIONAL.items():
        table[name] = {"installed": importlib.util.find_spec(name) is not None, "use": use, "install": line}
    return table


def matmul_rate() -> float:
    """Best of a few: float32 GFLOP/s of a large product on the CPU."""
    from egam.bench.speed import matmul_peak

    return 2 * 2048**3 / matmul_peak(5).best / 1e9
