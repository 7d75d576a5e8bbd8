"""TSPLIB and CVRPLIB files: every layout and rounding by hand, every fault with its line."""

from __future__ import annotations

import numpy as np
import pytest

from egam import io
from egam.errors import BadInput
from egam.judge import judge
from egam.solution import Solution

WEIGHTS = [[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]]  # symmetric; the diagonal is written as 9
SQUARE = """NAME : square
TYPE : TSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 0 10
3 10 10
4 10 0
EOF
"""
SMALL_CVRP = """NAME : small
TYPE : CVRP
DIMENSION : 4
CAPACITY : 10
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 0 3
3 4 3
4 4 0
DEMAND_SECTION
1 0
2 4
3 5
4 6
DEPOT_SECTION
1
-1
EOF
"""


def explicit(layout: str, numbers: str) -> str:
    head = f"TYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {layout}\n"
    return f"{head}EDGE_WEIGHT_SECTION\n{numbers}\nEOF\n"


@pytest.mark.parametrize(
    ("layout", "numbers"),
    [
        ("FULL_MATRIX", "9 1 2 3\n1 9 4 5\n2 4 9 6\n3 5 6 9"),
        ("UPPER_ROW", "1 2 3\n4 5\n6"),
        ("LOWER_ROW", "1\n2 4\n3 5 6"),
        ("UPPER_DIAG_ROW", "9 1 2 3\n9 4 5\n9 6\n9"),
        ("LOWER_DIAG_ROW", "9\n1 9\n2 4 9\n3 5 6 9"),
        ("UPPER_COL", "1\n2 4\n3 5 6"),  # column 2 down to the diagonal: 1; column 3: 2 4; column 4: 3 5 6
        ("LOWER_COL", "1 2 3\n4 5\n6"),
        ("UPPER_DIAG_COL", "9\n1 9\n2 4 9\n3 5 6 9"),
        ("LOWER_DIAG_COL", "9 1 2 3\n9 4 5\n9 6\n9"),
    ],
)
def test_every_layout_of_an_explicit_matrix(layout, numbers):
    assert io.parse(explicit(layout, numbers), "x.tsp").travel.tolist() == WEIGHTS
    wrapped = numbers.replace("\n", " ").replace(" ", "\n", 2)  # lines mean nothing inside the section
    assert io.parse(explicit(layout, wrapped), "x.tsp").travel.tolist() == WEIGHTS


def test_an_asymmetric_matrix_is_travelled_as_it_stands():
    text = explicit("FULL_MATRIX", "0 1 9 9\n9 0 1 9\n9 9 0 1\n1 9 9 0")
    for kind in ("TSP", "ATSP"):
        instance = io.parse(text.replace("TYPE: TSP", f"TYPE: {kind}"), "x.tsp")
        assert judge(instance, Solution.of([[1, 2, 3]])).cost == 4  # around with the arrows
        assert judge(instance, Solution.of([[3, 2, 1]])).cost == 36  # against them


@pytest.mark.parametrize(
    ("weights", "expected"),
    [  # from (0, 0) to (7, 4), 8.06 apart, and to (1.5, 2), 2.5 apart
        ("EUC_2D", [8, 3]),
        ("CEIL_2D", [9, 3]),
        ("FLOOR_2D", [8, 2]),
        ("EXACT_2D", [65**0.5, 2.5]),
        ("MAN_2D", [11, 4]),  # 3.5 is rounded up
        ("MAX_2D", [7, 2]),
        ("ATT", [3, 1]),  # sqrt(6.5) = 2.55; sqrt(0.625) = 0.79
    ],
)
def test_every_distance_function_of_the_plane(weights, expected):
    text = SQUARE.replace("EUC_2D", weights).replace("2 0 10", "2 7 4").replace("3 10 10", "3 1.5 2")
    assert io.parse(text, "x.tsp").travel[0, 1:3].tolist() == expected


def test_geo_coordinates_are_degrees_and_minutes():
    text = SQUARE.replace("EUC_2D", "GEO").replace("2 0 10", "2 16.47 96.10").replace("3 10 10", "3 16.47 94.44")
    instance = io.parse(text, "x.tsp")
    assert instance.geographic
    # 47 minutes are 0.78333 degrees; longitude comes first here, latitude in the file
    assert instance.coords[1] == pytest.approx([96 + 10 / 60, 16 + 47 / 60])
    assert instance.travel[1, 2] == 153  # as burma14's first two towns
    assert instance.plane is not None
    assert instance.plane[1, 0] - instance.plane[2, 0] == pytest.approx(153, rel=0.05)  # kilometres to the east


