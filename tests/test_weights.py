"""Weights on disk: shipped, found, and refused with what differs."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from egam import catalogue
from egam.bench import card
from egam.bench.card import golden
from egam.card import measured
from egam.catalogue import choose, entry_of, find, shipped
from egam.decode.strategies import Decoding, decode
from egam.errors import BadInput
from egam.instance import KINDS
from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem
from egam.weights import load_model, save_model, ship

ROOT = Path(__file__).parents[1]
SMALL = Shape(width=32, heads=4, hidden=64, encoder_layers=1)


@pytest.fixture
def run(tmp_path):
    """The folder of a run, as the trainer leaves it."""
    problem = get_problem("tsp")
    folder = tmp_path / "run"
    folder.mkdir()
    save_model(folder, EGAM(problem.spec, SMALL), problem, {"size": "20-50", "instances": 12345, "minutes": 3.2})
    return folder


# ---- the package's own ------------------------------------------------------------------------------------------


def test_every_problem_has_weights():
    assert {entry.problem for entry in shipped().values() if entry.method == "egam"} == set(KINDS)


@pytest.mark.parametrize("name", list(shipped()))
def test_shipped_weights_load_and_have_a_card(name):
    entry = shipped()[name]
    network, problem, config = load_model(name)
    assert problem.name == entry.problem and config["dtype"] == "float16" and entry.sizes is not None
    assert all(parameter.dtype == torch.float32 for parameter in network.parameters())
    expected = {"model.safetensors", "config.json", "README.md", "measured.json"}
    assert {path.name for path in entry.folder.iterdir()} == expected
    text = (entry.folder / "README.md").read_text()
    assert text.startswith("---\nlicense: mit\n") and f"egam solve FILE --weights {name}" in text
    assert str(ROOT) not in text


@pytest.mark.parametrize("name", list(shipped()))
def test_golden_costs(name):
    """The weights as shipped solve 64 seeded instances at the cost that their card tells."""
    entry = shipped()[name]
    network, problem, _ = load_model(name)
    told = measured(entry.folder)["golden"]
    found = golden(network, problem)
    assert told | {"cost": None} == found | {"cost": None}
    assert found["cost"] == pytest.approx(told["cost"], rel=1e-3)  # of another processor's rounding, a tie or two
    assert f"{told['cost']:.4f}" in (entry.folder / "README.md").read_text()


def test_the_page_has_the_table_of_the_cards():
    assert f"\n{card.table()}\n" in (ROOT / "docs" / "weights.md").read_text()


def test_all_weights_together_are_small():
    sizes = [path.stat().st_size for path in catalogue.PRETRAINED.rglob("*") if path.is_file()]
    assert sum(sizes) < 60e6


def test_the_wheel_holds_the_weights(tmp_path):
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for name in shipped():
        assert f"egam/pretrained/{name}/model.safetensors" in names and f"egam/pretrained/{name}/config.json" in names


# ---- finding ----------------------------------------------------------------------------------------------------


def test_find_by_name_folder_or_file(run, tmp_path, monkeypatch):
    assert find("tsp").folder == catalogue.PRETRAINED / "tsp"
    for given in (run, str(run), run / "model.safetensors", run / "config.json"):
        assert find(given).folder == run
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cvrp").mkdir()
    assert find("cvrp").folder == catalogue.PRETRAINED / "cvrp"  # a folder without weights hides nothing
    with pytest.raises(BadInput, match=r"tps: holds no config.json and is no name .* \(did you mean 'tsp'\?\)"):
        find("tps")


def test_choose_the_nearest_size(tmp_path, monkeypatch, run):
    for name, size in (("a", "20"), ("b", "50-100"), ("c", "500"), ("d", "400-600")):
        problem = get_problem("tsp")
        (tmp_path / "all" / name).mkdir(parents=True)
        save_model(tmp_path / "all" / name, EGAM(problem.spec, SMALL), problem, {"size": size})
    monkeypatch.setattr(catalogue, "shipped", lambda: shipped(tmp_path / "all"))
    # 32 / 20 = 1.6 > 50 / 32 = 1.56; 230 / 100 = 2.3 > 400 / 230 = 1.74; both c and d saw 500, d more than that
    assert [choose("tsp", size).name for size in (5, 31, 32, 70, 190, 230, 500)] == ["a", "a", "b", "b", "b", "d", "d"]
    with pytest.raises(BadInput, match="no weights of egam for cvrp come with the package; train some"):
        choose("cvrp", 20)


def test_entries_say_what_they_were_trained_on(run):
    assert entry_of(run, "x").trained_on == "tsp with N = 20-50"
    assert shipped()["tsptw"].trained_on.startswith("tsptw-medium with N = ")


# ---- shipping ---------------------------------------------------------------------------------------------------


def test_ship(run, tmp_path):
    folder = ship(run, "mine", remarks="Only a test.", folder=tmp_path / "out")
    assert folder == tmp_path / "out" / "mine"
    config = json.loads((folder / "config.json").read_text())
    assert config["dtype"] == "float16" and config["trained"]["instances"] == 12345
    card = (folder / "README.md").read_text()
    assert "12,345 random instances in 3 minutes" in card and card.endswith("Only a test.\n")
    assert (folder / "model.safetensors").stat().st_size < 0.6 * (run / "model.safetensors").stat().st_size
    before, problem, _ = load_model(run)
    after, _, _ = load_model(folder)
    arrays = problem.generate(np.random.default_rng(0), 16, 12)
    costs = [decode(network, problem, arrays, Decoding()).cost.mean() for network in (before, after)]
    assert costs[1] == pytest.approx(costs[0], rel=0.02)
    ship(run, "mine", folder=tmp_path / "out")  # again: replaced
    assert "Only a test" not in (folder / "README.md").read_text()


def test_cards_tell_whose_solutions_were_imitated(tmp_path):
    problem, taught = get_problem("tsp"), {"size": "10-60", "lessons": {"solver": "fast-tsp", "instances": 2500}}
    further = {"size": "20", "instances": 999, "minutes": 5, "recipe": "lr 1", "after": taught}
    stages = {"taught": taught, "further": further}
    cards = {}
    for name, trained in stages.items():
        (tmp_path / name).mkdir()
        save_model(tmp_path / name, EGAM(problem.spec, SMALL), problem, trained)
        cards[name] = (ship(tmp_path / name, name, folder=tmp_path / "out") / "README.md").read_text()
    shown = "imitation of fast-tsp (2,500 solved instances)"
    assert f"Trained on tsp with N = 10-60 by {shown}." in cards["taught"]
    went_on = "Trained by reinforcement learning on tsp with N = 20, 999 random instances in 5 minutes"
    assert f"{went_on}; before that by {shown}." in cards["further"]
    assert "| imitation of fast-tsp, not noted |" in cards["further"] and "| lr 1 |" in cards["further"]


# ---- damaged and foreign ----------------------------------------------------------------------------------------


def change(folder, **values):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def rewrite(folder, edit):
    """Another model.safetensors, with the right hash."""
    import hashlib

    path = folder / "model.safetensors"
    tensors = load_file(path)
    edit(tensors)
    save_file(tensors, path)
    change(folder, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


def refusal(folder):
    with pytest.raises(BadInput) as caught:
        load_model(folder)
    return str(caught.value)


def test_a_changed_byte(run):
    path = run / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "differs from config.json's" in refusal(run) and "damaged or foreign" in refusal(run)
    path.write_bytes(whole[:100])
    assert "not a readable safetensors file" in refusal(run)
    path.unlink()
    assert "no such file" in refusal(run)


def test_other_tensors(run):
    rewrite(run, lambda tensors: tensors.pop("decoder.out_key"))
    assert "1 tensors of the network are missing, the first is decoder.out_key" in refusal(run)
    rewrite(run, lambda tensors: tensors.update({"decoder.out_key": torch.zeros(32, 31)}))
    assert "decoder.out_key has shape (32, 31); (32, 32) is expected" in refusal(run)
    rewrite(run, lambda tensors: tensors.update({"decoder.out_key": torch.full((32, 32), torch.nan)}))
    assert "decoder.out_key holds numbers that are not finite" in refusal(run)
    rewrite(run, lambda tensors: tensors.update({"decoder.out_key": torch.zeros(32, 32).half()}))
    assert "decoder.out_key is float16; config.json says float32" in refusal(run)
    rewrite(run, lambda tensors: tensors.update({"decoder.out_key": torch.zeros(32, 32), "more": torch.zeros(1)}))
    assert "1 tensors are not the network's, the first is more" in refusal(run)


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"format": 2}, "format 2; format 1 is expected"),
        ({"network": "bert"}, "network 'bert'"),
        ({"problem": "knapsack"}, "unknown problem 'knapsack'"),
        ({"variant": "odd"}, "variant 'odd' of tsp is unknown"),
        ({"dtype": "int8"}, "dtype int8; accepted: float32, float16"),
        ({"shape": {"width": 32}}, "shape must have exactly"),
        ({"shape": {**SMALL.to_dict(), "width": "wide"}}, "shape's width is 'wide'"),
        ({"shape": {**SMALL.to_dict(), "heads": 5}}, "no multiple of its heads"),
        ({"shape": {**SMALL.to_dict(), "heads": 0}}, "shape's heads is 0"),
        ({"shape": {**SMALL.to_dict(), "norm": "odd"}}, "norm is 'odd'"),
        ({"shape": {**SMALL.to_dict(), "width": 64}}, "has shape"),
        ({"sha256": 5}, "differs from config.json's 5"),
    ],
)
def test_a_foreign_config(run, values, found):
    change(run, **values)
    assert found in refusal(run)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"architectures": ["BertModel"]}', "\x00"])
def test_a_config_that_is_none(run, text):
    (run / "config.json").write_text(text)
    assert "config.json" in refusal(run)
