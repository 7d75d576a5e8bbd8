"""What `egam.solve` answers with: the routes, what the judge says of them, how they were found, and what to know of it.

A `Result` is made of an instance, a solution and the judge's verdict; nothing in it comes from a solver's own account.
Nodes are numbers; where the user named the stops, texts say their names. Torch is not needed to read one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from egam.files import write_text
from egam.instance import Instance
from egam.judge import Verdict, Violation
from egam.schedule import schedule_rows, times
from egam.solution import Solution

SHOWN_VIOLATIONS = 10  # in the short text
COST_OF = {"length": "length", "length + penalties": "length + penalties", "unserved": "stops not served"}


@dataclass(frozen=True)
class Result:
    instance: Instance
    solution: Solution
    verdict: Verdict
    method: str  # "egam", or the name of another method or solver
    weights: str = ""  # name or path of the weights; empty for classical solvers
    decoding: str = ""  # how the network was asked, in words
    tries: int = 0  # solutions that were looked at; 0 for classical solvers, which do not say
    seconds: float = 0.0  # of computing; of a list solved together, this instance's share
    proven: bool = False  # did a solver prove that there is nothing better?
    interrupted: bool = False  # did Ctrl-C end the search?
    begun: bool = True  # False: it was stopped before this instance's turn, and there is no solution
    notes: tuple[str, ...] = ()  # what to know before trusting it, as sentences

    @property
    def routes(self) -> list[list[int]]:
        """Node numbers of each route; all begin and end at node 0 without saying so."""
        return [list(route) for route in self.solution.routes]

    @property
    def named_routes(self) -> list[list[str]]:
        """The same by the user's names of the stops."""
        return [[self.instance.stop_name(node) for node in route] for route in self.solution.routes]

    @property
    def cost(self) -> float:
        """What the problem minimises, in the instance's own units."""
        return self.verdict.cost

    @property
    def feasible(self) -> bool:
        return self.verdict.feasible

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """Every broken rule: which stop, by how much, and as a sentence."""
        return tuple(replace(broken, text=self._named(broken.text)) for broken in self.verdict.violations)

    @property
    def unserved(self) -> list[int]:
        """Customers that nobody visits, and those visited too late or over a limit."""
        return sorted((*self.verdict.unvisited, *self.verdict.failed))

    def to_dict(self, schedule: bool = True) -> dict[str, Any]:
        """Plain numbers, texts and lists; `schedule` adds a row per stop with arrival, waiting and load."""
        found: dict[str, Any] = {
            "problem": self.instance.problem,
            "instance": self.instance.name,
            "nodes": self.instance.size,
            "cost": self.cost,
            "length": self.verdict.length,
            "feasible": self.feasible,
            "proven": self.proven,
            "routes": self.routes,
        }
        if self.instance.names is not None:
            found["named_routes"] = self.named_routes
        found |= {
            "unserved": self.unserved,
            "violations": [self._violation(broken) for broken in self.violations],
            "method": self.method,
            "weights": self.weights,
            "decoding": self.decoding,
            "tries": self.tries,
            "seconds": round(self.seconds, 3),
            "notes": list(self.notes),
        }
        if self.instance.window is not None:
            found["returns"] = [route[-1] for route in self._times]
        if schedule:
            found["schedule"] = schedule_rows(self.instance, self.solution, self.verdict)
        return found

    def to_json(self, schedule: bool = True) -> str:
        """One line of JSON."""
        return json.dumps(self.to_dict(schedule), ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path, format: str | None = None) -> None:
        """Write it: .sol, .tour and .geojson hold the routes, .json holds everything."""
        if format == "json" or (format is None and Path(path).suffix.lower() == ".json"):
            text = self.to_json() + "\n"
            write_text(Path(path), text)
            return
        from egam.io import write_solution

        write_solution(self.solution, self.instance, path, format, self.cost)

    def __str__(self) -> str:
        lines = [self._headline(), *self._route_lines(), *self._unserved_lines(), *self._violation_lines()]
        lines += [self._origin()] if self.method else []
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _headline(self) -> str:
        name = self.instance.name or "instance"
        state = "proven optimal" if self.proven and self.feasible else "feasible" if self.feasible else "NOT FEASIBLE"
        kind = f"{self.instance.problem}, {self.instance.size} nodes"
        return f"{name} ({kind}): cost {number(self.cost)} ({COST_OF[self.instance.kind.cost]}), {state}"

    def _route_lines(self) -> list[str]:
        many = self.instance.kind.many_routes
        start = self.instance.stop_name(0)
        lines = []
        for count, (route, names) in enumerate(zip(self.routes, self.named_routes, strict=True), start=1):
            load = "" if self.instance.capacity is None else f", load {number(self._load(route))}"
            head = f"route {count}{load}" if many else "route"
            lines.append(f"{head}: {' - '.join([start, *names, start])}")
            if self.instance.window is not None:
                lines.append(f"times: {' - '.join(map(number, self._times[count - 1]))}")
        return lines or ["route: nobody leaves"]

    @cached_property
    def _times(self) -> list[list[float]]:
        return times(self.instance, self.solution)

    def _load(self, route: list[int]) -> float:
        known = [node for node in route if 0 <= node < self.instance.size]
        return 0.0 if self.instance.demand is None else float(self.instance.demand[known].sum())

    def _unserved_lines(self) -> list[str]:
        if not self.instance.kind.optional_stops or not self.unserved:
            return []
        failed = set(self.verdict.failed)
        names = [f"{self.instance.stop_name(node)}{' (late)' if node in failed else ''}" for node in self.unserved]
        return [f"not served: {', '.join(names)}"]

    def _violation_lines(self) -> list[str]:
        broken = [f"broken: {violation.text}" for violation in self.violations[:SHOWN_VIOLATIONS]]
        more = len(self.violations) - len(broken)
        return [*broken, f"broken: {more} more"] if more > 0 else broken

    def _origin(self) -> str:
        parts = [f"method {self.method}"]
        parts += [f"weights {self.weights}"] if self.weights else []
        parts += [self.decoding] if self.decoding else []
        return ", ".join([*parts, f"{self.seconds:.2f} s"])

    def _violation(self, broken: Violation) -> dict[str, Any]:
        stop = self.instance.stop_name(broken.node)
        return {"node": broken.node, "stop": stop, "kind": broken.kind, "amount": broken.amount, "text": broken.text}

    def _named(self, text: str) -> str:
        """The judge's `node 7` as `node 7 (harbour)` where the stops have names."""
        if self.instance.names is None:
            return text

        def label(match: re.Match[str]) -> str:
            node = int(match[1])
            return f"{match[0]} ({self.instance.stop_name(node)})" if node < self.instance.size else match[0]

        return re.sub(r"\bnode (\d+)\b", label, text, count=1)


def number(value: float) -> str:
    """Six significant digits, more for large numbers, and none after the point of a whole one."""
    if float(value).is_integer():
        return str(int(value))
    return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.1f}"
