"""How far a long piece of work is: a line on stderr every few seconds."""

from __future__ import annotations

import sys
import time


class Progress:
    """How many are done, and how long the rest takes at this pace."""

    def __init__(self, total: int, done: int = 0, label: str = "", every: float = 5.0) -> None:
        self.total, self.done, self.every = total, done, every
        self.label = f"{label}: " if label else ""
        self.kept = done
        self.begun = self.said = time.monotonic()
        if done:
            self._say(f"{done}/{total} were done before")

    def step(self, count: int = 1) -> None:
        self.done += count
        now = time.monotonic()
        if now - self.said > self.every or self.done == self.total:
            self.said, taken = now, now - self.begun
            left = taken / (self.done - self.kept) * (self.total - self.done)
            self._say(f"{self.done}/{self.total} in {taken:.0f} s, {left:.0f} s left")

    def _say(self, text: str) -> None:
        print(f"{self.label}{text}", file=sys.stderr, flush=True)
