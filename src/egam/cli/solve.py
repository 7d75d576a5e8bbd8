"""`egam solve`: files in, routes out. One file gives its routes, several give a table.

An answer that breaks rules is an answer: it says so, and the exit code is 0 (4 with --strict). A file that cannot be
read or solved does not stop the others; the exit code is then 2. Ctrl-C gives the best so far, and exit code 130.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egam.cli.app import LARGEST_SEED, NOT_FEASIBLE, Json, Quiet, Strict, app, bar, complain, console
from egam.cli.reading import Capacity, Column, Format, IgnoreColumns, Matrix, Measure, MinPrize, Problem, Reading, Speed
from egam.errors import BadInput, EgamError

if TYPE_CHECKING:
    from egam.instance import Instance
    from egam.result import Result

AFTER_CTRL_C = 130


@app.command()
def solve(
    files: Annotated[list[str], typer.Argument(help="TSPLIB, CVRPLIB, Solomon, CSV, JSON, OSRM; - is stdin.")],
    problem: Problem = "",
    capacity: Capacity = None,
    min_prize: MinPrize = None,
    matrix: Matrix = "",
    speed: Speed = None,
    measure: Measure = "",
    column: Column = None,
    ignore_columns: IgnoreColumns = False,
    format: Format = "",
    method: Annotated[str, typer.Option(help="egam, or a classical solver (see egam doctor).")] = "egam",
    samples: Annotated[int | None, typer.Option(help="Sampled solutions; 0: one greedy one; else by size.")] = None,
    decode: Annotated[
        str,
        typer.Option(
            help="Just this: greedy, 8xgreedy, [8x]distinct:N, sample:N, 8xN, [8x]starts; 8xN@T: temperature T."
        ),
    ] = "",
    time_limit: Annotated[float | None, typer.Option(help="Seconds to search, per instance.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Of what is random.")] = 0,
    weights: Annotated[str, typer.Option(help="A name (see egam weights) or a folder; else the nearest.")] = "",
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps.")] = "cpu",
    memory: Annotated[float, typer.Option(help="GiB that a network may use.")] = 6.0,
    plot: Annotated[str, typer.Option(help="Picture to write, .png .svg .pdf; of several files a folder.")] = "",
    out: Annotated[str, typer.Option(help="Routes to write, .sol .tour .json .geojson or -; a folder.")] = "",
    to: Annotated[str, typer.Option(help="Format of --out, where its name does not tell.")] = "",
    strict: Strict = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Solve your own instances: the routes of one file, a table of several."""
    how = How(method, samples, decode, time_limit, seed, weights, device, memory)
    targets = Targets(files, out, to, plot, says=not quiet).checked()
    if as_json and out == "-":
        raise BadInput("--out - and --json both write to standard output; one of them is accepted")
    work = Work(
        files,
        Reading(problem, format, capacity, min_prize, matrix, speed, measure, column, ignore_columns),
        how,
        targets,
    )
    if len(files) == 1:
        work.one(shows=not quiet)
    else:
        work.many(shows=not quiet)
    if out != "-":
        work.report(as_json)
    if work.interrupted:
        raise typer.Exit(AFTER_CTRL_C)
    if work.failed:
        raise typer.Exit(BadInput.exit_code)
    if strict and not all(result.feasible for result in work.results.values()):
        raise typer.Exit(NOT_FEASIBLE)


@dataclass(frozen=True)
class How:
    """Arguments of `egam.solve`."""

    method: str
    samples: int | None
    decode: str
    time_limit: float | None
    seed: int
    weights: str
    device: str
    memory: float

    def solve(self, instances: list[Instance], progress: Any = None) -> list[Result]:
        from egam.solve import solve

        return solve(
            instances,
            self.method,
            samples=self.samples,
            time_limit=self.time_limit,
            seed=self.seed,
            device=self.device,
            weights=self.weights or None,
            decoding=self.decode or None,
            memory=self.memory,
            progress=progress,
        )


