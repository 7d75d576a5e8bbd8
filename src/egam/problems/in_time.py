"""Small groups of nodes that must still be reached in time: what the mask "lookahead" of TSPTW knows beforehand.

After node j a group of nodes can be in time only if one of its orders can, so that service at j must start by

    leave_by_j(G) = max over orders (a, b, ..) of G of  [latest arrival at a for which a, b, .. are in time] - c_ja

Single nodes are all looked at anyway (tsptw.py). Of the pairs and triples few say more than their parts: none in which
one node is in time wherever it comes last, or leaves the others in time wherever it comes first. What is left, a few
for each node, is found once per instance. A pair is a triple that names a node twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from egam.problems.base import TOLERANCE

TRIPLES_UP_TO = 100  # nodes; there are N³ / 6 triples to look through
MOST = 8  # groups per node; where more are tight, the tightest
TABLE = 1 << 22  # groups looked through at once


@dataclass
class Groups:
    """Groups of nodes other than 0; M of the instance that has the most."""

    members: Int[Tensor, "B M 3"]  # 0 in those that fill up the rows of the other instances
    leave_by: Float[Tensor, "B N M"]  # when service at j must start at the latest; never (inf) if j is in the group
    safe_until: Float[Tensor, "B M"]  # service anywhere that starts by then leaves the group in time

    @classmethod
    def none(cls, travel: Float[Tensor, "B N N"]) -> Groups:
        nothing = travel[:, 0, :0]
        return cls(nothing.long()[..., None].expand(-1, -1, 3), travel[:, :, :0], nothing)


def tight_groups(travel: Float[Tensor, "B N N"], window: Float[Tensor, "B N 2"]) -> Groups:
    nodes = travel.shape[1]
    combinations = _combinations(nodes, travel.device)
    together = max(1, TABLE // max(1, len(combinations)))
    parts = [_tightest(t, w, combinations) for t, w in zip(travel.split(together), window.split(together), strict=True)]
    most = max(members.shape[1] for members, _ in parts)
    members = torch.cat([_filled(part, most, 0.0) for part, _ in parts])  # node 0 is visited
    arrive_by = torch.cat([_filled(part, most, math.inf) for _, part in parts])  # [B, M, 3]
    leave_by = travel.new_full((*travel.shape[:2], most), -math.inf)
    for place in range(3):
        first = members[:, None, :, place].expand_as(leave_by)  # [B, N, M]
        leave_by = torch.maximum(leave_by, arrive_by[:, None, :, place] - travel.gather(2, first))
    everywhere = torch.arange(nodes, device=travel.device)[:, None, None]
    leave_by = leave_by.masked_fill((members[:, None] == everywhere).any(-1), math.inf)
    return Groups(members, leave_by, leave_by.amin(1))


def all_in_time(
    groups: Groups, visited: Bool[Tensor, "B S N"], good: Bool[Tensor, "B S N"], time: Float[Tensor, "B S N"]
) -> Bool[Tensor, "B S N"]:
    """Of the `good` next nodes those at which service, starting at `time`, keeps every group in time that is left."""
    last = time.masked_fill(~good, -math.inf).amax((1, 2))  # [B]
    urgent = (groups.safe_until < last[:, None]).any(0).nonzero().flatten()  # [U] of the M
    if not len(urgent):
        return good
    members, leave_by = groups.members[:, urgent], groups.leave_by[..., urgent]
    at = members.flatten(1)[:, None].expand(-1, visited.shape[1], -1)
    gone = visited.gather(2, at).unflatten(2, (-1, 3)).any(-1)  # [B, S, U]
    row, rollout, node = good.nonzero(as_tuple=True)
    latest = leave_by[row, node].masked_fill_(gone[row, rollout], math.inf).amin(1)
    kept = torch.zeros_like(good)
    kept[row, rollout, node] = time[row, rollout, node] <= latest + TOLERANCE
    return kept


def _combinations(nodes: int, device: torch.device) -> Int[Tensor, "C 3"]:
    """All pairs and, of few nodes, all triples of the nodes 1 .. N-1."""
    customers = torch.arange(1, nodes, device=device)
    pairs = torch.combinations(customers, 2)
    pairs = torch.cat([pairs, pairs[:, 1:]], 1)
    return torch.cat([pairs, torch.combinations(customers, 3)]) if nodes <= TRIPLES_UP_TO else pairs


def _tightest(travel: Tensor, window: Tensor, combinations: Tensor) -> tuple[Tensor, Tensor]:
    """[B, M, 3] groups, and for each of their nodes the latest arrival there if the group begins with it."""
    start, end = window.unbind(-1)
    after = start[:, :, None] + travel  # [B, N, N] earliest at l straight from k
    then = torch.minimum(end[:, :, None], end[:, None] - travel)  # latest arrival at k to be in time at l as well
    then = then.masked_fill(after > end[:, None], -math.inf)
    row, which = _says_something(travel, end, then, combinations).nonzero(as_tuple=True)
    group = combinations[which]  # [K, 3]
    arrive_by = torch.stack([_begins(travel, after, end, then, row, group.roll(-k, 1)) for k in range(3)], -1)
    slack = arrive_by.amax(1) - end[row[:, None], group].amin(1)
    order = slack.argsort(stable=True)
    order = order[row[order].argsort(stable=True)]  # instance by instance, the tightest first
    row, group, arrive_by = row[order], group[order], arrive_by[order]
    count = row.bincount(minlength=len(travel))
    place = torch.arange(len(row), device=row.device) - (count.cumsum(0) - count)[row]
    most = min(int(count.max()), MOST * travel.shape[1])
    kept = place < most
    groups = group.new_zeros(len(travel), most, 3)
    table = arrive_by.new_full(groups.shape, math.inf)
    groups[row[kept], place[kept]], table[row[kept], place[kept]] = group[kept], arrive_by[kept]
    return groups, table


def _says_something(travel: Tensor, end: Tensor, then: Tensor, combinations: Tensor) -> Bool[Tensor, "B C"]:
    """Has the group no node that can always be the last of it, and none that can always be the first?"""
    last = end[:, :, None] + travel <= end[:, None]  # [B, N, N] however late k is in time, l is after it
    free = torch.zeros(len(travel), len(combinations), dtype=torch.bool, device=travel.device)
    for k in range(3):
        x, y, z = combinations.roll(-k, 1).unbind(1)
        free |= (last[:, y, x] | (y == x)) & (last[:, z, x] | (z == x))
        once = (y != x) & (z != x)  # a pair names one of its nodes twice
        free |= once & ((end[:, x] + travel[:, x, y] <= then[:, y, z]) | (end[:, x] + travel[:, x, z] <= then[:, z, y]))
    return ~free


def _begins(travel: Tensor, after: Tensor, end: Tensor, then: Tensor, row: Tensor, group: Tensor) -> Tensor:
    """[K] latest arrival at the first of (a, b, c) so that it and the others, in their better order, are in time."""
    a, b, c = group.unbind(1)
    best = torch.full_like(end[row, a], -math.inf)
    for second, third in ((b, c), (c, b)):
        by = torch.minimum(end[row, a], then[row, second, third] - travel[row, a, second])
        best = torch.maximum(best, by.masked_fill(after[row, a, second] > then[row, second, third], -math.inf))
    return best


def _filled(part: Tensor, most: int, value: float) -> Tensor:
    return torch.nn.functional.pad(part, (0, 0, 0, most - part.shape[1]), value=value)
