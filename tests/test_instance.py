"""Every unusable input is refused with one sentence that says where, what was found and what is accepted."""

from __future__ import annotations

import numpy as np
import pytest

from egam.errors import BadInput
from egam.instance import KINDS, Instance, kind_of
from egam.metric import METRICS, ON_THE_GLOBE

CAPITALS = [[2.35, 48.86], [13.40, 52.52], [-0.13, 51.51], [12.50, 41.90]]  # Paris, Berlin, London, Rome
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
        ("tsp", {"names": ["a", "b", "a", "c"]}, "nodes 0 and 2 are both called 'a'; names of stops must differ"),
        ("tsp", {"names": ["a", " a", "b", "c"]}, "nodes 0 and 1 are both called 'a'; names of stops must differ"),
        ("tsp", {"names": ["a", "b", "c"]}, "there are 3 names for 4 nodes; one for each is expected"),
        ("tsp", {"names": ["a", "", "c", "d"]}, "the name of node 1 is ''; a line of text is expected"),
        ("tsp", {"names": ["a", "b", "c", "d\ne"]}, "the name of node 3 is 'd\\ne'; a line of text is expected"),
        ("tsp", {"names": [1.5, 2, 3, 4]}, "names is not a list of texts, one for each stop"),
        ("tsp", {"names": 7}, "names is not a list of texts, one for each stop"),
        ("tsp", {"name": 7}, "instance: name is 7; a text is expected"),
        ("tsp", {"coords": [[0, 0], [0, 1e16], [1, 1]]}, "coords[1, 1] is 1e+16; numbers up to 1e+15 are accepted"),
        ("cvrp", {"capacity": 1e16}, "capacity is 1e+16; numbers up to 1e+15 are accepted"),
        ("cvrp", {"demand": [0, 1, 6, 1], "names": "abcd"}, "names for 4 nodes"),
        ("cvrp", {"demand": [0, 1, 6, 1], "names": list("abcd")}, "demand of node 2 (c) is 6, above capacity 4"),
        ("tsp", {"geographic": True, "coords": None, "matrix": np.ones((4, 4))}, "geographic is set without coords"),
        ("tsp", {"geographic": 1}, "geographic is 1; True or False is expected"),
        (
            "tsp",
            {"geographic": True, "coords": [[48.86, 2.35], [52.52, 13.4], [40.7, -124.0]]},
            "latitude of node 2 is -124; -90 to 90 degrees are accepted, longitude first",
        ),
        (
            "tsp",
            {"geographic": True, "coords": [[0, 0], [361, 0], [0, 0]]},
            "longitude of node 1 is 361; -180 to 360 degrees are accepted, longitude first",
        ),
        ("tsp", {"rounding": "EUC_3D"}, "rounding is 'EUC_3D' (did you mean 'EUC_2D'?); accepted: EUC_2D, CEIL_2D"),
        ("tsp", {"rounding": "GEO"}, "rounding is GEO, a rule for longitudes and latitudes, which are not given"),
        (
            "tsp",
            {"rounding": "EUC_2D", "geographic": True},
            "rounding is EUC_2D, a rule for coords on a plane, which are not given",
        ),
        (
            "tsp",
            {"rounding": "EUC_2D", "matrix": np.ones((4, 4)) * 7},
            "the matrix is not what rounding EUC_2D makes of coords; give one of them",
        ),
        ("tspdl", {"draft_limit": [3, 1, -2, 3]}, "draft_limit of node 2 is -2; 0 or more is accepted"),
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


@pytest.mark.parametrize("problem", KINDS)
def test_each_problem_has_a_constructor(problem):
    made = getattr(Instance, problem)(SQUARE, **FOUR[problem], names=list("abcd"), name="four")
    assert made == Instance(problem, coords=SQUARE, **FOUR[problem], names=("a", "b", "c", "d"), name="four")
    assert made.stop_name(2) == "c"
    assert made.stop_name(9) == "9"
    assert Instance(problem, coords=SQUARE, **FOUR[problem]).stop_name(2) == "2"


@pytest.mark.parametrize("problem", KINDS)
def test_a_matrix_alone_is_enough_and_may_be_asymmetric(problem):
    matrix = [[0, 1, 2, 3], [4, 0, 5, 6], [7, 8, 0, 9], [1, 1, 1, 0]]
    made = getattr(Instance, problem)(matrix=matrix, **FOUR[problem])
    assert made.travel.tolist() == matrix
    assert made.coords is None


def test_instances_are_equal_if_all_of_their_fields_are():
    one = Instance.tsp(SQUARE, name="a")
    assert one == Instance.tsp(np.array(SQUARE), name="a")
    assert hash(one) == hash(Instance.tsp(np.array(SQUARE), name="a"))
    different = [
        Instance.tsp(SQUARE, name="b"),
        Instance.tsp([*SQUARE[:3], [1, 2]], name="a"),
        Instance.tsp(SQUARE[:3], name="a"),
        Instance.tsp(matrix=one.travel, name="a"),
        Instance.atsp(SQUARE, name="a"),
        Instance.tsp(SQUARE, name="a", names=list("abcd")),
    ]
    assert one not in different


