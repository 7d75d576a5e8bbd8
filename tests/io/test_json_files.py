"""Our JSON and OSRM's: the schema, strictness, every fault with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from egam import io
from egam.errors import BadInput
from egam.instance import Instance

ROOT = Path(__file__).parents[2]
CVRP = """{
  "problem": "cvrp",
  "names": ["depot", "Anna", "Ben"],
  "coords": [[0, 0], [3, 4], [6, 8]],
  "demand": [0, 5, 5],
  "capacity": 10
}
"""
TABLE = """{"code": "Ok",
"durations": [[0, 10, 20], [11, 0, 30], [20, 31, 0]],
"sources": [{"location": [2.35, 48.86]}, {"location": [13.4, 52.52]}, {"location": [12.5, 41.9]}],
"destinations": [{"location": [2.35, 48.86]}, {"location": [13.4, 52.52]}, {"location": [12.5, 41.9]}]}
"""


def test_an_instance_is_read_by_its_fields():
    instance = io.parse(CVRP, "orders.json")
    assert instance == Instance.cvrp(
        [[0, 0], [3, 4], [6, 8]], demand=[0, 5, 5], capacity=10, names=["depot", "Anna", "Ben"], name="orders"
    )
    assert io.instance_from_dict(json.loads(CVRP)).name == ""
    assert io.instance_from_dict(io.instance_to_dict(instance)) == instance


def test_it_can_be_read_as_another_problem():
    instance = io.parse(CVRP, "orders.json", "tsp")
    assert instance.problem == "tsp"
    assert instance.notes == (
        "demand is left out: tsp has no use for it",
        "capacity is left out: tsp has no use for it",
    )


def test_the_published_schema_is_the_one_in_use():
    assert json.loads((ROOT / "docs" / "instance.schema.json").read_text()) == io.SCHEMA


FAULTS = [
    ('"problem": "cvrp",\n', "", None, "the key 'problem' is missing; accepted: tsp, atsp"),
    ('"cvrp"', '"vrp"', 2, "problem is 'vrp' (did you mean 'cvrp'?); accepted: tsp, atsp"),
    ('"cvrp"', "7", 2, "problem is '7'; accepted: tsp, atsp"),
    ('"demand"', '"demands"', 5, "unknown key 'demands' (did you mean 'demand'?); accepted: problem, name"),
    ('"capacity"', '"demand"', 6, "the key 'demand' is there twice; once is accepted"),
    ("[0, 5, 5]", "[0, 5, NaN]", 5, "NaN is no number of JSON; finite numbers are accepted"),
    ("[0, 5, 5]", "[0, 5, -Infinity]", 5, "-Infinity is no number of JSON; finite numbers are accepted"),
    ("[0, 5, 5]", "[0, 5, 1e400]", 5, "demand[2] is 'Infinity'; a number up to 1e+15 is expected"),
    ("[0, 5, 5]", "[0, 5, 1e16]", 5, "demand[2] is '1e+16'; a number up to 1e+15 is expected"),
    ("[0, 5, 5]", '[0, 5, "5"]', 5, "demand[2] is '\"5\"'; a number up to 1e+15 is expected"),
    ("[0, 5, 5]", "[0, 5, true]", 5, "demand[2] is 'true'; a number up to 1e+15 is expected"),
    ("[0, 5, 5]", "[0, 5, null]", 5, "demand[2] is 'null'; a number up to 1e+15 is expected"),
    ("[0, 5, 5]", "[0, 5, [5]]", 5, "demand[2] is '[5]'; a number up to 1e+15 is expected"),
    ("[0, 5, 5]", "5", 5, "demand is '5'; a list of up to 10000 is expected"),
    ("[0, 5, 5]", "[0, 5]", 5, "demand has shape (2,); (3,) is expected"),
    ("[0, 5, 5]", "[0, 5, 15]", 5, "demand of node 2 (Ben) is 15, above capacity 10"),
    ("[6, 8]", "[6, 8, 9]", 4, "coords is not a table of numbers"),
    ("[6, 8]", "6", 4, "coords[2] is '6'; a list of up to 10000 is expected"),
    ("[6, 8]", '["6", 8]', 4, "coords[2][0] is '\"6\"'; a number up to 1e+15 is expected"),
    ('"Ben"', "7", 3, "names is '['depot', 'Anna', 7]'; a list of texts is expected"),
    ('"Ben"', '"Anna"', 3, "nodes 1 and 2 are both called 'Anna'; names of stops must differ"),
    ('"capacity": 10', '"capacity": -1', 6, "capacity is -1.0; a finite number above 0 is expected"),
    ('"capacity": 10', '"min_prize": 1', None, "capacity is missing; cvrp needs demand, capacity"),
    ('"capacity": 10', '"capacity": 10, "min_prize": 1', 6, "min_prize is given, but cvrp has no use for it; name the"),
    ('"capacity": 10', '"capacity": 10, "geographic": 1', 6, "geographic is '1'; true or false is expected"),
    ('"capacity": 10', '"capacity": 10, "name": 1', 6, "name is '1'; a text is expected"),
    ('"capacity": 10', '"capacity": 10, "rounding": "x"', 6, "rounding is 'x'; accepted: EUC_2D"),
    ('"capacity": 10', '"capacity": 10,', 7, "is no JSON: "),
    ("10\n}\n", "10", 6, "is no JSON: "),
    ("10\n}", "10\n}\n{}", 8, "is no JSON: "),
    ("10\n", "1" * 5000 + "\n", None, "has a number with thousands of digits; numbers up to 1e+15 are accepted"),
]


@pytest.mark.parametrize(("old", "new", "line", "sentence"), FAULTS, ids=range(len(FAULTS)))
def test_each_fault_has_its_line_and_sentence(old, new, line, sentence):
    assert old in CVRP
    with pytest.raises(BadInput) as refusal:
        io.parse(CVRP.replace(old, new, 1), "orders.json")
    place = "orders.json" if line is None else f"orders.json:{line}"
    assert str(refusal.value).startswith(f"{place}: {sentence}")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[1, 2]", "x.json: is JSON, but no object; { ... } is expected"),
        ("[" * 100000, "x.json: is JSON nested too deeply; an object of lists is expected"),
        ('{"a": ' * 100000, "x.json: is JSON nested too deeply; an object of lists is expected"),
        ("{}", "x.json: the key 'problem' is missing; accepted: tsp, atsp, cvrp, pctsp, tsptw, tspdl, vrptw"),
        ('{"problem": "tsp"}', "x.json: has neither coords nor a matrix; one of them is needed"),
        (
            f'{{"problem": "tsp", "coords": [{"[1, 2]," * 10000} [1, 2]]}}',
            "x.json:1: coords is a list of 10001; a list",
        ),
    ],
    ids=range(6),
)
def test_objects_that_are_none_of_ours(text, sentence):
    with pytest.raises(BadInput) as refusal:
        io.parse(text, "x.json")
    assert str(refusal.value).startswith(sentence)


def test_a_dict_that_is_none():
    with pytest.raises(BadInput, match=r"^request: is '5'; an object is expected$"):
        io.instance_from_dict(5, "request")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"^request: coords has shape"):
        io.instance_from_dict({"problem": "tsp", "coords": [[1], [2], [3]]}, "request")


def test_a_schema_validator_agrees():
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(io.SCHEMA)
    jsonschema.Draft202012Validator.check_schema(io.SCHEMA)
    good = json.loads(CVRP)
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "demands": [0, 1, 1]})
    assert not validator.is_valid({**good, "min_prize": 1})
    assert not validator.is_valid({key: value for key, value in good.items() if key != "capacity"})
    assert not validator.is_valid({key: value for key, value in good.items() if key != "coords"})
    assert not validator.is_valid({**good, "demand": [0, "5", 5]})
    assert not validator.is_valid({**good, "names": ["a", "a", "b"]})


def test_an_osrm_reply_is_a_directed_matrix_on_a_globe():
    instance = io.parse(TABLE, "table.json")
    assert instance.problem == "atsp"
    assert instance.travel.tolist() == [[0, 10, 20], [11, 0, 30], [20, 31, 0]]
    assert instance.geographic
    assert instance.coords[1].tolist() == [13.4, 52.52]
    assert io.parse(TABLE.replace("11", "10").replace("31", "30"), "table.json").problem == "tsp"
    assert io.parse(TABLE, "table.json", "tsp").problem == "tsp"
    assert io.parse('{"durations": [[0, 1, 2], [1, null, 3], [1, 1, 0]]}', "t.json").coords is None


def test_distances_of_an_osrm_reply_can_be_asked_for():
    both = TABLE.replace('"sources"', '"distances": [[0, 1, 2], [1, 0, 3], [2, 3, 0]],\n"sources"')
    assert io.parse(both, "t.json", measure="distances").travel[0].tolist() == [0, 1, 2]
    assert io.parse(both, "t.json", measure="durations").notes == ()
    assert io.parse(both, "t.json").travel[0].tolist() == [0, 10, 20]
    assert io.parse(both, "t.json").notes == (
        "travel is the durations of the reply; measure=distances takes the distances",
    )
    estimated = TABLE.replace('"sources"', '"fallback_speed_cells": [[0, 1]], "sources"')
    assert io.parse(estimated, "t.json").notes == ("1 entries are OSRM's straight-line estimates",)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('"Ok"', '"NoTable", "message": "No"', "OSRM answered 'NoTable' ('No'); a reply with code Ok is needed"),
        ("[0, 10, 20]", "[0, null, 20]", "durations[0][1] is null: OSRM found no way from place 0 to place 1"),
        ("[0, 10, 20]", "[0, -1, 20]", "durations[0][1] is '-1'; a number of 0 or more is expected"),
        ("[0, 10, 20]", '[0, "1", 20]', "durations[0][1] is '1'; a number of 0 or more is expected"),
        ("[0, 10, 20]", "[0, 1e999, 20]", "durations[0][1] is 'inf'; a number of 0 or more is expected"),
        ("[0, 10, 20]", "[0, 1" + "0" * 400 + ", 20]", "durations has a number too large for any way"),
        ("[0, 10, 20]", "[0, 10]", "row 0 of durations has 2 entries and there are 3 rows; a square is expected"),
        ("[0, 10, 20]", "7", "durations is no table; a list of rows is expected"),
        (
            '"durations"',
            '"times"',
            "durations or distances are missing; ask for them with annotations=duration,distance",
        ),
        ('{"location": [13.4, 52.52]}', "{}", "sources[1].location is 'None'; [longitude, latitude] is expected"),
        ("[2.35, 48.86]", "[2.36, 48.86]", "sources and destinations of the reply are not the same places"),
        ("[2.35, 48.86]", "[2.35, 98.86]", "sources and destinations of the reply are not the same places"),
    ],
)
def test_faults_of_an_osrm_reply(old, new, sentence):
    assert old in TABLE
    with pytest.raises(BadInput) as refusal:
        io.parse(TABLE.replace(old, new, 1), "table.json")
    assert str(refusal.value).startswith(f"table.json: {sentence}")


def test_an_unknown_measure_is_refused():
    with pytest.raises(BadInput, match=r"measure is 'duration'.*did you mean 'durations'"):
        io.parse(TABLE, "table.json", measure="duration")
    with pytest.raises(BadInput, match=r"^table.json: distances are missing"):
        io.parse(TABLE, "table.json", measure="distances")
