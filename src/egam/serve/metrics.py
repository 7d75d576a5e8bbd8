"""Counters of the service in Prometheus' text format. Labels have few values, all of them known here.

Times are histograms; what is true at the moment of asking (queue, memory) is handed in when the text is made.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
HELP = {
    "egam_requests_total": "Answered requests by route and status.",
    "egam_request_seconds": "Seconds from the first byte of a request to the last of its answer.",
    "egam_instances_total": "Solved instances by problem and method.",
    "egam_infeasible_total": "Answers that break a rule of the problem.",
    "egam_batch_size": "Instances that were solved together.",
    "egam_batch_seconds": "Seconds that a batch took.",
    "egam_stopped_total": "Jobs whose client went away.",
}
Labels = tuple[tuple[str, str], ...]


class Histogram:
    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds, self.counts, self.total = bounds, [0] * (len(bounds) + 1), 0.0

    def see(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str, labels: Labels) -> list[str]:
        below, lines = 0, []
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            below += count
            edge = "+Inf" if bound == float("inf") else f"{bound:g}"
            lines.append(f"{name}_bucket{_shown((*labels, ('le', edge)))} {below}")
        return [*lines, f"{name}_sum{_shown(labels)} {self.total:.6f}", f"{name}_count{_shown(labels)} {below}"]


class Metrics:
    """Safe to use from all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[str, Counter[Labels]] = defaultdict(Counter)
        self._histograms: dict[str, dict[Labels, Histogram]] = defaultdict(dict)

    def count(self, name: str, by: int = 1, /, **labels: str) -> None:
        with self._lock:
            self._counters[name][tuple(sorted(labels.items()))] += by

    def see(self, name: str, value: float, bounds: tuple[float, ...] = SECONDS, /, **labels: str) -> None:
        with self._lock:
            histograms = self._histograms[name]
            key = tuple(sorted(labels.items()))
            if key not in histograms:
                histograms[key] = Histogram(bounds)
            histograms[key].see(value)

    def text(self, gauges: Mapping[str, tuple[str, Mapping[Labels, float]]]) -> str:
        """All of it; gauges are name -> (what it is, values by labels)."""
        lines: list[str] = []
        with self._lock:
            for name, counter in sorted(self._counters.items()):
                lines += _head(name, HELP[name], "counter")
                lines += [f"{name}{_shown(labels)} {value}" for labels, value in sorted(counter.items())]
            for name, histograms in sorted(self._histograms.items()):
                lines += _head(name, HELP[name], "histogram")
                for labels, histogram in sorted(histograms.items()):
                    lines += histogram.lines(name, labels)
        for name, (meaning, values) in gauges.items():
            lines += _head(name, meaning, "gauge")
            lines += [f"{name}{_shown(labels)} {value:g}" for labels, value in values.items()]
        return "\n".join(lines) + "\n"


def resident_bytes() -> int:
    """Memory of this process that is in RAM; 0 where Linux does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds() -> float:
    """Of this process so far, all threads together."""
    return sum(os.times()[:2])


def _head(name: str, meaning: str, kind: str) -> list[str]:
    return [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]


def _shown(labels: Labels) -> str:
    def quoted(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return "{" + ",".join(f'{key}="{quoted(value)}"' for key, value in labels) + "}" if labels else ""
