"""The route map: one marker per stop, one arrow per leg, labels where there is room, a legend below.

Green is the start, blue a served stop, red one that was reached too late or lies too deep, grey one that is not
visited, as in the paper's figures. Several routes have a colour each, and a number at their farthest stop. Where a rule
is broken there is a red ring, and the sentences stand above the map. Needs a matplotlib axis; judges nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from egam.instance import Instance
from egam.judge import Verdict, Violation
from egam.plot import colours
from egam.plot.layout import Layout, label_corner, limits, place_labels, same_places, stop_label
from egam.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SENTENCES = 3  # broken rules that are spelled out
LEGEND_ROUTES = 12  # routes that get a row in the legend; the numbers on the map name the others
ARC_OF_LINE, ARC_OF_PAIR = 0.6, 0.15  # curvature of legs where all stops are on a line, or the way back is travelled
COLUMNS, COLUMN = 5, 88.0  # of the legend: at most so many, each so many points wide
LETTER = 0.62, 1.25  # width and height of an average letter, in font sizes


@dataclass(frozen=True)
class Sizes:
    """In points; the more stops, the smaller."""

    radius: float
    line: float
    head: float
    font: float
    alpha: float  # of legs: where they are many, they step back behind the stops

    @classmethod
    def of(cls, stops: int) -> Sizes:
        radius = float(np.clip(5 * (20 / stops) ** 0.36, 1.3, 5))
        font = float(np.clip(4.2 + 0.75 * radius, 5.5, 8))
        return cls(radius, 0.45 + 0.17 * radius, 3 + 1.9 * radius, font, 0.9 if stops <= 100 else 0.7)


def known_routes(instance: Instance, solution: Solution) -> list[list[int]]:
    """The routes without nodes that do not exist, as the judge travels them."""
    return [[node for node in route if 0 <= node < instance.size] for route in solution.routes]


def draw_map(
    ax: Axes, instance: Instance, solution: Solution, verdict: Verdict, layout: Layout, title: str = ""
) -> None:
    sizes = Sizes.of(instance.size)
    routes = known_routes(instance, solution)
    coloured = instance.kind.many_routes and sum(1 for route in routes if route) > 1
    _set_limits(ax, layout)
    _draw_legs(ax, routes, layout, sizes, coloured)
    _draw_stops(ax, instance, routes, verdict, layout, sizes, coloured)
    _draw_rings(ax, verdict, layout, sizes)
    _draw_labels(ax, instance, routes, verdict, layout, sizes, coloured)
    _draw_frame(ax, instance, layout)
    _draw_legend(ax, instance, routes, coloured)
    _draw_heading(ax, instance, routes, verdict, title)


def _set_limits(ax: Axes, layout: Layout) -> None:
    box = ax.get_window_extent()
    xlim, ylim = limits(layout, box.width / box.height)
    ax.set_xlim(*xlim)
    ax.set_ylim(*ylim)
    ax.set_aspect(layout.aspect, adjustable="box")


# ---- legs -------------------------------------------------------------------------------------------------------


def _draw_legs(ax: Axes, routes: list[list[int]], layout: Layout, sizes: Sizes, coloured: bool) -> None:
    from matplotlib.patches import FancyArrowPatch

    spots = _points(ax, layout.positions)
    for number, route in enumerate(routes):
        colour, line, _ = colours.route_style(number) if coloured else (colours.INK, "-", "")
        for start, end, bend in _legs(route, routes, layout):
            shrink = sizes.radius * (1.3 if end == 0 else 1.0)
            room = np.linalg.norm(spots[end] - spots[start]) - shrink - sizes.radius > 0.4 * sizes.head
            home = coloured and 0 in (start, end)
            arrow = FancyArrowPatch(
                tuple(layout.positions[start]),
                tuple(layout.positions[end]),
                arrowstyle="-|>,head_length=0.4,head_width=0.17" if room else "-",
                connectionstyle=f"arc3,rad={bend}",
                mutation_scale=sizes.head,
                shrinkA=0,
                shrinkB=shrink if room else 0,
                color=colour,
                linewidth=sizes.line * (0.6 if home else 1.0),
                linestyle=line,
                alpha=0.6 if home else sizes.alpha,
                joinstyle="miter",
                capstyle="butt",
                zorder=1 if home else 2,
                gid=f"leg-{start}-{end}",
            )
            ax.add_artist(arrow)


def _legs(route: list[int], routes: list[list[int]], layout: Layout) -> list[tuple[int, int, float]]:
    """From, to and curvature of every leg between different places."""
    if not route:
        return []
    travelled = {pair for other in routes for pair in zip([0, *other], [*other, 0], strict=True)}
    legs = []
    for start, end in zip([0, *route], [*route, 0], strict=True):
        if not np.array_equal(layout.positions[start], layout.positions[end]):
            both_ways = ARC_OF_PAIR if (end, start) in travelled else 0.0
            legs.append((start, end, ARC_OF_LINE if layout.on_a_line else both_ways))
    return legs


# ---- stops ------------------------------------------------------------------------------------------------------


def _draw_stops(
    ax: Axes,
    instance: Instance,
    routes: list[list[int]],
    verdict: Verdict,
    layout: Layout,
    sizes: Sizes,
    coloured: bool,
) -> None:
    area = _areas(instance, sizes)
    x, y = layout.positions[0]
    size = (2.5 * sizes.radius) ** 2
    start: dict[str, Any] = {"edgecolors": "black", "linewidths": 0.8, "gid": "start", "label": _start_word(instance)}
    ax.scatter([x], [y], s=size, c=colours.START, marker="s", zorder=6, **start)

    def dots(nodes: list[int], colour: str, marker: str, larger: float, zorder: int, **more: Any) -> None:
        if nodes:
            xy = layout.positions[nodes]
            size = area[nodes] * larger
            edge: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.4, **more}
            ax.scatter(xy[:, 0], xy[:, 1], s=size, c=colour, marker=marker, zorder=zorder, **edge)

    if coloured:
        served = set(verdict.served)
        for number, route in enumerate(routes):
            colour, _, marker = colours.route_style(number)
            dots([node for node in route if node in served], colour, marker, 1.0, 4, gid=f"route-{number + 1}")
    else:
        dots(list(verdict.served), colours.SERVED, "o", 1.0, 4, gid="served", label=_served_word(instance))
    late = "too late" if instance.window is not None else "over its draft limit"
    dots(list(verdict.failed), colours.FAILED, "X", 1.5, 5, gid="failed", label=late)
    dots(list(verdict.unvisited), colours.UNVISITED, "o", 1.2, 3, gid="unvisited", label="not visited")


def _areas(instance: Instance, sizes: Sizes) -> np.ndarray:
    """Of the markers, in square points: the same for all stops, except that leaving some out may cost more."""
    plain = (2 * sizes.radius) ** 2
    if instance.penalty is None or not instance.penalty.max():
        return np.full(instance.size, plain)
    return plain * (0.35 + 1.65 * instance.penalty / instance.penalty.max())


def _served_word(instance: Instance) -> str:
    return "served in time" if instance.window is not None else "visited"


def _start_word(instance: Instance) -> str:
    return "depot" if instance.kind.many_routes else "start"


def _draw_rings(ax: Axes, verdict: Verdict, layout: Layout, sizes: Sizes) -> None:
    nodes = _ringed(verdict, len(layout.positions))
    if nodes:
        xy = layout.positions[nodes]
        size = (4.2 * sizes.radius) ** 2
        ring: dict[str, Any] = {"facecolors": "none", "edgecolors": colours.FAILED, "linewidths": 0.5 + sizes.line}
        ax.scatter(xy[:, 0], xy[:, 1], s=size, marker="o", zorder=7, gid="rule broken", **ring)
        hollow: dict[str, Any] = {"markerfacecolor": "none", "markeredgecolor": colours.FAILED, "markeredgewidth": 1.5}
        ax.plot([], [], linestyle="", marker="o", markersize=9, label="rule broken", **hollow)


def _ringed(verdict: Verdict, size: int) -> list[int]:
    """Stops where a rule is broken that their own marker does not tell."""
    nodes = {violation.node for violation in verdict.violations} - set(verdict.failed)
    return sorted(node for node in nodes if 0 < node < size)


# ---- labels -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Label:
    node: int
    text: str
    badge: str = ""  # colour of a route's number; "" for a stop's name


def _draw_labels(
    ax: Axes,
    instance: Instance,
    routes: list[list[int]],
    verdict: Verdict,
    layout: Layout,
    sizes: Sizes,
    coloured: bool,
) -> None:
    labels = _labels(instance, routes, verdict, layout, coloured)
    spots = _points(ax, layout.positions)
    extents = np.array([_extent(label, sizes) for label in labels])
    box = ax.get_window_extent()
    frame = (box.width * 72 / ax.figure.dpi, box.height * 72 / ax.figure.dpi)
    lines = _along(spots, routes, layout, sizes)
    at = spots[[label.node for label in labels]]
    ringed = set(_ringed(verdict, instance.size))
    radii = np.array([_radius(label.node, ringed, sizes) for label in labels])
    most_crossed = np.inf if instance.size <= 30 else 6.0
    places = place_labels(at, extents, radii, spots, sizes.radius, lines, frame, most_crossed)
    for label, extent, spot, radius, direction in zip(labels, extents, at, radii, places, strict=True):
        if direction is None:
            continue
        corner = label_corner(spot, extent, radius, direction) - spot
        side = (1 - direction[0]) / 2  # 0: the label starts at the corner, 1: it ends at the other one
        inwards = direction[0] * 0.2 * sizes.font
        box_style = {"boxstyle": "round,pad=0.12", "facecolor": label.badge or "white", "edgecolor": "none"}
        ax.annotate(
            label.text,
            tuple(layout.positions[label.node]),
            (corner[0] + side * extent[0] + inwards, corner[1] + extent[1] / 2),
            textcoords="offset points",
            ha=("left", "center", "right")[1 - direction[0]],
            va="center_baseline",
            fontsize=sizes.font,
            fontweight="bold" if label.badge else "normal",
            color="white" if label.badge else colours.INK,
            parse_math=False,
            bbox=box_style | {"alpha": 1.0 if label.badge else 0.6},
            zorder=8,
            annotation_clip=True,
        )


def _labels(
    instance: Instance, routes: list[list[int]], verdict: Verdict, layout: Layout, coloured: bool
) -> list[Label]:
    """Most important first: it finds room before the others."""
    away = np.linalg.norm(layout.positions - layout.positions[0], axis=1)
    badges = []
    for number, route in enumerate(routes):
        if coloured and route:
            farthest = max(route, key=lambda node: away[node])
            badges.append(Label(farthest, str(number + 1), colours.route_style(number)[0]))
    urgent = {0, *verdict.failed, *(violation.node for violation in verdict.violations)}
    groups = sorted(same_places(layout.positions), key=lambda nodes: (urgent.isdisjoint(nodes), nodes[0] != 0))
    return [*badges, *(Label(nodes[0], _together(instance, nodes)) for nodes in groups)]


def _together(instance: Instance, nodes: list[int]) -> str:
    shown = [stop_label(instance, node) for node in nodes[:4]]
    return ", ".join(shown) + (f" +{len(nodes) - 4}" if len(nodes) > 4 else "")


def _extent(label: Label, sizes: Sizes) -> tuple[float, float]:
    return (len(label.text) + 0.7) * LETTER[0] * sizes.font, LETTER[1] * sizes.font


def _radius(node: int, ringed: set[int], sizes: Sizes) -> float:
    """Of the disc around a stop that its own label keeps away from."""
    return sizes.radius * (2.3 if node in ringed else 1.8 if node == 0 else 1.35)


def _points(ax: Axes, positions: np.ndarray) -> np.ndarray:
    """Data to points from the axis' lower left corner."""
    box = ax.get_window_extent()
    return (ax.transData.transform(positions) - [box.x0, box.y0]) * 72 / ax.figure.dpi


