"""The command line: options in, numbers out. What the commands do lives elsewhere; torch is imported inside them.

Results go to stdout (with --json nothing else does), everything else to stderr. Exit codes: 0 fine, 1 internal, 2 bad
input, 3 something is not installed, 128 + n after signal n.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egam import __version__
from egam.errors import BadInput, EgamError
from egam.instance import kind_of

if TYPE_CHECKING:
    from egam.bench.datasets import Dataset
    from egam.problems.base import Problem
    from egam.train.config import TrainConfig
    from egam.train.trainer import Trainer

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Learn to solve routing problems with EGAM: generate, train, eval, doctor.",
)
LARGEST_SEED = 2**32 - 1

Variant = Annotated[str, typer.Option(help="Of the problem; its default one if not given.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout and nothing else there.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def main() -> int:
    """Run, and turn whatever goes wrong into one sentence and an exit code."""
    try:
        return int(app(prog_name="egam", standalone_mode=False) or 0)
    except EgamError as error:
        return _failed(str(error), error.exit_code, error)
    except KeyboardInterrupt:
        return _failed("interrupted", 130)
    except typer.Abort:
        return _failed("aborted", 130)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _failed(f"{where}{error.strerror or error}", 1, error)
    except Exception as error:
        if hasattr(error, "format_message"):  # click's, which some versions of typer carry inside
            said = error.format_message().strip() or "a command is missing; see egam --help"
            return _failed(said, getattr(error, "exit_code", 2))
        hint = "" if os.environ.get("EGAM_TRACEBACK") else " (set EGAM_TRACEBACK=1 for the traceback)"
        return _failed(f"internal error: {type(error).__name__}: {error}{hint}", 1, error)


def _failed(sentence: str, code: int, error: BaseException | None = None) -> int:
    if error is not None and os.environ.get("EGAM_TRACEBACK"):
        import traceback

        traceback.print_exception(error)
    print(f"egam: {' '.join(sentence.split())}", file=sys.stderr)
    return code


def _version(wanted: bool) -> None:
    if wanted:
        print(f"egam {__version__}")
        raise typer.Exit()


@app.callback()
def _egam(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


# ---- generate ---------------------------------------------------------------------------------------------------


@app.command()
def generate(
    problem: Annotated[str, typer.Argument(help="tsp, atsp, cvrp, pctsp, tsptw, tspdl or vrptw.")],
    size: Annotated[int, typer.Option(help="Nodes, or customers where there is a depot, as the literature counts.")],
    out: Annotated[Path, typer.Option(help="The .npz to write.")],
    variant: Variant = "",
    count: Annotated[int, typer.Option(help="Instances.")] = 1000,
    seed: Annotated[
        int | None, typer.Option(min=0, max=LARGEST_SEED, help="1234 if not given; the public sets' own with --public.")
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="The public test set, number for number.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write random instances, or the first ones of a public test set, to a file."""
    kind_of(problem)
    if out.exists() and not force:
        raise BadInput(f"{out}: exists already; name another file, or overwrite it with --force")
    from egam.bench import datasets
    from egam.problems import get_problem

    chosen = get_problem(problem, variant)
    if public:
        dataset = datasets.public(chosen, size, count, seed)
    else:
        dataset = datasets.seeded(chosen, size, count, datasets.SEED if seed is None else seed)
    command = shlex.join(["egam", *sys.argv[1:]])
    datasets.write(out, dataset, {"seed": seed, "command": command}, force)
    if as_json:
        print(json.dumps({"file": str(out), **_about(dataset)}))
    elif not quiet:
        print(f"{out}: {dataset}")


def _about(dataset: Dataset) -> dict[str, Any]:
    return {
        "problem": dataset.problem,
        "variant": dataset.variant,
        "size": dataset.size,
        "count": dataset.count,
        "set": dataset.origin,
    }


# ---- train ------------------------------------------------------------------------------------------------------


