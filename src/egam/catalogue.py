"""Which weights there are: those that come with the package, and any folder in the same layout. Nothing is loaded here.

A set of weights is a folder in Hugging Face's layout: model.safetensors, config.json, README.md (its card). The
package's own are in `pretrained/`, a folder's name is its name. `find` takes a name or a path; `choose` takes what is
to be solved and answers with the nearest weights. Reading the tensors is weights.py's part.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from egam.errors import BadInput, nearest
from egam.instance import kind_of

PRETRAINED = Path(__file__).parent / "pretrained"
FORMAT = 1
KEYS = {"format", "network", "problem", "variant", "shape", "sha256"}  # of every config.json


@dataclass(frozen=True)
class Entry:
    """One set of weights, as its config.json tells."""

    name: str  # of shipped weights; a path otherwise
    folder: Path
    problem: str
    variant: str
    network: str
    sizes: tuple[int, int] | None  # smallest and largest N trained on, counted as the literature does
    trained: dict[str, Any]
    config: dict[str, Any]

    @property
    def method(self) -> str:
        """The row of egam.methods that was trained; a network's own name where the run did not say."""
        return str(self.trained.get("method", self.network))

    @property
    def mask(self) -> str:
        """Which next nodes the network chose from when it was trained, and chooses from now (problems/base.MASKS)."""
        return str(self.config.get("mask", "paper"))

    @property
    def hint(self) -> str:
        """What the network's decoder is told (problems/base.py: CLOCKS, TOTALS)."""
        return str(self.config.get("hint", "paper"))

    @property
    def trained_on(self) -> str:
        """`tsptw-medium with N = 20-50`."""
        problem = f"{self.problem}-{self.variant}" if self.variant else self.problem
        if self.sizes is None:
            return problem
        low, high = self.sizes
        return f"{problem} with N = {low}" + (f"-{high}" if high > low else "")

    def distance(self, size: int) -> float:
        """How far a size is from those trained on, as the logarithm of their ratio; 0 within them."""
        if self.sizes is None:
            return math.inf
        low, high = self.sizes
        return math.log(low / size) if size < low else math.log(size / high) if size > high else 0.0

    @property
    def breadth(self) -> int:
        """How many sizes it was trained on."""
        return 0 if self.sizes is None else self.sizes[1] - self.sizes[0] + 1


def shipped(folder: Path = PRETRAINED) -> dict[str, Entry]:
    """All weights of the package by name."""
    configs = sorted(folder.glob("*/config.json"))
    return dict(_entries(tuple((path.parent, path.stat().st_mtime_ns) for path in configs)))


@lru_cache(maxsize=4)
def _entries(folders: tuple[tuple[Path, int], ...]) -> dict[str, Entry]:
    """By name; read again where a file has changed."""
    return {folder.name: entry_of(folder, folder.name) for folder, _ in folders}


def find(weights: str | Path) -> Entry:
    """Weights by name or path. A path may name the folder (that of a training run, too) or the file in it."""
    path = Path(weights)
    if path.name in ("model.safetensors", "config.json"):
        path = path.parent
    if (path / "config.json").exists():
        return entry_of(path, str(weights))
    if str(weights) == path.name and (PRETRAINED / path.name / "config.json").exists():
        return entry_of(PRETRAINED / path.name, path.name)
    names = list(shipped())
    raise BadInput(
        f"{weights}: holds no config.json and is no name of shipped weights{nearest(str(weights), names)}; "
        f"a folder written by `egam train` or one of {', '.join(names) or 'none'} is expected"
    )


def choose(problem: str, size: int, method: str = "egam") -> Entry:
    """The shipped weights of `method` for `problem` whose sizes are nearest to `size`; of equals, those of more sizes,
    which had the longer trainings."""
    kind_of(problem)
    entries = [entry for entry in shipped().values() if entry.problem == problem and entry.method == method]
    if not entries:
        train = f"egam train {problem}" + ("" if method == "egam" else f" --method {method}")
        raise BadInput(
            f"no weights of {method} for {problem} come with the package; train some with `{train}` "
            "and name their folder with weights"
        )
    return min(entries, key=lambda entry: (entry.distance(size), -entry.breadth, entry.name))


def entry_of(folder: Path, name: str) -> Entry:
    config = read_config(folder)
    trained = config.get("trained")
    trained = trained if isinstance(trained, dict) else {}
    return Entry(
        name=name,
        folder=folder,
        problem=config["problem"],
        variant=config["variant"],
        network=config["network"],
        sizes=_sizes(str(trained.get("size", ""))),
        trained=trained,
        config=config,
    )


def read_config(folder: Path) -> dict[str, Any]:
    """config.json, checked as far as this can be done without its network."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text())
    except FileNotFoundError:
        raise BadInput(f"{folder}: holds no config.json; a folder written by `egam train` is expected") from None
    except (json.JSONDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadInput(f"{path}: not readable as JSON: {error}") from None
    if not isinstance(config, dict) or not set(config) >= KEYS:
        raise BadInput(f"{path}: not a model description of ours; it must have {', '.join(sorted(KEYS))}")
    if config["format"] != FORMAT:
        raise BadInput(f"{path}: format {config['format']}; format {FORMAT} is expected")
    kind_of(config["problem"])
    return config


def _sizes(text: str) -> tuple[int, int] | None:
    """`20` or `20-50`."""
    first, _, last = text.partition("-")
    if not (first.isdigit() and (last or first).isdigit() and int(first) > 0):
        return None
    return int(first), max(int(first), int(last or first))
