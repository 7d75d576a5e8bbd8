"""Short proofs that no solution of an instance keeps all rules, for users who ask why none was found.

Four kinds: a stop whose window closes before anything can be there, two stops that are too late for each other in
either order, some stops with neighbouring deadlines of which every order is late, and ports whose draft limits are too
low for their loads. No proof is no promise: an instance without one may still have no solution.
"""

from __future__ import annotations

import numpy as np

from egam.instance import Instance
from egam.judge import LOAD_SLACK, TIME_SLACK

LARGEST_FOR_PAIRS = 400  # nodes: the ways between all pairs take N³ steps
NEIGHBOURS = 10  # stops one after the other by deadline, of which all subsets are tried


def why_infeasible(instance: Instance) -> str:
    """One sentence, or the empty string where there is no short proof."""
    if instance.kind.optional_stops:
        return ""
    if instance.window is not None:
        return _windows(instance)
    if instance.draft_limit is not None and instance.demand is not None:
        return _drafts(instance)
    return ""


def _windows(instance: Instance) -> str:
    assert instance.window is not None
    opens, closes = instance.window[:, 0], instance.window[:, 1] + TIME_SLACK * instance.scale
    ways = _shortest_from_start(instance.travel)
    earliest = np.maximum(opens[0] + ways, opens)
    late = np.flatnonzero(earliest[1:] > closes[1:]) + 1
    if len(late):
        node = int(late[np.argmax(earliest[late] - closes[late])])
        more = f" (and {len(late) - 1} more)" if len(late) > 1 else ""
        return (
            f"no plan can keep all windows: stop {instance.stop_name(node)}{more} cannot be reached before "
            f"{earliest[node]:g}, even directly from the start, and its window closes at {instance.window[node, 1]:g}"
        )
    if instance.size > LARGEST_FOR_PAIRS:
        return ""
    ways = _shortest(instance.travel)
    after = np.maximum(earliest[:, None] + ways, opens)  # [i, j] service at j if i comes first
    misses = after > closes
    both = misses & misses.T
    both[0] = both[:, 0] = False
    np.fill_diagonal(both, False)
    if not both.any():
        return _never_together(instance, ways, earliest, closes)
    i, j = (int(node) for node in np.argwhere(both)[0])
    return (
        f"no plan can keep all windows: stops {instance.stop_name(i)} and {instance.stop_name(j)} cannot both be "
        "reached in time, whichever comes first"
    )


def _never_together(instance: Instance, ways: np.ndarray, earliest: np.ndarray, closes: np.ndarray) -> str:
    """The fewest stops, of those that follow one another by deadline, of which no order is in time."""
    assert instance.window is not None
    by_deadline = 1 + np.argsort(instance.window[1:, 1], kind="stable")
    count = min(NEIGHBOURS, len(by_deadline))
    if count < 3:
        return ""
    stops = np.lib.stride_tricks.sliding_window_view(by_deadline, count)  # [K, W]
    legs = ways[stops[:, :, None], stops[:, None, :]]
    first, last = earliest[stops], closes[stops]
    # [K, 2^W, W] when service can begin at the last of a set of stops, all of which were in time
    begins = np.full((len(stops), 1 << count, count), np.inf)
    for group in range(1, 1 << count):
        for stop in range(count):
            before = group & ~(1 << stop)
            if before == group:
                continue
            arrival = (begins[:, before] + legs[:, :, stop]).min(1) if before else first[:, stop]
            begin = np.maximum(arrival, first[:, stop])
            begins[:, group, stop] = np.where(begin <= last[:, stop], begin, np.inf)
    never = np.isinf(begins).all(2)
    never[:, 0] = False
    if not never.any():
        return ""
    where, groups = np.nonzero(never)
    fewest = np.argmin([int(group).bit_count() for group in groups])
    members = [instance.stop_name(int(node)) for k, node in enumerate(stops[where[fewest]]) if groups[fewest] >> k & 1]
    return (
        f"no plan can keep all windows: stops {', '.join(members[:-1])} and {members[-1]} cannot all be "
        "reached in time, in whatever order"
    )


def _shortest_from_start(travel: np.ndarray) -> np.ndarray:
    """[N] cheapest way from node 0 over any nodes (Dijkstra): a matrix may have detours that are shorter."""
    best = travel[0].copy()
    best[0] = 0.0
    open_nodes = np.ones(len(travel), dtype=bool)
    for _ in range(len(travel)):
        node = int(np.where(open_nodes, best, np.inf).argmin())
        open_nodes[node] = False
        np.minimum(best, best[node] + travel[node], out=best)
    return best


def _shortest(travel: np.ndarray) -> np.ndarray:
    """[N, N] cheapest way from row to column over any nodes (Floyd-Warshall)."""
    closed = travel.copy()
    for via in range(len(travel)):
        np.minimum(closed, closed[:, via, None] + closed[via, None, :], out=closed)
    return closed


def _drafts(instance: Instance) -> str:
    """Ports in the order of their limits is the best order: if it fails somewhere, every order fails."""
    assert instance.demand is not None and instance.draft_limit is not None
    order = np.argsort(instance.draft_limit[1:], kind="stable") + 1
    loads = np.cumsum(instance.demand[order])
    over = loads > instance.draft_limit[order] + LOAD_SLACK * float(instance.demand.sum())
    if not over.any():
        return ""
    at = int(np.argmax(over))
    limit = instance.draft_limit[order[at]]
    return (
        f"no plan can keep all draft limits: the {at + 1} ports with limits up to {limit:g} load {loads[at]:g} "
        "in all, and the last of them must lie deeper than its limit"
    )