def test_the_rounding_of_the_file_is_the_judges():
    instance = io.parse(SMALL_CVRP.replace("3 4 3", "3 4.4 3"), "small.vrp")
    # routes 0-1-0 and 0-2-3-0: 3 + 3, and round(5.3254) + round(3.0265) + 4 = 5 + 3 + 4
    assert judge(instance, Solution.of([[1], [2, 3]])).cost == 18
    assert judge(instance, Solution.of([[1], [2, 3]])).violations[0].kind == "overload"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace(" ", "\t"),
        lambda text: text.replace(" : ", ":"),
        lambda text: text.replace(" : ", " "),
        lambda text: text.replace(" : ", " = "),
        lambda text: text.replace("EOF\n", ""),
        lambda text: text + "\n\n  \n",
        lambda text: text + "EOF\n\x1a",
        lambda text: text.lower(),
        lambda text: text.replace("_SECTION", "_SECTION :"),
        lambda text: text.replace("\n1 0 0\n2 0 3", "\n2 0 3\n1 0 0"),
        lambda text: text.replace("1\n-1\n", "1 -1\n"),
        lambda text: text.replace("-1\n", ""),
        lambda text: text.replace("4 6\n", "4 6\n-1\n"),
        lambda text: text.replace("DEPOT_SECTION\n1\n-1\n", ""),
        lambda text: text.replace("TYPE : CVRP", "TYPE : CVRP (after A. Author)"),
        lambda text: text.replace("NAME", "COMMENT : a\nCOMMENT : b: c\nNAME"),
        lambda text: text.replace("4 4 0", "4 +4.0e0 .0"),
        lambda text: text.replace("CAPACITY", "SERVICE_TIME : 0.0\nCAPACITY"),
        lambda text: text.replace("CAPACITY", "DISTANCE : 999999\nCAPACITY"),
        lambda text: text.replace("TYPE : CVRP", "TYPE : ACVRP"),
        lambda text: text.replace("\n", "   \n  "),
    ],
)
def test_what_differs_only_in_dress_is_the_same(change):
    changed = io.parse(change(SMALL_CVRP), "small.vrp")
    assert changed == io.parse(SMALL_CVRP, "small.vrp")


def test_a_depot_that_is_not_first_is_moved_to_the_front_and_keeps_its_id():
    text = SMALL_CVRP.replace("1 0\n2 4\n3 5", "1 5\n2 4\n3 0").replace("SECTION\n1\n-1", "SECTION\n3\n-1")
    instance = io.parse(text, "moved.vrp")
    assert instance.names == ("3", "1", "2", "4")
    assert instance.coords.tolist() == [[4, 3], [0, 0], [0, 3], [4, 0]]
    assert instance.demand.tolist() == [0, 5, 4, 6]
    assert instance.travel[0].tolist() == [0, 5, 4, 3]
    matrix = text.replace("EUC_2D", "EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n3 5 4 4 5 3")
    assert (io.parse(matrix, "moved.vrp").travel == instance.travel).all()
    with pytest.raises(BadInput, match=r"^moved.vrp:12: demand of node 1 is 50, above CAPACITY 10$"):
        io.parse(text.replace("1 5", "1 50"), "moved.vrp")


def test_explicit_weights_take_coordinates_from_either_section():
    text = explicit("UPPER_ROW", "1 2 3 4 5 6").replace("EOF", "DISPLAY_DATA_SECTION\n1 0 0\n2 1 0\n3 2 0\n4 3 0\nEOF")
    assert io.parse(text, "x.tsp").coords[3].tolist() == [3, 0]
    assert io.parse(text.replace("DISPLAY_DATA", "NODE_COORD"), "x.tsp").coords[3].tolist() == [3, 0]
    assert io.parse(text, "x.tsp").travel.tolist() == WEIGHTS