@pytest.mark.parametrize(
    ("metric", "expected"),
    [  # from (0, 0) to (7, 4): the straight way is 8.062, the sum of both sides 11, the longer side 7
        ("EUC_2D", 8),
        ("CEIL_2D", 9),
        ("FLOOR_2D", 8),
        ("MAN_2D", 11),
        ("MAX_2D", 7),
        ("ATT", 3),  # sqrt(65 / 10) = 2.550, rounded to 3
    ],
)
def test_the_rounding_of_a_file_becomes_the_matrix(metric, expected):
    made = Instance("tsp", coords=[[0, 0], [7, 4], [2, 1]], rounding=metric)
    assert made.travel[0, 1] == made.travel[1, 0] == expected
    assert made.matrix.diagonal().tolist() == [0, 0, 0]


def test_halves_are_rounded_up_and_att_never_down():
    made = Instance("tsp", coords=[[0, 0], [2.5, 0], [0, 4.5]], rounding="EUC_2D")
    assert made.travel[0].tolist() == [0, 3, 5]  # not to even
    made = Instance("tsp", coords=[[0, 0], [10, 0], [0, 3]], rounding="ATT")
    assert made.travel[0].tolist() == [0, 4, 1]  # sqrt(10) = 3.16 and sqrt(0.9) = 0.95


def test_tables_computed_in_blocks_are_those_computed_at_once(monkeypatch):
    coords = np.random.default_rng(0).random((7, 2)) * 90
    for metric in METRICS:
        globe = metric in ("GEO", "GREAT_CIRCLE")
        whole = Instance("tsp", coords=coords, rounding=metric, geographic=globe)
        monkeypatch.setattr("egam.metric.BLOCK", 3)
        assert Instance("tsp", coords=coords, rounding=metric, geographic=globe) == whole
        assert (whole.travel == whole.travel.T).all()
        monkeypatch.undo()


def test_longitudes_and_latitudes_travel_along_great_circles_in_metres():
    made = Instance.tsp(CAPITALS, geographic=True)
    assert made.rounding == "GREAT_CIRCLE"
    assert made.travel[0, 1] == pytest.approx(878e3, rel=0.005)  # Paris to Berlin
    assert made.travel[0, 3] == pytest.approx(1105e3, rel=0.005)  # Paris to Rome
    quarter = Instance.tsp([[0, 0], [90, 0], [0, 90]], geographic=True)
    assert quarter.travel[quarter.travel > 0] == pytest.approx(np.pi / 2 * 6371008.8)


def test_a_given_matrix_wins_over_great_circles():
    made = Instance.atsp(CAPITALS, matrix=np.ones((4, 4)), geographic=True)
    assert made.rounding == ""
    assert made.travel[0, 1] == 1


def test_the_plane_of_a_globe_is_a_map_in_metres():
    made = Instance.tsp(CAPITALS, geographic=True)
    flat = Instance.tsp(made.plane)
    assert flat.travel == pytest.approx(made.travel, rel=0.1)
    assert Instance.tsp(SQUARE).plane is not None
    assert Instance.tsp(SQUARE).plane.tolist() == SQUARE
    assert Instance.tsp(matrix=np.ones((3, 3))).plane is None


@pytest.mark.parametrize("metric", METRICS)
def test_the_plane_is_in_the_unit_of_travel(metric):
    coords = np.random.default_rng(0).random((30, 2)) * [40, 20] * (1 if metric in ON_THE_GLOBE else 1000)
    made = Instance("tsp", coords=coords, rounding=metric, geographic=metric in ON_THE_GLOBE)
    assert Instance.tsp(made.plane).travel.mean() == pytest.approx(made.travel.mean(), rel=0.3)  # MAN_2D: up to sqrt 2


def test_the_map_is_not_torn_at_the_date_line():
    fiji = Instance.tsp([[179, -17], [-179, -17], [178, -18], [180, -16]], geographic=True)
    assert Instance.tsp(fiji.plane).travel == pytest.approx(fiji.travel, rel=0.02)
    assert np.ptp(fiji.plane[:, 0]) < 400e3


def test_a_copy_with_changes_keeps_its_rounding():
    from dataclasses import replace

    made = Instance("tsp", coords=SQUARE, rounding="EUC_2D", name="a")
    assert replace(made, name="b").matrix.tolist() == made.matrix.tolist()
    assert replace(Instance.tsp(CAPITALS, geographic=True), name="b").rounding == "GREAT_CIRCLE"


@pytest.mark.parametrize("problem", KINDS)
def test_the_judge_drives_every_way_in_its_own_direction(problem):
    from egam.judge import judge
    from egam.solution import Solution

    matrix = [[0, 1, 9, 9], [9, 0, 1, 9], [9, 9, 0, 1], [1, 9, 9, 0]]  # cheap around 0-1-2-3
    own = {**FOUR[problem], **({"capacity": 6} if problem == "cvrp" else {})}
    made = Instance(problem, matrix=matrix, **own)
    assert judge(made, Solution.of([[1, 2, 3]])).length == 4
    assert judge(made, Solution.of([[3, 2, 1]])).length == 36
