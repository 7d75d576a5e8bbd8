"""Several processes that train one network, each on its share of every batch: `egam train --processes`, or torchrun.

On a CPU one process with one thread per core is faster than one process with many threads: a step is made of thousands
of small operations, and threads wait for each other at the end of each. `Others` starts this very command once more
for each further process; this one becomes the first. They find each other through a store that the first one keeps.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import torch
from torch import distributed

from egam.errors import BadInput, EgamError
from egam.machine import cores

HOST = "127.0.0.1"
STORE = "EGAM_STORE"  # the environment's name for the port of the first process's store
_store: distributed.TCPStore | None = None  # in the first of processes that `Others` started


def count() -> int:
    """Processes of this run, as torchrun or `Others` set it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def join(device: str) -> tuple[int, int]:
    """Rank of this process and number of processes; waits for the others."""
    world = count()
    if world == 1:
        return 0, 1
    if not distributed.is_initialized():
        backend = "nccl" if device.startswith("cuda") else "gloo"
        rank, store = int(os.environ["RANK"]), _store
        if store is None and STORE in os.environ:
            store = distributed.TCPStore(HOST, int(os.environ[STORE]), world, is_master=False)
        if store is None:
            distributed.init_process_group(backend)
        else:
            distributed.init_process_group(backend, store=store, rank=rank, world_size=world)
        atexit.register(_leave)  # its threads must end before the interpreter does
    return distributed.get_rank(), world


def _leave() -> None:
    if distributed.is_initialized():
        distributed.destroy_process_group()


class Others:
    """Processes 1 .. count - 1 of a run, as a context: none outlives it, and one that fails is explained."""

    def __init__(self, count: int, arguments: Sequence[str]):
        self.count, self.arguments = count, list(arguments)
        self.running: list[tuple[subprocess.Popen[bytes], IO[bytes]]] = []  # each with what it says about errors
        self.before: tuple[dict[str, str], int] | None = (
            None  # environment and threads of this process, if it starts any
        )

    def __enter__(self) -> Others:
        global _store
        if self.count == 1 or STORE in os.environ:  # alone, or one of the others itself
            return self
        if "WORLD_SIZE" in os.environ:
            raise BadInput(
                "--processes is given under torchrun, which has started processes already; one of them is enough"
            )
        _store = distributed.TCPStore(HOST, 0, self.count, is_master=True, wait_for_workers=False)
        self.before = dict(os.environ), torch.get_num_threads()
        threads = max(1, cores() // self.count)
        torch.set_num_threads(threads)
        os.environ |= {"WORLD_SIZE": str(self.count), "RANK": "0", "LOCAL_RANK": "0"}
        if Path("/sys/class/net/lo").exists():
            os.environ.setdefault(
                "GLOO_SOCKET_IFNAME", "lo"
            )  # else it asks for the host's name, which may lead nowhere
        for rank in range(1, self.count):
            numbers = {
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                STORE: str(_store.port),
                "OMP_NUM_THREADS": str(threads),
            }
            errors = tempfile.TemporaryFile()
            command = [sys.executable, "-m", "egam", *self.arguments]
            process = subprocess.Popen(command, env=os.environ | numbers, stdout=subprocess.DEVNULL, stderr=errors)
            self.running.append((process, errors))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        global _store
        if self.before is None:
            return
        lost = next((number for number, (process, _) in enumerate(self.running, 1) if process.poll()), None)
        for process, _ in self.running:
            if kind is not None:
                process.kill()
            process.wait()
        _leave()
        _store = None
        environment, threads = self.before
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
        torch.set_num_threads(threads)
        if lost is not None and kind is not None and issubclass(kind, RuntimeError):
            raise EgamError(self._story(lost)) from None

    def _story(self, number: int) -> str:
        process, errors = self.running[number - 1]
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip().splitlines()
        return (
            f"process {number + 1} of {self.count} ended with code {process.returncode}"
            f"{': ' + said[-1] if said else ''}; the run can be resumed from its last checkpoint"
        )
