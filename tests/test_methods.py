"""The table of learned methods: each row trains by the one trainer, loads, and decodes by the one decoder."""

import csv
import json
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from egam.bench.datasets import seeded
from egam.bench.learning import random_policy
from egam.decode.strategies import Decoding, decode
from egam.errors import BadInput
from egam.methods import METHODS, get_method
from egam.nn import NETWORKS
from egam.problems import PROBLEMS, get_problem
from egam.train.config import TrainConfig, changed, read_config, with_settings
from egam.train.trainer import Trainer
from egam.weights import load_model, read_tensors

ROWS = list(METHODS)
NARROW = {"width": 16, "heads": 2, "hidden": 32, "report_every": 2, "validate_every": 2, "checkpoint_every": 2,
          "validation_count": 4, "steps": 6, "size": "6", "batch": 8, "epoch": 3, "held_out": 20}  # fmt: skip


def config_of(method, **table):
    return changed(TrainConfig(), {**NARROW, "method": method, **table}, "")


def quiet(text):
    pass


def test_rows_are_what_the_papers_say():
    gam, gatv2, pomo, symnco = (METHODS[name] for name in ("gam", "gatv2", "pomo", "symnco"))
    assert (gam.encoder_layers, gam.norm, gam.baseline, gam.m, gam.n) == (3, "batch", "rollout", 1, 1)
    assert replace(gam, title="GATv2", network="gatv2") == gatv2
    assert (pomo.encoder_layers, pomo.norm, pomo.baseline, pomo.n) == (6, "instance", "symmetry", 0)
    assert (symnco.network, symnco.encoder_layers, symnco.baseline) == ("gam", 6, "symnco")
    assert (symnco.m, symnco.invariance, symnco.turn) == (2, 0.1, "others")


def test_the_default_config_is_the_row_of_egam():
    config, row = TrainConfig(), METHODS["egam"]
    assert {key: getattr(config, key) for key in row.settings()} == row.settings()


@pytest.mark.parametrize("name", ROWS)
def test_every_row_names_a_network_and_decodings_that_exist(name):
    row = METHODS[name]
    assert row.network in NETWORKS
    for free_start in (True, False):
        for form in row.decodings_for(free_start):
            assert Decoding.parse(form).all_starts <= free_start
    assert METHODS["pomo"].decodings_for(False) == ("greedy", "8xgreedy")


def test_a_row_replaces_a_preset_and_is_overridden_by_settings(tmp_path):
    config = changed(read_config("cpu"), {"method": "pomo", "size": "20"}, "")
    assert (config.encoder_layers, config.batch, config.n, config.weight_decay) == (6, 64, 0, 1e-6)
    assert config.minutes == 20  # what the row does not decide stays
    config = with_settings(config, ["n=5", "method=symnco", "encoder_layers=2"])
    assert (config.method, config.n, config.m, config.encoder_layers, config.invariance) == ("symnco", 5, 2, 2, 0.1)
    assert with_settings(config, ["method=symnco"]) == config  # the same method again changes nothing
    (tmp_path / "run.toml").write_text(config.to_toml())
    assert read_config(tmp_path / "run.toml") == config  # a file's own keys win over its method's row


def test_an_unknown_method():
    with pytest.raises(BadInput, match=r"method 'gamm' is unknown \(did you mean 'gam'\?\); accepted: egam, gam"):
        get_method("gamm")
    with pytest.raises(BadInput, match="method 'x' is unknown"):
        with_settings(TrainConfig(), ["method=x"])


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("problem_name", list(PROBLEMS))
def test_every_row_trains_loads_and_decodes_every_problem(tmp_path, name, problem_name):
    config = config_of(name, problem=problem_name, steps=2, epoch=1, encoder_layers=1)
    trainer = Trainer.fresh(config, tmp_path / "run", say=quiet)
    trainer.train()
    network, problem, about = load_model(tmp_path / "run")
    assert about["network"] == METHODS[name].network and about["trained"]["method"] == name
    assert (problem.name, network.shape.norm) == (problem_name, METHODS[name].norm)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), trainer.network.parameters(), strict=True))
    arrays = trainer._validation_set()
    costs = []
    for form in METHODS[name].decodings_for(problem.spec.context_first):
        result = decode(network, problem, arrays, Decoding.parse(form.replace("1280", "64")))
        costs.append(result.cost[result.feasible].sum() + 1e3 * (~result.feasible).sum())
    if "8xgreedy" in form or "starts" in form:  # the greedy solution is one of these
        assert costs[1] <= costs[0] + 1e-5


def killed_after(trainer, step):
    def kill(running):
        if running.step == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer.train(on_step=kill)


