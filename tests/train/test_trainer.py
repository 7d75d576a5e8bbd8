"""Runs: they learn, they stop and resume bit for bit, they end with a sentence when something is wrong."""

import csv
from dataclasses import fields
from pathlib import Path

import pytest
import torch

from egam.decode.strategies import Decoding, decode
from egam.errors import BadInput, EgamError
from egam.train import trainer as trainer_module
from egam.train.config import TrainConfig, changed, read_config, with_settings
from egam.train.trainer import Trainer
from egam.weights import load_model, read_tensors

TINY = TrainConfig(
    size="6-8", batch=4, n=4, steps=6, width=16, heads=2, hidden=32, encoder_layers=1,
    report_every=2, validate_every=2, validation_count=4, checkpoint_every=2,
)  # fmt: skip


def quiet(text):
    pass


def run(folder, config=TINY, stop_after=None):
    """Train; with `stop_after`, as if killed right after that step."""
    trainer = Trainer.fresh(config, folder, say=quiet)
    _train_until(trainer, stop_after)
    return trainer


def _train_until(trainer, stop_after):
    def kill(running):
        if running.step == stop_after:
            raise KeyboardInterrupt

    if stop_after is None:
        trainer.train()
    else:
        with pytest.raises(KeyboardInterrupt):
            trainer.train(on_step=kill)


@pytest.mark.parametrize("table", [{}, {"problem": "cvrp"}, {"ema": 0.9}, {"optimizer": "muon"}], ids=str)
def test_a_killed_and_resumed_run_equals_an_unbroken_one(tmp_path, table):
    config = changed(TINY, table, "")
    run(tmp_path / "whole", config)
    run(tmp_path / "broken", config, stop_after=5)  # the last checkpoint is that of step 4
    Trainer.resumed(tmp_path / "broken", say=quiet).train()
    whole, broken = (read_tensors(tmp_path / name / "state.safetensors")[0] for name in ("whole", "broken"))
    assert whole.keys() == broken.keys()
    assert all(torch.equal(whole[key], broken[key]) for key in whole)
    columns = {"step", "loss", "train_cost", "validation_cost", "entropy", "grad_norm", "lr"}
    rows = [
        [{k: row[k] for k in columns} for row in csv.DictReader((tmp_path / name / "metrics.csv").open())]
        for name in ("whole", "broken")
    ]
    assert rows[0] == rows[1] and len(rows[0]) == 3


def test_averaged_weights_are_validated_and_saved(tmp_path):
    """a <- d a + (1 - d) θ with d = min(ema, (1 + t) / (10 + t)): 1/10, 2/11, then ema itself, 0.2."""
    trainer = Trainer.fresh(changed(TINY, {"ema": 0.2, "steps": 3}, ""), tmp_path / "run", say=quiet)
    expected = [parameter.detach().clone() for parameter in trainer.network.parameters()]

    def follow(running):
        decay = {1: 1 / 10, 2: 2 / 11, 3: 0.2}[running.step]
        for mean, parameter in zip(expected, running.network.parameters(), strict=True):
            mean.mul_(decay).add_(parameter.detach(), alpha=1 - decay)

    trainer.train(on_step=follow)
    saved, problem, _ = load_model(tmp_path / "run")
    torch.testing.assert_close(list(saved.parameters()), expected, rtol=1e-5, atol=1e-7)
    assert any((a != b).any() for a, b in zip(saved.parameters(), trainer.network.parameters(), strict=True))
    found = decode(saved, problem, trainer._validation_set(), Decoding()).cost.mean()
    rows = list(csv.DictReader((tmp_path / "run" / "metrics.csv").open()))
    assert float(rows[-1]["validation_cost"]) == pytest.approx(found, rel=1e-6)


def test_training_beats_random_by_a_wide_margin(tmp_path):
    """40 steps of TSP10 with a narrow network: from a random tour's 4.6 to less than 3.4 (optimal: 2.87)."""
    config = changed(TINY, {"size": "10", "steps": 40, "batch": 16, "n": 10, "width": 32, "heads": 4, "hidden": 64,
                            "encoder_layers": 2, "lr": 1e-3, "validation_count": 64}, "")  # fmt: skip
    run(tmp_path / "run", config)
    rows = list(csv.DictReader((tmp_path / "run" / "metrics.csv").open()))
    assert float(rows[0]["train_cost"]) > 3.6
    assert float(rows[-1]["validation_cost"]) < 3.4


