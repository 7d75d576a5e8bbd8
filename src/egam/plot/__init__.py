"""Pictures of solutions: the route map, with time windows, loads or prizes as a strip below it.

`save` writes a PNG, SVG or PDF; `draw` draws on an axis of yours. layout.py decides where things go and knows no
matplotlib; route_map.py and strip.py draw; figure.py puts the two together and writes the file. Only drawing needs
matplotlib (`pip install 'egam[plot]'`). pyplot is never used, so all of this works headless and in threads.
"""

from egam.plot.figure import SUFFIXES, draw, save

__all__ = ["SUFFIXES", "draw", "save"]
