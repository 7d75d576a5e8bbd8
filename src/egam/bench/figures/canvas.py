"""What all figures share: paper to draw on, colours of methods, and a file that is written whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egam.errors import BadInput, NotInstalled
from egam.files import write_atomically
from egam.plot import SUFFIXES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#8F7A00", "#777777", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")


def paper(width: float, height: float) -> Figure:
    """An empty figure, in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise NotInstalled("figures need matplotlib; install it with: pip install 'egam[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def check_name(path: Path) -> None:
    """Before the work: is it a name that can be written?"""
    if path.suffix.lower() not in SUFFIXES:
        raise BadInput(f"{path}: a name that ends with {', '.join(SUFFIXES)} is expected")


def write(figure: Figure, path: Path) -> None:
    check_name(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = path.suffix.lower()[1:]
    about: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    write_atomically(path, lambda temporary: figure.savefig(temporary, format=kind, dpi=150, metadata=about))


def styles(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """A colour and a marker for each name, the same wherever the same names are drawn."""
    unique = list(dict.fromkeys(names))
    return {name: (COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]) for k, name in enumerate(unique)}


def quiet(axis: Any) -> None:
    """Only the lines that carry something."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(True, color="#E6E6E6", linewidth=0.7)
    axis.set_axisbelow(True)
