"""CSV of stops and bare matrices: what is understood, what is asked for, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from egam import io
from egam.errors import BadInput
from egam.judge import judge
from egam.solution import Solution

ORDERS = "name,x,y,demand\ndepot,0,0,\nAnna,3,4,5\nBen,6,8,5\nCleo,0,8,6\n"
VISITS = "name,x,y,window_start,window_end,service_time\nhome,0,0,0,99,\nAnna,3,4,0,9,2\nBen,3,0,11,12,1\n"
PLACES = "id;longitude;latitude\nParis;2.35;48.86\nBerlin;13.40;52.52\nRome;12.50;41.90\n"


def test_columns_tell_the_problem():
    assert io.parse("x,y\n0,0\n1,0\n1,1\n", "a.csv").problem == "tsp"
    assert io.parse(ORDERS, "a.csv", capacity=10).problem == "cvrp"
    ports = "x,y,demand,draft_limit\n0,0,,2\n1,0,1,2\n1,1,1,2\n"
    assert io.parse(ports, "a.csv").problem == "tspdl"
    prizes = "x,y,prize,penalty\n0,0,,\n1,0,2,3\n1,1,2,3\n"
    assert io.parse(prizes, "a.csv", min_prize=2).problem == "pctsp"
    assert io.parse(VISITS, "a.csv", "tsptw").problem == "tsptw"


def test_names_coordinates_and_amounts_are_those_of_the_rows():
    instance = io.parse(ORDERS, "orders.csv", capacity=10)
    assert instance.names == ("depot", "Anna", "Ben", "Cleo")
    assert instance.name == "orders"
    assert instance.demand.tolist() == [0, 5, 5, 6]
    assert instance.travel[0].tolist() == [0, 5, 10, 8]
    assert instance.notes == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(",", ";"),
        lambda text: text.replace(",", "\t"),
        lambda text: text.replace(",", " , "),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text + "\n,,,\n\n",
        lambda text: text.replace("Anna", '"Anna"'),
        lambda text: text.replace("name,x,y,demand", "Name,X,Y,DEMAND"),
        lambda text: text.replace("name", "id"),
        lambda text: "# deliveries of today\n\n" + text,
    ],
)
def test_what_differs_only_in_dress_is_the_same(change):
    assert io.parse(change(ORDERS), "orders.csv", capacity=10) == io.parse(ORDERS, "orders.csv", capacity=10)


def test_comments_between_rows_are_no_stops():
    plain = io.parse(ORDERS, "a.csv", capacity=10)
    assert io.parse(ORDERS.replace("Ben", "# tomorrow\nBen"), "a.csv", capacity=10).names == plain.names
    marked = ORDERS.replace("Ben", '"#2 Main St"')
    instance = io.parse(marked, "a.csv", capacity=10)
    assert instance.names[2] == "#2 Main St"
    assert io.parse(io.dump(instance, "csv"), "a.csv") == instance


def test_what_spreadsheets_leave_behind():
    wide = "\n".join(line + ",," for line in ORDERS.splitlines())
    assert io.parse(wide, "a.csv", capacity=10).size == 4
    assert io.parse(ORDERS.replace("Anna", "Anna\u00a0Li"), "a.csv", capacity=10).names[1] == "Anna Li"
    with pytest.raises(BadInput, match="unknown column ''"):
        io.parse(wide.replace("3,4,5,,", "3,4,5,,7"), "a.csv", capacity=10)


SHEET = "Stop ID,Easting,Northing,Order Qty,Phone\ndepot,0,0,,1\nAnna,3,4,5,2\nBen,6,8,5,3\nCleo,0,8,6,4\n"
HEADINGS = {"name": "Stop ID", "x": "Easting", "y": "Northing", "demand": "order qty"}


def test_columns_by_other_headings():
    instance = io.parse(SHEET, "sheet.csv", capacity=10, columns=HEADINGS, ignore_columns=True)
    assert instance.notes == ("columns that were left out: phone",)
    plain = io.parse(ORDERS, "sheet.csv", capacity=10)
    assert instance.names == plain.names and (instance.travel == plain.travel).all()
    assert (instance.demand == plain.demand).all()
    both = ORDERS.replace("demand", "qty").replace("name", "demand")  # the heading demand holds something else
    renamed = io.parse(both, "sheet.csv", capacity=10, columns={"demand": "qty"})
    assert renamed.names is None and renamed.notes == ("columns that were left out: demand",)


def test_an_empty_window_is_open():
    instance = io.parse(VISITS.replace("Anna,3,4,0,9,2", "Anna,3,4,,,2"), "a.csv", "tsptw")
    assert instance.window[1].tolist() == [0, 1e12]
    assert "empty cells of time windows are read as open" in instance.notes
    assert judge(instance, Solution.of([[2, 1]])).feasible


def test_longitudes_and_latitudes_are_a_globe():
    instance = io.parse(PLACES, "places.csv")
    assert instance.geographic
    assert instance.travel[0, 1] == pytest.approx(878e3, rel=0.005)  # metres from Paris to Berlin


def test_decimal_commas_are_understood_where_they_are_clear():
    instance = io.parse(PLACES.replace(".", ","), "places.csv")
    assert instance.coords.tolist() == [[2.35, 48.86], [13.40, 52.52], [12.50, 41.90]]
    assert instance.notes == ("commas in numbers are read as decimal points",)
    with pytest.raises(BadInput, match=r"^places.csv:2: lat of node 0 \(Paris\) is '48,86'; a number is expected$"):
        io.parse(PLACES.replace("48.86", "48,86"), "places.csv")


def test_lines_above_the_header_hold_what_belongs_to_no_stop():
    text = "# capacity = 10\n# name = my orders\n# note = from the shop\n" + ORDERS
    instance = io.parse(text, "orders.csv")
    assert (instance.capacity, instance.name, instance.notes) == (10, "my orders", ("from the shop",))
    assert io.parse(text, "orders.csv", capacity=10) == instance
    rounded = io.parse("# rounding = EUC_2D\n" + ORDERS.replace("6,8,5", "6,7,5"), "orders.csv", capacity=10)
    assert rounded.travel[0, 2] == 9  # 9.22


def test_service_times_become_part_of_travel():
    instance = io.parse(VISITS, "visits.csv", "tsptw")
    verdict = judge(instance, Solution.of([[1, 2]]))
    assert verdict.arrivals == (5, 11)  # at Anna's at 5, on at 7, 4 more
    assert verdict.feasible
    assert instance.notes == ("service times, 3 in all, are part of the travel times that leave a stop",)


def test_speed_turns_lengths_into_times():
    instance = io.parse(VISITS, "visits.csv", "tsptw", speed=2)
    assert instance.travel[0].tolist() == [0, 2.5, 1.5]
    assert "divided by a speed of 2 units of length per unit of time" in instance.notes[0]
    assert io.parse("# speed = 2\n" + VISITS, "visits.csv", "tsptw").travel[0].tolist() == [0, 2.5, 1.5]
    assert io.parse(VISITS, "visits.csv", "tsptw", speed=1).rounding == ""
    globe = PLACES.replace("latitude", "latitude;window_start;window_end").replace("86\n", "86;0;9e9\n")
    globe = globe.replace("52\n", "52;0;9e9\n").replace("90\n", "90;0;9e9\n")
    assert io.parse(globe, "a.csv", "vrptw", speed=10).travel[0, 1] == pytest.approx(878e2, rel=0.005)


def test_a_matrix_may_come_with_the_stops(tmp_path):
    matrix = [[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]]
    instance = io.parse(ORDERS, "orders.csv", capacity=10, matrix=matrix)
    assert instance.travel.tolist() == matrix
    assert instance.coords[1].tolist() == [3, 4]
    bare = "name,demand\ndepot,0\nAnna,5\nBen,5\nCleo,6\n"
    assert io.parse(bare, "orders.csv", capacity=10, matrix=matrix).coords is None
    (tmp_path / "orders.csv").write_text(bare)
    (tmp_path / "travel.csv").write_text("\n".join(" ".join(map(str, row)) for row in matrix))
    read = io.read(tmp_path / "orders.csv", capacity=10, matrix=tmp_path / "travel.csv")
    assert read.travel.tolist() == matrix


def test_a_matrix_with_names_is_put_into_the_order_of_the_stops(tmp_path):
    (tmp_path / "stops.csv").write_text("name\nb\nc\na\n")
    (tmp_path / "travel.csv").write_text(",a,b,c\na,0,1,2\nb,3,0,4\nc,5,6,0\n")
    instance = io.read(tmp_path / "stops.csv", matrix=tmp_path / "travel.csv")
    assert instance.problem == "atsp"
    assert instance.travel.tolist() == [[0, 4, 3], [6, 0, 5], [1, 2, 0]]
    (tmp_path / "stops.csv").write_text("name\nb\nc\nd\n")
    with pytest.raises(BadInput, match=r"the matrix and the file do not name the same stops: 'a' is not in both"):
        io.read(tmp_path / "stops.csv", matrix=tmp_path / "travel.csv")


FAULTS = [
    (ORDERS, {}, None, "capacity is missing; cvrp needs demand, capacity"),
    (ORDERS, {"capacity": 5}, 5, "demand of node 3 (Cleo) is 6, above capacity 5"),
    (ORDERS, {"capacity": "ten"}, None, "capacity is 'ten'; a number is expected"),
    (ORDERS, {"capacity": 9, "speed": 0}, None, "speed is '0'; a number above 0 is expected"),
    (ORDERS, {"capacity": 9, "matrix": [[1, 2], [3]]}, None, "the matrix is not a table of numbers"),
    (ORDERS, {"capacity": 9, "matrix": [[1, 2]]}, None, "the matrix has shape (1, 2); a square is expected"),
    (ORDERS, {"capacity": 9, "matrix": np.ones((3, 3))}, None, "matrix has shape (3, 3); (4, 4) is expected"),
    (ORDERS, {"capacity": 9, "matrix": np.ones((4, 4)), "speed": 2}, None, "matrix and speed are given; a matrix has"),
    ("# capacity = 8\n" + ORDERS, {"capacity": 9}, 1, "capacity is 8 here, but 9 was asked for; drop one"),
    ("# speed = -1\n" + ORDERS, {"capacity": 9}, None, "speed is '-1.0'; a number above 0 is expected"),
    ("# capacity = x\n" + ORDERS, {}, 1, "capacity is 'x'; a number is expected"),
    ("# capcity = 8\n" + ORDERS, {}, 1, "unknown key 'capcity' (did you mean 'capacity'?); accepted: problem, name"),
    ("# name = a\n# name = b\n" + ORDERS, {}, 2, "name is given a second time; the first is in line 1"),
    ("# problem = vrp\n" + ORDERS, {}, 1, "problem is 'vrp' (did you mean 'cvrp'?); accepted: tsp, atsp"),
    (
        "# problem = tsp\n" + ORDERS,
        {},
        2,
        "demand is given, but tsp has no use for it; name the problem to leave it out",
    ),
    ("# rounding = UP\n" + ORDERS, {"capacity": 9}, 1, "rounding is 'UP'; accepted: EUC_2D"),
    (
        ORDERS.replace("demand", "demnad"),
        {},
        1,
        "unknown column 'demnad' (did you mean 'demand'?); accepted: name, id, x",
    ),
    (ORDERS.replace("demand", "x"), {}, 1, "the columns x and x say the same; keep one"),
    (ORDERS.replace("name,", "y,"), {}, 1, "the columns y and y say the same; keep one"),
    (ORDERS.replace("x,y", "x,lat"), {}, 1, "column y is missing; x and y go together"),
    (ORDERS.replace("name,x", "lon,x").replace("demand", "lat"), {}, 1, "there are x, y and lon, lat; one pair is"),
    (ORDERS.replace("x,y", "lon,lat").replace("0,0", "zero,0"), {}, 2, "lon of node 0 (depot) is 'zero'; a number is"),
    (ORDERS.replace("3,4,5", "3,4"), {}, 3, "the row has 3 cells; 4, as the header, are expected"),
    (ORDERS.replace("3,4,5", "3,4,"), {}, 3, "demand of node 1 (Anna) is ''; a number is expected"),
    (ORDERS.replace("3,4,5", "3,4,5e"), {}, 3, "demand of node 1 (Anna) is '5e'; a number is expected"),
    (ORDERS.replace("Anna,3", "Anna,inf"), {}, 3, "x of node 1 (Anna) is 'inf'; a number is expected"),
    (
        ORDERS.replace("Anna", "Ben"),
        {"capacity": 9},
        4,
        "nodes 1 and 2 are both called 'Ben'; names of stops must differ",
    ),
    (ORDERS.replace("Anna", ""), {"capacity": 9}, 3, "the name of node 1 is ''; a line of text is expected"),
    (ORDERS.replace("Anna", '"An"na'), {"capacity": 9}, 3, "is no CSV: ',' expected after '\"'"),
    ("name,demand\na,0\nb,1\nc,1\n", {"capacity": 9}, 1, "has no coordinates; columns x and y, or lon and lat, or a"),
    ("x,y\n", {}, 1, "has 0 nodes; 3 or more are needed"),
    ("# only a comment\n", {"format": "csv"}, 2, "has no header; a line such as name,x,y is expected"),
    ("1,2\n3,4\n5,6\n7,8\n9,1\n", {"format": "csv"}, 1, "has no header; a first line such as name,x,y is expected"),
    (VISITS, {}, 1, "both tsptw and vrptw take window; name the problem: tsp, atsp, cvrp"),
    (
        SHEET,
        {"columns": HEADINGS, "capacity": 9},
        1,
        "unknown column 'phone' (did you mean 'lon'?); accepted: name, id, x",
    ),
    (
        SHEET,
        {"columns": {"demand": "Quantity"}},
        1,
        "there is no column 'Quantity' for demand; the header has stop_id,",
    ),
    (
        SHEET,
        {"columns": {"demnd": "Phone"}},
        None,
        "columns names 'demnd' (did you mean 'demand'?); accepted: name, id",
    ),
    (SHEET, {"columns": {"x": "Phone", "y": "Phone"}}, None, "columns names 'Phone' or y twice; once is accepted"),
    (ORDERS.replace("Ben", "#Ben"), {"capacity": 9}, 4, "the row begins with #: if it is a comment, take it out; if"),
    (ORDERS, {"capacity": 9, "measure": "durations"}, None, "measure is given, but there is no OSRM reply to take it"),
    (
        VISITS.replace("0,9,2", "08:30,9,2"),
        {"problem": "tsptw"},
        3,
        "window_start of node 1 (Anna) is 08:30; a number is expected, in the unit of travel, such as 510 minutes",
    ),
    (VISITS.replace("0,9,2", "9,0,2"), {"problem": "tsptw"}, 3, "window of node 1 (Anna) ends at 0, before it starts"),
    (VISITS.replace("0,9,2", "0,9,-2"), {"problem": "tsptw"}, 3, "service_time of node 1 is -2; 0 or more is accepted"),
    (VISITS.replace("window_end", "demand"), {}, 1, "column window_end is missing; window_start and window_end go"),
    (VISITS.replace("service_time", "demand"), {}, 1, "no problem takes demand and window; name the problem: tsp"),
    (
        VISITS.replace("x,y", "lon,lat"),
        {"problem": "tsptw"},
        1,
        "has time windows, but how long a way takes is not known",
    ),
    (PLACES.replace("48.86", "98.86"), {}, 2, "latitude of node 0 (Paris) is 98.86; -90 to 90 degrees are accepted"),
]


@pytest.mark.parametrize(("text", "options", "line", "sentence"), FAULTS)
def test_each_fault_has_its_line_and_sentence(text, options, line, sentence):
    with pytest.raises(BadInput) as refusal:
        io.parse(text, "orders.csv", **options)
    place = "orders.csv" if line is None else f"orders.csv:{line}"
    assert str(refusal.value).startswith(f"{place}: {sentence}")
    assert "\n" not in str(refusal.value)


def test_too_many_rows_are_refused():
    with pytest.raises(BadInput, match=r"^a.csv: has 10001 rows; up to 10000 stops are accepted$"):
        io.parse("x,y\n" + "1,2\n" * 10001, "a.csv")


@pytest.mark.parametrize(
    "text",
    [
        "0,1,2\n3,0,4\n5,6,0\n",
        "0;1;2\n3;0;4\n5;6;0\n",
        "0 1 2\n3 0 4\n5 6 0\n",
        "  0\t1\t2\n3\t0\t4\n5\t6\t0\n",
        "a,b,c\n0,1,2\n3,0,4\n5,6,0\n",
        ",a,b,c\na,0,1,2\nb,3,0,4\nc,5,6,0\n",
        "a,0,1,2\nb,3,0,4\nc,5,6,0\n",
    ],
)
def test_a_bare_square_of_numbers_is_a_matrix(text):
    instance = io.parse(text, "travel.csv")
    assert instance.problem == "atsp"
    assert instance.travel.tolist() == [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    assert instance.names == (("a", "b", "c") if "a" in text else None)
    assert io.parse(text.replace("3", "1").replace("5", "2").replace("6", "4"), "travel.csv").problem == "tsp"
    assert io.parse(text, "travel.csv", "tsp").problem == "tsp"


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("0,1,2\n3,0\n5,6,0\n", 2, "the row has 2 numbers and there are 3 rows; a square is expected"),
        ("0,1,2\n3,0,x\n5,6,0\n", 2, "a travel cost is 'x'; a number is expected"),
        ("0,1,2\n3,0,-4\n5,6,0\n", 2, "matrix[1, 2] is -4; travel costs must be 0 or more"),
        ("a,b,a\n0,1,2\n3,0,4\n5,6,0\n", 4, "nodes 0 and 2 are both called 'a'; names of stops must differ"),
        (",a,b,c\na,0,1,2\nc,3,0,4\nb,5,6,0\n", 1, "row 2 is called 'c', its column 'b'"),
        ("a,b,c,d,e\n0,1,2\n3,0,4\n5,6,0\n", 1, "the header has 5 names for 3 rows; one for each is expected"),
    ],
)
def test_faults_of_a_bare_square(text, line, sentence):
    with pytest.raises(BadInput) as refusal:
        io.parse(text, "travel.csv", format="matrix")
    assert str(refusal.value) == f"travel.csv:{line}: {sentence}"


def test_a_bare_square_may_have_comments():
    square = "# travel minutes\n0 1 2\n3 0 4\n# later\n5 6 0\n"
    instance = io.parse(square, "a.txt")
    assert instance.names is None and instance.matrix.tolist() == [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    assert io.parse("#a #b #c\n0 1 2\n3 0 4\n5 6 0\n", "a.txt").names == ("#a", "#b", "#c")


def test_a_matrix_may_be_a_json_list(tmp_path):
    (tmp_path / "stops.csv").write_text("name\na\nb\nc\n")
    (tmp_path / "travel.json").write_text("[[0, 1, 2], [3, 0, 4], [5, 6, 0]]")
    assert io.read(tmp_path / "stops.csv", matrix=tmp_path / "travel.json").problem == "atsp"
    (tmp_path / "travel.json").write_text('[[0, 1, 2], [3, "x", 4], [5, 6, 0]]')
    with pytest.raises(BadInput, match=r"the matrix\[1\]\[1\] is '\"x\"'; a number up to"):
        io.read(tmp_path / "stops.csv", matrix=tmp_path / "travel.json")
    (tmp_path / "travel.txt").write_text("0 1 2\n3 0 4\n5 6 0\n")
    with pytest.raises(BadInput, match="measure is given, but this is no OSRM reply"):
        io.read(tmp_path / "stops.csv", matrix=tmp_path / "travel.txt", measure="durations")


def test_numbers_may_be_names_where_the_corner_is_empty():
    instance = io.parse(",10,20,30\n10,0,1,2\n20,3,0,4\n30,5,6,0\n", "travel.csv")
    assert instance.names == ("10", "20", "30")


def test_what_csv_cannot_hold_is_said():
    instance = io.parse("0,1,2\n3,0,4\n5,6,0\n", "travel.csv")
    with pytest.raises(BadInput, match=r"^travel: CSV has no place for a matrix; json and tsplib have$"):
        io.dump(instance, "csv")
