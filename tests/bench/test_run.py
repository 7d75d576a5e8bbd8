"""The harness: cells are measured once, kept per instance, and survive kill -9."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from egam.bench import classical, rows, sets
from egam.bench.cells import plan
from egam.bench.results import read_results
from egam.bench.run import Settings, run
from egam.decode.strategies import Decoding, decode
from egam.errors import BadInput
from egam.judge import judge
from egam.nn import NETWORKS, Shape
from egam.problems import get_problem
from egam.solution import Solution
from egam.solvers import SolverFailed
from egam.weights import load_model, save_model

REFERENCES = Path(__file__).parents[2] / "benchmarks" / "references"


@pytest.fixture
def weights(tmp_path):
    """Untrained and small, of TSP."""
    problem = get_problem("tsp")
    network = NETWORKS["egam"](problem.spec, Shape(16, 2, 32, 1))
    folder = tmp_path / "weights"
    folder.mkdir()
    save_model(folder, network, problem, {"size": "20", "method": "egam", "instances": 5, "minutes": 1.0})
    return folder


def measured(folder: Path, count: int, methods=(), weights=(), decodings=("greedy",), names=("tsp20",), **settings):
    loaded = dict(sets.load(name, count) for name in names)
    cells = plan(loaded, methods, [0.1], weights, decodings)
    return run(cells, loaded, Settings(folder, REFERENCES, **settings))


def test_rows_are_what_the_judge_says(tmp_path, weights):
    found = measured(tmp_path / "out", 7, ["cheapest-insertion", "held-karp"], [str(weights)], ["greedy", "8x2"])
    assert [(row["method"], row["form"]) for row in found] == [
        ("EGAM", "8x2"),
        ("EGAM", "greedy"),
        ("cheapest-insertion", ""),
        ("held-karp", "0.1s"),
    ]
    _, dataset = sets.load("tsp20", 7)
    reference = rows.read(REFERENCES / "tsp20.npz").cost[:7]
    for row in found:
        kept = rows.read(tmp_path / "out" / row["file"])
        costs = [judge(dataset.instance(k), Solution.of(routes)).cost for k, routes in enumerate(kept.routes)]
        assert kept.cost == pytest.approx(costs) and kept.feasible.all()
        assert float(row["cost"]) == pytest.approx(np.mean(costs), rel=1e-6)
        assert float(row["gap_percent"]) == pytest.approx(100 * np.mean(costs / reference - 1), rel=1e-5, abs=1e-9)
        assert (row["count"], row["reference"], row["reference_proven"]) == ("7", "highs 60s", "7")
    learned = found[0]
    assert (learned["layers"], learned["trained_as"], learned["trained_on"]) == ("1", "egam", "20")
    assert int(learned["parameters"]) == sum(p.numel() for p in load_model(weights)[0].parameters())
    assert read_results(tmp_path / "out") == found


def test_parts_decode_to_what_the_whole_does(tmp_path, weights, monkeypatch):
    monkeypatch.setattr("egam.bench.neural.PART", {"cpu": 3})
    measured(tmp_path / "out", 8, weights=[str(weights)], decodings=["sample:4"])
    network, problem, _ = load_model(weights)
    _, dataset = sets.load("tsp20", 8)
    whole = decode(network, problem, dataset.arrays, Decoding.parse("sample:4"))
    kept = rows.read(tmp_path / "out" / "tsp20" / "EGAM_sample-4.npz")
    assert kept.cost == pytest.approx(whole.cost, rel=1e-5)


def test_finished_cells_are_not_measured_again(tmp_path):
    out = tmp_path / "out"
    measured(out, 3, ["nearest-neighbour"])
    before = (out / "tsp20" / "nearest-neighbour.npz").stat().st_mtime_ns
    assert [row["method"] for row in measured(out, 3, ["nearest-neighbour", "farthest-insertion"])] == [
        "farthest-insertion",
        "nearest-neighbour",
    ]
    assert (out / "tsp20" / "nearest-neighbour.npz").stat().st_mtime_ns == before
    with pytest.raises(BadInput, match="was measured with count 3, now it is 4; name another --out"):
        measured(out, 4, ["nearest-neighbour"])


def test_seeded_sets_are_cut_not_drawn_anew(tmp_path):
    full, few = sets.load("vrptw20", None)[1], sets.load("vrptw20", 5)[1]
    assert full.count == 1000 and (few.arrays["coords"] == full.arrays["coords"][:5]).all()
    (row,) = measured(tmp_path, 5, ["cheapest-insertion"], names=["vrptw20"], processes=2)
    assert float(row["gap_percent"]) >= 0 and row["gap_count"] == "5" and row["processes"] == "2"


def test_no_gap_where_there_is_no_reference(tmp_path):
    (row,) = measured(tmp_path, 3, ["nearest-neighbour"], names=["tsp30"])
    assert row["cost"] and not row["gap_percent"] and not row["reference"]


def test_infeasible_ones_count_but_cost_nothing(tmp_path):
    (row,) = measured(tmp_path, 20, ["earliest-deadline"], names=["tsptw20"])
    kept = rows.read(tmp_path / row["file"])
    feasible = int(kept.feasible.sum())
    assert 0 < feasible < 20 and row["feasible"] == str(feasible)
    assert float(row["infeasible_percent"]) == pytest.approx(100 - 5 * feasible)
    assert float(row["cost"]) == pytest.approx(np.nanmean(kept.cost) / 100, rel=1e-6)  # in units of 100
    assert np.isnan(kept.cost[~kept.feasible]).all()
    reference = rows.read(REFERENCES / "tsptw20-medium.npz")
    assert int(row["unsolvable"]) == int((reference.proven & ~reference.feasible)[:20].sum()) > 0


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
@pytest.mark.parametrize("processes", [1, 2])
def test_killed_run_goes_on_where_it_was(tmp_path, processes):
    pytest.importorskip("ortools")
    out = tmp_path / "out"
    line = ["bench", "run", "--set", "tsp20", "--method", "or-tools", "--method", "nearest-neighbour"]
    line += ["--seconds", "0.2", "--count", "12", "--processes", str(processes), "--out", str(out)]
    command = [sys.executable, "-m", "egam", *line]
    partial = out / "tsp20" / "or-tools_0.2s.npz.partial"
    first = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (partial.exists() and len(partial.read_bytes().splitlines()) > 3):
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    time.sleep(0.5)  # workers of a killed run end by themselves
    kept = partial.read_bytes().splitlines()
    done = {json.loads(text)[0]: json.loads(text)[1] for text in kept[1:]}
    assert 3 <= len(done) < 12
    second = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert f"{len(done)}/12 were done before" in second.stderr and not partial.exists()
    result = rows.read(out / "tsp20" / "or-tools_0.2s.npz")
    assert result.feasible.all() and len(result.cost) == 12
    for number, (_, row) in done.items():  # what was done is kept, not done again
        assert result.seconds[int(number)] == row[3] and result.routes[int(number)] == row[4]
    printed = json.loads(second.stdout)
    with (out / "results.csv").open(newline="") as file:
        assert list(csv.DictReader(file)) == printed and len(printed) == 2
    third = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "or-tools" not in third.stderr  # nothing was left to do


def test_a_solver_that_fails_now_and_then_is_forgiven(tmp_path, monkeypatch):
    asked = []

    def fails_on_second(name, instance, seconds, seed):
        asked.append(instance.name)
        if len(asked) == 2:
            raise SolverFailed("it crashed")
        return Solution.of([range(1, instance.size)]), False

    monkeypatch.setattr(classical, "solve_proven", fails_on_second)
    (row,) = measured(tmp_path, 5, ["held-karp"])
    assert row["feasible"] == "4" and rows.read(tmp_path / row["file"]).feasible.tolist() == [True, False] + [True] * 3


def test_a_solver_that_always_fails_is_not(tmp_path, monkeypatch):
    def fails(name, instance, seconds, seed):
        raise SolverFailed("it crashed")

    monkeypatch.setattr(classical, "solve_proven", fails)
    with pytest.raises(SolverFailed, match="it crashed"):
        measured(tmp_path, 5, ["held-karp"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"methods": ["lhk"]}, "unknown solver 'lhk' (did you mean 'lkh'?)"),
        ({"methods": ["earliest-deadline"]}, "earliest-deadline solves tsptw, tspdl, vrptw; the sets are of tsp"),
        ({"methods": ["held-karp"], "names": ["tps20"]}, "unknown set 'tps20'"),
        ({"methods": ["held-karp"], "names": ["tsp20-hard"]}, "hard"),
        ({"weights": ["nowhere"]}, "nowhere"),
        ({"weights": ["vrptw"]}, "vrptw solves vrptw; the sets are of tsp"),
        ({"weights": ["tsp", "tsp"]}, "EGAM_greedy on tsp20 is asked for twice; call one of them otherwise"),
        ({"weights": ["tsp"], "decodings": ["gready"]}, "decoding 'gready' is unknown"),
    ],
)
def test_what_cannot_be_measured_is_refused_at_once(tmp_path, options, sentence):
    with pytest.raises(BadInput) as refusal:
        measured(tmp_path / "out", 2, **options)
    assert sentence in str(refusal.value)
    assert not (tmp_path / "out").exists()