@pytest.mark.parametrize(
    ("kind", "extra", "field", "expected"),
    [
        ("TSPTW", "TIME_WINDOW_SECTION\n1 0 99\n2 0 20\n3 5 50\n4 0 9.5\n", "window", [5, 50]),
        ("VRPTW", "TIME_WINDOW_SECTION\n1 0 99\n2 0 20\n3 5 50\n4 0 9.5\n", "window", [5, 50]),
        ("TSPDL", "DEMAND_SECTION\n1 0\n2 1\n3 1\n4 1\nDRAFT_LIMIT_SECTION\n1 3\n2 3\n3 2\n4 3\n", "draft_limit", 2),
        (
            "PCTSP",
            "NODE_SCORE_SECTION\n1 0\n2 1\n3 2\n4 3\nNODE_PENALTY_SECTION\n1 0\n2 9\n3 8\n4 7\n",
            "penalty",
            8,
        ),
    ],
)
def test_extra_sections(kind, extra, field, expected):
    head = "MIN_PRIZE : 4\n" if kind == "PCTSP" else ""
    text = SQUARE.replace("TYPE : TSP", f"{head}TYPE : {kind}").replace("EOF\n", extra + "EOF\n")
    instance = io.parse(text, "x.tsp")
    assert instance.problem == kind.lower()
    assert getattr(instance, field)[2].tolist() == expected


def test_a_file_can_be_read_as_another_problem_and_says_what_it_leaves_out():
    instance = io.parse(SMALL_CVRP, "small.vrp", "tsp")
    assert instance.problem == "tsp"
    assert instance.notes == (
        "DEMAND_SECTION is left out: tsp has no use for it",
        "CAPACITY is left out: tsp has no use for it",
    )
    with pytest.raises(BadInput, match=r"^small.vrp: TIME_WINDOW_SECTION is missing; tsptw needs TIME_WINDOW_SECTION$"):
        io.parse(SMALL_CVRP, "small.vrp", "tsptw")


def test_a_number_of_vehicles_is_noted():
    instance = io.parse(SMALL_CVRP.replace("CAPACITY", "VEHICLES : 2\nCAPACITY"), "small.vrp")
    assert instance.notes == ("VEHICLES 2 is left out: the number of routes is free in cvrp and 1 elsewhere",)


