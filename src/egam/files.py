"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from safetensors import SafetensorError

from egam.errors import BadInput, EgamError


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in place; on failure nothing is left or changed."""
    if not path.parent.is_dir():
        raise BadInput(f"{path}: cannot be written, as there is no folder {path.parent}")
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        temporary = Path(name)
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except (OSError, SafetensorError) as error:
        raise EgamError(f"{path}: could not be written: {getattr(error, 'strerror', None) or error}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """The same for a text, with line ends as they are given."""

    def fill(temporary: Path) -> None:
        temporary.write_text(text, encoding="utf-8", newline="\n")

    write_atomically(path, fill)
