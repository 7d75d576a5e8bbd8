"""`egam doctor`: what is installed, and how fast this machine is."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from egam.cli.app import Json, app, console


@app.command()
def doctor(
    quick: Annotated[bool, typer.Option("--quick", help="Without measuring the matrix product.")] = False,
    as_json: Json = False,
) -> None:
    """Versions, threads, devices, and which optional packages are there."""
    from egam.doctor import facts

    found = facts(quick)
    if as_json:
        print(json.dumps(found))
        return
    from rich.table import Table

    table = Table(show_header=False, box=None)
    for name in ("egam", "python", "torch", "numpy", "platform"):
        table.add_row(name, found[name])
    threads = f"{found['threads']} on {found['cores']} cores"
    if found["OMP_NUM_THREADS"]:
        threads += f" (OMP_NUM_THREADS={found['OMP_NUM_THREADS']})"
    table.add_row("threads", threads)
    table.add_row("devices", ", ".join(found["devices"]))
    table.add_row("mallopt", "keeps freed pages" if found["mallopt"] else "not here; CPU training is a little slower")
    for name, package in found["packages"].items():
        state = "installed" if package["installed"] else f"missing: {package['install']}"
        table.add_row(name, f"{state} ({package['use']})")
    table.add_row("LKH", found["lkh"] or "not on PATH")
    if found["matmul_gflops"] is not None:
        table.add_row("matmul", f"{found['matmul_gflops']:.0f} GFLOP/s (float32, 2048³, best of 5)")
    console().print(table, highlight=False, markup=False)
