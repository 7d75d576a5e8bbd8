"""How much is tried: the rounds of a search, for any size of instance, number of samples and time limit.

If nothing is said, 8 symmetric copies are solved greedily, or 4 where a tour may start anywhere, from every node; then
samples of them that all differ (distinct.py) follow, as long as that is within a budget. Larger instances get fewer
copies and samples, and one greedy solution at least. With a time limit all 8 copies are sampled without end. Encoding a
copy takes as long as about 20 rollouts, and both grow with N². Chosen by measurement: docs/log.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from egam.decode.strategies import Decoding

BUDGET = 400.0  # rollouts of 100 nodes
ENCODING = 20.0  # rollouts that take as long as encoding
MOST_SAMPLES = 128  # if nothing is said
TOGETHER = 128  # samples of a copy in one round, at most; only those of one round all differ
ROUNDS_PER_COPY = 4  # where copies are sampled one after the other


@dataclass(frozen=True)
class Round:
    """A decoding on some of the eight symmetric copies; `first` is the number of its first sample."""

    decoding: Decoding
    copies: tuple[int, ...]
    first: int = 0


@dataclass(frozen=True)
class Effort:
    """What an instance of N nodes gets if nothing is said."""

    nodes: int
    free_start: bool  # may a solution begin at any node?

    @property
    def rollouts(self) -> float:
        """What the budget is at this size."""
        return BUDGET * 100**2 / self.nodes**2

    @property
    def starts(self) -> int:
        """Greedy rollouts per copy."""
        return self.nodes if self.free_start and self.rollouts >= ENCODING + self.nodes else 1

    @property
    def most_copies(self) -> int:
        return 4 if self.free_start else 8

    @property
    def copies(self) -> int:
        return int(min(self.most_copies, max(1, self.rollouts // (ENCODING + self.starts))))

    @property
    def samples(self) -> int:
        left = self.rollouts - self.copies * (ENCODING + self.starts)
        return int(min(MOST_SAMPLES, max(0, left)))

    @property
    def together(self) -> int:
        """Samples of a copy in one round: few, so that a round is short."""
        return int(min(TOGETHER, max(1, self.rollouts // 32)))


def rounds(effort: Effort, samples: int | None, endless: bool) -> Iterator[Round]:
    """Greedy rounds, then `samples` sampled solutions, or `endless` ones; one greedy solution if samples is 0 or 1."""
    if samples is not None and samples <= 1:
        yield Round(Decoding(), (0,))
        return
    greedy, quick = Decoding(all_starts=effort.starts > 1), effort.copies == effort.most_copies
    if quick:
        yield Round(greedy, tuple(range(effort.copies)))
    else:  # one after the other, so that a first solution is there soon
        yield from (Round(greedy, (copy,)) for copy in range(8 if endless else effort.copies))
    wanted = None if samples is None and endless else effort.samples if samples is None else samples
    sampled = 8 if endless or not quick else effort.copies
    done = number = 0
    while wanted is None or done < wanted:
        copies = tuple(range(sampled)) if quick else (number // ROUNDS_PER_COPY % sampled,)
        each = effort.together if wanted is None else min(effort.together, -(-(wanted - done) // len(copies)))
        yield Round(Decoding(samples=each, distinct=True), copies, first=number * 8 * TOGETHER)
        done, number = done + each * len(copies), number + 1


def as_given(decoding: Decoding, endless: bool) -> Iterator[Round]:
    """One decoding of strategies.py; if endless and sampled, again and again with new samples."""
    number = 0
    while number == 0 or (endless and decoding.samples):
        yield Round(decoding, tuple(range(decoding.copies)), first=number * 8 * decoding.samples)
        number += 1
