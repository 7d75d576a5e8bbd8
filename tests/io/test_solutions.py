"""Routes in and out: .sol, .tour, JSON, GeoJSON; numbering, ids and names."""

from __future__ import annotations

import json

import pytest

from egam import io
from egam.errors import BadInput
from egam.instance import Instance
from egam.judge import judge
from egam.solution import Solution

SQUARE = [[0, 0], [0, 1], [1, 1], [1, 0]]
TSP = Instance.tsp(SQUARE, name="square")
CVRP = Instance.cvrp(SQUARE, demand=[0, 2, 2, 2], capacity=4, names=["depot", "Anna", "Ben", "Cleo"], name="small")
MOVED = Instance.cvrp(SQUARE, demand=[0, 2, 2, 2], capacity=4, names=["3", "1", "2", "4"], name="moved")
TWO = Solution.of([[1, 2], [3]])


def test_sol_counts_customers_from_1():
    text = io.dump_solution(TWO, CVRP, "sol")
    assert text == "Route #1: 1 2\nRoute #2: 3\nCost 5.41421356237\n"  # 1 + 1 + sqrt 2, and 1 + 1
    assert io.parse_solution(text, "plan.sol", CVRP) == TWO
    assert io.dump_solution(TWO, CVRP, "sol", cost=7).endswith("Cost 7\n")


@pytest.mark.parametrize(
    "text",
    [
        "Route #1: 1 2\nRoute #2: 3\n",
        "route 1 : 1 2\r\nROUTE #2:3\r\ncost : 5",
        "Instance name : small\nAuthors : A\nDate : today\nReference : none\nSolution\nRoute 1 : 1 2\nRoute 2 : 3\n",
        "Route #1: 0 1 2 0\nRoute #2: 0 3\nTime 3.5\nCost 5\n",
        "Route #1: 1 2\nRoute #2:\nRoute #3: 3\n",
    ],
)
def test_dialects_of_sol(text):
    assert io.parse_solution(text, "plan.sol", CVRP) == TWO


def test_what_the_judge_should_see_is_not_refused():
    plan = io.parse_solution("Route #1: 1 1 9\n", "plan.sol", CVRP)
    assert {violation.kind for violation in judge(CVRP, plan).violations} == {"unknown", "repeated", "unvisited"}


def test_tours_begin_at_node_0_and_count_from_1():
    text = io.dump_solution(Solution.of([[2, 1, 3]]), TSP, "tour")
    head = ["NAME : square", "TYPE : TOUR", "COMMENT : cost 4.82842712475", "DIMENSION : 4", "TOUR_SECTION"]
    assert text.splitlines() == [*head, "1", "3", "2", "4", "-1", "EOF"]
    assert io.parse_solution(text, "square.tour", TSP) == Solution.of([[2, 1, 3]])
    turned = "TYPE : TOUR\nTOUR_SECTION\n2\n4 1\n3\n-1\nEOF\n"
    assert io.parse_solution(turned, "square.opt.tour", TSP) == Solution.of([[2, 1, 3]])
    assert io.parse_solution(turned.replace("-1\nEOF\n", ""), "square.tour", TSP) == Solution.of([[2, 1, 3]])


def test_tours_of_several_routes_as_lkh_writes_them():
    text = "TYPE : TOUR\nDIMENSION : 5\nTOUR_SECTION\n1\n2\n3\n5\n4\n-1\nEOF\n"  # 5 is a second depot
    assert io.parse_solution(text, "small.tour", CVRP) == TWO
    assert io.parse_solution(io.dump_solution(TWO, CVRP, "tour"), "small.tour", CVRP) == TWO


def test_tours_use_the_ids_of_the_file():
    text = io.dump_solution(TWO, MOVED, "tour")
    assert text.split()[-8:] == ["TOUR_SECTION", "3", "1", "2", "3", "4", "-1", "EOF"]
    assert io.parse_solution(text, "moved.tour", MOVED) == TWO
    assert io.dump_solution(TWO, MOVED, "sol").startswith(
        "Route #1: 1 2\nRoute #2: 3\n"
    )  # .sol skips the depot instead


