"""Published instances are read, and their best known solutions cost what is published, rounded as each file says."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from egam import io
from egam.instance import Instance
from egam.judge import judge
from egam.solution import Solution

SMALL = ("burma14", "gr17")  # Held and Karp's dynamic program proves these
MEDIUM = ("bays29", "berlin52", "eil51", "st70", "eil76", "rat99", "kroA100")  # fast-tsp finds these optima


def test_all_files_are_read(published):
    files = [path for pattern in ("*/*.tsp", "*/*.vrp", "solomon/*.txt") for path in sorted(published.glob(pattern))]
    assert len(files) >= 14
    for path in files:
        instance = io.read(path)
        assert instance.name == path.stem
        assert instance.size == int(re.findall(r"\d+", path.stem)[0])  # they are all called after it


@pytest.mark.parametrize("name", ["A-n32-k5", "B-n31-k5", "E-n13-k4"])
def test_best_known_routes_cost_what_is_published(published, name):
    instance = io.read(published / "cvrplib" / f"{name}.vrp")
    path = published / "cvrplib" / f"{name}.sol"
    verdict = judge(instance, io.read_solution(path, instance))
    assert verdict.feasible
    assert verdict.cost == float(re.search(r"Cost (\d+)", path.read_text())[1])


def optimum(published, name: str) -> float:
    return float(re.search(rf"^{name} : (\d+)$", (published / "tsplib" / "optima.txt").read_text(), re.M)[1])


@pytest.mark.parametrize("name", SMALL)
def test_small_optima_are_the_published_ones(published, name):
    from egam.solvers import solve_classical

    instance = io.read(published / "tsplib" / f"{name}.tsp")
    assert judge(instance, solve_classical("held-karp", instance, 60)).cost == optimum(published, name)


@pytest.mark.parametrize("name", MEDIUM)
def test_found_optima_are_the_published_ones(published, name):
    fast_tsp = pytest.importorskip("fast_tsp")
    instance = io.read(published / "tsplib" / f"{name}.tsp")
    best = np.inf
    for _ in range(20):  # it stops at the published optimum, and nothing below it may turn up
        tour = fast_tsp.find_tour(instance.travel.astype(int).tolist(), duration_seconds=0.5)
        start = tour.index(0)
        best = min(best, judge(instance, Solution.of([[*tour[start + 1 :], *tour[:start]]])).cost)
        if best <= optimum(published, name):
            break
    assert best == optimum(published, name)


def test_solomon_routes_are_in_time_and_as_long_as_published(published):
    instance = io.read(published / "solomon" / "C101.txt")
    routes = io.read_solution(published / "solomon" / "C101.sol", instance).routes
    assert sorted(node for route in routes for node in route) == list(range(1, 101))
    for route in routes:  # each vehicle alone serves all of its customers, service times included
        verdict = judge(instance, Solution.of([route]))
        assert verdict.feasible
        assert verdict.served == route
    truncated = np.floor(Instance.tsp(instance.coords).travel * 10) / 10  # the rule behind the published 827.3
    assert sum(truncated[[0, *route], [*route, 0]].sum() for route in routes) == pytest.approx(827.3)


def test_a_solomon_customer_served_late_by_a_minute_is_late(published):
    instance = io.read(published / "solomon" / "C101.txt")
    route = io.read_solution(published / "solomon" / "C101.sol", instance).routes[0]
    arrival = judge(instance, Solution.of([route])).arrivals[-1]
    window = instance.window.copy()
    window[route[-1]] = [0, arrival - 1]
    assert judge(replace(instance, window=window), Solution.of([route])).failed == (route[-1],)
