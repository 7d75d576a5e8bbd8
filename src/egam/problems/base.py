"""What a problem is to the rest of the package: features, who is allowed next, what a step does, what it costs.

A problem is one file with one frozen dataclass that has the methods of `Problem`, in that order. Arrays in raw
units (`Arrays`, what an `Instance` holds, stacked) become a `Batch` of scaled float32 tensors in `to_batch`, and only
there; decoded node sequences become a `Solution` in `to_solution`, and only there.

Shapes: B instances · S rollouts per instance · N nodes with the depot or start at index 0 · Fn/Fe/Fc features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from egam.errors import BadInput
from egam.instance import KINDS, PER_NODE, SCALARS, Instance
from egam.problems import embedding
from egam.solution import Solution

Arrays = dict[str, np.ndarray]  # field of Instance -> [B, ...] values in raw units
SMALLEST = 3  # nodes, depot or start included
FAR, STRAIGHT, MOST = 0.2, 0.1, 3.0  # how a matrix is measured against a map; see _matrix_units
LONGEST_SEEN = 3.0  # scaled units; generated ways are shorter
LEVELS = ("paper", "levels")  # what depot and decoder are told beside the paper's numbers: how high values are
CLOCKS = ("paper", "stop", "levels")  # "stop": the decoder has another clock (see `clock`); "levels": that, and levels
SPREAD = 3.0  # of the levels of generated instances of one size: a mean of N values differs by about 1 / sqrt(3 N)
LEAST_LEVEL = 0.01  # of what is typical: less is seen as this, for there is no logarithm of 0
MASKS = ("paper", "lookahead")  # which next nodes a network may choose from, where a problem's file knows both
TOLERANCE = 1e-5  # scaled units; float32 sums along a route are not finer


@dataclass(frozen=True)
class Spec:
    """All that a network must know of a problem to be built."""

    node_features: int  # of a node that is not the depot
    depot_features: int  # 0: node 0 is a node like any other
    edge_features: int
    context_features: int  # numbers in the context beside the current node's embedding
    context_first: bool  # is the first node's embedding part of the context?
    directed: bool  # may an edge differ from its way back?
    node_scales: tuple[float, ...] = ()  # what node features are multiplied by before the network sees them; (): by 1

    def with_levels(self, count: int, node_scales: tuple[float, ...] = ()) -> Spec:
        """That of a problem whose depot and context say `count` numbers more, and whose nodes' values are scaled."""
        return replace(
            self,
            depot_features=self.depot_features + count,
            context_features=self.context_features + count,
            node_scales=node_scales,
        )


@dataclass
class Features:
    """What a network sees of a batch."""

    nodes: Float[Tensor, "B N Fn"]  # row 0 is ignored if there is a depot
    depot: Float[Tensor, "B Fd"] | None
    edges: Float[Tensor, "B N N Fe"]
    adjacency: Bool[Tensor, "B N N"] | None = None  # None: complete


class Batch(Protocol):
    """Many instances of one size, scaled. Every field is a tensor with B in front."""

    coords: Tensor  # [B, N, 2]
    travel: Tensor  # [B, N, N] from row to column
    unit: Tensor  # [B] raw cost of one scaled unit of length


class State(Protocol):
    """Where the rollouts stand. Every field is a tensor with [B, S] in front."""

    current: Tensor  # [B, S] node
    first: Tensor  # [B, S] node the route started from
    done: Tensor  # [B, S] bool


class Problem(Protocol):
    """The contract of a problem file."""

    @property
    def name(self) -> str: ...
    @property
    def variant(self) -> str: ...
    @property
    def mask(self) -> str: ...
    @property
    def unit(self) -> float:
        """Raw length that the literature counts as 1."""

    @property
    def spec(self) -> Spec: ...

    def generate(self, rng: np.random.Generator, batch: int, size: int) -> Arrays:
        """Random instances in raw units; `size` counts as the literature does (see each file)."""

    def to_batch(self, arrays: Arrays, generated: bool = True) -> Any:
        """Scale to what the network is trained on; a generated set keeps its generator's own scale."""

    def features(self, batch: Any) -> Features: ...

    def start(self, batch: Any, starts: Int[Tensor, "B S"]) -> Any:
        """The first state; `starts` is where rollouts begin if the problem lets them choose, else ignored."""

    def allowed(self, batch: Any, state: Any) -> Bool[Tensor, "B S N"]:
        """True where a node may be chosen next; at least one is True, for finished rollouts too."""

    def step(self, batch: Any, state: Any, action: Int[Tensor, "B S"]) -> Any:
        """The state after going to `action`; finished rollouts do not change any more."""

    def context(self, batch: Any, state: Any) -> Float[Tensor, "B S Fc"]: ...

    def cost(self, batch: Any, state: Any) -> Float[Tensor, "B S"]:
        """The paper's cost of finished rollouts, in scaled units."""

    def penalty(self, batch: Any, state: Any) -> Float[Tensor, "B S"]:
        """What training adds to the cost of an infeasible rollout; 0 if and only if it is feasible."""

    def to_solution(self, sequence: Sequence[int]) -> Solution:
        """Routes of one decoded node sequence, its start included."""


