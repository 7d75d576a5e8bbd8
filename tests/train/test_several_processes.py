"""`egam train --processes`: one run, several processes."""

import csv
import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from egam.weights import read_tensors

TINY = [
    "width=16",
    "heads=2",
    "hidden=32",
    "encoder_layers=1",
    "batch=4",
    "n=4",
    "report_every=1",
    "validation_count=9",
]
SETTINGS = [part for setting in TINY for part in ("--set", setting)]


def command(*arguments):
    return [sys.executable, "-m", "egam", "train", "cvrp", "--size", "6", *map(str, arguments), *SETTINGS]


def run(folder, *arguments, **environment):
    return subprocess.run(command(*arguments), cwd=folder, env=os.environ | environment, capture_output=True, text=True)


def rows(folder):
    with open(folder / "metrics.csv") as file:
        return list(csv.DictReader(file))


def test_two_processes_train_as_one_does(tmp_path):
    """Weights, costs and the validation, whose instances are shared out, too (9 of them: unequal shares)."""
    for count in (1, 2):
        done = run(tmp_path, "--steps", 4, "--out", f"run{count}", "--processes", count)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("step 4 ") == 1
    one, two = (rows(tmp_path / f"run{count}") for count in (1, 2))
    assert len(one) == len(two) == 4
    for name in ("train_cost", "loss", "entropy", "grad_norm"):
        assert [float(row[name]) for row in two] == pytest.approx([float(row[name]) for row in one], rel=1e-3, abs=1e-5)
    for name in ("validation_cost", "validation_feasible"):
        assert float(two[-1][name]) == pytest.approx(float(one[-1][name]), rel=1e-5)
    weights = [read_tensors(tmp_path / f"run{count}" / "model.safetensors")[0] for count in (1, 2)]
    # a bias that an instance norm takes away again has gradient 0, of which Adam follows the rounding
    without = ("edge_ff.outer.bias", "node_ff.outer.bias")
    compared = [name for name in weights[0] if not (name.startswith("encoder.") and name.endswith(without))]
    assert len(compared) == len(weights[0]) - 2
    for name in compared:
        torch.testing.assert_close(weights[1][name], weights[0][name], rtol=1e-3, atol=1e-4)


def test_a_lost_process_is_named_and_the_others_end(tmp_path):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command("--steps", 10**6, "--out", "run", "--processes", 2), cwd=tmp_path, **pipes) as first:
        assert first.stdout.readline().startswith("step 1 ")
        (other,) = children(first.pid)
        os.kill(other, signal.SIGKILL)
        _, errors = first.communicate(timeout=60)
    assert first.returncode == 1
    last = errors.splitlines()[-1]
    assert last == "egam: process 2 of 2 ended with code -9; the run can be resumed from its last checkpoint"


def test_the_others_do_not_outlive_the_first(tmp_path):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command("--steps", 10**6, "--out", "run", "--processes", 2), cwd=tmp_path, **pipes) as first:
        assert first.stdout.readline().startswith("step 1 ")
        (other,) = children(first.pid)
        first.send_signal(signal.SIGKILL)
    for _ in range(300):
        if not alive(other):
            return
        time.sleep(0.1)
    os.kill(other, signal.SIGKILL)
    pytest.fail("the second process was still at work after half a minute")


def test_bad_input_is_said_once_and_starts_nothing(tmp_path):
    done = run(tmp_path, "--steps", 4, "--out", "run", "--processes", 3)
    assert (done.returncode, done.stderr) == (2, "egam: batch 4 is not a multiple of the 3 processes\n")
    done = run(tmp_path, "--steps", 4, "--out", "run", "--processes", 2, WORLD_SIZE="2", RANK="0")
    assert done.returncode == 2
    assert done.stderr.startswith("egam: --processes is given under torchrun")
    assert list(tmp_path.iterdir()) == []


def children(process):
    """Linux only, like the signals above."""
    with open(f"/proc/{process}/task/{process}/children") as file:
        return [int(number) for number in file.read().split()]


def alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
