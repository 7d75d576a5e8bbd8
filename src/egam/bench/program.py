"""The programs of this folder, `python -m egam.bench.NAME`, fail as `egam` does: one sentence and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from egam.errors import EgamError

P = ParamSpec("P")


def program(main: Callable[P, None]) -> Callable[P, int]:
    """`main` with an exit code: 0, or that of the error which ended it."""

    @wraps(main)
    def run(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            main(*args, **kwargs)
        except EgamError as error:
            print(f"egam: {error}", file=sys.stderr)
            return error.exit_code
        return 0

    return run
