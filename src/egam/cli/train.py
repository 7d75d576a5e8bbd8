"""`egam train`: a new run, or the rest of one that was stopped."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egam.cli.app import LARGEST_SEED, Json, Quiet, Variant, app
from egam.errors import BadInput
from egam.instance import kind_of

if TYPE_CHECKING:
    from egam.train.config import TrainConfig
    from egam.train.trainer import Trainer


@app.command()
def train(
    problem: Annotated[str, typer.Argument(help="What to learn; the config's problem if not given.")] = "",
    config: Annotated[str, typer.Option(help="cpu, paper, or a TOML file.")] = "cpu",
    size: Annotated[str, typer.Option(help="One N, or a range such as 20-50.")] = "",
    variant: Variant = "",
    method: Annotated[str, typer.Option(help="egam, gam, gatv2, pomo or symnco: sets what makes the method.")] = "",
    minutes: Annotated[float | None, typer.Option(help="Train for so long; the learning rate follows.")] = None,
    steps: Annotated[int | None, typer.Option(help="Train for so many steps.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value of the config; repeatable.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run's new folder [run-<problem><size>].")] = None,
    init: Annotated[str, typer.Option(help="Start from the weights of this folder.")] = "",
    resume: Annotated[Path | None, typer.Option(help="Continue the run of this folder.")] = None,
    or_resume: Annotated[bool, typer.Option("--or-resume", help="Continue if --out holds this very run.")] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps.")] = "",
    processes: Annotated[int, typer.Option(min=1, help="Share every batch among so many; on a CPU one per core.")] = 1,
    seed: Annotated[int | None, typer.Option(min=0, max=LARGEST_SEED)] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a network: a new run, or the rest of one that was stopped."""
    from egam.train.config import changed, read_config, with_settings

    given: dict[str, Any] = {"problem": problem, "size": size, "variant": variant, "method": method}
    given |= {"device": device, "seed": seed}
    given = {key: value for key, value in given.items() if value not in ("", None)} | _duration(minutes, steps)
    first = os.environ.get("RANK", "0") == "0"  # under torchrun one process speaks
    say = _speaker(first and not quiet, as_json)
    if resume is not None:
        barred: dict[str, Any] = {
            "PROBLEM": problem,
            "--size": size,
            "--variant": variant,
            "--method": method,
            "--seed": seed,
            "--set": settings,
        }
        barred |= {"--init": init, "--out": out, "--config": config if config != "cpu" else ""}
        barred |= {"--or-resume": or_resume or None}
        if named := [name for name, value in barred.items() if value not in ("", None, [])]:
            raise BadInput(f"{named[0]} cannot be given with --resume, which continues the run as it was begun")
        if not (resume / "config.toml").exists():
            raise BadInput(f"{resume}: holds no config.toml; the folder of an earlier `egam train` is expected")
        begun = changed(read_config(resume / "config.toml"), given, "--resume")

        def start(trainer: type[Trainer]) -> Trainer:
            return trainer.resumed(resume, given, say)
    else:
        begun = changed(read_config(config), given, "egam train")
        begun = with_settings(begun, _with_other_duration(settings or [])).checked()
        kind_of(begun.problem)
        kind = "" if begun.method == "egam" else f"-{begun.method}"
        folder = out or Path(f"run-{begun.problem}{begun.size}{kind}")
        there = or_resume and (folder / "config.toml").exists()
        if there:
            _same_run(read_config(folder / "config.toml"), begun, folder)

        def start(trainer: type[Trainer]) -> Trainer:
            return trainer.resumed(folder, say=say) if there else trainer.fresh(begun, folder, init, say)

    from egam.train.processes import Others

    with Others(processes, sys.argv[1:]):
        trainer = _trainer(begun, start)
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


def _same_run(before: TrainConfig, now: TrainConfig, folder: Path) -> None:
    """For --or-resume: a run is continued with the settings it was begun with, or not at all."""
    differing = [key for key, value in asdict(before).items() if value != getattr(now, key)]
    if differing:
        key = differing[0]
        raise BadInput(
            f"{folder}: holds a run with {key} = {getattr(before, key)!r}, and {getattr(now, key)!r} is asked for; "
            "--or-resume accepts the same settings, another --out any"
        )


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