@dataclass(frozen=True)
class Targets:
    """Where routes and pictures go: a file each, or with several instances a folder each."""

    files: list[str]
    out: str
    format: str
    plot: str
    says: bool

    def checked(self) -> Targets:
        """What would fail after a long search fails before it."""
        from egam.io import SOLUTION_FORMATS

        if self.format and self.format not in SOLUTION_FORMATS:
            raise BadInput(f"--to is '{self.format}'; accepted: {', '.join(SOLUTION_FORMATS)}")
        if self.format and not self.out:
            raise BadInput("--to is given without --out")
        if len(self.files) > 1:
            self._check_folders()
        if self.out == "-" and not self.format:
            raise BadInput(f"--out - needs --to; accepted: {', '.join(SOLUTION_FORMATS)}")
        suffixes = [suffix for form in SOLUTION_FORMATS.values() for suffix in form.suffixes]
        if len(self.files) == 1 and self.out not in ("", "-"):
            _check_suffix("--out", self.out, suffixes if not self.format else None)
        if self.plot:
            self._check_plot()
        return self

    def check(self, instance: Instance) -> None:
        """The same for what depends on the instance."""
        form = self.format or Path(self.out).suffix.lower().removeprefix(".")
        if self.out and form == "geojson":
            from egam.io.geojson import need_globe

            need_globe(instance)

    def _check_folders(self) -> None:
        for option, value in (("--out", self.out), ("--plot", self.plot)):
            if value == "-" or Path(value).suffix:
                raise BadInput(f"{option} is {value}, but there are {len(self.files)} files; a folder is expected")
        stems = [Path(file).stem for file in self.files]
        twice = next((stem for stem in stems if stems.count(stem) > 1), None)
        if twice is not None and (self.out or self.plot):
            raise BadInput(f"two files are called {twice}; their results cannot go to one folder")

    def _check_plot(self) -> None:
        from importlib.util import find_spec

        from egam.errors import NotInstalled
        from egam.plot import SUFFIXES

        if len(self.files) == 1:
            _check_suffix("--plot", self.plot, SUFFIXES)
        if find_spec("matplotlib") is None:
            raise NotInstalled("--plot needs the package matplotlib; install it with: pip install 'egam[plot]'")

    def write(self, file: str, result: Result) -> None:
        from egam.io import write_solution

        if self.out:
            form = self.format or ("sol" if len(self.files) > 1 else "")
            path = self._path(self.out, file, f".{form}")
            if path == "-":
                write_solution(result.solution, result.instance, path, form, result.cost)
            else:
                result.save(path, form or None)
                self._say(path)
        if self.plot:
            from egam.plot import save

            path = self._path(self.plot, file, ".png")
            save(path, result.instance, result.solution, result.verdict)
            self._say(path)

    def _path(self, given: str, file: str, suffix: str) -> str:
        if len(self.files) == 1:
            return given
        Path(given).mkdir(parents=True, exist_ok=True)
        return str(Path(given) / f"{Path(file).stem if file != '-' else 'stdin'}{suffix}")

    def _say(self, path: str) -> None:
        if self.says:
            print(f"wrote {path}", file=sys.stderr)


def _check_suffix(option: str, path: str, accepted: Any) -> None:
    if accepted is not None and Path(path).suffix.lower() not in accepted:
        raise BadInput(f"{option} is {path}; accepted are names that end in {', '.join(accepted)}")
    if not Path(path).parent.is_dir():
        raise BadInput(f"{option} is {path}, but there is no folder {Path(path).parent}")