def test_weights_of_a_run_load_and_start_another(tmp_path):
    run(tmp_path / "first")
    network, problem, about = load_model(tmp_path / "first")
    assert problem.name == "tsp" and about["trained"]["steps"] == 6
    second = Trainer.fresh(
        changed(TINY, {"size": "12"}, ""), tmp_path / "second", init=str(tmp_path / "first"), say=quiet
    )
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), second.network.parameters(), strict=True))
    again = Trainer.resumed(tmp_path / "second", say=quiet)  # killed before its first step
    assert again.step == 0
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), again.network.parameters(), strict=True))


def test_weights_tell_all_stages_of_their_training(tmp_path):
    run(tmp_path / "first", changed(TINY, {"problem": "vrptw"}, ""))
    config = changed(TINY, {"problem": "vrptw", "size": "5", "mask": "lookahead", "lr": 1e-4, "standardize": True}, "")
    config = changed(config, {"hint": "stop"}, "")
    _train_until(Trainer.fresh(config, tmp_path / "second", init=str(tmp_path / "first"), say=quiet), stop_after=3)
    Trainer.resumed(tmp_path / "second", say=quiet).train()
    _, problem, about = load_model(tmp_path / "second")
    assert problem.mask == about["mask"] == "lookahead"
    assert problem.hint == about["hint"] == "stop"
    assert about["trained"]["recipe"] == "lr 0.0001, batch 4, m 1, n 4, hint stop, standardize True"
    first = about["trained"]["after"]
    assert (first["size"], first["steps"]) == ("6-8", 6) and "after" not in first


def test_wider_weights_do_not_start_a_narrow_network(tmp_path):
    run(tmp_path / "first")
    with pytest.raises(BadInput, match=r"has egam Shape\(width=16.*this run's network is egam Shape\(width=32"):
        Trainer.fresh(changed(TINY, {"width": 32}, ""), tmp_path / "second", init=str(tmp_path / "first"), say=quiet)
    assert not (tmp_path / "second").exists()


def test_larger_instances_cost_more_and_that_is_no_divergence(tmp_path, monkeypatch):
    """Sizes 5 to 20: a tour of 20 nodes is more than twice as long as the first step's of fewer."""
    monkeypatch.setattr(trainer_module, "UNSETTLED", 5)
    config = changed(TINY, {"size": "5-20", "steps": 30, "validate_every": 999, "checkpoint_every": 999, "n": 2}, "")
    trainer = run(tmp_path / "run", config)
    assert trainer.step == 30 and max(trainer.first.values()) > 2 * min(trainer.first.values())
    again = Trainer.resumed(tmp_path / "run", say=quiet)
    assert (again.first, again.drift) == (trainer.first, trainer.drift)


@pytest.mark.parametrize(("every", "stops"), [(1, True), (10, False)])
def test_divergence_is_what_lasts(tmp_path, monkeypatch, every, stops):
    """Objectives five times as large end a run; at every tenth step they are an unlucky batch."""
    monkeypatch.setattr(trainer_module, "UNSETTLED", 5)
    config = changed(TINY, {"steps": 30, "validate_every": 999, "checkpoint_every": 999}, "")
    run(tmp_path / "run", config)
    real = trainer_module.reinforce_step

    def worse(network, problem, batch, draw, *others):
        report = real(network, problem, batch, draw, *others)
        report.objective *= 5 if draw.step % every == 0 else 1
        return report

    monkeypatch.setattr(trainer_module, "reinforce_step", worse)
    longer = Trainer.resumed(tmp_path / "run", {"steps": 60}, say=quiet)
    if stops:
        with pytest.raises(EgamError, match=r"objectives have become 2\.?\d* times those .*: training diverges"):
            longer.train()
    assert longer.train() == 0 if not stops else 35 < longer.step < 60


