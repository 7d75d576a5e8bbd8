"""One table: what each learned method is. A row is a network, how it is trained, and how it decodes.

A row's values are those keys of the training config (train/config.py) that make the method what it is; `egam train
--method NAME` takes them, and `--set` may change each. One trainer and one decoder serve all rows, so that they differ
by nothing else. Where papers and published code disagree, docs/rivals.md says what was taken. Networks are named here,
not imported: the table is light.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from egam.errors import BadInput, nearest


@dataclass(frozen=True)
class Method:
    title: str
    network: str  # of nn.NETWORKS
    encoder_layers: int
    norm: str
    baseline: str  # see train/baselines.py
    batch: int  # instances per step
    m: int  # copies of an instance: Sym-NCO's L
    n: int  # sampled solutions of a copy, Sym-NCO's K; 0: as many as the problem's size, POMO's starts
    turn: str  # which of the copies are turned or mirrored: all, others than the first, none
    invariance: float  # weight of Sym-NCO's invariance term
    weight_decay: float
    decodings: tuple[str, ...]  # the quick one and the good one; see decode/strategies.py

    def settings(self) -> dict[str, Any]:
        """The config's keys that the row decides."""
        row = asdict(self)
        return {key: value for key, value in row.items() if key not in ("title", "network", "decodings")}

    def decodings_for(self, free_start: bool) -> tuple[str, ...]:
        """The decodings where all rollouts begin at the depot: without other starts."""
        return tuple(form if free_start else form.replace("starts", "greedy") for form in self.decodings)


PAPER, SAMPLED, STARTS = ("greedy", "8x20"), ("greedy", "sample:1280"), ("greedy", "8xstarts")
# fmt: off
METHODS = {
    #                title      network  layers norm        baseline    batch m  n   turn      inv. decay
    "egam":   Method("EGAM",    "egam",  4,     "instance", "symmetry", 16,   1, 20, "all",    0.0, 0.0,  PAPER),
    "gam":    Method("GAM",     "gam",   3,     "batch",    "rollout",  512,  1, 1,  "none",   0.0, 0.0,  SAMPLED),
    "gatv2":  Method("GATv2",   "gatv2", 3,     "batch",    "rollout",  512,  1, 1,  "none",   0.0, 0.0,  SAMPLED),
    "pomo":   Method("POMO",    "pomo",  6,     "instance", "symmetry", 64,   1, 0,  "none",   0.0, 1e-6, STARTS),
    "symnco": Method("Sym-NCO", "gam",   6,     "batch",    "symnco",   64,   2, 0,  "others", 0.1, 0.0,  PAPER),
}
# fmt: on


def get_method(name: str) -> Method:
    if name not in METHODS:
        raise BadInput(f"method '{name}' is unknown{nearest(name, list(METHODS))}; accepted: {', '.join(METHODS)}")
    return METHODS[name]
