"""Work side by side on a CPU: one thread per core, and one core per thread.

A network's small products gain little from a second core each, but two halves of a batch, each on a core of its own,
take nearly half the time. `side_by_side` runs such shares at once; `shares` cuts a batch into them. How many there
are follows torch's number of threads (OMP_NUM_THREADS, `torch.set_num_threads`): with one, nothing is different.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from threading import Barrier
from typing import TypeVar

import torch

Value = TypeVar("Value")


def shares(count: int, device: torch.device, smallest: int = 1) -> list[slice]:
    """`count` things cut into equal shares, one per core, none below `smallest`; one for all on other devices."""
    cores = torch.get_num_threads() if device.type == "cpu" else 1
    number = max(1, min(cores, count // max(1, smallest)))
    bounds = [count * k // number for k in range(number + 1)]
    return [slice(low, high) for low, high in pairwise(bounds)]


def side_by_side(tasks: Sequence[Callable[[], Value]]) -> list[Value]:
    """What the tasks give, in their order; each on one core, with the caller's modes of autograd."""
    if len(tasks) == 1:
        return [tasks[0]()]
    grad, inference = torch.is_grad_enabled(), torch.is_inference_mode_enabled()

    def run(task: Callable[[], Value]) -> Value:
        with torch.inference_mode(inference), torch.set_grad_enabled(grad):
            return task()

    return list(_crew(len(tasks)).map(run, tasks))


@lru_cache(maxsize=8)
def _crew(size: int) -> ThreadPoolExecutor:
    before = torch.get_num_threads()
    all_have_begun = Barrier(size)

    def begin() -> None:
        torch.get_num_threads()  # a thread's first question sets its number to the default, so it comes first
        torch.set_num_threads(1)
        all_have_begun.wait()

    crew = ThreadPoolExecutor(size, thread_name_prefix="egam-share", initializer=begin)
    list(crew.map(lambda _: None, range(size)))
    torch.set_num_threads(before)  # what the crew has set is also the default of threads still to come
    return crew
