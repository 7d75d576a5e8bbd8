"""An instance under construction: what a reader found in a file and in which lines, until it becomes an `Instance`.

All readers end here, so that they choose the problem, fold service times into travel, say what they left out and name
the line of a bad value in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from egam.errors import BadInput
from egam.instance import SCALARS, BadValue, Instance, kind_of
from egam.io.source import Source


@dataclass(frozen=True)
class Options:
    """What the caller of `read` says beside the file."""

    problem: str | None = None
    capacity: float | None = None
    min_prize: float | None = None
    matrix: Any = None  # [N, N] numbers
    stops: list[str] | None = None  # names of the matrix's rows
    speed: float | None = None  # units of length per unit of time
    measure: str | None = None  # "durations" or "distances" of an OSRM reply
    columns: Mapping[str, str] | None = None  # our name of a column -> its heading in the file
    ignore_columns: bool | None = None  # leave out columns that are not known

    def given(self) -> list[str]:
        """Names of the options that are set, the problem aside."""
        names = ("capacity", "min_prize", "matrix", "speed", "measure", "columns", "ignore_columns")
        return [name for name in names if getattr(self, name) is not None]


@dataclass
class Draft:
    """`fields` and `words` go by the names of Instance; `lines` by (field, node), or (field, None) for the whole."""

    source: Source
    problem: str  # what the file says it is
    fields: dict[str, Any] = field(default_factory=dict)
    name: str | None = None  # None: what the file is called
    names: list[str] | None = None
    geographic: bool = False
    rounding: str = ""
    service: np.ndarray | None = None  # [N] time that service takes
    notes: list[str] = field(default_factory=list)
    lines: dict[tuple[str, int | None], int] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)  # field -> what this format calls it
    label: Callable[[int], str] | None = None  # node -> what this file calls it

    def finish(self, asked: str | None) -> Instance:
        """The instance, as the problem that was asked for or the one the file says it is."""
        problem = asked or self.problem
        needed = kind_of(problem).fields
        for missing in (name for name in needed if name not in self.fields):
            wanted = ", ".join(self._word(name) for name in needed)
            raise self.source.bad(f"{self._word(missing)} is missing; {problem} needs {wanted}")
        unused = [name for name in self.fields if name not in ("coords", "matrix", *needed)]
        self._leave_out(unused, problem, knowingly=bool(asked))
        instance = self._instance(problem)
        if self.service is None or not self.service.any():
            return instance
        if "window" not in needed:
            return replace(instance, notes=(*instance.notes, f"service times are left out: {problem} has no clock"))
        return _with_service(instance, self.service)

    def _leave_out(self, unused: list[str], problem: str, knowingly: bool) -> None:
        for name in unused:
            if not knowingly:
                sentence = f"{self._word(name)} is given, but {problem} has no use for it"
                line = self._line(name, None) or self._line(name, 0)
                raise self.source.bad(f"{sentence}; name the problem to leave it out", line)
            del self.fields[name]
            self.notes.append(f"{self._word(name)} is left out: {problem} has no use for it")

    def _word(self, name: str) -> str:
        return self.words.get(name, name)

    def _instance(self, problem: str) -> Instance:
        try:
            return Instance(
                problem,
                name=self.source.stem if self.name is None else self.name,
                names=None if self.names is None else tuple(self.names),
                geographic=self.geographic,
                rounding=self.rounding,
                notes=tuple(self.notes),
                **self.fields,
            )
        except BadValue as error:
            raise self._located(error) from None
        except BadInput as error:
            raise self.source.bad(str(error)) from None

    def _located(self, error: BadValue) -> BadInput:
        label = ""
        if error.node is not None:
            name = f" ({self.names[error.node]})" if self.names else ""
            label = self.label(error.node) if self.label else f"node {error.node}{name}"
        text = error.text.replace("<node>", label)
        for name in SCALARS:
            text = text.replace(f"{name} ", f"{self._word(name)} ")
        return self.source.bad(text, self._line(error.field, error.node))

    def _line(self, name: str, node: int | None) -> int | None:
        return self.lines.get((name, node), self.lines.get((name, None)))


def _with_service(instance: Instance, service: np.ndarray) -> Instance:
    """Service at i makes every way that leaves i longer: the clock sees no difference."""
    matrix = instance.travel + service[:, None]
    note = f"service times, {service.sum():g} in all, are part of the travel times that leave a stop"
    return replace(instance, matrix=matrix, rounding="", notes=(*instance.notes, note))