class Work:
    """All files of one command."""

    def __init__(self, files: list[str], reading: Reading, how: How, targets: Targets):
        self.files, self.reading, self.how, self.targets = files, reading, how, targets
        self.results: dict[str, Result] = {}
        self.failed: dict[str, str] = {}
        self.interrupted = False

    def one(self, shows: bool) -> None:
        (file,) = self.files
        instance = self.reading.read(file)
        self.targets.check(instance)
        with waiting(f"solving {instance.name or file}", shows):
            (result,) = self.how.solve([instance])
        self._done(file, result)

    def many(self, shows: bool) -> None:
        """Those of equal problem and size together; what fails is told and left out."""
        groups: dict[Any, list[tuple[str, Instance]]] = {}
        for file in dict.fromkeys(self.files):
            try:
                instance = self.reading.read(file)
                self.targets.check(instance)
            except EgamError as error:
                self._failed(file, error)
            else:
                groups.setdefault((instance.problem, instance.size), []).append((file, instance))
        with bar("solving", len(self.files) - len(self.failed), shows) as progress:
            try:
                for group in groups.values():
                    self._group(group, progress)
            except KeyboardInterrupt:
                self.interrupted = True

    def _group(self, group: list[tuple[str, Instance]], progress: Any) -> None:
        if self.interrupted:
            return
        try:
            results = self.how.solve([instance for _, instance in group], progress)
        except EgamError as error:
            if len(group) == 1:
                self._failed(group[0][0], error)
                progress(1)
            else:  # one of them is to blame; which one shows when they are alone
                for member in group:
                    self._group([member], progress)
            return
        for (file, _), result in zip(group, results, strict=True):
            if result.begun:
                self._done(file, result)
        self.interrupted = any(result.interrupted for result in results)

    def _done(self, file: str, result: Result) -> None:
        self.results[file] = result
        self.interrupted = self.interrupted or result.interrupted
        self.targets.write(file, result)

    def _failed(self, file: str, error: EgamError) -> None:
        self.failed[file] = str(error)
        complain(str(error))

    # ---- what is printed ----------------------------------------------------------------------------------------

    def report(self, as_json: bool) -> None:
        if len(self.files) > 1:
            print(json.dumps(self._summary(), ensure_ascii=False)) if as_json else self._table()
        else:
            (result,) = self.results.values()
            print(result.to_json() if as_json else result)

    def _means(self) -> dict[str, Any]:
        costs = [result.cost for result in self.results.values() if result.feasible]
        alike = len({result.instance.problem for result in self.results.values()}) == 1  # else costs do not compare
        return {
            "solved": len(self.results),
            "feasible": len(costs),
            "cost": sum(costs) / len(costs) if costs and alike else None,
            "seconds": round(sum(result.seconds for result in self.results.values()), 3),
        }

    def _summary(self) -> dict[str, Any]:
        return {
            "results": [{"file": file, **result.to_dict()} for file, result in self._in_order()],
            "failed": [{"file": file, "error": sentence} for file, sentence in self.failed.items()],
            "means": self._means(),
        }

    def _in_order(self) -> list[tuple[str, Result]]:
        return [(file, self.results[file]) for file in dict.fromkeys(self.files) if file in self.results]

    def _table(self) -> None:
        from rich.table import Table

        from egam.result import number

        table = Table()
        for column in ("file", "problem", "nodes", "cost", "feasible", "seconds"):
            table.add_column(column, justify="left" if column in ("file", "problem") else "right")
        for file, result in self._in_order():
            kept = "yes" if result.feasible else f"no, {len(result.violations)} broken"
            cells = (file, result.instance.problem, str(result.instance.size), number(result.cost), kept)
            table.add_row(*cells, f"{result.seconds:.2f}")
        means = self._means()
        table.add_section()
        mean = "–" if means["cost"] is None else number(float(f"{means['cost']:.6g}"))
        feasible = f"{means['feasible']} of {means['solved']}"
        table.add_row("mean cost of feasible, total time", "", "", mean, feasible, f"{means['seconds']:.2f}")
        console().print(table, highlight=False, markup=False)
        notes: dict[str, int] = {}
        for _, result in self._in_order():
            for note in result.notes:
                notes[note] = notes.get(note, 0) + 1
        for note, count in notes.items():
            print(f"note{f' ({count} files)' if count > 1 else ''}: {note}", file=sys.stderr)


def waiting(text: str, shows: bool) -> Any:
    """A spinner on a terminal's stderr, else nothing."""
    from contextlib import nullcontext

    if not (shows and sys.stderr.isatty()):
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(f"{text} (Ctrl-C: best so far)")
