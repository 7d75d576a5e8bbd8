"""Every example of docs/formats.md is read, and every example file is what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from egam import io
from egam.judge import judge
from egam.solution import Solution

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
INSTANCES = re.findall(r"<!-- instance: (\S+) (\S+) (\d+) ?(.*?) ?-->\n```\w*\n(.*?)```", PAGE, re.S)
SOLUTIONS = re.findall(r"<!-- solution: (\S+) (.*?) -->\n```\w*\n(.*?)```", PAGE, re.S)


@pytest.mark.parametrize(("name", "problem", "size", "options", "text"), INSTANCES, ids=lambda value: value[:12])
def test_each_instance_of_the_page_is_read(name, problem, size, options, text):
    instance = io.parse(text, name, **json.loads(options or "{}"))
    assert (instance.problem, instance.size) == (problem, int(size))


@pytest.mark.parametrize(("name", "routes", "text"), SOLUTIONS, ids=lambda value: value[:12])
def test_each_solution_of_the_page_is_read(name, routes, text):
    small = next(io.parse(text, name) for name, *_, text in INSTANCES if name == "small.vrp")
    solution = io.parse_solution(text, name, small)
    assert solution == Solution.of(json.loads(routes))
    assert judge(small, solution).cost == 20  # 3 + 4 + 5, and 4 + 4


def test_the_page_has_every_format_and_marks_every_block():
    marked = PAGE.count("<!-- instance:") + PAGE.count("<!-- solution:")
    assert (len(INSTANCES), len(SOLUTIONS)) == (12, 3)
    assert len(INSTANCES) + len(SOLUTIONS) == marked == PAGE.count("```") // 2 - 1  # the comments are no file
    for name, row in {**io.FORMATS, **io.SOLUTION_FORMATS}.items():
        assert f"| [`{name}`]" in PAGE
        for suffix in row.suffixes:
            assert suffix in PAGE


def test_the_examples_are_what_they_seem(examples):
    assert io.read(examples / "capitals.csv").travel[9, 10] == pytest.approx(878e3, rel=0.01)  # Paris to Berlin
    assert io.read(examples / "orders.csv").capacity == 60
    assert io.read(examples / "parcels.json").size == 12
    assert io.read(examples / "round.tsptw").problem == "tsptw"
    assert io.read(examples / "osrm_table.json").problem == "atsp"
    van = io.read(examples / "van.csv", "tsptw", matrix=examples / "osrm_table.json")
    plan = Solution.of([[7, 3, 1, 6, 4, 5, 2]])
    assert judge(van, plan).feasible
    assert judge(van, plan).cost == pytest.approx(4755.7)  # 3915.7 on the road and 7 x 120 of service
