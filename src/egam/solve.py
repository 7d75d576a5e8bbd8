"""The one door: `solve(instance)` by a network or by a classical solver, answered with a `Result`.

What happens, in order: find the weights for the problem and size (catalogue.py) · group instances that can be solved
together · let the network build solutions (decode/search.py) in rounds (decode/effort.py), or let a solver run
(solvers/) · let the judge choose the best · say what the user should know of it (advice.py). Scaling is not here but in
problems/. Torch is imported when a network is asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from egam import catalogue
from egam.advice import unseen, why_not
from egam.catalogue import Entry
from egam.errors import BadInput, nearest
from egam.instance import Instance
from egam.judge import Verdict, judge
from egam.methods import METHODS
from egam.repair import repaired
from egam.result import Result
from egam.solution import Solution
from egam.solvers import SOLVERS, check, solve_proven

if TYPE_CHECKING:
    from egam.decode.effort import Round
    from egam.decode.search import Search
    from egam.decode.strategies import Decoding
    from egam.nn import Model
    from egam.problems.base import Problem

CLASSICAL_SECONDS = 10.0  # a classical solver's time limit if none is given
MEMORY = 6.0  # GiB
FREE_START = ("tsp", "atsp")  # one family: weights of either serve both
OVERRUN = 1.5  # times the time limit from which on the result says so
LARGEST_GROUP = 4_000_000  # entries of travel tables that are kept at once


# ---- what is asked ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """The arguments of `solve`, checked."""

    method: str
    samples: int | None
    time_limit: float | None
    seed: int
    device: str
    weights: str | Path | None
    decoding: Decoding | None
    memory: float
    progress: Callable[[int], Any]
    on_improvement: Callable[[Result], Any] | None
    should_stop: Callable[[], bool]

    def checked(self) -> Asked:
        if self.method not in METHODS and self.method not in SOLVERS:
            known, method = [*METHODS, *SOLVERS], str(self.method)
            raise BadInput(f"unknown method '{method}'{nearest(method, known)}; accepted: {', '.join(known)}")
        if self.samples is not None and not (_whole(self.samples) and 0 <= self.samples <= 10**7):
            raise BadInput(f"samples is {self.samples}; a whole number from 0 to 10,000,000 is accepted")
        if self.time_limit is not None and not (_number(self.time_limit) and 0 < self.time_limit < 1e9):
            raise BadInput(f"time_limit is {_said(self.time_limit)}; seconds above 0 are accepted")
        if not (_whole(self.seed) and 0 <= self.seed < 2**32):
            raise BadInput(f"seed is {self.seed}; a whole number from 0 to {2**32 - 1} is accepted")
        if not (_number(self.memory) and self.memory > 0):
            raise BadInput(f"memory is {_said(self.memory)} GiB; a number above 0 is accepted")
        if not isinstance(self.device, str):
            raise BadInput(f"device is {self.device!r}; a text such as 'cpu' or 'cuda' is accepted")
        if self.decoding is not None and self.samples is not None:
            raise BadInput("samples and decoding are both given; one of them is accepted")
        networks = {"samples": self.samples, "weights": self.weights, "decoding": self.decoding}
        given = [name for name, value in networks.items() if value is not None]
        if self.method in SOLVERS and given:
            raise BadInput(f"{given[0]} is given, but {self.method} is no network")
        return self


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _said(value: Any) -> str:
    return f"{value:g}" if _number(value) else repr(value)


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


@overload
def solve(
    instances: Instance,
    method: str = ...,
    *,
    samples: int | None = ...,
    time_limit: float | None = ...,
    seed: int = ...,
    device: str = ...,
    weights: str | Path | None = ...,
    decoding: str | None = ...,
    memory: float = ...,
    progress: Callable[[int], Any] | None = ...,
    on_improvement: Callable[[Result], Any] | None = ...,
    should_stop: Callable[[], bool] | None = ...,
) -> Result: ...
@overload
def solve(
    instances: Sequence[Instance],
    method: str = ...,
    *,
    samples: int | None = ...,
    time_limit: float | None = ...,
    seed: int = ...,
    device: str = ...,
    weights: str | Path | None = ...,
    decoding: str | None = ...,
    memory: float = ...,
    progress: Callable[[int], Any] | None = ...,
    on_improvement: Callable[[Result], Any] | None = ...,
    should_stop: Callable[[], bool] | None = ...,
) -> list[Result]: ...
def solve(
    instances: Instance | Sequence[Instance],
    method: str = "egam",
    *,
    samples: int | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    device: str = "cpu",
    weights: str | Path | None = None,
    decoding: str | None = None,
    memory: float = MEMORY,
    progress: Callable[[int], Any] | None = None,
    on_improvement: Callable[[Result], Any] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Result | list[Result]:
    """Solve one instance, or a list of them: those of equal problem and size together, answers in the list's order.

    method          "egam" or another learned method (`egam.methods`), or a classical solver (`egam.solvers.SOLVERS`)
    samples         sampled solutions per instance, drawn so that they differ, beside the greedy ones of symmetric
                    copies; 0 or 1: one greedy solution and nothing else; not given: as many as pay for their time
                    (see decode/effort.py)
    time_limit      seconds per instance: keep sampling, or let the solver run, until then; the best solution counts
    weights         name of shipped weights or a folder; not given: the nearest by problem and size
    decoding        exactly this instead of samples: "greedy", "8xgreedy", "sample:N", "8xN", "distinct:N",
                    "8xdistinct:N", "starts" or "8xstarts"; "8xN@T" and so on draw at the temperature T instead of the
                    weights' own
    memory          GiB that a network may use; what needs more is refused
    progress        told how many instances were finished since it was last told
    on_improvement  told each better solution while a time limit runs
    should_stop     asked between rounds; True ends the search with the best so far, as Ctrl-C does
    """
    parsed: Decoding | None = None
    if decoding is not None:
        from egam.decode.strategies import Decoding as Parser

        if not isinstance(decoding, str):
            raise BadInput(f"decoding is {decoding!r}; a text such as 'greedy' or '8x20' is accepted")
        parsed = Parser.parse(decoding)
    asked = Asked(
        method=method,
        samples=samples,
        time_limit=time_limit,
        seed=seed,
        device=device,
        weights=weights,
        decoding=parsed,
        memory=memory,
        progress=progress or (lambda done: None),
        on_improvement=on_improvement,
        should_stop=should_stop or (lambda: False),
    ).checked()
    single = isinstance(instances, Instance)
    if not single and (isinstance(instances, str | Path) or not np.iterable(instances)):
        found = type(instances).__name__
        raise BadInput(f"instances is of type {found}; an egam.Instance is expected, as egam.read gives it, or several")
    listed: list[Instance] = [instances] if isinstance(instances, Instance) else list(instances)
    for number, instance in enumerate(listed):
        if not isinstance(instance, Instance):
            found = type(instance).__name__
            raise BadInput(f"instances[{number}] is of type {found}; egam.Instance is expected, as egam.read gives it")
    results = _by_solver(listed, asked) if method in SOLVERS else _by_network(listed, asked)
    return results[0] if single else results


# ---- the best so far --------------------------------------------------------------------------------------------


@dataclass
class Best:
    """The best solution of one instance so far, by the judge."""

    instance: Instance
    solution: Solution | None = None
    verdict: Verdict | None = None
    seen: set[int] = field(default_factory=set)  # hashes

    def offer(self, solution: Solution) -> bool:
        """Take a solution, or its repair, if it is better. Feasible is, then fewer and lesser violations, then cost."""
        mended = repaired(self.instance, solution)
        better = mended != solution and self._offer(mended)
        return self._offer(solution) or better

    def _offer(self, solution: Solution) -> bool:
        if hash(solution) in self.seen:
            return False
        self.seen.add(hash(solution))
        verdict = judge(self.instance, solution)
        if self.verdict is not None and rank(verdict) >= rank(self.verdict):
            return False
        self.solution, self.verdict = solution, verdict
        return True


def rank(verdict: Verdict) -> tuple[int, float, float, float]:
    """Smaller is better."""
    broken = verdict.violations
    return len(broken), sum(violation.amount for violation in broken), verdict.cost, verdict.length


# ---- classical solvers ------------------------------------------------------------------------------------------


def _by_solver(instances: list[Instance], asked: Asked) -> list[Result]:
    for instance in instances:
        check(asked.method, instance.problem)
    seconds = asked.time_limit or CLASSICAL_SECONDS
    results: list[Result] = []
    try:
        for instance in instances:
            if results and asked.should_stop():
                break
            began = time.perf_counter()
            solution, proven = solve_proven(asked.method, instance, seconds, asked.seed)
            took = time.perf_counter() - began
            result = Result(instance, solution, judge(instance, solution), asked.method, seconds=took, proven=proven)
            notes = (*instance.notes, *why_not(result))
            results.append(replace(result, notes=notes))
            if asked.on_improvement is not None:
                asked.on_improvement(results[-1])
            asked.progress(1)
    except KeyboardInterrupt:
        if not results:
            raise
    return [*results, *(_not_begun(instance, asked.method) for instance in instances[len(results) :])]


# ---- networks ---------------------------------------------------------------------------------------------------


def _by_network(instances: list[Instance], asked: Asked) -> list[Result]:
    entries = [weights_for(instance, asked.method, asked.weights) for instance in instances]
    groups: dict[Any, list[int]] = {}
    for number, (instance, entry) in enumerate(zip(instances, entries, strict=True)):
        shape = (instance.problem, instance.size, instance.coords is None, instance.matrix is None)
        groups.setdefault((entry.folder, entry.config["sha256"], shape), []).append(number)
    results: dict[int, Result] = {}
    interrupted = False
    for numbers in groups.values():
        together = max(1, LARGEST_GROUP // instances[numbers[0]].size ** 2)
        for at in range(0, len(numbers), together):
            part = numbers[at : at + together]
            if interrupted or (results and asked.should_stop()):
                continue
            members = [instances[number] for number in part]
            try:
                found = Group(members, entries[part[0]], asked).solve()
            except KeyboardInterrupt:
                if not results:
                    raise
                interrupted = True
                continue
            interrupted = any(result.interrupted for result in found)
            results.update(zip(part, found, strict=True))
            asked.progress(len(part))
    return [results.get(number) or _not_begun(instance, asked.method) for number, instance in enumerate(instances)]


def weights_for(instance: Instance, method: str = "egam", weights: str | Path | None = None) -> Entry:
    """The named weights if they fit the problem, else the nearest that come with the package."""
    if weights is not None:
        entry = catalogue.find(weights)
        if entry.problem != instance.problem and not {entry.problem, instance.problem} <= set(FREE_START):
            where = instance.name or "instance"
            raise BadInput(f"{where}: is {instance.problem}, but the weights {weights} are for {entry.problem}")
        if method not in ("egam", entry.method):
            raise BadInput(f"the weights {weights} are of {entry.method}, not of {method}")
        return entry
    problem = instance.problem
    if problem in FREE_START:
        problem = "tsp" if instance.symmetric else "atsp"
    return catalogue.choose(problem, instance.size, method)


class Group:
    """Instances of one problem and size that are solved together."""

    def __init__(self, instances: list[Instance], entry: Entry, asked: Asked):
        self.instances, self.entry, self.asked = instances, entry, asked
        self.bests = [Best(instance) for instance in instances]
        self.greedy = self.sampled = 0  # solutions looked at, per instance
        self.copies: set[int] = set()
        self.began = 0.0
        self.stopped, self.interrupted = "", False

    def solve(self) -> list[Result]:
        search, problem = self._search()
        self.began = time.perf_counter()  # loading is not counted
        limit = None if self.asked.time_limit is None else self.asked.time_limit * len(self.instances)
        try:
            for round_ in self._rounds(problem):
                began = time.perf_counter()
                found = search.round(round_.decoding, round_.first, round_.copies)
                self._count(round_)
                self._offer(problem, found)
                now = time.perf_counter()
                if limit is not None and now - self.began + (now - began) / 2 >= limit:
                    break  # another round like this one would end further from the limit
                if self.asked.should_stop():
                    self.stopped = "stopped early: this is the best so far"
                    break
            took = time.perf_counter() - self.began
            if limit is not None and took > OVERRUN * limit and not self.stopped:
                per_instance = took / len(self.instances)
                asked = f"the time limit of {self.asked.time_limit:g} s was overrun"
                self.stopped = f"{asked}: {self._words()} took {per_instance:.1f} s"
        except KeyboardInterrupt:
            if self.bests[0].solution is None:
                raise
            self.interrupted = True
            self.stopped = "stopped by Ctrl-C: this is the best so far"
        return [self._result(best, final=True) for best in self.bests]

    def _search(self) -> tuple[Search, Problem]:
        from egam.decode.search import Search, check_memory, usable

        asked = self.asked
        network, problem = _loaded(self.entry, usable(asked.device))
        check_memory(network, self.instances[0], asked.memory)
        search = Search(network, problem, self.instances, asked.seed, asked.memory, asked.device)
        return search, problem

    def _rounds(self, problem: Problem) -> Iterator[Round]:
        from egam.decode.effort import Effort, as_given, rounds

        endless = self.asked.time_limit is not None
        if self.asked.decoding is not None:
            return as_given(self.asked.decoding, endless)
        effort = Effort(self.instances[0].size, problem.spec.context_first)
        return rounds(effort, self.asked.samples, endless)

    def _offer(self, problem: Problem, found: list[list[np.ndarray]]) -> None:
        for best, sequences in zip(self.bests, found, strict=True):
            better = [best.offer(problem.to_solution(sequence.tolist())) for sequence in sequences]
            if any(better) and self.asked.on_improvement is not None:
                self.asked.on_improvement(self._result(best, final=False))

    def _count(self, round_: Round) -> None:
        self.copies |= set(round_.copies)
        count = len(round_.copies) * round_.decoding.rollouts(self.instances[0].size)
        if round_.decoding.samples:
            self.sampled += count
        else:
            self.greedy += count

    def _result(self, best: Best, final: bool) -> Result:
        assert best.solution is not None and best.verdict is not None
        result = Result(
            instance=best.instance,
            solution=best.solution,
            verdict=best.verdict,
            method=self.entry.method,
            weights=self.entry.name,
            decoding=self._words(),
            tries=self.greedy + self.sampled,
            seconds=(time.perf_counter() - self.began) / len(self.instances),
            notes=(*best.instance.notes, *unseen(best.instance, self.entry)),
        )
        if not final:
            return result
        stopped = (self.stopped,) if self.stopped else ()
        notes = (*result.notes, *why_not(result), *stopped)
        return replace(result, notes=notes, interrupted=self.interrupted)

    def _words(self) -> str:
        parts = [f"{self.greedy} greedy"] if self.greedy else []
        parts += [f"{self.sampled} sampled"] if self.sampled else []
        copies = f" on {len(self.copies)} symmetric copies" if len(self.copies) > 1 else ""
        return " and ".join(parts) + (" solution" if self.greedy + self.sampled == 1 else " solutions") + copies


@lru_cache(maxsize=8)
def _load(folder: Path, sha256: str, device: str) -> tuple[Model, Problem]:
    from egam.weights import load_entry

    network, problem, _ = load_entry(catalogue.entry_of(folder, str(folder)))
    return network.to(device), problem


def _loaded(entry: Entry, device: str) -> tuple[Model, Problem]:
    """Network and problem of some weights; those used last stay loaded."""
    return _load(entry.folder.resolve(), str(entry.config["sha256"]), device)


def _not_begun(instance: Instance, method: str) -> Result:
    """For instances of a list that Ctrl-C or `should_stop` left without a solution."""
    nothing = Solution(())
    note = "stopped before this instance was begun: it has no solution"
    return Result(instance, nothing, judge(instance, nothing), method, notes=(*instance.notes, note), begun=False)
