"""What a user should know of a result: in what the instance differs from all that the weights saw, and why it fails.

Each finding is one sentence; together they are `Result.notes`. Nothing here changes how an instance is solved.
"""

from __future__ import annotations

from egam.catalogue import Entry
from egam.infeasible import why_infeasible
from egam.instance import Instance
from egam.result import Result

FAR_ABOVE, FAR_BELOW = 1.5, 0.5  # of the sizes trained on
WIDE = 0.3  # mean window as a share of the whole time span; those of trainings but `easy` are far below


def unseen(instance: Instance, entry: Entry) -> list[str]:
    """In what the instance differs from all that the weights were trained on."""
    notes = []
    if entry.problem != instance.problem:
        ways = "the same" if instance.symmetric else "different"
        notes.append(f"solved with weights for {entry.problem}, as ways there and back cost {ways}")
    if not instance.symmetric and entry.problem != "atsp":
        notes.append(f"the matrix is asymmetric; the weights {entry.name} see the mean of both ways, the cost does not")
    if instance.coords is None and entry.variant != "matrix":
        notes.append(f"no coordinates are given; the weights {entry.name} see positions derived from the matrix")
    if _far(instance.size, entry):
        notes.append(
            f"{instance.size} nodes are far from what the weights {entry.name} were trained on ({entry.trained_on}); "
            "expect worse routes than near those sizes"
        )
    if entry.problem == "tsptw" and entry.variant != "easy" and _width(instance) > WIDE:
        notes.append(f"the time windows are wider than those that the weights {entry.name} were trained on")
    return notes


def why_not(result: Result) -> list[str]:
    """Why a result is not feasible, as far as we know; or why it is although a wish cannot be met."""
    if result.feasible:
        return _unmet(result.instance)
    if proof := why_infeasible(result.instance):
        return [proof]
    if result.proven:
        return [f"{result.method} proved that no plan keeps all rules"]
    tries = f" among {result.tries} tried" if result.tries else ""
    return [f"no plan that keeps all rules was found{tries}, but there may be one: give more time or another method"]


def _unmet(instance: Instance) -> list[str]:
    if instance.prize is None or instance.min_prize is None or instance.prize.sum() >= instance.min_prize:
        return []
    total = f"{instance.prize.sum():g}"
    return [
        f"all prizes together are {total}, below min_prize {instance.min_prize:g}: visiting everybody is enough then"
    ]


def _far(size: int, entry: Entry) -> bool:
    return entry.sizes is not None and not FAR_BELOW * entry.sizes[0] <= size <= FAR_ABOVE * entry.sizes[1]


def _width(instance: Instance) -> float:
    """Mean width of the customers' windows as a share of the time they span."""
    assert instance.window is not None
    opens, closes = instance.window[1:].T
    span = float(closes.max() - opens.min())
    return float((closes - opens).mean()) / span if span > 0 else 0.0
