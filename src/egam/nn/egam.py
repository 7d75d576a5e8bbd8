"""EGAM, the network of the paper: encoder + decoder. What a network is to the rest of the package: four methods.

encode: once per instance · prepare: tables for decoding · step: logits of one rollout step · score: logits of the
decisions of finished rollouts, all in one pass. It knows a problem only by its `Spec`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor, nn

from egam.nn.decoder import Decoder, Prepared, View
from egam.nn.encoder import Encoded, Encoder
from egam.nn.temperature import Temperature
from egam.problems.base import Features, Spec


@dataclass(frozen=True)
class Shape:
    """The size of a network; the defaults are the paper's."""

    width: int = 128
    heads: int = 8
    hidden: int = 512
    encoder_layers: int = 4
    decoder_layers: int = 1
    norm: str = "instance"
    clip: float = 10.0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


PAPER = Shape()


class EGAM(nn.Module):
    """Extended graph attention model, arXiv 2601.21281."""

    def __init__(self, spec: Spec, shape: Shape = PAPER):
        super().__init__()
        self.spec, self.shape, self.name = spec, shape, "egam"
        self.temperature = self.distinct_temperature = Temperature()
        self.encoder = Encoder(spec, shape.width, shape.heads, shape.hidden, shape.encoder_layers, shape.norm)
        self.decoder = Decoder(spec, shape.width, shape.heads, shape.hidden, shape.decoder_layers, shape.clip)

    def encode(self, features: Features, textbook: bool = False) -> Encoded:
        return self.encoder(features, textbook=textbook)

    def prepare(self, encoded: Encoded) -> Prepared:
        return self.decoder.prepare(encoded)

    def step(self, prepared: Prepared, view: View, textbook: bool = False) -> Tensor:
        return self.decoder.textbook(prepared.encoded, view) if textbook else self.decoder.step(prepared, view)

    def score(self, prepared: Prepared, view: View, groups: int) -> Tensor:
        return self.decoder.score(prepared, view, groups)
