"""Reference costs: what the file holds is what the judge says of the set that `egam eval` regenerates."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from egam.bench import datasets, references, sets
from egam.bench.datasets import public, read_references, seeded
from egam.bench.learning import Uniform, random_policy
from egam.errors import BadInput
from egam.judge import judge
from egam.problems import get_problem
from egam.solution import Solution


@pytest.mark.parametrize(("name", "variant"), [("tspdl", "medium"), ("tsp", "")])
def test_file_holds_judged_costs(tmp_path, name, variant):
    path = tmp_path / "refs.npz"
    line = f"--problem {name} --size 7 --count 3 --solver held-karp --workers 1 --out {path}"
    assert references.main(line.split()) == 0
    with np.load(path) as file:
        name, dataset = sets.load(sets.set_name(name, variant, 7), 3)
        for number, routes in enumerate(json.loads(str(file["routes"]))):
            verdict = judge(dataset.instance(number), Solution.of(routes))
            assert verdict.feasible and verdict.cost == file["cost"][number]
        assert file["proven"].all()
    assert sets.references("refs", dataset, tmp_path) is not None


def test_costs_of_the_first_of_a_seeded_set_are_of_no_other(tmp_path):
    path = tmp_path / "refs.npz"
    line = f"--problem tspdl --size 7 --count 3 --solver held-karp --workers 1 --out {path}"
    assert references.main(line.split()) == 0
    with pytest.raises(BadInput, match="costs of the first 3 of a set drawn with --count 1000; this one has 3"):
        read_references(path, seeded(get_problem("tspdl", "medium"), 7, 3))


def test_unknown_solver_is_explained(tmp_path, capsys):
    line = f"--problem tsp --size 7 --count 1 --solver concord --out {tmp_path / 'refs.npz'}"
    assert references.main(line.split()) == 2
    assert capsys.readouterr().err.startswith("egam: ")
    assert not list(tmp_path.iterdir())


def test_random_policy_is_far_from_good():
    problem = get_problem("tsp")
    cost, feasible = random_policy(problem, datasets.seeded(problem, 10, 200))
    assert 4.8 < cost < 5.7 and feasible == 1.0  # ten edges of mean length 0.5214
    assert Uniform().encode(None) is None


PUBLISHED = Path(os.environ.get("EGAM_DATA") or Path(__file__).parents[3] / "shared" / "data") / "reference"


def test_published_costs_are_those_of_the_set():
    """LKH-3's as published for TSPTW50: ours are the same instances, so most are equal, and none is much below."""
    path = PUBLISHED / "tsptw50_medium_seed2025_lkh3.npy"
    if not path.exists():
        pytest.skip("published costs are not there; EGAM_DATA names their folder")
    dataset = public(get_problem("tsptw", "medium"), 50, 1000)
    theirs = read_references(path, dataset)
    ours = read_references(Path(__file__).parents[2] / "benchmarks" / "references" / "tsptw50-medium.npz", dataset)
    assert np.mean(np.abs(ours / theirs - 1) < 1e-5) > 0.8
    assert (ours / theirs - 1).min() > -0.01


@pytest.mark.parametrize(
    ("costs", "found"),
    [
        (np.ones(3), "holds 3 of float64; a number for each of 4 is expected"),
        (np.ones((4, 2)), "holds 4 x 2 of float64"),
        (np.array(["a"] * 4), "a number for each of 4 is expected"),
        (b"nonsense", "not a readable .npy file"),
    ],
)
def test_other_lists_of_costs_are_refused(tmp_path, costs, found):
    path = tmp_path / "costs.npy"
    path.write_bytes(costs) if isinstance(costs, bytes) else np.save(path, costs)
    with pytest.raises(BadInput, match=found):
        read_references(path, public(get_problem("tsp"), 20, 4))


def test_a_list_of_costs_is_in_the_literature_s_units(tmp_path):
    np.save(tmp_path / "costs.npy", np.arange(1, 6, dtype=np.float32))
    dataset = public(get_problem("tsptw", "medium"), 20, 4)
    assert read_references(tmp_path / "costs.npy", dataset).tolist() == [100, 200, 300, 400]
    with pytest.raises(BadInput, match="accepted for public sets"):
        read_references(tmp_path / "costs.npy", seeded(get_problem("tsptw", "medium"), 20, 4))
