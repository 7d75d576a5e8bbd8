"""What colours mean in all pictures. They stay apart for colour-blind readers (tests/test_plot.py simulates that).

Most are from the set of Okabe and Ito. Green and red are kept for the start and for what went wrong, so routes never
have them; when there are more routes than colours, line style and marker change with each round of colours.
"""

from __future__ import annotations

START = "#009E73"
SERVED = "#0072B2"
FAILED = "#D5200A"
UNVISITED = "#A6A6A6"
INK = "#333333"
FAINT = "#8C8C8C"
WINDOW = "#9CCBE8"

ROUTE_COLOURS = ("#0072B2", "#E69F00", "#CC79A7", "#56B4E9", "#332288", "#8F7A00")
LINES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
MARKERS = ("o", "D", "^", "p")


def route_style(number: int) -> tuple[str, str | tuple[int, tuple[float, ...]], str]:
    """Colour, line style and marker of the route with this number, counted from 0."""
    lap = number // len(ROUTE_COLOURS)
    return ROUTE_COLOURS[number % len(ROUTE_COLOURS)], LINES[lap % len(LINES)], MARKERS[lap % len(MARKERS)]
