"""A classical solver on every instance of a set: in several processes, judged, and not lost when killed.

Finished instances are in a journal beside the output until all are done, so that the next attempt solves the rest only.
Torch is not imported: processes start fast.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from egam.bench import journal
from egam.bench.rows import Row
from egam.instance import Instance
from egam.judge import judge
from egam.solvers import SolverFailed, solve_proven

Task = tuple[int, str, Instance, float, int]  # number, solver, instance, seconds, seed


def solve_all(
    solver: str,
    instances: Sequence[Instance],
    seconds: float,
    seed: int,
    processes: int,
    journal_path: Path,
    work: dict[str, Any],
) -> tuple[list[Row], float]:
    """All rows in order, and the wall time of this and of earlier attempts; the journal at `journal_path` is left."""
    with journal.opened(journal_path, work) as book:
        earlier = max((piece[0] for piece in book.done.values()), default=0.0)
        tasks: list[Task] = [
            (number, solver, instance, seconds, seed)
            for number, instance in enumerate(instances)
            if str(number) not in book.done
        ]
        progress = Progress(len(instances), len(instances) - len(tasks))
        begun = time.monotonic()
        for number, row in _solved(tasks, processes):
            book.add(number, [round(earlier + time.monotonic() - begun, 3), row.to_json()])
            progress.step()
        wall = max(piece[0] for piece in book.done.values())
        return [Row.from_json(book.done[str(number)][1]) for number in range(len(instances))], wall


def solve_one(task: Task) -> tuple[int, Row]:
    number, solver, instance, seconds, seed = task
    begun = time.perf_counter()
    solution, proven = solve_proven(solver, instance, seconds, seed)
    taken = time.perf_counter() - begun
    verdict = judge(instance, solution)
    cost = verdict.cost if verdict.feasible else float("nan")
    return number, Row(cost, verdict.feasible, proven, taken, solution.routes)


def _solved(tasks: list[Task], processes: int) -> Iterator[tuple[int, Row]]:
    """Rows as they are finished."""
    if processes == 1:
        yield from map(solve_one, tasks)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=_end_with_parent)
    try:
        for future in as_completed([pool.submit(solve_one, task) for task in tasks]):
            yield future.result()
    except BrokenProcessPool:
        raise SolverFailed(f"a process that ran {tasks[0][1]} ended without a word; what is done is kept") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """A killed parent cannot tell its workers to stop, so they watch it."""

    def watch() -> None:
        if (parent := multiprocessing.parent_process()) is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Progress:
    """A line on stderr every few seconds: how many are done and how long the rest takes at this pace."""

    def __init__(self, total: int, done: int, every: float = 5.0) -> None:
        self.total, self.done, self.every = total, done, every
        self.kept = done
        self.begun = self.said = time.monotonic()
        if done:
            print(f"{done}/{total} were done before", file=sys.stderr, flush=True)

    def step(self, count: int = 1) -> None:
        self.done += count
        now = time.monotonic()
        if now - self.said > self.every or self.done == self.total:
            self.said, taken = now, now - self.begun
            left = taken / (self.done - self.kept) * (self.total - self.done)
            print(f"{self.done}/{self.total} in {taken:.0f} s, {left:.0f} s left", file=sys.stderr, flush=True)