FAULTS = [  # what is replaced, by what, line, and the sentence after it
    ("4 6\n", "4 61\n", 15, "demand of node 4 is 61, above CAPACITY 10"),
    ("4 6\n", "4 -6\n", 15, "demand of node 4 is -6; 0 or more is accepted"),
    ("1 0\n2 4", "1 3\n2 4", 12, "demand of node 1, the depot, is 3; 0 is expected"),
    ("4 6\n", "4 six\n", 15, "demand of node 4 is 'six'; a number is expected"),
    ("4 6\n", "4 1e16\n", 15, "demand of node 4 is '1e16'; numbers up to 1e+15 are accepted"),
    ("4 6\n", "4 1_0\n", 15, "demand of node 4 is '1_0'; a number is expected"),
    ("4 6\n", "4 6 7\n", 15, "a line of DEMAND_SECTION has 3 words; a node and a number are expected"),
    ("4 6\n", "3 6\n", 15, "node 3 is in DEMAND_SECTION a second time; the first is in line 14"),
    ("4 6\n", "5 6\n", 15, "node of DEMAND_SECTION is 5; 1 to 4, the DIMENSION, are accepted"),
    ("4 6\n", "4.0 6\n", 15, "node of DEMAND_SECTION is '4.0'; a whole number is expected"),
    ("4 6\n", "", 14, "DEMAND_SECTION has 3 nodes of 4, the DIMENSION; node 4 is missing"),
    ("4 4 0\n", "4 4 nan\n", 10, "coordinate of node 4 is 'nan'; a number is expected"),
    ("4 4 0\n", "4 4\n", 10, "a line of NODE_COORD_SECTION has 2 words; a node and 2 numbers are expected"),
    ("4 4 0\n", "nan 4 0\n", 10, "unknown keyword 'NAN' (did you mean 'NAME'?)"),
    ("DEMAND_SECTION", "DEMANT_SECTION", 11, "unknown keyword 'DEMANT_SECTION' (did you mean 'DEMAND_SECTION'?)"),
    ("DEMAND_SECTION", "DEMAND_SECTION 1", 11, "DEMAND_SECTION is followed by '1'; its data begin on the next line"),
    ("DEMAND_SECTION\n", "", 11, "a line of NODE_COORD_SECTION has 2 words; a node and 2 numbers are expected"),
    ("DIMENSION : 4", "DIMENSION : 5", 10, "NODE_COORD_SECTION has 4 nodes of 5, the DIMENSION; node 5 is missing"),
    ("DIMENSION : 4", "DIMENSION : 1000000000", 3, "DIMENSION is 1000000000; 3 to 10000 nodes are accepted"),
    ("DIMENSION : 4", "DIMENSION : 2", 3, "DIMENSION is 2; 3 to 10000 nodes are accepted"),
    ("DIMENSION : 4", "DIMENSION : four", 3, "DIMENSION is 'four'; a whole number is expected"),
    ("DIMENSION : 4", "DIMENSION :", 3, "DIMENSION is missing; a line such as 'DIMENSION : 52' is needed"),
    ("DIMENSION : 4\n", "", None, "DIMENSION is missing; a line such as 'DIMENSION : 52' is needed"),
    ("DIMENSION : 4", "DIMENSION : 4\nDIMENSION : 4", 4, "DIMENSION is there a second time; the first is in line 3"),
    ("TYPE : CVRP\n", "", None, "TYPE is missing; a line such as 'TYPE : TSP' is needed"),
    (
        "TYPE : CVRP",
        "TYPE : SOP",
        2,
        "TYPE is 'SOP' (did you mean 'TSP'?); accepted: TSP, ATSP, CVRP, ACVRP, PCTSP, TSPTW, TSPDL, VRPTW",
    ),
    ("TYPE : CVRP", "TYPE : TOUR", 2, "is a tour, not an instance; read_solution reads it"),
    (
        "EUC_2D",
        "EUC_3D",
        5,
        "EDGE_WEIGHT_TYPE is 'EUC_3D' (did you mean 'EUC_2D'?); accepted: "
        "EUC_2D, CEIL_2D, FLOOR_2D, MAN_2D, MAX_2D, ATT, GEO, EXACT_2D, EXPLICIT",
    ),
    ("EUC_2D", "EXPLICIT", None, "EDGE_WEIGHT_FORMAT is missing; a line such as 'EDGE_WEIGHT_FORMAT : FULL_MATRIX' is"),
    (
        "EUC_2D",
        "EXPLICIT\nEDGE_WEIGHT_FORMAT: FUNCTION",
        6,
        "EDGE_WEIGHT_FORMAT is 'FUNCTION'; accepted: FULL_MATRIX, UPPER_ROW, LOWER_ROW",
    ),
    (
        "EUC_2D",
        "EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW",
        5,
        "EDGE_WEIGHT_SECTION is missing; EDGE_WEIGHT_TYPE EXPLICIT needs it",
    ),
    (
        "EUC_2D",
        "EUC_2D\nEDGE_WEIGHT_SECTION\n1 2",
        6,
        "EDGE_WEIGHT_TYPE is EUC_2D, so that there can be no EDGE_WEIGHT",
    ),
    ("EUC_2D", "EUC_2D\nNODE_COORD_TYPE: THREED_COORDS", 6, "NODE_COORD_TYPE is THREED_COORDS; two coordinates are"),
    ("CAPACITY : 10\n", "", None, "CAPACITY is missing; cvrp needs DEMAND_SECTION, CAPACITY"),
    ("CAPACITY : 10", "CAPACITY : 0", 4, "CAPACITY is 0.0; a finite number above 0 is expected"),
    ("CAPACITY : 10", "CAPACITY : ten", 4, "CAPACITY is 'ten'; a number is expected"),
    (
        "CAPACITY : 10",
        "CAPACITY : 10\nDISTANCE : 9",
        5,
        "DISTANCE (a limit on the length of routes) is not modelled; take",
    ),
    (
        "CAPACITY : 10",
        "CAPACITY : 10\nSERVICE_TIME : 9",
        5,
        "SERVICE_TIME (service times) is not modelled; take it out",
    ),
    ("CAPACITY : 10", "10 20\nCAPACITY : 10", 4, "'10 20' stands in no section; a keyword is expected"),
    ("DEPOT_SECTION\n1", "DEPOT_SECTION\n1\n2", 18, "DEPOT_SECTION goes on with '2'; one depot and -1 are accepted"),
    ("DEPOT_SECTION\n1", "DEPOT_SECTION\n9", 17, "the depot is 9; 1 to 4, the DIMENSION, are accepted"),
    ("DEPOT_SECTION\n1", "DEPOT_SECTION\n2", 13, "demand of node 2, the depot, is 4; 0 is expected"),
    ("EOF\n", "EOF\n1 2 3\n", 20, "there is text after EOF: '1 2 3'; one instance per file is accepted"),
    (
        "DEPOT_SECTION",
        "TIME_WINDOW_SECTION\n1 0 9\n2 0 9\n3 0 9\n4 0 9\nDEPOT_SECTION",
        17,
        "TIME_WINDOW_SECTION is given, but cvrp has no use for it; name the problem to leave it out",
    ),
    ("NAME : small", "COMMENT : egam: nonsense", 1, "'egam: nonsense' is unknown; 'egam:' is followed by stop, note"),
    ("NAME : small", "COMMENT : egam: stop 2 = Ulm", 1, "1 stops are named; all of 1 to 4 or none are expected"),
]


