"""The scripts that make shipped weights out of training runs."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem
from egam.weights import load_model, save_model

BLEND = Path(__file__).parents[1] / "scripts" / "blend.py"


def run(*arguments):
    return subprocess.run([sys.executable, BLEND, *map(str, arguments)], capture_output=True, text=True)


def untrained(folder, problem, layers=1):
    folder.mkdir()
    save_model(folder, EGAM(problem.spec, Shape(16, 2, 32, layers)), problem, {"size": "20", "recipe": "lr 1"})


def test_weights_between_two_ends_one_of_which_is_told_more(tmp_path):
    old, new = get_problem("pctsp"), get_problem("pctsp", hint="levels")
    torch.manual_seed(1)
    for name, problem in (("old", old), ("new", new)):
        untrained(tmp_path / name, problem)
    done = run(tmp_path / "old", tmp_path / "new", 0.25, tmp_path / "between")
    assert done.returncode == 0, done.stderr
    (before, _, _), (after, _, _), (between, problem, about) = (
        load_model(str(tmp_path / name)) for name in ("old", "new", "between")
    )
    assert problem == new and about["trained"]["recipe"].endswith("weights 0.25 of the way from those before")
    key = "decoder.layers.0.node.query"
    expected = 0.75 * before.state_dict()[key] + 0.25 * after.state_dict()[key]
    assert torch.allclose(between.state_dict()[key], expected, atol=1e-3)
    told = between.decoder.context.weight[:, -3:]  # which the old weights do not have
    assert torch.allclose(told, 0.25 * after.decoder.context.weight[:, -3:], atol=1e-3)
    prize = between.encoder.input.node.weight[:, 2]  # which the new weights see eight times as large
    expected = 0.75 * before.encoder.input.node.weight[:, 2] / 8 + 0.25 * after.encoder.input.node.weight[:, 2]
    assert torch.allclose(prize, expected, atol=1e-3)


@pytest.mark.parametrize(("share", "problem"), [(1.5, "pctsp"), (0.5, "tspdl")])
def test_what_cannot_be_blended(tmp_path, share, problem):
    untrained(tmp_path / "old", get_problem("pctsp"))
    untrained(tmp_path / "new", get_problem(problem), layers=2 if problem == "tspdl" else 1)
    done = run(tmp_path / "old", tmp_path / "new", share, tmp_path / "between")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert not (tmp_path / "between").exists()
