"""A classical solver on every instance of a set: in several processes, judged, and not lost when killed.

Finished instances are in a journal beside the output until all are done, so that the next attempt solves the rest only.
Torch is not imported: processes start fast.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from egam.bench import journal
from egam.bench.progress import Progress
from egam.bench.rows import Row
from egam.instance import Instance
from egam.judge import judge
from egam.solvers import SolverFailed, solve_proven

Task = tuple[int, str, Instance, float, int, bool]  # number, solver, instance, seconds, seed, forgiving
PATIENCE = 3  # failures in a row before the solver, not the instance, is to blame


def solve_all(
    solver: str,
    instances: Sequence[Instance],
    seconds: float,
    seed: int,
    processes: int,
    journal_path: Path,
    work: dict[str, Any],
    label: str = "",
    forgiving: bool = False,
) -> tuple[list[Row], float]:
    """All rows in order, and the wall time of this and of earlier attempts; the journal at `journal_path` is left.

    `forgiving`: an instance on which the solver fails counts as not solved, unless it fails on several in a row.
    """
    with journal.opened(journal_path, work) as book:
        earlier = max((piece[0] for piece in book.done.values()), default=0.0)
        tasks: list[Task] = [
            (number, solver, instance, seconds, seed, forgiving)
            for number, instance in enumerate(instances)
            if str(number) not in book.done
        ]
        progress = Progress(len(instances), len(instances) - len(tasks), label)
        begun, failures = time.monotonic(), 0
        for number, row, failure in _solved(tasks, processes):
            failures = failures + 1 if failure else 0
            if failures == PATIENCE:
                raise SolverFailed(failure)
            book.add(number, [round(earlier + time.monotonic() - begun, 3), row.to_json()])
            progress.step()
        wall = max(piece[0] for piece in book.done.values())
        return [Row.from_json(book.done[str(number)][1]) for number in range(len(instances))], wall


def solve_one(task: Task) -> tuple[int, Row, str]:
    """The instance's number, its row, and why there is no solution."""
    number, solver, instance, seconds, seed, forgiving = task
    begun = time.perf_counter()
    try:
        solution, proven = solve_proven(solver, instance, seconds, seed)
    except SolverFailed as error:
        if not forgiving:
            raise
        return number, Row(math.nan, False, False, time.perf_counter() - begun, ()), str(error)
    taken = time.perf_counter() - begun
    verdict = judge(instance, solution)
    cost = verdict.cost if verdict.feasible else math.nan
    return number, Row(cost, verdict.feasible, proven, taken, solution.routes), ""


def _solved(tasks: list[Task], processes: int) -> Iterator[tuple[int, Row, str]]:
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
