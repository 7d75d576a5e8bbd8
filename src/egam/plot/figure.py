"""Map and strip put together: `draw` on an axis of yours or on a new figure, `save` to a file.

Files are written whole or not at all, and the same solution gives the same bytes: no dates, no random ids, and none of
the user's own matplotlib settings. In SVG, text stays text.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egam.errors import BadInput, NotInstalled
from egam.files import write_atomically
from egam.instance import Instance
from egam.judge import Verdict, judge
from egam.plot.layout import Layout, lay_out
from egam.plot.route_map import draw_map, heading_height, legend_rows
from egam.plot.strip import draw_strip, has_strip, labels_height
from egam.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
NO_DATES = {".png": {"Software": "egam"}, ".svg": {"Date": None, "Creator": "egam"}, ".pdf": {"CreationDate": None}}
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "egam", "pdf.fonttype": 42, "figure.dpi": 100}
STRIP = 1.7  # inches
ONE_FILE = threading.Lock()  # matplotlib's settings are those of the whole process


def draw(
    instance: Instance,
    solution: Solution,
    ax: Axes | None = None,
    verdict: Verdict | None = None,
    title: str = "",
    strip: bool = True,
) -> Axes:
    """Draw the route map on `ax`, or on a new figure, and return its axis.

    With `strip`, problems that have windows, loads or prizes get them on a second axis, for which `ax` gives up its
    lower part. A `verdict` that is at hand saves judging again. Without a `title` the instance's name is the title.
    """
    _need_matplotlib()
    verdict = verdict or judge(instance, solution)
    layout = lay_out(instance)
    strip = strip and has_strip(instance)
    if ax is None:
        ax, below = _new_axes(instance, solution, verdict, layout, strip)
    else:
        below = _lower_part(ax) if strip else None
    draw_map(ax, instance, solution, verdict, layout, title)
    if below is not None:
        draw_strip(below, instance, solution, verdict)
    return ax


def save(
    path: str | Path,
    instance: Instance,
    solution: Solution,
    verdict: Verdict | None = None,
    title: str = "",
    strip: bool = True,
    dpi: int = 150,
) -> None:
    """Write the picture to a .png, .svg or .pdf file; `dpi` is the resolution of a PNG."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        found = f"ends in '{path.suffix}'" if path.suffix else "has no ending"
        raise BadInput(f"{path}: the name of the picture {found}; accepted are {', '.join(SUFFIXES)}")
    _need_matplotlib()
    import matplotlib.style

    with ONE_FILE, matplotlib.style.context(["default", STYLE]):
        figure: Any = draw(instance, solution, verdict=verdict, title=title, strip=strip).figure
        kind, about = suffix[1:], NO_DATES[suffix]
        write_atomically(path, lambda temporary: figure.savefig(temporary, format=kind, dpi=dpi, metadata=about))


def _need_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise NotInstalled("pictures need the package matplotlib; install it with: pip install 'egam[plot]'") from None


def _new_axes(
    instance: Instance, solution: Solution, verdict: Verdict, layout: Layout, strip: bool
) -> tuple[Axes, Axes | None]:
    """A figure as large as its parts need, all in inches."""
    from matplotlib.figure import Figure

    width = 7.2 if instance.size <= 100 else min(7.2 + (instance.size - 100) / 60, 10.0)
    left, right, bottom = 0.65, 0.25, 0.1
    map_width = width - left - right
    map_height = map_width / max(layout.shape, 0.8)
    below_map = 0.32 + 0.2 * legend_rows(instance, solution, verdict) + (0.12 if layout.aspect != 1.0 else 0)
    heading = heading_height(verdict) / 72 + 0.12
    below_strip = labels_height(instance) / 72 + 0.25
    strip_part = STRIP + 0.4 + below_strip if strip else 0.0  # with its legend above and its labels below
    height = bottom + strip_part + below_map + map_height + heading
    figure: Figure = Figure(figsize=(width, height), facecolor="white")
    map_bottom = bottom + strip_part + below_map
    ax = figure.add_axes((left / width, map_bottom / height, map_width / width, map_height / height))
    if not strip:
        return ax, None
    lower = (left / width, (bottom + below_strip) / height, map_width / width, STRIP / height)
    return ax, figure.add_axes(lower)


def _lower_part(ax: Axes) -> Axes:
    """A new axis in the lower part of the place of `ax`, which keeps the rest."""
    figure = ax.figure
    spec = ax.get_subplotspec()
    if spec is not None:
        engine = figure.get_layout_engine()  # one that makes room for the legend by itself?
        halves = spec.subgridspec(2, 1, height_ratios=(2.6, 1), hspace=0.4 if engine is None else 0.05)
        ax.set_subplotspec(halves[0])
        return figure.add_subplot(halves[1])
    place = ax.get_position(original=True)
    ax.set_position((place.x0, place.y0 + 0.42 * place.height, place.width, 0.58 * place.height))
    return figure.add_axes((place.x0, place.y0, place.width, 0.26 * place.height))
