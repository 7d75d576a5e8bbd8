"""Every unusable input is refused with one sentence that says where, what was found and what is accepted."""

from __future__ import annotations

import numpy as np
import pytest

from egam.errors import BadInput
from egam.instance import KINDS, Instance, kind_of

SQUARE = [[0, 0], [0, 1], [1, 1], [1, 0]]
FOUR = {
    "tsp": {},
    "atsp": {},
    "cvrp": {"demand": [0, 1, 2, 3], "capacity": 4},
    "pctsp": {"prize": [0, 1, 1, 1], "penalty": [0, 1, 1, 1], "min_prize": 2},
    "tsptw": {"window": [[0, 9], [0, 9], [1, 3], [0, 9]]},
    "tspdl": {"demand": [0, 1, 1, 1], "draft_limit": [3, 1, 2, 3]},
    "vrptw": {"window": [[0, 9], [0, 9], [1, 3], [0, 9]]},
}


@pytest.mark.parametrize("problem", KINDS)
def test_a_good_instance_is_accepted_and_cannot_be_changed(problem):
    instance = Instance(problem, coords=SQUARE, **FOUR[problem])
    assert instance.size == 4
    assert instance.travel[0, 2] == pytest.approx(2**0.5)
    with pytest.raises(ValueError, match="read-only"):
        instance.coords[0, 0] = 1.0


def test_a_matrix_is_the_travel_and_its_diagonal_is_never_travelled():
    instance = Instance("atsp", matrix=[[9999, 1, 2], [3, 9999, 4], [5, 6, np.nan]])
    assert instance.travel.tolist() == [[0, 1, 2], [3, 0, 4], [5, 6, 0]]


def test_the_callers_array_stays_his_own():
    coords = np.array(SQUARE, dtype=float)
    instance = Instance("tsp", coords=coords)
    coords[0] = 7
    assert instance.coords[0].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("problem", "changes", "sentence"),
    [
        ("tsp", {"coords": None}, "tsp instance: has neither coords nor a matrix; one of them is needed"),
        ("tsp", {"coords": SQUARE[:2]}, "tsp instance: has 2 nodes; 3 or more are needed"),
        ("tsp", {"coords": SQUARE[:2], "name": "tiny.tsp"}, "tiny.tsp: has 2 nodes; 3 or more are needed"),
        ("tsp", {"coords": 5}, "tsp instance: coords has shape (); a table of two dimensions is expected"),
        ("tsp", {"coords": [0, 1, 2]}, "tsp instance: coords has shape (3,); a table of two dimensions is expected"),
        ("tsp", {"coords": [[0, 0, 0]] * 4}, "tsp instance: coords has shape (4, 3); (4, 2) is expected"),
        ("tsp", {"coords": [["a", "b"]] * 4}, "tsp instance: coords is not a table of numbers"),
        ("tsp", {"coords": [[0, 0], [1], [1, 1]]}, "tsp instance: coords is not a table of numbers"),
        (
            "tsp",
            {"coords": [[0, 0], [0, np.nan], [1, 1]]},
            "tsp instance: coords[1, 1] is nan; finite numbers are accepted",
        ),
        (
            "atsp",
            {"coords": None, "matrix": [[0, 1, 1], [1, 0, np.inf], [1, 1, 0]]},
            "atsp instance: matrix[1, 2] is inf; finite numbers are accepted",
        ),
        (
            "atsp",
            {"coords": None, "matrix": [[0, 1, 1], [1, 0, 1], [1, -2, 0]]},
            "atsp instance: matrix[2, 1] is -2; travel costs must be 0 or more",
        ),
        ("atsp", {"matrix": np.ones((3, 3))}, "atsp instance: matrix has shape (3, 3); (4, 4) is expected"),
        ("tsp", {"demand": [0, 1, 1, 1]}, "demand is given, but tsp has no use for it; it takes coords, matrix"),
        ("cvrp", {"capacity": None}, "cvrp instance: capacity is missing; cvrp needs demand, capacity"),
        ("cvrp", {"demand": [0, 1, 2]}, "cvrp instance: demand has shape (3,); (4,) is expected"),
        ("cvrp", {"demand": [0, 1, 6, 1]}, "cvrp instance: demand of node 2 is 6, above capacity 4"),
        ("cvrp", {"demand": [0, 1, -1, 1]}, "cvrp instance: demand of node 2 is -1; 0 or more is accepted"),
        ("cvrp", {"demand": [1, 1, 1, 1]}, "cvrp instance: demand of node 0, the depot, is 1; 0 is expected"),
        ("cvrp", {"capacity": 0}, "cvrp instance: capacity is 0.0; a finite number above 0 is expected"),
        ("cvrp", {"capacity": "ten"}, "cvrp instance: capacity is 'ten'; a number is expected"),
        ("pctsp", {"min_prize": np.nan}, "pctsp instance: min_prize is nan; a finite number above 0 is expected"),
        ("pctsp", {"penalty": None}, "pctsp instance: penalty is missing; pctsp needs prize, penalty, min_prize"),
        (
            "tsptw",
            {"window": [[0, 9], [0, 9], [5, 3], [0, 9]]},
            "tsptw instance: window of node 2 ends at 3, before it starts at 5",
        ),
        ("vrptw", {"window": [0, 1, 2, 3]}, "vrptw instance: window has shape (4,); (4, 2) is expected"),
        ("tspdl", {"draft_limit": None}, "tspdl instance: draft_limit is missing; tspdl needs demand, draft_limit"),
    ],
)
def test_each_bad_input_gives_one_clear_sentence(problem, changes, sentence):
    with pytest.raises(BadInput) as refusal:
        Instance(problem, **{"coords": SQUARE, **FOUR[problem], **changes})
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        ("tps", "unknown problem 'tps' (did you mean 'tsp'?); accepted: tsp, atsp, cvrp, pctsp, tsptw, tspdl, vrptw"),
        ("knapsack", "unknown problem 'knapsack'; accepted: tsp, atsp, cvrp, pctsp, tsptw, tspdl, vrptw"),
        (None, "unknown problem 'None'; accepted: tsp, atsp, cvrp, pctsp, tsptw, tspdl, vrptw"),
    ],
)
def test_an_unknown_problem_names_the_nearest(problem, sentence):
    with pytest.raises(BadInput) as refusal:
        kind_of(problem)
    assert str(refusal.value) == sentence