T = TypeVar("T")


def map_tensors(record: T, function: Callable[[Tensor], Tensor]) -> T:
    """A copy of a Batch, State or Features with `function` applied to each of its tensors."""
    changed = {}
    for field in fields(record):  # type: ignore[arg-type]
        value = getattr(record, field.name)
        changed[field.name] = function(value) if isinstance(value, Tensor) else value
    return replace(record, **changed)  # type: ignore[type-var]


def distances(coords: Float[Tensor, "B N 2"]) -> Float[Tensor, "B N N"]:
    """Euclidean lengths, exactly symmetric and exactly 0 on the diagonal."""
    return (coords[:, :, None] - coords[:, None, :]).square().sum(-1).sqrt()


def undirected(travel: Float[Tensor, "B N N"]) -> Float[Tensor, "B N N 1"]:
    """The edge feature of undirected problems: the length, or the mean of both ways where a matrix has two."""
    return seen((travel + travel.transpose(1, 2)) / 2)[..., None]


def seen(travel: Float[Tensor, "*B"]) -> Float[Tensor, "*B"]:
    """Lengths as edge features: one that forbids a way is no longer than the longest that a network can have met."""
    return travel.clamp(max=LONGEST_SEEN)


def gather_nodes(values: Float[Tensor, "B N"], nodes: Int[Tensor, "B S"]) -> Float[Tensor, "B S"]:
    """values[b, nodes[b, s]]"""
    return values.gather(1, nodes)


def clock(which: str, time: Float[Tensor, "B S"], batch: Any, current: Int[Tensor, "B S"]) -> Float[Tensor, "B S 1"]:
    """What a decoder is told of the time. Both say the same to one that knows where the vehicle stands; the time since
    this stop's window opened, in lengths of the map, varies more where it matters, and is learned from sooner."""
    if which == "paper":
        return (time / batch.horizon[:, None])[..., None]
    return (time - gather_nodes(batch.window[..., 0], current))[..., None]


def told(numbers: Float[Tensor, "B *S F"], levels: Float[Tensor, "B K"]) -> Float[Tensor, "B *S FK"]:
    """The numbers of a depot or of a context, and with them how high the instance's values are."""
    if numbers.dim() == 3:
        levels = levels[:, None].expand(-1, numbers.shape[1], -1)
    return torch.cat([numbers, levels], -1)


def levels(*values: tuple[Float[Tensor, "B N"], float]) -> Float[Tensor, "B K"]:
    """Means over the customers, each beside what is typical of generated instances: as a logarithm, so that 0 is
    typical and twice and half as much are as far from it. The encoder's norm takes away what all nodes of an instance
    have in common, so that the network does not know them unless it is told."""
    ratios = torch.stack([value[:, 1:].mean(1) / typical for value, typical in values], -1)
    return SPREAD * ratios.clamp(LEAST_LEVEL, 1 / LEAST_LEVEL).log()


def window_levels(batch: Any, typical: tuple[float, float, float]) -> Float[Tensor, "B 3"]:
    """When windows open and how wide they are, as shares of the horizon, and how long that is."""
    opens, ends = (batch.window / batch.horizon[:, None, None]).unbind(-1)
    return levels(*zip((opens, ends - opens, batch.horizon[:, None].expand_as(opens)), typical, strict=True))


def scaled(nodes: Float[Tensor, "B N Fn"], spec: Spec) -> Float[Tensor, "B N Fn"]:
    """Node features as a network with `spec` sees them."""
    return nodes * nodes.new_tensor(spec.node_scales) if spec.node_scales else nodes


def gather_rows(table: Float[Tensor, "B N N"], nodes: Int[Tensor, "B S"]) -> Float[Tensor, "B S N"]:
    """table[b, nodes[b, s], :]"""
    return table.gather(1, nodes[..., None].expand(-1, -1, table.shape[2]))


def paper_cost(problem: Problem, batch: Batch, cost: Float[Tensor, "B S"]) -> Float[Tensor, "B S"]:
    """Scaled costs in the literature's units."""
    if KINDS[problem.name].cost == "unserved":
        return cost
    return cost * batch.unit[:, None] / problem.unit


def travelled(travel: Float[Tensor, "B N N"], origin: Int[Tensor, "B S"], target: Int[Tensor, "B S"]) -> Tensor:
    """[B, S] travel[b, origin[b, s], target[b, s]]"""
    return travel.flatten(1).gather(1, origin * travel.shape[1] + target)


def visit(visited: Bool[Tensor, "B S N"], nodes: Int[Tensor, "B S"]) -> Bool[Tensor, "B S N"]:
    return visited.scatter(2, nodes[..., None], True)


def violation(excess: Float[Tensor, "B S"]) -> Float[Tensor, "B S"]:
    """N_out + T_out of one visit in the paper's penalty: 0 within the tolerance, else 1 and the amount."""
    return torch.where(excess > TOLERANCE, 1 + excess, 0.0)


