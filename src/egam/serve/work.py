"""How long a request will take, roughly: enough to choose its lane, its batch, and to refuse what is far too much.

The unit is one greedy rollout of 100 nodes; a rollout and the encoding of an instance grow with N², and encoding a copy
takes as long as 20 rollouts (see decode/effort.py, which chooses what is tried by the same measure).
"""

from __future__ import annotations

from egam.decode.effort import ENCODING, Effort
from egam.decode.strategies import Decoding
from egam.instance import Instance
from egam.serve.asked import Options
from egam.solve import FREE_START

SECONDS_PER_UNIT = 0.004  # on two cores, roughly


def units(instance: Instance, options: Options) -> float:
    """Of a network that is asked without a time limit."""
    copies, rollouts = _tries(instance, options)
    return (ENCODING * copies + rollouts) * (instance.size / 100) ** 2


def seconds(instance: Instance, options: Options) -> float:
    """Of one instance alone, by a network or within a time limit."""
    return options.time_limit or SECONDS_PER_UNIT * units(instance, options)


def _tries(instance: Instance, options: Options) -> tuple[int, int]:
    """Symmetric copies, and rollouts of all of them."""
    if options.decoding is not None:
        decoding = Decoding.parse(options.decoding)
        return decoding.copies, decoding.copies * decoding.rollouts(instance.size)
    if options.samples is not None and options.samples <= 1:
        return 1, 1
    effort = Effort(instance.size, instance.problem in FREE_START)
    samples = effort.samples if options.samples is None else options.samples
    return effort.copies, effort.copies * effort.starts + samples