def test_json_takes_numbers_and_names():
    text = io.dump_solution(TWO, CVRP, "json")
    assert json.loads(text) == {
        "problem": "cvrp",
        "instance": "small",
        "cost": pytest.approx(5.41421356),
        "routes": [[1, 2], [3]],
        "named_routes": [["Anna", "Ben"], ["Cleo"]],
    }
    assert io.parse_solution(text, "plan.json", CVRP) == TWO
    assert io.parse_solution('{"routes": [["Anna", "Ben"], ["Cleo"]], "seconds": 3}', "plan.json", CVRP) == TWO


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.sol", "Route #1: 1 x\n", "a.sol:1: a customer is 'x'; a whole number is expected"),
        (
            "a.sol",
            "Route #1: 1\nRuote #2: 2\n",
            "a.sol:2: 'Ruote #2: 2' is no route; lines such as 'Route #1: 5 3 7' are",
        ),
        ("a.sol", "Cost 5\n", "a.sol: has no route; lines such as 'Route #1: 5 3 7' are expected"),
        ("a.sol", "", "a.sol: is empty"),
        (
            "a.tour",
            "TYPE : TOUR\nTOUR_SECTION\n1\ntwo\n-1\n",
            "a.tour:4: a node of the tour is 'two'; a whole number is",
        ),
        ("a.tour", "TYPE : TSP\nTOUR_SECTION\n1\n-1\n", "a.tour:1: 'TYPE : TSP' is no line of a tour; TYPE : TOUR is"),
        (
            "a.tour",
            "TOUR_SECTION\n1\n-1\n2\n-1\n",
            "a.tour:4: '2' follows the -1 that ends the tour; one tour is accepted",
        ),
        (
            "a.tour",
            "TYPE : TOUR\nTOUR_SECTION\n-1\n",
            "a.tour: has no tour; ids of nodes after TOUR_SECTION are expected",
        ),
        ("a.json", "{}", "a.json: routes is 'None'; a list of lists of stops is expected"),
        ("a.json", '{"routes": [1]}', "a.json:1: routes is '[1]'; a list of lists of stops is expected"),
        (
            "a.json",
            '{"routes": [["Ana"]]}',
            "a.json: routes[0][0] is 'Ana' (did you mean 'Anna'?); node numbers or names",
        ),
        ("a.json", '{"routes": [[1.5]]}', "a.json: routes[0][0] is '1.5'; node numbers or names of stops are accepted"),
        (
            "a.json",
            '{"routes": [[true]]}',
            "a.json: routes[0][0] is 'True'; node numbers or names of stops are accepted",
        ),
        ("a.json", '{"routes": [[[1]]]}', "a.json: routes[0][0] is '[1]'; node numbers or names of stops are accepted"),
        ("a.geojson", "x", "a.geojson: geojson is written only; solutions are read from sol, tour, json"),
        ("a.txt", "1 2 3", "a.txt: looks like no solution; .sol, .tour and .json are accepted"),
    ],
)
def test_faults_of_solutions(name, text, sentence):
    with pytest.raises(BadInput) as refusal:
        io.parse_solution(text, name, CVRP)
    assert str(refusal.value).startswith(sentence)


def test_geojson_has_points_and_lines():
    places = [[2.35, 48.86], [13.4, 52.52], [370 - 180, 41.9], [4.9, 52.37]]
    instance = Instance.cvrp(places, demand=[0, 2, 2, 2], capacity=4, names=list("PBRA"), name="van", geographic=True)
    data = json.loads(io.dump_solution(TWO, instance, "geojson"))
    assert data["type"] == "FeatureCollection"
    assert data["cost"] == judge(instance, TWO).cost
    lines = [feature for feature in data["features"] if feature["geometry"]["type"] == "LineString"]
    points = [feature for feature in data["features"] if feature["geometry"]["type"] == "Point"]
    assert lines[1]["geometry"]["coordinates"] == [[2.35, 48.86], [4.9, 52.37], [2.35, 48.86]]
    assert lines[0]["properties"]["stops"] == ["B", "R"]
    assert lines[0]["properties"]["load"] == 4
    assert points[2]["geometry"]["coordinates"] == [-170, 41.9]  # 190 degrees east are 170 west
    assert points[2]["properties"] == {"node": 2, "name": "R", "depot": False, "route": 1, "place": 2, "demand": 2}
    assert points[0]["properties"]["depot"] and points[0]["properties"]["route"] is None


@pytest.mark.parametrize(
    ("instance", "solution", "format", "sentence"),
    [
        (TSP, TWO, "geojson", "square: has coordinates on a plane; GeoJSON needs longitudes and latitudes"),
        (Instance.tsp(matrix=TSP.travel), TWO, "geojson", "instance: has no coordinates; GeoJSON needs longitudes"),
        (TSP, Solution.of([[9]]), "tour", "square: the solution visits nodes that do not exist"),
        (TSP, TWO, "gpx", "unknown format 'gpx'; accepted: sol, tour, json, geojson"),
    ],
)
def test_what_cannot_be_written_is_said(instance, solution, format, sentence):
    with pytest.raises(BadInput, match=sentence):
        io.dump_solution(solution, instance, format)


def test_files_are_written_by_their_suffix(tmp_path):
    for suffix in (".sol", ".tour", ".json"):
        io.write_solution(TWO, CVRP, tmp_path / f"plan{suffix}")
        assert io.read_solution(tmp_path / f"plan{suffix}", CVRP) == TWO
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.json", "plan.sol", "plan.tour"]
    with pytest.raises(
        BadInput, match=r"plan.txt: the suffix '.txt' is none that solutions are written with; accepted"
    ):
        io.write_solution(TWO, CVRP, tmp_path / "plan.txt")