# EGAM's: tests/train/test_trainer.py. With epochs of 4 steps a checkpoint falls on the end of one, with 3 between two.
@pytest.mark.parametrize(("name", "epoch"), [("gam", 3), ("gam", 4), ("gatv2", 3), ("pomo", 3), ("symnco", 3)])
def test_a_killed_and_resumed_run_equals_an_unbroken_one(tmp_path, name, epoch):
    """With frozen copies, exponential means, projection heads and running statistics."""
    config = config_of(name, epoch=epoch, encoder_layers=1, steps=10, ema=0.5)
    Trainer.fresh(config, tmp_path / "whole", say=quiet).train()
    killed_after(Trainer.fresh(config, tmp_path / "broken", say=quiet), 5)  # the last checkpoint is that of step 4
    Trainer.resumed(tmp_path / "broken", say=quiet).train()
    whole, broken = (read_tensors(tmp_path / name / "state.safetensors")[0] for name in ("whole", "broken"))
    assert whole.keys() == broken.keys()
    assert all(torch.equal(whole[key], broken[key]) for key in whole)
    remembered = {"symnco": "invariance.head.0.weight", "pomo": "average.encoder.node.bias"}
    assert remembered.get(name, "baseline.mean") in whole
    rows = [
        [row["loss"] for row in csv.DictReader((tmp_path / folder / "metrics.csv").open())]
        for folder in ("whole", "broken")
    ]
    assert rows[0] == rows[1] and len(rows[0]) == 5


def test_a_run_does_not_go_on_with_another_baseline(tmp_path):
    Trainer.fresh(config_of("pomo", steps=2, encoder_layers=1), tmp_path / "run", say=quiet).train()
    with pytest.raises(BadInput, match=r"state.safetensors: baseline.\w+ is missing; the run had another baseline"):
        Trainer.resumed(tmp_path / "run", {"baseline": "rollout", "steps": 4}, say=quiet)


@pytest.mark.parametrize("name", ROWS)
def test_every_row_learns(tmp_path, name):
    """30 steps of TSP6 with a narrow network, against a random tour's 3.07; 2.33 to 2.42 when this was written."""
    network = {"width": 32, "heads": 4, "hidden": 64, "encoder_layers": 2}
    training = {"steps": 30, "batch": 32, "n": 0, "lr": 3e-3, "epoch": 10, "held_out": 200}
    watching = {"validation_count": 200, "validate_every": 30, "checkpoint_every": 30}
    trainer = Trainer.fresh(config_of(name, **network, **training, **watching), tmp_path / "run", say=quiet)
    trainer.train()
    rows = list(csv.DictReader((tmp_path / "run" / "metrics.csv").open()))
    problem = get_problem("tsp")
    random_cost, _ = random_policy(problem, seeded(problem, 6, 500))
    assert float(rows[-1]["validation_cost"]) < 0.85 * random_cost


def test_pomo_samples_from_every_node_once():
    trainer = Trainer(config_of("pomo", size="7", encoder_layers=1), ".")
    seen = []
    trainer.baseline = replace(trainer.baseline, advantages=lambda sampled: seen.append(sampled) or sampled.objective)
    trainer._one_step()
    (sampled,) = seen
    assert (sampled.starts.sort(-1).values == torch.arange(7)).all() and sampled.m == 1


def test_weights_of_another_network_do_not_start_a_run(tmp_path):
    Trainer.fresh(config_of("gam", steps=2, encoder_layers=1), tmp_path / "gam", say=quiet).train()
    with pytest.raises(BadInput, match=r"has gam Shape\(.*this run's network is gatv2 Shape\("):
        Trainer.fresh(config_of("gatv2", encoder_layers=1), tmp_path / "other", init=str(tmp_path / "gam"), say=quiet)


def test_started_weights_are_the_frozen_copys_too(tmp_path):
    Trainer.fresh(config_of("gam", steps=2, encoder_layers=1), tmp_path / "one", say=quiet).train()
    second = Trainer.fresh(config_of("gam", encoder_layers=1), tmp_path / "two", init=str(tmp_path / "one"), say=quiet)
    mine, frozen = second.network.state_dict(), second.baseline.frozen.state_dict()
    assert all(torch.equal(mine[name], frozen[name]) for name in mine)


def test_on_the_command_line(tmp_path):
    def egam(*words):
        return subprocess.run([sys.executable, "-m", "egam", *words], cwd=tmp_path, capture_output=True, text=True)

    narrow = [f"--set={key}={value}" for key, value in NARROW.items() if key != "size"]
    trained = egam("train", "cvrp", "--method", "symnco", "--size", "6", *narrow, "--set", "encoder_layers=1")
    assert trained.returncode == 0, trained.stderr
    config = read_config(tmp_path / "run-cvrp6-symnco" / "config.toml")
    assert (config.method, config.invariance, config.batch, config.encoder_layers) == ("symnco", 0.1, 8, 1)
    measured = egam("eval", "run-cvrp6-symnco", "--count", "5", "--decode", "8xgreedy", "--json")
    assert measured.returncode == 0, measured.stderr
    assert json.loads(measured.stdout)["results"][0]["feasible"] == 5
    for words, sentence in (
        (["train", "tsp", "--method", "pono"], "method 'pono' is unknown (did you mean 'pomo'?)"),
        (["train", "--resume", "run-cvrp6-symnco", "--method", "gam"], "--method cannot be given with --resume"),
    ):
        refused = egam(*words)
        assert refused.returncode == 2 and sentence in refused.stderr
