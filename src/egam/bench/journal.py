"""Work that survives a kill: one JSON line per finished piece, appended at once, read back by the next attempt.

The first line says what the work is; another attempt that says something else is refused. A line that a kill cut short
is dropped. While a process holds a journal no second one can: the two would do everything twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from egam.errors import BadInput, EgamError


class Journal:
    """Finished pieces by their key."""

    def __init__(self, file: IO[bytes], done: dict[str, Any]) -> None:
        self._file, self.done = file, done

    def add(self, key: str | int, piece: Any) -> None:
        """Remember a piece; it is with the operating system when this returns."""
        self._file.write(json.dumps([str(key), piece]).encode() + b"\n")
        self._file.flush()
        self.done[str(key)] = piece


@contextmanager
def opened(path: Path, work: dict[str, Any]) -> Iterator[Journal]:
    """The journal of `work` at `path`, new or continued."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        _hold(file, path)
        file.seek(0)
        lines, whole = [], 0
        for line in file:
            if not line.endswith(b"\n"):
                break
            lines.append(line)
            whole += len(line)
        file.truncate(whole)
        if not lines:
            file.write(json.dumps(work).encode() + b"\n")
            file.flush()
            yield Journal(file, {})
            return
        try:
            begun, done = json.loads(lines[0]), dict(json.loads(line) for line in lines[1:])
        except (ValueError, TypeError):
            raise BadInput(f"{path}: not a journal of ours; delete it to begin anew") from None
        _same_work(path, begun, work)
        yield Journal(file, done)


def _same_work(path: Path, begun: Any, work: dict[str, Any]) -> None:
    now = json.loads(json.dumps(work))
    if begun == now:
        return
    begun = begun if isinstance(begun, dict) else {}
    key = next(key for key in (*now, *begun) if begun.get(key) != now.get(key))
    raise BadInput(
        f"{path}: was begun with {key} {begun.get(key)!r}, now it is {now.get(key)!r}; "
        "go on with the same settings, or delete it to begin anew"
    )


def _hold(file: IO[bytes], path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: nobody is kept out
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise EgamError(f"{path}: another process is at this work right now") from None
