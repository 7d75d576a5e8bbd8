"""The strip below a route map: what happens at each stop, in the order of visits.

Time windows with arrival, waiting and lateness; the load against the capacity or against each stop's draft limit; or
the prize collected so far. What broke a limit is red. Which of them is drawn follows from the fields an instance
carries. Needs a matplotlib axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from egam.instance import Instance
from egam.judge import Verdict
from egam.plot import colours
from egam.plot.layout import spread, stop_label
from egam.plot.route_map import known_routes, number, tick
from egam.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Style = dict[str, Any]
FONT = 6.5  # of the labels below the strip
LONGEST_LEVEL = 4  # letters of a label that is not turned
FAR_END = 1.5  # windows that close later than this many times the last event do not stretch the axis
NARROW = 0.06  # of the time span: windows that are mostly narrower than this are drawn from their opening on


def has_strip(instance: Instance) -> bool:
    return instance.window is not None or instance.demand is not None or instance.prize is not None


def draw_strip(ax: Axes, instance: Instance, solution: Solution, verdict: Verdict) -> None:
    routes = known_routes(instance, solution)
    visits = [node for route in routes for node in route]
    unvisited = list(verdict.unvisited) if instance.window is not None else []
    if instance.window is not None:
        _draw_windows(ax, instance, visits, unvisited, verdict)
    elif instance.draft_limit is not None:
        _draw_drafts(ax, instance, routes)
    elif instance.capacity is not None:
        _draw_loads(ax, instance, routes)
    elif instance.prize is not None:
        _draw_prizes(ax, instance, routes)
    _draw_borders(ax, routes, unvisited)
    _draw_frame(ax, instance, [*visits, *unvisited], verdict)
    order = "stops in the order of visits" + (", then those not visited" if unvisited else "")
    ax.set_xlabel(order, fontsize=7.5, color=colours.INK, labelpad=2)


def longest_name(instance: Instance) -> int:
    """Letters of the longest label of a stop."""
    return max(len(stop_label(instance, node)) for node in range(1, instance.size))


def labels_height(instance: Instance) -> float:
    """In points, of the labels below the strip."""
    longest = longest_name(instance)
    return 1.3 * FONT if longest <= LONGEST_LEVEL else 0.62 * FONT * longest


def _thickness(ax: Axes, count: int) -> float:
    """Of a bar, in points."""
    return float(np.clip(0.55 * _width(ax) / max(count, 1), 0.8, 9))


def _width(ax: Axes) -> float:
    return ax.get_window_extent().width * 72 / ax.figure.dpi


# ---- time -------------------------------------------------------------------------------------------------------


def _draw_windows(ax: Axes, instance: Instance, visits: list[int], unvisited: list[int], verdict: Verdict) -> None:
    """Against the clock; narrow windows, which would be hard to see there, each from its own opening on."""
    assert instance.window is not None
    nodes = [*visits, *unvisited]
    narrow = _are_narrow(instance, verdict)
    origin = instance.window[nodes, 0] if narrow else np.zeros(len(nodes))
    opens, closes = instance.window[nodes].T - origin
    arrival = np.array(verdict.arrivals) - origin[: len(visits)]
    low, high = _relative_limits(opens, closes, arrival) if narrow else _clock_limits(instance, arrival)
    bar = _thickness(ax, len(nodes))
    x, seen = np.arange(1, len(nodes) + 1), len(visits)
    style: Style
    if visits:
        style = {"colors": colours.WINDOW, "linewidth": bar, "gid": "window"}
        ax.vlines(x[:seen], opens[:seen], closes[:seen], label="window", **style)
    if unvisited:
        style = {"colors": "#CFCFCF", "linewidth": bar, "gid": "unvisited window"}
        ax.vlines(x[seen:], opens[seen:], closes[seen:], label="window, not visited", **style)
    _draw_arrivals(ax, arrival, opens[:seen], closes[:seen], np.isin(visits, verdict.failed), bar, low)
    ax.set_ylim(low, high)
    _name(ax, "time after opening" if narrow else "time")


def _draw_arrivals(
    ax: Axes, arrival: np.ndarray, opens: np.ndarray, closes: np.ndarray, late: np.ndarray, bar: float, low: float
) -> None:
    x = np.arange(1, len(arrival) + 1)
    style: Style
    if (waits := arrival < opens).any():
        style = {"colors": colours.FAINT, "linewidth": max(0.25 * bar, 0.6)}
        ax.vlines(x[waits], np.maximum(arrival, low)[waits], opens[waits], label="waiting", gid="waiting", **style)
    size = float(np.clip(bar, 2, 5)) ** 2
    early, inside = arrival < low, ~late & (arrival >= low)
    dots: Style = {"s": size, "zorder": 3, "linewidths": 0}
    if inside.any():
        ax.scatter(x[inside], arrival[inside], c=colours.INK, label="arrival", gid="arrival", **dots)
    if early.any():
        bottom = np.full(int(early.sum()), low)
        style = {"c": colours.INK, "marker": "v", "clip_on": False, "gid": "early arrival"}
        ax.scatter(x[early], bottom, label="earlier arrival", **style, **dots)
    if late.any():
        style = {"colors": colours.FAILED, "linewidth": max(0.5 * bar, 1)}
        ax.vlines(x[late], closes[late], arrival[late], label="late", gid="late", **style)
        cross: Style = {"s": 2 * size, "c": colours.FAILED, "marker": "X", "linewidths": 0, "zorder": 4}
        ax.scatter(x[late], arrival[late], gid="late arrival", **cross)


def _are_narrow(instance: Instance, verdict: Verdict) -> bool:
    assert instance.window is not None
    opens, closes = instance.window[1:].T
    span = max([*opens, *verdict.arrivals]) - float(instance.window[0, 0])
    return float(np.median(closes - opens)) < NARROW * span


def _clock_limits(instance: Instance, arrival: np.ndarray) -> tuple[float, float]:
    assert instance.window is not None
    first = float(instance.window[0, 0])
    events = [first, *arrival, *instance.window[1:, 0]]
    closes = instance.window[1:, 1]
    near = closes[closes - first <= FAR_END * (max(events) - first)]
    low, high = min(events), max([*events, *near])
    return low - 0.04 * (high - low or 1.0), high + 0.06 * (high - low or 1.0)


def _relative_limits(opens: np.ndarray, closes: np.ndarray, arrival: np.ndarray) -> tuple[float, float]:
    """Long waiting is cut off below, so that the windows stay visible."""
    widest = float(np.quantile(closes, 0.95))
    high = max([widest, *arrival])
    low = max(min([0.0, *arrival]), -2 * widest)
    return low - 0.08 * (high - low or 1.0), high + 0.08 * (high - low or 1.0)


# ---- load and prize ---------------------------------------------------------------------------------------------


def _draw_drafts(ax: Axes, instance: Instance, routes: list[list[int]]) -> None:
    """What may not be reached at a stop is shaded from its limit upwards."""
    assert instance.draft_limit is not None and instance.demand is not None
    visits = [node for route in routes for node in route]
    top = 1.08 * max(float(instance.demand.sum()), 1e-9)
    x, limit = np.arange(1, len(visits) + 1), instance.draft_limit[visits]
    low = limit < top
    style: Style = {"color": "#DDDDDD", "linewidth": 0, "gid": "limit"}
    ax.bar(x[low], top - limit[low], 1.0, limit[low], label="above the draft limit", **style)
    _draw_steps(ax, instance.demand, routes, instance.draft_limit)
    ax.set_ylim(0, top)
    _name(ax, "load on leaving")


def _draw_loads(ax: Axes, instance: Instance, routes: list[list[int]]) -> None:
    assert instance.capacity is not None and instance.demand is not None
    ax.axhline(instance.capacity, color=colours.INK, linewidth=0.8, linestyle="--", gid="capacity")
    _draw_steps(ax, instance.demand, routes, np.full(instance.size, instance.capacity))
    heaviest = max((float(instance.demand[route].sum()) for route in routes), default=0.0)
    ax.plot([], [], color=colours.INK, linewidth=0.8, linestyle="--", label=f"capacity {number(instance.capacity)}")
    ax.set_ylim(0, 1.1 * max(heaviest, instance.capacity))
    _name(ax, "load on the route")


def _draw_prizes(ax: Axes, instance: Instance, routes: list[list[int]]) -> None:
    assert instance.prize is not None and instance.min_prize is not None
    needed = f"needed {number(instance.min_prize)}"
    ax.axhline(instance.min_prize, color=colours.INK, linewidth=0.8, linestyle="--", label=needed, gid="min prize")
    _draw_steps(ax, instance.prize, routes, np.full(instance.size, np.inf))
    collected = max((float(instance.prize[route].sum()) for route in routes), default=0.0)
    ax.set_ylim(0, 1.1 * max(collected, instance.min_prize))
    _name(ax, "prize so far")


def _draw_steps(ax: Axes, amount: np.ndarray, routes: list[list[int]], limit: np.ndarray) -> None:
    """A running sum per route, one step per stop, red where it is above the stop's limit."""
    first = 1
    many = sum(1 for route in routes if route) > 1
    for index, route in enumerate(routes):
        if not route:
            continue
        total = np.cumsum(amount[route])
        colour = colours.route_style(index)[0] if many else colours.SERVED
        edges = np.arange(first, first + len(route) + 1) - 0.5
        over = total > limit[route] * (1 + 1e-9)
        ax.stairs(total, edges, fill=True, color=colour, alpha=0.3, gid=f"load-{index + 1}")
        ax.stairs(total, edges, color=colour, linewidth=1.1)
        if over.any():
            x = np.arange(first, first + len(route))[over]
            low, high = limit[route][over], total[over]
            ax.bar(x, high - low, 1.0, low, color=colours.FAILED, linewidth=0, gid="too much", label="_")
        first += len(route)
    if any(artist.get_gid() == "too much" for artist in ax.patches):
        ax.plot([], [], color=colours.FAILED, linewidth=6, label="too much")