@app.command()
def train(
    problem: Annotated[str, typer.Argument(help="What to learn; the config's problem if not given.")] = "",
    config: Annotated[str, typer.Option(help="cpu, paper, or a TOML file.")] = "cpu",
    size: Annotated[str, typer.Option(help="One N, or a range such as 20-50.")] = "",
    variant: Variant = "",
    minutes: Annotated[float | None, typer.Option(help="Train for so long; the learning rate follows.")] = None,
    steps: Annotated[int | None, typer.Option(help="Train for so many steps.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value of the config; repeatable.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run's new folder [run-<problem><size>].")] = None,
    init: Annotated[str, typer.Option(help="Start from the weights of this folder.")] = "",
    resume: Annotated[Path | None, typer.Option(help="Continue the run of this folder.")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps.")] = "",
    seed: Annotated[int | None, typer.Option(min=0, max=LARGEST_SEED)] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a network: a new run, or the rest of one that was stopped."""
    from egam.train.config import changed, read_config, with_settings

    given: dict[str, Any] = {"problem": problem, "size": size, "variant": variant, "device": device, "seed": seed}
    given = {key: value for key, value in given.items() if value not in ("", None)} | _duration(minutes, steps)
    first = os.environ.get("RANK", "0") == "0"  # under torchrun one process speaks
    say = _speaker(first and not quiet, as_json)
    if resume is not None:
        barred: dict[str, Any] = {
            "PROBLEM": problem,
            "--size": size,
            "--variant": variant,
            "--seed": seed,
            "--set": settings,
        }
        barred |= {"--init": init, "--out": out, "--config": config if config != "cpu" else ""}
        if named := [name for name, value in barred.items() if value not in ("", None, [])]:
            raise BadInput(f"{named[0]} cannot be given with --resume, which continues the run as it was begun")
        if not (resume / "config.toml").exists():
            raise BadInput(f"{resume}: holds no config.toml; the folder of an earlier `egam train` is expected")
        begun = changed(read_config(resume / "config.toml"), given, "--resume")
        trainer = _trainer(begun, lambda trainer: trainer.resumed(resume, given, say))
    else:
        begun = changed(read_config(config), given, "egam train")
        begun = with_settings(begun, _with_other_duration(settings or [])).checked()
        kind_of(begun.problem)
        folder = out or Path(f"run-{begun.problem}{begun.size}")
        trainer = _trainer(begun, lambda trainer: trainer.fresh(begun, folder, init, say))
    stopped = _watch(trainer, first and not quiet and not as_json)
    if first:
        _report(trainer, stopped, as_json, quiet)
    if stopped:
        raise typer.Exit(128 + stopped)


def _duration(minutes: float | None, steps: int | None) -> dict[str, Any]:
    """Either budget replaces the config's."""
    if minutes is not None and steps is not None:
        raise BadInput("--minutes and --steps are both given; a run ends by one of them")
    if minutes is not None:
        return {"minutes": minutes, "steps": 0}
    return {"steps": steps, "minutes": 0.0} if steps is not None else {}


def _with_other_duration(settings: list[str]) -> list[str]:
    """`--set steps=…` replaces a config's minutes, and the other way round."""
    keys = {setting.partition("=")[0].strip() for setting in settings}
    if ("steps" in keys) == ("minutes" in keys):
        return settings
    return [*settings, "minutes=0" if "steps" in keys else "steps=0"]


def _speaker(speaks: bool, to_stderr: bool) -> Callable[[str], Any]:
    if not speaks:
        return lambda text: None
    return lambda text: print(text, file=sys.stderr if to_stderr else sys.stdout, flush=True)


def _trainer(config: TrainConfig, start: Callable[[type[Trainer]], Trainer]) -> Trainer:
    if config.device == "cpu":
        from egam.machine import keep_pages

        keep_pages()
    from egam.train.trainer import Trainer

    return start(Trainer)


def _watch(trainer: Trainer, shows: bool) -> int:
    """Train; on a terminal with a bar below the report lines."""
    if not (shows and sys.stdout.isatty()):
        return trainer.train()
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("left"), transient=True) as bar:
        task = bar.add_task("training", total=1.0)
        trainer.say = lambda text: bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        return trainer.train(lambda now: bar.update(task, completed=min(now.progress, 1.0)))


def _report(trainer: Trainer, stopped: int, as_json: bool, quiet: bool) -> None:
    folder = shlex.quote(str(trainer.folder))
    if as_json:
        minutes = trainer.seconds / 60
        print(json.dumps({"folder": str(trainer.folder), "steps": trainer.step, "minutes": minutes, "signal": stopped}))
    if stopped:
        print(f"egam: stopped by signal {stopped}; continue with: egam train --resume {folder}", file=sys.stderr)
    elif not quiet and not as_json:
        print(f"weights: {trainer.folder / 'model.safetensors'} (and config.json beside it)")
        print(f"next:    egam eval {folder}")


# ---- eval -------------------------------------------------------------------------------------------------------


@app.command("eval")
def evaluate(
    weights: Annotated[Path, typer.Argument(help="The folder of a run, or of weights.")],
    public: Annotated[bool, typer.Option("--public", help="On the public test set.")] = False,
    data: Annotated[Path | None, typer.Option(help="On a file of egam generate.")] = None,
    size: Annotated[int | None, typer.Option(help="Of the instances; what was trained on if not given.")] = None,
    count: Annotated[int | None, typer.Option(help="Instances; 1000, or all of --data, if not given.")] = None,
    decode: Annotated[
        list[str] | None,
        typer.Option(help="greedy, sample:N, 8xN, 8xgreedy, starts or 8xstarts; repeatable. Greedy if not given."),
    ] = None,
    references: Annotated[Path | None, typer.Option(help="From python -m egam.bench.references, for gaps.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Of sampled solutions.")] = 0,
    memory: Annotated[float, typer.Option(help="GiB that decoding may use.")] = 4.0,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps.")] = "cpu",
    check: Annotated[bool, typer.Option("--check/--no-check", help="Score up to 100 solutions again.")] = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure a trained network on a test set; without --public or --data on one drawn from a fixed seed."""
    if public and data is not None:
        raise BadInput("--public and --data are both given; one test set is accepted")
    from egam.bench import datasets
    from egam.bench.evaluate import evaluate as measure
    from egam.bench.evaluate import usable
    from egam.decode.strategies import Decoding
    from egam.weights import load_model

    decodings = {text: Decoding.parse(text) for text in decode or ["greedy"]}
    folder = weights.parent if weights.name in ("model.safetensors", "config.json") else weights
    network, problem, about = load_model(folder)
    dataset = _dataset(problem, about, public, data, size, count)
    costs = datasets.read_references(references, dataset) if references else None
    network.to(usable(device))
    rows = {}
    for text, decoding in decodings.items():
        with _bar(text, dataset.count, not quiet and not as_json) as progress:
            most = 100 if check else 0
            found = measure(network, problem, dataset.arrays, decoding, costs, seed, memory, device, most, progress)
            rows[text] = asdict(found)
    if as_json:
        head = {"weights": str(folder), **_about(dataset), "seed": seed, "references": str(references or "") or None}
        print(json.dumps({**head, "results": [{"decode": text, **row} for text, row in rows.items()]}))
    else:
        _table(f"{folder}: {dataset}", rows)


def _dataset(
    problem: Problem, about: dict[str, Any], public: bool, data: Path | None, size: int | None, count: int | None
) -> Dataset:
    from egam.bench import datasets

    if data is not None:
        dataset = datasets.read(data)
        if dataset.problem != problem.name:
            raise BadInput(f"{data}: holds {dataset.problem}; the weights are for {problem.name}")
        if size not in (None, dataset.size):
            raise BadInput(f"{data}: holds instances of size {dataset.size}, not {size}")
        if count is not None and not 1 <= count <= dataset.count:
            raise BadInput(f"{data}: holds {dataset.count} instances; --count {count} cannot be taken from them")
        return dataset.first(count or dataset.count)
    if size is None:
        trained = about.get("trained")
        last = str(trained.get("size", "") if isinstance(trained, dict) else "").rpartition("-")[2]
        if not last.isdigit():
            raise BadInput("the weights do not say what size they were trained on; give one with --size")
        size = int(last)
    make = datasets.public if public else datasets.seeded
    return make(problem, size, 1000 if count is None else count)


@contextmanager
def _bar(text: str, total: int, shows: bool) -> Iterator[Callable[[int], Any]]:
    """A progress bar on a terminal's stderr, else nothing."""
    if not (shows and sys.stderr.isatty()):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=total)
        yield lambda done: bar.advance(task, done)


def _table(title: str, rows: dict[str, dict[str, Any]]) -> None:
    from rich.table import Table

    def shown(value: float | None, form: str) -> str:
        return "–" if value is None else format(value, form)

    table = Table(title=title, title_justify="left")
    for column in ("decode", "cost", "± 95 %", "infeasible %", "feasible", "reference", "gap %", "seconds", "ms each"):
        table.add_column(column, justify="left" if column == "decode" else "right")
    for text, row in rows.items():
        table.add_row(
            text,
            shown(row["cost"], ".4f"),
            shown(row["cost_ci95"], ".4f"),
            f"{row['infeasible_percent']:.2f}",
            f"{row['feasible']} of {row['count']}",
            shown(row["reference_cost"], ".4f"),
            shown(row["gap_percent"], ".3f"),
            f"{row['seconds']:.2f}",
            f"{1000 * row['seconds_per_instance']:.2f}",
        )
    _console().print(table)
    row = next(iter(rows.values()))
    print(f"threads: {row['threads']}; solutions of each row that the judge scored again: {row['checked']}")


def _console() -> Any:
    """For tables: a file or a pipe gets the whole width."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=140)


# ---- doctor -----------------------------------------------------------------------------------------------------


@app.command()
def doctor(
    quick: Annotated[bool, typer.Option("--quick", help="Without measuring the matrix product.")] = False,
    as_json: Json = False,
) -> None:
    """Versions, threads, devices, and which optional packages are there."""
    from egam.doctor import facts

    found = facts(quick)
    if as_json:
        print(json.dumps(found))
        return
    from rich.table import Table

    table = Table(show_header=False, box=None)
    for name in ("egam", "python", "torch", "numpy", "platform"):
        table.add_row(name, found[name])
    threads = f"{found['threads']} on {found['cores']} cores"
    if found["OMP_NUM_THREADS"]:
        threads += f" (OMP_NUM_THREADS={found['OMP_NUM_THREADS']})"
    table.add_row("threads", threads)
    table.add_row("devices", ", ".join(found["devices"]))
    table.add_row("mallopt", "keeps freed pages" if found["mallopt"] else "not here; CPU training is a little slower")
    for name, package in found["packages"].items():
        state = "installed" if package["installed"] else f"missing: {package['install']}"
        table.add_row(name, f"{state} ({package['use']})")
    table.add_row("LKH", found["lkh"] or "not on PATH")
    if found["matmul_gflops"] is not None:
        table.add_row("matmul", f"{found['matmul_gflops']:.0f} GFLOP/s (float32, 2048³, best of 5)")
    _console().print(table, highlight=False, markup=False)


if __name__ == "__main__":
    sys.exit(main())
