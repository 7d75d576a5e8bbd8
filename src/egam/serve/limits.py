"""What is too much: every limit of the service with its default, and the refusals that name one.

Each field is an option of `egam serve`. Together they bound the memory of the process: bodies that are being read,
instances that wait, and what one batch needs while it is solved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from egam.errors import BadInput, EgamError


@dataclass(frozen=True)
class Limits:
    nodes: int = 1000  # of one instance, depot or start included
    instances: int = 100  # of one request
    samples: int = 1280  # solutions that are sampled of one instance, symmetric copies counted
    body_mb: float = 8.0  # of one request
    bodies_mb: float = 64.0  # of all requests that are being read or parsed
    seconds: float = 60.0  # of one request: its time limit, or what it takes by our estimate
    read_seconds: float = 20.0  # until a body must be here
    queue: int = 1024  # instances that wait
    wait_seconds: float = 120.0  # that those take, by our estimate
    memory_gb: float = 3.0  # that the network may use
    connections: int = 512
    batch: int = 16  # instances that are solved together; more at once are not faster each
    window_ms: float = 3.0  # how long the first of a batch waits for others

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            lowest = 0 if field.name == "window_ms" else 1e-3 if field.type == "float" else 1
            if not (lowest <= value < math.inf):
                raise BadInput(f"limit {field.name} is {value:g}; a number of {lowest:g} or more is accepted")

    @property
    def body_bytes(self) -> int:
        return int(self.body_mb * 1e6)

    @property
    def bodies_bytes(self) -> int:
        return max(self.body_bytes, int(self.bodies_mb * 1e6))


class Refusal(EgamError):
    """A request that is not answered, with its HTTP status and, where trying again helps, when."""

    def __init__(self, status: int, sentence: str, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status, self.retry_after = status, retry_after


def too_large(what: str, found: float, most: float, unit: str = "") -> Refusal:
    """413: `instances[0] has 900 nodes; up to 500 are accepted here`."""
    return Refusal(413, f"{what} {found:.10g}{unit}; up to {most:.10g} are accepted here")


def busy(sentence: str, seconds: float = 1.0) -> Refusal:
    """429, with the time after which trying again makes sense."""
    return Refusal(429, sentence, max(1, math.ceil(seconds)))


def closing() -> Refusal:
    return Refusal(503, "the server is shutting down and takes no new work", 5)