def preferred(allowed: Bool[Tensor, "B S N"], better: Bool[Tensor, "B S N"]) -> Bool[Tensor, "B S N"]:
    """Of what is allowed, only what is better; all of it where nothing is."""
    both = allowed & better
    return torch.where(both.any(-1, keepdim=True), both, allowed)


def tensor(array: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))


def scaled_geometry(arrays: Arrays, unit: float | None) -> tuple[Tensor, Tensor, Tensor, np.ndarray]:
    """coords, travel, unit as tensors, and unit as [B] numpy for the other fields.

    With `unit` given (generated sets) coordinates are divided by it and nothing else. Without, each instance is
    moved and scaled into the unit square: its longer side becomes 1. A matrix is scaled as `_matrix_units` says; one
    without coordinates gets some (see embedding.py).
    """
    matrix, coords = arrays.get("matrix"), arrays.get("coords")
    is_map = np.ones(len(next(iter(arrays.values()))), dtype=bool)
    if coords is None:
        assert matrix is not None
        coords = np.stack([embedding.positions(table) for table in matrix])
        is_map = np.array([embedding.explains(*pair) for pair in zip(coords, matrix, strict=True)])
    if unit is not None:
        units = np.full(len(coords), float(unit))
        coords = coords / unit
    else:
        low = coords.min(1, keepdims=True)
        units = (coords - low).max((1, 2))
        units = np.where(units > 0, units, 1.0)
        coords = (coords - low) / units[:, None, None]
        if matrix is not None:
            units = _matrix_units(matrix, coords * is_map[:, None, None])
    scaled = tensor(coords)
    travel = distances(scaled) if matrix is None else tensor(matrix / units[:, None, None])
    return scaled, travel, tensor(units), units


def _matrix_units(matrix: np.ndarray, coords: np.ndarray) -> np.ndarray:
    """[B] what stands for 1 in a matrix [B, N, N] whose nodes lie in the unit square at coords [B, N, 2].

    Its measure may be another than the map's (seconds on a map of metres), so that ways are compared with straight
    lines: the tenth of ways that are straightest for their length get their straight length. Where nodes lie on each
    other, or map and matrix have nothing in common, the largest entry becomes 1.4142, the square's diagonal.
    """
    matrix = embedding.measured(matrix)
    largest = matrix.max((1, 2)) / np.sqrt(2)
    units = np.where(largest > 0, largest, 1.0)
    for k, points in enumerate(coords):
        straight = np.sqrt(((points[:, None] - points[None, :]) ** 2).sum(-1))
        far = straight > FAR
        if far.any():
            unit = float(np.quantile(matrix[k][far] / straight[far], STRAIGHT))
            units[k] = unit if largest[k] < MOST * unit else units[k]
    return units


def scaled_windows(window: np.ndarray, units: np.ndarray, travel: Float[Tensor, "B N N"], given: bool) -> np.ndarray:
    """[B, N, 2] windows in scaled units since node 0's opening, when the vehicle leaves.

    Those that users give (`given`) are also freed of numbers that mean nothing: if the vehicle would wait wherever it
    went first, it leaves that much later; no window opens before it leaves; and none ends after a time that no route
    can reach, as a far end that stands for "never" would squeeze all others to nothing.
    """
    scaled = (window - window[:, :1, :1]) / units[:, None, None]
    if not given:
        return scaled
    legs = seen(travel).double().numpy()
    scaled = scaled - np.maximum(scaled[:, 1:, 0] - legs[:, 0, 1:], 0.0).min(1)[:, None, None]
    opens = np.maximum(scaled[..., 0], 0.0)
    latest = opens[:, 1:].max(1) + legs.max(2).sum(1)
    return np.stack([opens, np.minimum(scaled[..., 1], latest[:, None])], -1)


def stack(instances: Sequence[Instance]) -> Arrays:
    """Fields of equally sized instances of one problem, stacked."""
    sizes = {instance.size for instance in instances}
    problems = {instance.problem for instance in instances}
    if len(sizes) != 1 or len(problems) != 1:
        raise BadInput(f"a batch holds one problem and one size; found {sorted(problems)} with {sorted(sizes)} nodes")
    arrays: Arrays = {}
    for field in ("matrix", *PER_NODE, *SCALARS):
        values = [instance.plane if field == "coords" else getattr(instance, field) for instance in instances]
        if all(value is None for value in values):
            continue
        if any(value is None for value in values):
            raise BadInput(f"{field} is given for some instances of a batch and missing for others")
        arrays[field] = np.stack([np.asarray(value, dtype=np.float64) for value in values])
    return arrays


def unstack(problem: str, arrays: Arrays) -> list[Instance]:
    """The instances of generated arrays."""
    count = len(next(iter(arrays.values())))
    return [Instance(problem, **{field: values[k] for field, values in arrays.items()}) for k in range(count)]


def check_size(problem: str, nodes: int, size: int) -> None:
    if nodes < SMALLEST:
        raise BadInput(f"size {size} of {problem} makes {nodes} nodes; {SMALLEST} or more are accepted")
