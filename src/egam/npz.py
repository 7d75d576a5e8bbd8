"""Our .npz files: named arrays, and `about`, a JSON string that says what they are. Never a pickle."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from egam.errors import BadInput


def read_npz(path: Path, needed: tuple[str, ...]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the description, which must have the `needed` keys."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop("about")))
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except (OSError, ValueError, EOFError, KeyError, TypeError, AttributeError, zipfile.BadZipFile):
        raise BadInput(f"{path}: not an .npz file of ours: arrays and a description 'about' are expected") from None
    if not isinstance(about, dict) or not set(needed) <= set(about):
        raise BadInput(f"{path}: its description must have {', '.join(needed)}")
    return arrays, about
