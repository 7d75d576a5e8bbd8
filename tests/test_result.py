"""What a result says, by hand: four nodes on a square, and what is written to files."""

import json

import numpy as np
import pytest

from egam.errors import BadInput
from egam.instance import Instance
from egam.io import read_solution
from egam.judge import judge
from egam.result import Result, number
from egam.solution import Solution

SQUARE = [[0, 0], [3, 0], [3, 4], [0, 4]]
NAMES = ["depot", "anna", "ben", "cleo"]


def result(instance, routes, **more):
    solution = Solution.of(routes)
    return Result(instance, solution, judge(instance, solution), method="egam", **more)


def test_a_tour():
    found = result(Instance.tsp(SQUARE, names=NAMES, name="square"), [[1, 2, 3]], weights="tsp", seconds=0.5)
    assert found.cost == 14 and found.feasible and found.violations == () and found.unserved == []  # 3 + 4 + 3 + 4
    assert found.routes == [[1, 2, 3]] and found.named_routes == [["anna", "ben", "cleo"]]
    text = str(found).splitlines()
    assert text[0] == "square (tsp, 4 nodes): cost 14 (length), feasible"
    assert text[1] == "route: depot - anna - ben - cleo - depot"
    assert text[2] == "method egam, weights tsp, 0.50 s"


def test_broken_rules_are_said_with_names():
    """5 + 4 = 9 in one vehicle of 7; cleo is left out."""
    instance = Instance.cvrp(SQUARE, demand=[0, 5, 4, 1], capacity=7, names=NAMES)
    found = result(instance, [[1, 2]])
    assert not found.feasible
    assert [(broken.kind, broken.node, broken.amount) for broken in found.violations] == [
        ("unvisited", 3, 1),
        ("overload", 2, 2),
    ]
    assert found.violations[0].text == "node 3 (cleo) is not visited"
    text = str(found)
    assert "NOT FEASIBLE" in text and "broken: node 3 (cleo) is not visited" in text
    assert "route 1, load 9: depot - anna - ben - depot" in text
    listed = found.to_dict()["violations"]
    assert listed[0] == {
        "node": 3,
        "stop": "cleo",
        "kind": "unvisited",
        "amount": 1.0,
        "text": "node 3 (cleo) is not visited",
    }


def test_unserved_stops():
    """1 is served at 3; 2 closes at 6 and is reached at 7; 3 is not visited: two of three are not served."""
    window = [[0, 100], [0, 100], [0, 6], [0, 100]]
    found = result(Instance.vrptw(SQUARE, window=window, names=NAMES), [[1, 2]])
    assert found.feasible and found.cost == 2 and found.unserved == [2, 3]
    assert "not served: ben (late), cleo" in str(found)


def test_times_with_windows():
    """Square of 3 by 4: at 1 after 3, waiting there to 5; at 2 at 9, at 3 at 12, back at 16."""
    found = result(Instance.tsptw(SQUARE, window=[[0, 99], [5, 9], [0, 99], [0, 99]]), [[1, 2, 3]])
    assert str(found).splitlines()[2] == "times: 0 - 5 - 9 - 12 - 16"
    assert found.to_dict()["returns"] == [16]
    late = result(Instance.vrptw(SQUARE, window=[[2, 99], *[[0, 99]] * 3]), [])
    assert late.to_dict()["returns"] == [] and "times" not in str(late)
    assert "returns" not in result(Instance.tsp(SQUARE), [[1, 2, 3]]).to_dict()


def test_many_violations_are_counted():
    found = result(Instance.tsp(np.random.default_rng(0).random((30, 2))), [[1, 2]])
    assert len(found.violations) == 27 and str(found).splitlines()[-2] == "broken: 17 more"


def test_nobody_leaves():
    assert "route: nobody leaves" in str(result(Instance.vrptw(SQUARE, window=[[0, 9]] * 4), []))


def test_json():
    found = result(Instance.tsp(SQUARE, name="square"), [[1, 2, 3]], notes=("so so",), tries=8, decoding="8 greedy")
    data = json.loads(found.to_json())
    assert data["cost"] == 14 and data["feasible"] is True and data["routes"] == [[1, 2, 3]]
    assert data["notes"] == ["so so"] and data["tries"] == 8 and "named_routes" not in data
    # 3 from the depot, then 4, then 3
    assert [row["arrival"] for row in data["schedule"]] == [3, 7, 10]
    assert "schedule" not in found.to_dict(schedule=False)


def test_save(tmp_path):
    instance = Instance.tsp(SQUARE, name="square")
    found = result(instance, [[3, 1, 2]])
    for name in ("a.sol", "a.tour", "a.json"):
        found.save(tmp_path / name)
        assert read_solution(tmp_path / name, instance) == found.solution
    assert json.loads((tmp_path / "a.json").read_text())["cost"] == pytest.approx(found.cost)
    found.save(tmp_path / "b.txt", format="sol")
    assert (tmp_path / "b.txt").read_text() == (tmp_path / "a.sol").read_text()
    with pytest.raises(BadInput, match="accepted: "):
        found.save(tmp_path / "c.doc")
    with pytest.raises(BadInput, match="longitudes"):
        found.save(tmp_path / "c.geojson")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.sol", "a.tour", "b.txt"]


def test_geojson(tmp_path):
    berlin = Instance.tsp([[13.4, 52.5], [13.5, 52.5], [13.4, 52.6]], geographic=True)
    result(berlin, [[1, 2]]).save(tmp_path / "a.geojson")
    assert json.loads((tmp_path / "a.geojson").read_text())["features"][0]["geometry"]["type"] == "LineString"


def test_numbers():
    shown = {7542.0: "7542", 5.123456789: "5.12346", 1.5e-6: "1.5e-06", 5939764.68: "5939764.7"}
    assert [number(value) for value in shown] == list(shown.values())
