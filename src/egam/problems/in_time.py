"""Groups of nodes that must still be reached in time: what the mask "lookahead" of TSPTW knows beforehand.

After node j a group G of nodes can be in time only if one of its orders can, so that service at j must start by

    leave_by_j(G) = max over a in G of  [arrive_by_a(G) - c_ja],   and, from the smallest groups to the larger ones,
    arrive_by_a(G) = max over b in G - a of  min(end_a, arrive_by_b(G - a) - c_ab), where that leaves a after it opens

arrive_by_a(G) is the latest arrival at a, the first of the group, for which all of it is in time. Where deadlines are
far apart the later one is met by itself, so that groups are looked for among TOGETHER nodes that follow one another by
deadline: all subsets of these. Few say more than a smaller one (`_says_more`); they are found once per instance.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from egam.problems.base import TOLERANCE

TOGETHER = 8  # nodes one after the other by deadline; 2^7 subsets for each of them and those after it
MOST = 16  # groups per node; where more are tight, the tightest
WORK = TOGETHER * (TOGETHER - 1) << (TOGETHER - 4)  # numbers per node that the largest step works on, about
TABLE = 1 << 22  # and at once
LARGEST = 1 << 24  # numbers in an instance's table of groups: of more than a thousand nodes fewer than MOST each


@dataclass
class Groups:
    """Groups of nodes other than 0; M of the instance that has the most."""

    members: Bool[Tensor, "B M N"]  # none in those that fill up the rows of the other instances
    leave_by: Float[Tensor, "B N M"]  # when service at j must start at the latest; never (inf) if j is in the group
    safe_until: Float[Tensor, "B M"]  # service anywhere that starts by then leaves the group in time

    @classmethod
    def none(cls, travel: Float[Tensor, "B N N"]) -> Groups:
        nothing = travel[:, :0]
        return cls(nothing.bool(), nothing.transpose(1, 2), nothing[..., 0])


def tight_groups(travel: Float[Tensor, "B N N"], window: Float[Tensor, "B N 2"]) -> Groups:
    nodes = travel.shape[1]
    together = max(1, TABLE // (nodes * WORK))
    parts = [_tightest(t, w) for t, w in zip(travel.split(together), window.split(together), strict=True)]
    most = max(group.shape[1] for group, _ in parts)
    group = torch.cat([_filled(part, most, 0.0) for part, _ in parts])  # [B, M, W] node 0 stands for nobody
    arrive_by = torch.cat([_filled(part, most, -math.inf) for _, part in parts])
    leave_by = travel.new_full((*travel.shape[:2], most), -math.inf)
    for place in range(group.shape[2]):
        first = group[:, None, :, place].expand_as(leave_by)  # [B, N, M]
        leave_by = torch.maximum(leave_by, arrive_by[:, None, :, place] - travel.gather(2, first))
    members = torch.zeros(len(travel), most, nodes, dtype=torch.bool, device=travel.device).scatter_(2, group, True)
    members[..., 0] = False
    nobody = ~members.any(-1)[:, None]
    leave_by = leave_by.masked_fill(members.transpose(1, 2) | nobody, math.inf)
    return Groups(members, leave_by, leave_by.amin(1))


def all_in_time(
    groups: Groups, visited: Bool[Tensor, "B S N"], good: Bool[Tensor, "B S N"], time: Float[Tensor, "B S N"]
) -> Bool[Tensor, "B S N"]:
    """Of the `good` next nodes those at which service, starting at `time`, keeps every group in time that is left."""
    last = time.masked_fill(~good, -math.inf).amax((1, 2))  # [B]
    urgent = (groups.safe_until < last[:, None]).any(0).nonzero().flatten()  # [U] of the M
    if not len(urgent):
        return good
    members, leave_by = groups.members[:, urgent].to(time.dtype), groups.leave_by[..., urgent]
    gone = visited.to(time.dtype) @ members.transpose(1, 2) > 0  # [B, S, U] is one of the group visited?
    kept = torch.zeros_like(good)
    for some in good.nonzero().split(max(1, TABLE // len(urgent))):
        row, rollout, node = some.unbind(1)
        latest = leave_by[row, node].masked_fill_(gone[row, rollout], math.inf).amin(1)
        kept[row, rollout, node] = time[row, rollout, node] <= latest + TOLERANCE
    return kept


@dataclass(frozen=True)
class OfSize:
    """The subsets of K of W places. A pair is a subset and one of its places: pairs of all sizes have numbers in one
    row, which is what the tables hold unless said otherwise."""

    pairs: slice  # those of this size
    first: Int[Tensor, " P"]  # place of each of them
    second: Int[Tensor, "P K1"]  # place b of each that may come next
    then: Int[Tensor, "P K1"]  # (subset - first, b)
    begin: Int[Tensor, "F K"]  # of the F subsets that hold place 0: each of the pairs
    other: Int[Tensor, "F K K1"]  # and for each place x of these: (subset, a) for each other place a
    less: Int[Tensor, "F K K1"]  # (subset - x, a)
    places: Int[Tensor, "F K"]  # a place


@lru_cache(maxsize=64)
def _subsets(places: int, device: torch.device) -> list[OfSize]:
    number: dict[tuple[tuple[int, ...], int], int] = {}
    sizes = []

    def table(rows: list, *shape: int) -> Tensor:
        return torch.tensor(rows, dtype=torch.long, device=device).view(len(rows), *shape)

    for size in range(1, places + 1):
        subsets, before = list(itertools.combinations(range(places), size)), len(number)
        number |= {pair: before + n for n, pair in enumerate((subset, a) for subset in subsets for a in subset)}
        rest = {(subset, x): tuple(y for y in subset if y != x) for subset in subsets for x in subset}
        held = [subset for subset in subsets if subset[0] == 0]
        sizes.append(
            OfSize(
                pairs=slice(before, len(number)),
                first=table([a for subset in subsets for a in subset]),
                second=table([list(others) for others in rest.values()], size - 1),
                then=table([[number[others, b] for b in others] for others in rest.values()], size - 1),
                begin=table([[number[subset, a] for a in subset] for subset in held], size),
                other=table([[[number[s, a] for a in rest[s, x]] for x in s] for s in held], size, size - 1),
                less=table([[[number[rest[s, x], a] for a in rest[s, x]] for x in s] for s in held], size, size - 1),
                places=table([list(subset) for subset in held], size),
            )
        )
    return sizes


def _tightest(travel: Float[Tensor, "B N N"], window: Float[Tensor, "B N 2"]) -> tuple[Tensor, Tensor]:
    """[B, M, W] groups, and for each of their nodes the latest arrival there if the group begins with it."""
    batch, nodes = travel.shape[:2]
    node, legs, start, end = _by_deadline(travel, window)
    sizes = _subsets(node.shape[2], travel.device)
    arrive_by = end.new_empty(*end.shape[:2], sizes[-1].pairs.stop)  # [B, N-1, pairs]
    arrive_by[..., sizes[0].pairs] = end
    found: list[tuple[Tensor, ...]] = []
    for size in sizes[1:]:
        _arrive_by(arrive_by, size, legs, start, end)
        row, at, which = _says_more(arrive_by, size, end).nonzero(as_tuple=True)
        places = size.places[which]
        by = arrive_by[row[:, None], at[:, None], size.begin[which]]
        slack = by.amax(1) - end[row[:, None], at[:, None], places].amin(1)
        missing = (0, node.shape[2] - places.shape[1])
        group = torch.nn.functional.pad(node[row[:, None], at[:, None], places], missing)
        found.append((row, group, torch.nn.functional.pad(by, missing, value=-math.inf), slack))
    if not found:
        return node[:, :0, :], end[:, :0, :]
    row, group, by, slack = map(torch.cat, zip(*found, strict=True))
    order = slack.argsort(stable=True)
    order = order[row[order].argsort(stable=True)]  # instance by instance, the tightest first
    row, group, by = row[order], group[order], by[order]
    count = row.bincount(minlength=batch)
    place = torch.arange(len(row), device=row.device) - (count.cumsum(0) - count)[row]
    most = min(int(count.max()), MOST * nodes, LARGEST // nodes)
    kept = place < most
    groups = group.new_zeros(batch, most, node.shape[2])
    table = by.new_full(groups.shape, -math.inf)
    groups[row[kept], place[kept]], table[row[kept], place[kept]] = group[kept], by[kept]
    return groups, table


def _by_deadline(travel: Tensor, window: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """For each node but 0 in the order of deadlines, the W nodes from there on: [B, N-1, W] their numbers, the ways
    between them [B, N-1, W, W], and their windows. After the last node come some that are everywhere and always."""
    batch, nodes = travel.shape[:2]
    wide = min(TOGETHER, nodes - 1)
    order = 1 + window[:, 1:, 1].argsort(dim=-1, stable=True)  # [B, N-1]
    node = torch.nn.functional.pad(order, (0, wide - 1)).unfold(1, wide, 1)  # [B, N-1, W]
    row, nobody = torch.arange(batch, device=travel.device)[:, None, None], node == 0
    legs = travel[row[..., None], node[..., None], node[..., None, :]]
    legs = legs.masked_fill(nobody[..., None] | nobody[..., None, :], 0.0)
    start, end = window[row, node].unbind(-1)
    return node, legs, start.masked_fill(nobody, -math.inf), end.masked_fill(nobody, math.inf)


def _arrive_by(arrive_by: Tensor, size: OfSize, legs: Tensor, start: Tensor, end: Tensor) -> None:
    """The recursion of the module's docstring, for all groups of one size."""
    leave = arrive_by[..., size.then] - legs[..., size.first[:, None], size.second]  # [B, N-1, P, K-1] a, for each b
    leave = leave.masked_fill_(leave < start[..., size.first, None], -math.inf)
    arrive_by[..., size.pairs] = torch.minimum(leave.amax(-1), end[..., size.first])


def _says_more(arrive_by: Tensor, size: OfSize, end: Tensor) -> Bool[Tensor, "B N1 F"]:
    """Does no smaller group imply this one? The group without x does if x delays no arrival at another one, and x
    alone does if the others are in time however late x is."""
    delays = (arrive_by[..., size.other] < arrive_by[..., size.less]).any(-1)  # [B, N-1, F, K]
    return (delays & (arrive_by[..., size.begin] < end[..., size.places])).all(-1)


def _filled(part: Tensor, most: int, value: float) -> Tensor:
    return torch.nn.functional.pad(part, (0, 0, 0, most - part.shape[1]), value=value)