# ---- frame ------------------------------------------------------------------------------------------------------


def _name(ax: Axes, what: str) -> None:
    """What the strip shows, above its left end: beside the ticks it would move with their width."""
    ax.set_title(what, loc="left", fontsize=7.5, color=colours.INK, pad=4)


def _draw_borders(ax: Axes, routes: list[list[int]], unvisited: list[int]) -> None:
    """Between routes, and before what is not visited."""
    ends = np.cumsum([len(route) for route in routes if route]).tolist()
    for end in ends if unvisited else ends[:-1]:
        ax.axvline(end + 0.5, color="#BBBBBB", linewidth=0.6, linestyle=":", gid="border")


def _draw_frame(ax: Axes, instance: Instance, nodes: list[int], verdict: Verdict) -> None:
    urgent = {*verdict.failed, *(violation.node for violation in verdict.violations)}
    names = [stop_label(instance, node) for node in nodes]
    longest = longest_name(instance)
    turned = longest > LONGEST_LEVEL
    apart = 1.25 * FONT if turned else (longest + 1) * 0.62 * FONT
    first = [which for which, node in enumerate(nodes) if node in urgent]
    shown = spread(len(nodes), int(_width(ax) / apart), first)
    ax.set_xticks([which + 1 for which in shown])
    ax.set_xticklabels([names[which] for which in shown], parse_math=False, rotation=90 if turned else 0)
    ax.set_xlim(0.4, max(len(nodes), 1) + 0.6)
    ax.tick_params(labelsize=FONT, colors=colours.INK, length=2, pad=2)
    for which, text in zip(shown, ax.get_xticklabels(), strict=True):
        text.set_color(colours.FAILED if nodes[which] in urgent else colours.INK)
    ax.yaxis.set_major_formatter(tick)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        place: Style = {"loc": "lower right", "bbox_to_anchor": (1, 1.0), "borderaxespad": 0.0, "ncols": len(handles)}
        ax.legend(handles, labels, **place, frameon=False, fontsize=7, handlelength=1.4, columnspacing=1.2)