def test_nan_stops_and_keeps_the_last_good_checkpoint(tmp_path, monkeypatch):
    trainer = Trainer.fresh(TINY, tmp_path / "run", say=quiet)
    real = trainer_module.reinforce_step

    def poisoned(network, *arguments):
        report = real(network, *arguments)
        if trainer.step == 4:
            next(network.parameters()).grad.fill_(float("nan"))
        return report

    monkeypatch.setattr(trainer_module, "reinforce_step", poisoned)
    with pytest.raises(EgamError, match="NaN or infinite; the last good checkpoint is kept"):
        trainer.train()
    tensors, _ = read_tensors(tmp_path / "run" / "state.safetensors")
    assert all(torch.isfinite(tensor).all() for tensor in tensors.values())
    assert Trainer.resumed(tmp_path / "run", say=quiet).step == 4


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    trainer = run(tmp_path / "run")
    before = (tmp_path / "run" / "state.safetensors").read_bytes()

    def no_space(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("egam.weights.save_file", no_space)
    with pytest.raises(EgamError, match=r"state.safetensors: could not be written: No space left on device"):
        trainer.save()
    assert (tmp_path / "run" / "state.safetensors").read_bytes() == before
    assert not list((tmp_path / "run").glob(".state*"))


def test_bf16_and_sizes_run(tmp_path):
    trainer = run(tmp_path / "run", changed(TINY, {"precision": "bf16", "steps": 2, "problem": "vrptw"}, ""))
    assert trainer.step == 2


@pytest.mark.slow
def test_compiled_encoder_trains(tmp_path):
    trainer = run(tmp_path / "run", changed(TINY, {"compile": True, "steps": 2, "size": "8"}, ""))
    assert trainer.step == 2


def test_minutes_end_a_run(tmp_path):
    trainer = run(tmp_path / "run", changed(TINY, {"steps": 0, "minutes": 0.02}, ""))
    assert 1.2 <= trainer.seconds < 10
    assert trainer.config.lr_at(1.0) == pytest.approx(trainer.config.lr * trainer.config.final_lr)


def test_schedules():
    paper = read_config("paper")
    assert (paper.batch, paper.steps, paper.lr_at(0.89), paper.lr_at(0.9)) == (128, 250_000, 1e-4, pytest.approx(1e-5))
    cpu = read_config("cpu")
    assert cpu.lr_at(cpu.warmup / 2) == pytest.approx(cpu.lr / 2)
    assert cpu.lr_at(cpu.warmup) == pytest.approx(cpu.lr)


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("bacth=3", r"unknown key 'bacth' \(did you mean 'batch'\?\)"),
        ("batch=three", "batch is 'three'; a whole number is accepted"),
        ("batch=2.5", "batch is '2.5'; a whole number is accepted"),
        ("compile=maybe", "compile is 'maybe'; true or false is accepted"),
        ("batch", "key=value is expected"),
    ],
)
def test_bad_settings(setting, sentence):
    with pytest.raises(BadInput, match=sentence):
        with_settings(TrainConfig(), [setting])


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"size": "9-5"}, "from a smaller to a larger"),
        ({"size": "many"}, "a number .* or a range"),
        ({"heads": 3}, "not a multiple of heads"),
        ({"n": 1}, "2 or more are needed"),
        ({"minutes": 1.0}, "exactly one of them"),
        ({"schedule": "steps"}, "accepted: warmup-cosine"),
        ({"norm": "none"}, "accepted: instance"),
        ({"batch": 0}, "batch is 0; 1 or more"),
        ({"ema": 1.0}, "ema is 1; a decay"),
        ({"pace": 0.0}, "pace is 0; a number above 0"),
        ({"optimizer": "sgd"}, "accepted: adam, muon"),
        ({"even": "edges"}, "even is 'edges'; accepted: steps, time"),
        ({"even": "time", "lessons": "run-lessons"}, "even is 'time'; with lessons 'steps' is accepted"),
        ({"optimizer": "muon", "weight_decay": 0.1}, "weight_decay is 0.1; the optimizer 'muon' accepts 0 only"),
    ],
)
def test_bad_configs(table, sentence):
    with pytest.raises(BadInput, match=sentence):
        changed(TINY, table, "").checked()


def test_every_key_of_the_config_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "training.md").read_text()
    assert [field.name for field in fields(TrainConfig) if f"| `{field.name}` |" not in text] == []


def test_config_survives_toml(tmp_path):
    (tmp_path / "config.toml").write_text(TINY.to_toml())
    assert read_config(tmp_path / "config.toml") == TINY
