"""python -m egam.bench.card, on a tiny network."""

import json

import pytest

from egam.bench import card
from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem
from egam.weights import save_model, ship


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(card, "SIZES", {5: 10, 6: 20})
    monkeypatch.setattr(card, "GOLDEN", {"size": 5, "count": 4, "seed": 64})
    problem = get_problem("cvrp")
    save_model(tmp_path, EGAM(problem.spec, Shape(16, 2, 32, 1)), problem, {"size": "20"})
    return ship(tmp_path, "mine", folder=tmp_path)


def _measured(folder):
    return json.loads((folder / "measured.json").read_text())


def test_one_size_is_measured_anew_and_the_other_stays(folder):
    assert card.main([str(folder)]) == 0
    before = _measured(folder)
    assert [(row["set"], row["count"]) for row in before["rows"][3:]] == [("cvrp6, public", k) for k in (20, 2, 2)]
    before["rows"][0]["cost"] = 99.0  # a mark
    (folder / "measured.json").write_text(json.dumps(before))
    assert card.main([str(folder), "--size", "6", "--all"]) == 0
    after = _measured(folder)
    assert after["rows"][:3] == before["rows"][:3] and [row["count"] for row in after["rows"][3:]] == [20, 20, 20]
    assert after["command"].endswith(f"{folder}` and `python -m egam.bench.card {folder} --all --size 6")
    assert f"{after['command']}` at commit" in (folder / "README.md").read_text()
    assert card.main([str(folder), "--decode", "8x20", "--all"]) == 0
    last = _measured(folder)
    assert [row["count"] for row in last["rows"]] == [10, 10, 1, 20, 20, 20]
    assert [row == other for row, other in zip(last["rows"], after["rows"], strict=True)].count(False) >= 1
    assert last["rows"][::3] == after["rows"][::3] and last["rows"][2::3] == after["rows"][2::3]


def test_figures_of_other_weights_are_not_kept(folder, capsys):
    assert card.main([str(folder), "--size", "6", "--all"]) == 2  # none are there
    assert card.main([str(folder), "--all"]) == 0
    known = _measured(folder)
    known["golden"]["cost"] *= 1.01
    (folder / "measured.json").write_text(json.dumps(known))
    assert card.main([str(folder), "--size", "6", "--all"]) == 2
    assert "what is known of other rows is not of these weights; measure all" in capsys.readouterr().err
    assert _measured(folder) == known
