"""Reference costs: what the file holds is what the judge says of the set that `egam eval` regenerates."""

import json

import numpy as np
import pytest

from egam.bench import datasets, references
from egam.bench.learning import Uniform, random_policy
from egam.judge import judge
from egam.problems import get_problem
from egam.solution import Solution


@pytest.mark.parametrize(("name", "variant"), [("tspdl", "medium"), ("tsp", "")])
def test_file_holds_judged_costs(tmp_path, name, variant):
    path = tmp_path / "refs.npz"
    line = f"--problem {name} --size 7 --count 3 --solver held-karp --workers 1 --out {path}"
    assert references.main(line.split()) == 0
    problem = get_problem(name, variant)
    with np.load(path) as file:
        about = json.loads(str(file["about"]))
        dataset = (datasets.public if about["set"] == "public" else datasets.seeded)(problem, 7, 3)
        for number, routes in enumerate(json.loads(str(file["routes"]))):
            verdict = judge(dataset.instance(number), Solution.of(routes))
            assert verdict.feasible and verdict.cost == file["cost"][number]
        assert file["proven"].all()


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
