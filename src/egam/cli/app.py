"""What all commands share: the app they register with, common options, errors as one sentence and an exit code.

Results go to stdout (with --json nothing else does), everything else to stderr. Exit codes: 0 fine, 1 internal, 2 bad
input, 3 something is not installed, 4 rules are broken (with --strict only), 128 + n after signal n.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egam import __version__
from egam.errors import EgamError

if TYPE_CHECKING:
    from egam.bench.datasets import Dataset

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Solve routing problems with EGAM, a neural network that learned to, or with classical solvers.",
)
LARGEST_SEED = 2**32 - 1
NOT_FEASIBLE = 4  # exit code

Variant = Annotated[str, typer.Option(help="Of the problem; its default one if not given.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout and nothing else there.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit code 4 if rules are broken.")]


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
    complain(sentence)
    return code


def complain(sentence: str) -> None:
    print(f"egam: {' '.join(sentence.split())}", file=sys.stderr)


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


def about_set(dataset: Dataset) -> dict[str, Any]:
    return {
        "problem": dataset.problem,
        "variant": dataset.variant,
        "size": dataset.size,
        "count": dataset.count,
        "set": dataset.origin,
    }


@contextmanager
def bar(text: str, total: int, shows: bool) -> Iterator[Callable[[int], Any]]:
    """A progress bar on a terminal's stderr, else nothing."""
    if not (shows and sys.stderr.isatty()):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(text, total=total)
        yield lambda done: shown.advance(task, done)


def console() -> Any:
    """For tables: a file or a pipe gets the whole width."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=140)
