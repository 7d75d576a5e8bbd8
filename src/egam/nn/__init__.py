"""The table of networks. A name is what a model's config.json says; problems are known to them by their `Spec` only."""

from __future__ import annotations

from collections.abc import Callable

from egam.nn.egam import EGAM, Shape
from egam.nn.gam import GAM, pomo
from egam.nn.gatv2 import gatv2
from egam.problems.base import Spec

Model = EGAM | GAM

NETWORKS: dict[str, Callable[[Spec, Shape], Model]] = {"egam": EGAM, "gam": GAM, "gatv2": gatv2, "pomo": pomo}
