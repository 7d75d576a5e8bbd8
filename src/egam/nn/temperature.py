"""How boldly a network is sampled: its logits are divided by a temperature before a node is drawn.

1 is the policy as it was trained, less makes samples surer, more makes them differ more. What is best depends on the
weights and on the size: of 160 samples of a short route hardly one differs from the others, and a long one has many
occasions to go wrong. Weights may therefore say in config.json what was found best at some sizes
(`python -m egam.bench.temperature`), `temperature` for independent samples and `distinct_temperature` for those without
replacement, which need less heat to differ; training and greedy decoding know nothing of either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from egam.errors import BadInput


@dataclass(frozen=True)
class Temperature:
    """Temperatures by size, the smallest first; nothing is 1 everywhere."""

    points: tuple[tuple[int, float], ...] = ()

    def at(self, nodes: int) -> float:
        """Between two sizes by the logarithms of both, beyond them as at the nearest."""
        if not self.points:
            return 1.0
        sizes, values = np.log(np.array(self.points, dtype=float)).T
        return float(np.exp(np.interp(math.log(nodes), sizes, values)))

    @classmethod
    def read(cls, found: Any, where: str) -> Temperature:
        """From a table of a config.json: {"20": 2.0, "50": 0.7}."""
        expected = f'{where} is {found!r}; sizes and numbers above 0 such as {{"20": 1.4}} are expected'
        if not isinstance(found, dict):
            raise BadInput(expected)
        points = []
        for size, value in found.items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (str(size).isdigit() and int(size) > 0 and number and 0 < value < math.inf):
                raise BadInput(expected)
            points.append((int(size), float(value)))
        return cls(tuple(sorted(points)))

    def table(self) -> dict[str, float]:
        return {str(size): value for size, value in self.points}
