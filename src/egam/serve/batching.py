"""Who waits, who is solved together, and who is not waited for any more. Threads, and nothing of HTTP.

A `Lane` is a queue of bounded length and a few threads that work it off. A thread takes the oldest job, gives others
of the same key a few milliseconds to arrive, and solves its share of them as one batch. Draws belong to the instance,
so that an answer does not depend on the others in its batch; nor does an error, as a batch that fails is tried again
one by one.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any

from egam.serve.limits import busy, closing

RECENT = 20  # batches whose seconds make the guess of when there is room again


@dataclass(eq=False)
class Job:
    """One instance to be solved. `key` says with whom; None: alone."""

    task: Any
    key: Hashable = None
    weight: float = 0.0  # seconds that it takes alone
    together: int = 1_000_000  # how many like it may be in one batch
    answer: Future[Any] = field(default_factory=Future)
    stopped: threading.Event = field(default_factory=threading.Event)  # nobody waits for it any more
    arrived: float = field(default_factory=time.monotonic)

    def stop(self) -> None:
        """Nobody is interested any more: not started if it waits, ended early if it runs and can be."""
        self.stopped.set()
        self.answer.cancel()

    def deliver(self, value: Any = None, error: BaseException | None = None) -> None:
        try:
            if error is None:
                self.answer.set_result(value)
            else:
                self.answer.set_exception(error)
        except InvalidStateError:
            pass  # it was stopped meanwhile


class Lane:
    """One queue and its threads. `solve(jobs)` gives one value for each job, or raises."""

    def __init__(
        self,
        name: str,
        solve: Callable[[list[Job]], Sequence[Any]],
        longest: int,
        heaviest: float = float("inf"),
        largest_batch: int = 1,
        window: float = 0.0,
        workers: int = 1,
        watch: Callable[[int, float], None] = lambda size, seconds: None,
    ) -> None:
        self.name, self._solve, self._watch = name, solve, watch
        self.longest, self.heaviest, self.largest_batch, self.window = longest, heaviest, largest_batch, window
        self._waiting: deque[Job] = deque()
        self.at_work = 0  # threads that solve something
        self._changed = threading.Condition()
        self._seconds: deque[float] = deque(maxlen=RECENT)
        self._closed = False
        self._threads = [threading.Thread(target=self._work, name=f"egam-{name}", daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def put(self, jobs: Sequence[Job], first: bool = False) -> None:
        """All of them or none. `first`: ahead of everybody, whatever the length of the queue."""
        with self._changed:
            if self._closed:
                raise closing()
            if first:
                self._waiting.extendleft(reversed(jobs))
            elif len(self._waiting) + len(jobs) > self.longest:
                taken = f"{len(self._waiting)} of at most {self.longest} places in the queue are taken"
                raise busy(f"{taken} and {len(jobs)} are needed", self._wait())
            elif self._waiting and sum(job.weight for job in (*self._waiting, *jobs)) > self.heaviest:
                raise busy(f"{len(self._waiting)} instances that take long wait already", self._wait())
            else:
                self._waiting.extend(jobs)
            self._changed.notify_all()

    def forget(self, jobs: Sequence[Job]) -> None:
        """Stop jobs; those that wait make room at once."""
        with self._changed:
            for job in jobs:
                job.stop()
            self._waiting = deque(job for job in self._waiting if not job.stopped.is_set())
            self._changed.notify_all()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def busy(self) -> bool:
        with self._changed:
            return bool(self._waiting or self.at_work)

    def close(self, seconds: float | None = None) -> bool:
        """Take nothing more, finish what is here; False if that takes longer than `seconds`."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        until = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if until is None else max(0.0, until - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _wait(self) -> float:
        """A guess of the seconds until there is room: those of the batches ahead."""
        mean = sum(self._seconds) / len(self._seconds) if self._seconds else 1.0
        return min(60.0, mean * (1 + len(self._waiting) / self.largest_batch) / len(self._threads))

    def _work(self) -> None:
        while batch := self._next():
            began = time.monotonic()
            self._run(batch)
            seconds = time.monotonic() - began
            with self._changed:
                self.at_work -= 1
                self._seconds.append(seconds)
            self._watch(len(batch), seconds)

    def _next(self) -> list[Job]:
        """The next batch, which this thread works on from now; empty if the lane is closed and nothing waits."""
        with self._changed:
            while True:
                while not self._waiting:
                    if self._closed:
                        return []
                    self._changed.wait()
                batch = self._together()
                until = batch[0].arrived + self.window - time.monotonic()
                if batch[0].key is None or len(batch) >= self._most(batch[0]) or until <= 0 or self._closed:
                    for job in batch:
                        self._waiting.remove(job)
                    if wanted := [job for job in batch if job.answer.set_running_or_notify_cancel()]:
                        self.at_work += 1
                        return wanted
                else:
                    self._changed.wait(until)

    def _together(self) -> list[Job]:
        """The oldest job and those that can be solved with it, shared with the threads that have nothing to do."""
        oldest = self._waiting[0]
        if oldest.key is None:
            return [oldest]
        alike = [job for job in self._waiting if job.key == oldest.key]
        share = math.ceil(len(alike) / (len(self._threads) - self.at_work))
        return alike[: min(share, self._most(oldest))]

    def _most(self, job: Job) -> int:
        return max(1, min(self.largest_batch, job.together))

    def _run(self, jobs: list[Job]) -> None:
        try:
            values = self._solve(jobs)
        except Exception as error:
            if len(jobs) == 1:
                jobs[0].deliver(error=error)
                return
            for job in jobs:
                if not job.stopped.is_set():
                    self._run([job])
            return
        for job, value in zip(jobs, values, strict=True):
            job.deliver(value)
