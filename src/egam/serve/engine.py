"""From what was asked to `egam.solve`: three lanes, and the numbers about them.

    quick       the network in less than half a second: what arrives together is one call of `solve`. As many workers as
                cores, each on one core: several batches side by side are faster than one on all, and small products
                gain nothing from a second core
    search      the network with a time limit, many samples or many nodes: one instance after the other, on all cores
                that are free
    classical   other solvers, in a process of their own (apart.py)
So a minute of search never stands before a greedy answer. Nothing but this file and apart.py solves.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from egam.catalogue import shipped
from egam.instance import Instance
from egam.machine import give_back_pages
from egam.problems import get_problem
from egam.problems.base import unstack
from egam.result import Result
from egam.serve import work
from egam.serve.apart import solve_apart
from egam.serve.asked import Options
from egam.serve.batching import Job, Lane
from egam.serve.limits import Limits, Refusal
from egam.serve.metrics import SIZES, Labels, Metrics, cpu_seconds, resident_bytes
from egam.solve import CLASSICAL_SECONDS, solve
from egam.solvers import SOLVERS, check, need

FOUR = Instance.tsp([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], name="four corners")  # the shortest tour is 4
SMALL = 8  # nodes of what the network warms up with
HEALTHY_FOR = 1.0  # seconds that an answer to /health is good for
MOST_WORKERS = 8  # beyond, they would only wait for Python's lock
GIVE_BACK = 10.0  # seconds between two times that freed memory is handed back: else it grows for hours, in shreds
QUICK = 0.5  # seconds of one instance
BATCH = 1.5  # seconds of one batch
Improved = Callable[[Result], Any]


@dataclass(frozen=True)
class Task:
    instance: Instance
    options: Options
    on_improvement: Improved | None = None


class Engine:
    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self.limits, self.metrics = limits, metrics
        self.cores = torch.get_num_threads()  # that the network may use
        self.quick = Lane(
            "quick",
            self._solve_together,
            longest=limits.queue,
            heaviest=limits.wait_seconds,
            largest_batch=limits.batch,
            window=limits.window_ms / 1000,
            workers=min(self.cores, MOST_WORKERS),
            watch=self._watch("quick"),
        )
        self.search, self.classical = (
            Lane(name, solver, longest=limits.queue, heaviest=limits.wait_seconds, watch=self._watch(name))
            for name, solver in (("search", self._search), ("classical", self._solve_apart))
        )
        self.lanes = (self.quick, self.search, self.classical)
        self._health: tuple[float, dict[str, Any]] | None = None
        self._examining: Job | None = None
        self._gave_back = time.monotonic()

    # ---- work ---------------------------------------------------------------------------------------------------

    def put(self, instances: list[Instance], options: Options, on_improvement: Improved | None = None) -> list[Job]:
        """Queue one job per instance, each in its lane, all or none; their answers are `Result`s."""
        if options.method in SOLVERS and options.time_limit is None:
            options = replace(options, time_limit=min(CLASSICAL_SECONDS, self.limits.seconds))
        jobs = [self._job(Task(instance, options, on_improvement)) for instance in instances]
        if (seconds := sum(job.weight for job in jobs)) > self.limits.seconds:
            nodes = max(instance.size for instance in instances)
            what = f"{len(jobs)} instances of up to {nodes} nodes" if len(jobs) > 1 else f"an instance of {nodes} nodes"
            took = f"{what} with {options.said} would take about {seconds:.0f} s"
            raise Refusal(413, f"{took}; up to {self.limits.seconds:g} s are accepted here")
        by_lane: dict[Lane, list[Job]] = {}
        for job in jobs:
            by_lane.setdefault(self._lane(job.task), []).append(job)
        try:
            for lane, own in by_lane.items():
                lane.put(own)
        except Refusal:
            self.forget(jobs)
            raise
        return jobs

    def forget(self, jobs: list[Job]) -> None:
        """The client is gone: nothing of this is started any more, and what runs ends early."""
        left = [job for job in jobs if not job.answer.done()]
        for lane in self.lanes:
            lane.forget([job for job in left if self._lane(job.task) is lane])
        if left:
            self.metrics.count("egam_stopped_total", len(left))

    def warm_up(self) -> None:
        """Load the weights of every problem and solve something small with each, so that no request is the first.

        On one core: each thread that computes on several keeps helpers of its own, and as soon as there are more of
        those than cores, OpenMP makes them sleep between any two products, which doubles the time of a small request.
        """
        torch.set_num_threads(1)
        for entry in shipped().values():
            problem = get_problem(entry.problem, entry.variant)
            (instance,) = unstack(entry.problem, problem.generate(np.random.default_rng(0), 1, SMALL))
            solve(instance, weights=entry.name, decoding="greedy")

    @property
    def busy(self) -> bool:
        return any(lane.busy for lane in self.lanes)

    def close(self, seconds: float) -> bool:
        return all([lane.close(seconds) for lane in self.lanes])

    def _job(self, task: Task) -> Job:
        """What can be solved together: the same problem, size, kind of geometry and options."""
        instance, options = task.instance, task.options
        if options.method in SOLVERS:
            check(options.method, instance.problem)
            need(options.method)
        seconds = work.seconds(instance, options)
        geometry = (instance.coords is None, instance.matrix is None)
        key = (instance.problem, instance.size, geometry, options) if self._lane(task) is self.quick else None
        return Job(task, key, weight=seconds, together=int(BATCH / max(seconds, 1e-6)))

    def _lane(self, task: Task) -> Lane:
        if task.options.method in SOLVERS:
            return self.classical
        slow = task.options.time_limit is not None or work.seconds(task.instance, task.options) > QUICK
        return self.search if slow else self.quick

    def _solve_together(self, jobs: list[Job]) -> list[Result]:
        torch.set_num_threads(1)  # this thread's
        return self._solve(jobs)

    def _search(self, jobs: list[Job]) -> list[Result]:
        torch.set_num_threads(max(1, self.cores - self.quick.at_work))
        return self._solve(jobs)

    def _solve(self, jobs: list[Job]) -> list[Result]:
        options: Options = jobs[0].task.options
        results = solve(
            [job.task.instance for job in jobs],
            options.method,
            samples=options.samples,
            decoding=options.decoding,
            time_limit=options.time_limit,
            seed=options.seed,
            memory=self.limits.memory_gb,
            on_improvement=jobs[0].task.on_improvement,
            should_stop=lambda: all(job.stopped.is_set() for job in jobs),
        )
        self._count(results)
        return results

    def _solve_apart(self, jobs: list[Job]) -> list[Result | None]:
        (job,) = jobs
        task: Task = job.task
        options = task.options
        assert options.time_limit is not None  # see `put`
        result = solve_apart(
            task.instance, options.method, options.time_limit, options.seed, should_stop=job.stopped.is_set
        )
        self._count([result] if result else [])
        return [result]

    # ---- numbers ------------------------------------------------------------------------------------------------

    def _count(self, results: list[Result]) -> None:
        for result in results:
            self.metrics.count("egam_instances_total", problem=result.instance.problem, method=result.method)
            if not result.feasible:
                self.metrics.count("egam_infeasible_total", problem=result.instance.problem)

    def _watch(self, lane: str) -> Callable[[int, float], None]:
        def watch(size: int, seconds: float) -> None:
            if time.monotonic() - self._gave_back > GIVE_BACK:
                self._gave_back = time.monotonic()
                give_back_pages()
            self.metrics.see("egam_batch_size", size, SIZES, lane=lane)
            self.metrics.see("egam_batch_seconds", seconds, lane=lane)

        return watch

    def gauges(self) -> dict[str, tuple[str, dict[Labels, float]]]:
        return {
            "egam_waiting": ("Instances that wait.", {(("lane", lane.name),): lane.waiting for lane in self.lanes}),
            "egam_at_work": ("Batches under way.", {(("lane", lane.name),): lane.at_work for lane in self.lanes}),
            "process_resident_memory_bytes": ("Memory of the process in RAM.", {(): resident_bytes()}),
            "process_cpu_seconds": ("Of all threads so far.", {(): cpu_seconds()}),
        }

    def examine(self) -> Job | None:
        """Solve four nodes ahead of everybody, unless that is being done or was done a moment ago."""
        if self._health is not None and time.monotonic() - self._health[0] < HEALTHY_FOR:
            return None
        if self._examining is None or self._examining.answer.done():
            self._examining = Job(Task(FOUR, Options(decoding="greedy")))
            self.quick.put([self._examining], first=True)
        return self._examining

    def healthy(self, result: Result | None) -> dict[str, Any]:
        """What /health tells of the answer to `examine`."""
        if result is not None:
            if not (result.feasible and 4 - 1e-6 <= result.cost <= 2 + 2 * 2**0.5 + 1e-6):
                raise Refusal(503, f"four corners of a square were solved with cost {result.cost:g}; a tour has 4")
            told = {"status": "ok", "cost": result.cost, "seconds": result.seconds}
            self._health = (time.monotonic(), told)
        assert self._health is not None
        return {**self._health[1], "waiting": sum(lane.waiting for lane in self.lanes)}
