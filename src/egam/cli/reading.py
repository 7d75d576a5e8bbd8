"""Options that say how a user's file is to be read, shared by solve, judge and convert."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egam.errors import BadInput

if TYPE_CHECKING:
    from egam.instance import Instance

Problem = Annotated[
    str, typer.Option(help="tsp, atsp, cvrp, pctsp, tsptw, tspdl or vrptw; what the file says if not given.")
]
Capacity = Annotated[float | None, typer.Option(help="Of a vehicle, for CSV.")]
MinPrize = Annotated[float | None, typer.Option(help="To be collected, for CSV.")]
Matrix = Annotated[str, typer.Option(help="File with the travel costs, for CSV: an OSRM reply or a square of numbers.")]
Speed = Annotated[float | None, typer.Option(help="Length per unit of time (metres for lon, lat), for CSV.")]
Measure = Annotated[str, typer.Option(help="durations or distances of an OSRM reply.")]
Column = Annotated[
    list[str] | None, typer.Option("--column", help='Heading of a column, for CSV: demand="Order Qty"; repeatable.')
]
IgnoreColumns = Annotated[bool, typer.Option("--ignore-columns", help="Leave out unknown columns, for CSV.")]
Format = Annotated[
    str, typer.Option("--format", "--from", help="If it cannot be told: tsplib, solomon, csv, matrix, json or osrm.")
]


@dataclass(frozen=True)
class Reading:
    problem: str = ""
    format: str = ""
    capacity: float | None = None
    min_prize: float | None = None
    matrix: str = ""
    speed: float | None = None
    measure: str = ""
    column: list[str] | None = None
    ignore_columns: bool = False

    def read(self, path: str | Path) -> Instance:
        from egam.io import read

        return read(
            path,
            self.problem or None,
            format=self.format or None,
            capacity=self.capacity,
            min_prize=self.min_prize,
            matrix=self.matrix or None,
            speed=self.speed,
            measure=self.measure or None,
            columns=self._columns(),
            ignore_columns=self.ignore_columns,
        )

    def _columns(self) -> dict[str, str] | None:
        columns: dict[str, str] = {}
        for pair in self.column or ():
            name, sign, heading = pair.partition("=")
            if not (sign and name.strip() and heading.strip()) or name.strip() in columns:
                raise BadInput(f"--column is {pair!r}; a column and its heading are expected, once, such as demand=Qty")
            columns[name.strip()] = heading.strip()
        return columns or None
