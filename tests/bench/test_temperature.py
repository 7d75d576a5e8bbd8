"""The search for the best temperature."""

import json

import numpy as np
import pytest

from egam.bench import temperature
from egam.card import write_card
from egam.catalogue import entry_of
from egam.decode.strategies import Decoding, decode
from egam.errors import BadInput
from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem
from egam.weights import load_model, save_model, ship


def test_excess():
    costs = np.array([[2.0, 4.0, 9.0, 5.0], [1.0, 5.0, 9.0, 5.0]])
    feasible = np.array([[True, True, False, True], [True, False, False, True]])
    found = temperature.excess(costs, feasible)  # the third has no solution
    np.testing.assert_allclose(found, [100 * (1 + 0 + 0) / 3, 100 * (0 + 1 + 0) / 3])
    unserved = temperature.excess(np.array([[0.0, 2.0], [1.0, 2.0]]), np.ones((2, 2), dtype=bool))
    np.testing.assert_allclose(unserved, [0, 50])


def test_longer_routes_are_not_tried_much_hotter():
    assert temperature.not_much_hotter(0.5) == (0.5, 0.7)
    assert temperature.not_much_hotter(1.4) == (0.5, 0.7, 1.0, 1.4, 2.0)
    assert temperature.not_much_hotter(5.6) == temperature.TRIED


def test_the_best_temperatures_go_into_config_and_card(tmp_path, monkeypatch, capsys):
    problem = get_problem("cvrp")
    save_model(tmp_path, EGAM(problem.spec, Shape(16, 2, 32, 1)), problem, {"size": "20"})
    folder = ship(tmp_path, "mine", folder=tmp_path)
    before = json.loads((folder / "config.json").read_text())
    monkeypatch.setattr(temperature, "SIZES", {6: 5, 9: 4})
    monkeypatch.setattr(temperature, "TRIED", (0.5, 1.0, 3.0))
    assert temperature.main([str(folder), "--samples", "different"]) == 0
    assert "temperature" not in json.loads((folder / "config.json").read_text())
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert temperature.main([str(folder)]) == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.count("**") for row in rows] == [2, 2, 2, 2]
    network, problem, config = load_model(folder)
    tables = {"temperature": network.temperature.table(), "distinct_temperature": network.distinct_temperature.table()}
    assert config == {**before, **tables} and [list(table) for table in tables.values()] == [["6", "9"], ["6", "9"]]
    arrays = temperature.seeded(problem, 6, 5, temperature.SEED).arrays
    for distinct in (False, True):
        ways = [Decoding(8, 20, temperature=each, distinct=distinct) for each in (None, 0.5, 1.0, 3.0)]
        costs = [decode(network, problem, arrays, each).cost for each in ways]
        found = temperature.excess(np.stack(costs), np.ones((4, 5), dtype=bool))
        assert found[0] == found.min()
    entry = entry_of(folder, "mine")
    entry.config.update({"temperature": {"6": 3.0, "9": 1.0}, "distinct_temperature": {"6": 1.0, "9": 1.0}})
    write_card(entry, 1)
    words = "at a temperature of 3 at N = 6, 1 at N = 9, samples without replacement (`8xdistinct:20`) of 1 ("
    assert words in (folder / "README.md").read_text()


@pytest.mark.parametrize("key", ["temperature", "distinct_temperature"])
@pytest.mark.parametrize("found", [2.0, {"20": 0}, {"20": "warm"}, {"20": True}, {"small": 1.0}, {"20": float("inf")}])
def test_a_foreign_temperature_is_refused(tmp_path, found, key):
    problem = get_problem("tsp")
    save_model(tmp_path, EGAM(problem.spec, Shape(16, 2, 32, 1)), problem, {})
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: found}))
    with pytest.raises(BadInput, match=rf"config.json: {key} is .*; sizes and numbers above 0"):
        load_model(tmp_path)