def _along(spots: np.ndarray, routes: list[list[int]], layout: Layout, sizes: Sizes) -> np.ndarray:
    """Points every 4 points along all legs, and many more at the arrow heads, which must be seen."""
    pieces = [np.empty((0, 2))]
    for route in routes:
        for start, end, bend in _legs(route, routes, layout):
            leg = spots[end] - spots[start]
            length = max(float(np.linalg.norm(leg)), 1e-9)
            bulge = (spots[start] + spots[end]) / 2 + bend * np.array([leg[1], -leg[0]])  # as matplotlib's arc3
            t = np.linspace(0, 1, int(length // 4) + 2)[:, None]
            pieces.append((1 - t) ** 2 * spots[start] + 2 * t * (1 - t) * bulge + t**2 * spots[end])
            ahead = (spots[end] - bulge) / max(float(np.linalg.norm(spots[end] - bulge)), 1e-9)
            aside = np.array([-ahead[1], ahead[0]]) * 0.22 * sizes.head
            head = spots[end] - ahead * (sizes.radius + np.linspace(0, 0.4, 4)[:, None] * sizes.head)
            pieces += [head, head + aside, head - aside]
    return np.concatenate(pieces)


# ---- frame, legend, heading -------------------------------------------------------------------------------------


def _draw_frame(ax: Axes, instance: Instance, layout: Layout) -> None:
    for side in ax.spines.values():
        side.set_color("#CCCCCC")
    ax.tick_params(labelsize=6.5, colors=colours.FAINT, length=2)
    ax.locator_params(nbins=6)
    ax.xaxis.set_major_formatter(tick)
    ax.yaxis.set_major_formatter(tick)
    if layout.note:
        ax.set_xticks([])
        ax.set_yticks([])
        _note(ax, layout.note, (0, 0), (3, 3), fontsize=6.5, color="#555555")
    elif instance.geographic:
        ax.set_xlabel("longitude", fontsize=6.5, color=colours.FAINT, labelpad=1)
        ax.set_ylabel("latitude", fontsize=6.5, color=colours.FAINT, labelpad=1)


def _draw_legend(ax: Axes, instance: Instance, routes: list[list[int]], coloured: bool) -> None:
    numbers = [number for number, route in enumerate(routes) if route] if coloured else []
    for number in numbers[:LEGEND_ROUTES]:
        colour, line, marker = colours.route_style(number)
        stops = len(routes[number])
        name = f"route {number + 1}, {stops} {'stop' if stops == 1 else 'stops'}"
        ax.plot([], [], color=colour, linestyle=line, marker=marker, markersize=4, linewidth=1.2, label=name)
    if len(numbers) > LEGEND_ROUTES:
        ax.plot([], [], linestyle="", label=f"… {len(numbers)} routes")
    if instance.penalty is not None:
        ax.plot([], [], linestyle="", label="area: penalty for leaving out")
    handles, names = ax.get_legend_handles_labels()
    width, height = np.array(ax.get_window_extent().size) * 72 / ax.figure.dpi
    below = 8 if ax.get_xticks().size == 0 else 24 if ax.get_xlabel() else 16
    ax.legend(
        handles,
        names,
        loc="upper center",
        bbox_to_anchor=(0.5, -below / height),
        ncols=max(1, min(len(handles), COLUMNS, int(width / COLUMN))),
        borderaxespad=0,
        frameon=False,
        fontsize=7.5,
        handlelength=2.2,
        columnspacing=1.4,
    )


def legend_rows(instance: Instance, solution: Solution, verdict: Verdict) -> int:
    """How many rows the legend needs."""
    routes = min(len(solution.routes), LEGEND_ROUTES + 1) if instance.kind.many_routes else 1
    marks = [verdict.failed, verdict.unvisited, _ringed(verdict, instance.size), instance.penalty is not None]
    return -(-(1 + routes + sum(map(bool, marks))) // COLUMNS)


def _draw_heading(ax: Axes, instance: Instance, routes: list[list[int]], verdict: Verdict, title: str) -> None:
    broken = [_sentence(instance, violation) for violation in verdict.violations[:SENTENCES]]
    if len(verdict.violations) > SENTENCES:
        broken[-1] += f"; and {len(verdict.violations) - SENTENCES} more"
    height = 5.0
    for text in reversed(broken):
        _note(ax, text, (0, 1), (0, height), fontsize=7.5, color=colours.FAILED)
        height += 10.5
    _note(ax, _summary(instance, routes, verdict), (0, 1), (0, height), fontsize=8.5, color="#555555")
    name = title or instance.name or instance.kind.title
    ax.set_title(name, loc="left", pad=height + 13, fontsize=11, fontweight="bold", color=colours.INK, parse_math=False)


def _sentence(instance: Instance, violation: Violation) -> str:
    """What the judge says, with the stop's name if it has one."""
    if instance.names is None or not 0 <= violation.node < instance.size:
        return violation.text
    return violation.text.replace(f"node {violation.node} ", f"{stop_label(instance, violation.node)} ", 1)


def heading_height(verdict: Verdict) -> float:
    """In points, above the map."""
    return 36 + 10.5 * min(len(verdict.violations), SENTENCES)


def _note(ax: Axes, text: str, corner: tuple[int, int], away: tuple[float, float], fontsize: float, color: str) -> None:
    """Text so many points away from a corner of the axis."""
    style: dict[str, Any] = {"fontsize": fontsize, "color": color, "parse_math": False}
    ax.annotate(text, corner, away, xycoords="axes fraction", textcoords="offset points", **style)


def _summary(instance: Instance, routes: list[list[int]], verdict: Verdict) -> str:
    parts = [instance.problem, f"{instance.size} nodes"]
    if instance.kind.many_routes:
        count = sum(1 for route in routes if route)
        parts.append("1 route" if count == 1 else f"{count} routes")
    if instance.kind.optional_stops:
        word = "served" if instance.window is not None else "visited"
        parts.append(f"{len(verdict.served)} of {instance.size - 1} {word}")
    parts.append(f"cost {number(verdict.cost)}")
    if instance.kind.cost != "length":
        parts.append(f"length {number(verdict.length)}")
    broken = len(verdict.violations)
    rules = "1 rule" if broken == 1 else f"{broken} rules"
    parts.append("feasible" if verdict.feasible else f"NOT FEASIBLE, {rules} broken")
    return " · ".join(parts)


def number(value: float) -> str:
    """Short, with thousands separated."""
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.2f}" if abs(value) >= 100 else f"{value:.4f}"


def tick(value: float, place: float) -> str:
    """The same for a tick of an axis, without trailing zeros."""
    return f"{value:,.10g}" if abs(value) < 1e7 else f"{value:g}"