@pytest.mark.parametrize(("old", "new", "line", "sentence"), FAULTS)
def test_each_fault_has_its_line_and_sentence(old, new, line, sentence):
    assert old in SMALL_CVRP
    with pytest.raises(BadInput) as refusal:
        io.parse(SMALL_CVRP.replace(old, new, 1), "small.vrp")
    place = "small.vrp" if line is None else f"small.vrp:{line}"
    assert str(refusal.value).startswith(f"{place}: {sentence}")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("numbers", "line", "sentence"),
    [
        ("1 2 3\n4 5", 7, "EDGE_WEIGHT_SECTION has 5 numbers; UPPER_ROW with DIMENSION 4 needs 6"),
        ("1 2 3\n4 5 6 7", 7, "EDGE_WEIGHT_SECTION has 7 numbers; UPPER_ROW with DIMENSION 4 needs 6"),
        ("", 5, "EDGE_WEIGHT_SECTION has 0 numbers; UPPER_ROW with DIMENSION 4 needs 6"),
        ("1 2 3\n4 -5 6", 7, "an edge weight is -5; 0 or more is accepted"),
        ("1 2 x3\n4 5 6", 6, "an edge weight is 'x3'; a number is expected"),
    ],
)
def test_faults_of_explicit_weights(numbers, line, sentence):
    with pytest.raises(BadInput) as refusal:
        io.parse(explicit("UPPER_ROW", numbers), "x.tsp")
    assert str(refusal.value) == f"x.tsp:{line}: {sentence}"


def test_windows_that_end_before_they_start():
    text = SQUARE.replace("TYPE : TSP", "TYPE : TSPTW")
    text = text.replace("EOF\n", "TIME_WINDOW_SECTION\n1 0 99\n2 0 20\n3 50 5\n4 0 9\n")
    with pytest.raises(BadInput, match=r"^x.tsp:13: window of node 3 ends at 5, before it starts at 50$"):
        io.parse(text, "x.tsp")


def test_a_huge_dimension_allocates_nothing():
    import tracemalloc

    tracemalloc.start()
    text = explicit("FULL_MATRIX", "1 2 3").replace("DIMENSION: 4", "DIMENSION: 9999")
    with pytest.raises(BadInput, match=r"needs 99980001$"):
        io.parse(text, "x.tsp")
    with pytest.raises(BadInput, match=r"NODE_COORD_SECTION has 4 nodes of 9999, the DIMENSION; node 5 is missing"):
        io.parse(SQUARE.replace("DIMENSION : 4", "DIMENSION : 9999"), "x.tsp")
    assert tracemalloc.get_traced_memory()[1] < 2e6
    tracemalloc.stop()


def test_names_notes_and_globe_survive_in_comments():
    names = ["Köln", "a = b", "x, y", "4"]
    instance = io.instance_from_dict(
        {
            "problem": "tsp",
            "name": "t: est",
            "coords": [[7, 51], [8, 50], [9, 51], [6.5, 49]],
            "geographic": True,
            "names": names,
            "notes": ["one = two"],
        }
    )
    text = io.dump(instance, "tsplib")
    assert "COMMENT : egam: stop 1 = Köln\n" in text
    assert io.parse(text, "x.tsp") == instance


def test_exact_coordinates_are_written_as_exact():
    instance = io.instance_from_dict(
        {"problem": "tsp", "name": "t", "coords": np.random.default_rng(0).random((5, 2)).tolist()}
    )
    text = io.dump(instance, "tsplib")
    assert "EDGE_WEIGHT_TYPE : EXACT_2D" in text
    assert io.parse(text, "x.tsp") == instance
