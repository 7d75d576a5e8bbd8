"""The command line as a user meets it: exit codes, one line of stderr, nothing half-written.

What matters most runs in a process of its own (`run`, `fails`); further ways to go wrong share this one (`refuses`), as
every process that imports torch costs two seconds.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import egam
from egam.cli import main

TINY = [
    *("--set", "width=16", "--set", "heads=2", "--set", "hidden=32", "--set", "encoder_layers=1", "--set", "batch=2"),
    *("--set", "n=4", "--set", "validation_count=4", "--set", "report_every=1"),
]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
ENVIRONMENT.pop("EGAM_TRACEBACK", None)


def run(folder, *arguments):
    command = [sys.executable, "-m", "egam", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)


def fails(folder, code, *arguments):
    """The one sentence on stderr of a command that ends with this code and leaves the folder as it was."""
    before = contents(folder)
    done = run(folder, *arguments)
    return sentence_of(done.returncode, code, done.stdout, done.stderr, before, contents(folder))


@pytest.fixture
def refuses(monkeypatch, capsys):
    """`fails` with code 2, in this process."""

    def call(folder, *arguments):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["egam", *map(str, arguments)])
        before = contents(folder)
        capsys.readouterr()
        code = main()
        out, err = capsys.readouterr()
        return sentence_of(code, 2, out, err, before, contents(folder))

    return call


def sentence_of(code, expected, out, err, before, after):
    assert code == expected, err
    assert out == ""
    assert err.startswith("egam: ") and err.count("\n") == 1, err
    assert "internal error" not in err
    assert before == after
    return err


def contents(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(Path(folder).rglob("*"))}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder that holds a run of two steps, `run`."""
    folder = tmp_path_factory.mktemp("trained")
    done = run(folder, "train", "tsp", "--size", 6, "--steps", 2, "--out", "run", *TINY)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" and "step 2 " in done.stdout and "egam eval run" in done.stdout
    names = {path.name for path in (folder / "run").iterdir()} - {"tensorboard"}
    assert names == {"config.toml", "config.json", "metrics.csv", "model.safetensors", "state.safetensors"}
    return folder


def copy_of(trained, folder):
    """The run of `trained`, to be spoilt."""
    (folder / "run").mkdir()
    for path in (trained / "run").iterdir():
        if path.is_file():
            (folder / "run" / path.name).write_bytes(path.read_bytes())
    return folder / "run"


def test_import_is_light(tmp_path):
    code = "import sys, egam; egam.Instance, egam.judge; print('torch' in sys.modules, callable(egam.judge))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_version(tmp_path):
    assert run(tmp_path, "--version").stdout == f"egam {egam.__version__}\n"


def test_doctor(tmp_path):
    found = json.loads(run(tmp_path, "doctor", "--quick", "--json").stdout)
    assert found["egam"] == egam.__version__ and found["threads"] == 1 and found["matmul_gflops"] is None
    assert found["packages"]["cp-sat"]["install"] == "pip install ortools"


def test_usage_errors(tmp_path, refuses):
    assert "--sise" in refuses(tmp_path, "generate", "tsp", "--sise", 5, "--out", "a.npz")
    assert "generat" in refuses(tmp_path, "generat")


def test_generate(tmp_path):
    done = run(tmp_path, "generate", "cvrp", "--size", 5, "--count", 3, "--seed", 7, "--out", "new/a.npz", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["count"] == 3
    with np.load(tmp_path / "new/a.npz", allow_pickle=False) as file:
        assert file["coords"].shape == (3, 6, 2) and file["demand"].shape == (3, 6)
        about = json.loads(str(file["about"]))
    assert (about["problem"], about["size"], about["seed"], about["set"]) == ("cvrp", 5, 7, "seed 7")
    assert "egam generate cvrp --size 5" in about["command"]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.npz"]
    sentence = fails(tmp_path, 2, "generate", "tsp", "--size", 5, "--out", "new/a.npz")
    assert "exists already" in sentence and "--force" in sentence


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["tsp", "--size", 1], "size 1 of tsp makes 1 nodes"),
        (["cvrp", "--size", 0], "size 0 of cvrp"),
        (["tsp", "--size", 5, "--count", 0], "0 instances"),
        (["vrptw", "--size", 5, "--public"], "no public test set"),
    ],
)
def test_generate_refuses(tmp_path, refuses, arguments, found):
    assert found in refuses(tmp_path, "generate", *arguments, "--out", "a.npz")


def test_unknown_names_and_sizes(tmp_path):
    sentence = fails(tmp_path, 2, "generate", "tps", "--size", 5, "--out", "a.npz")
    assert "unknown problem 'tps' (did you mean 'tsp'?)" in sentence
    assert "size 2 of tsp makes 2 nodes" in fails(tmp_path, 2, "generate", "tsp", "--size", 2, "--out", "a.npz")
    assert "unknown key 'widht' (did you mean 'width'?)" in fails(tmp_path, 2, "train", "tsp", "--set", "widht=16")
    assert "missing: holds no config.toml" in fails(tmp_path, 2, "train", "--resume", "missing")


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["tspp"], "did you mean 'tsp'?"),
        (["tsp", "--size", "2"], "size 2 of tsp makes 2 nodes"),
        (["tsp", "--config", "gpu"], "presets: cpu, paper, small"),
        (["tsp", "--steps", 2, "--minutes", 1], "--minutes and --steps"),
        (["tsp", "--resume", "missing"], "PROBLEM cannot be given with --resume"),
        (["--or-resume", "--resume", "missing"], "--or-resume cannot be given with --resume"),
    ],
)
def test_train_refuses(tmp_path, refuses, arguments, found):
    assert found in refuses(tmp_path, "train", *arguments)


def test_train_does_not_touch_an_existing_folder(trained):
    sentence = fails(trained, 2, "train", "tsp", "--size", 6, "--steps", 2, "--out", "run", *TINY)
    assert "run: exists already" in sentence and "--resume" in sentence


def test_eval_of_a_run(trained):
    done = run(trained, "eval", "run", "--count", 8, "--decode", "greedy", "--decode", "starts", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["problem"], found["size"], found["count"], found["set"]) == ("tsp", 6, 8, "seeded")
    greedy, starts = found["results"]
    assert (greedy["decode"], starts["decode"]) == ("greedy", "starts")
    assert greedy["feasible"] == greedy["checked"] == 8 and greedy["gap_percent"] is None
    assert 1 < starts["cost"] <= greedy["cost"] < 4


def test_eval_with_references(trained, tmp_path, refuses):
    from egam.bench.references import main as references

    made = ["--problem", "tsp", "--size", "6", "--solver", "held-karp", "--workers", "1"]
    assert references([*made, "--count", "8", "--out", str(tmp_path / "public.npz")]) == 0
    known = ["--public", "--references", tmp_path / "public.npz"]
    done = run(trained, "eval", "run/model.safetensors", *known, "--count", 5, "--decode", "8xstarts", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["results"]
    assert row["gap_count"] == 5 and -1e-4 < row["gap_percent"] < 50
    assert row["reference_cost"] <= row["cost"] + 1e-6
    for arguments, found in (
        (["--public", "--count", 9], "8 reference costs for 9 instances"),
        (["--public", "--count", 5, "--size", 7], "reference costs of tsp6, public set; those of tsp7, public set"),
        (["--count", 8], "those of tsp6, seeded set are expected"),
    ):
        assert found in refuses(trained, "eval", "run", "--references", tmp_path / "public.npz", *arguments)


def test_eval_of_a_file(trained, tmp_path, refuses):
    run(tmp_path, "generate", "tsp", "--size", 7, "--count", 4, "--out", "tsp.npz", "--quiet")
    done = run(trained, "eval", "run", "--data", tmp_path / "tsp.npz")
    assert done.returncode == 0 and "4 instances of tsp7" in done.stdout, done.stderr
    with np.load(tmp_path / "tsp.npz") as file:
        arrays = dict(file)
    arrays["coords"][2, 3, 0] = np.nan
    np.savez(tmp_path / "nan.npz", **arrays)
    sentence = refuses(trained, "eval", "run", "--data", tmp_path / "nan.npz")
    assert "nan.npz: tsp instance 2: coords[3, 0] is nan" in sentence
    (tmp_path / "text.npz").write_text("no archive")
    assert "not an .npz file of ours" in refuses(trained, "eval", "run", "--data", tmp_path / "text.npz")


def test_eval_refuses(trained, refuses):
    assert "decoding 'greddy' is unknown; accepted: greedy" in fails(trained, 2, "eval", "run", "--decode", "greddy")
    assert "device 'abacus'" in refuses(trained, "eval", "run", "--device", "abacus")
    assert "elsewhere: holds no config.json" in refuses(trained, "eval", "elsewhere")


def test_corrupt_weights(trained, tmp_path, refuses):
    weights = copy_of(trained, tmp_path) / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    assert "model.safetensors: not a readable safetensors file" in fails(tmp_path, 2, "eval", "run")
    weights.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "damaged or foreign" in refuses(tmp_path, "eval", "run")
    state = tmp_path / "run" / "state.safetensors"
    state.write_bytes(b"nothing of ours")
    assert "state.safetensors: not a readable" in refuses(tmp_path, "train", "--resume", "run")


def test_foreign_config(trained, tmp_path):
    config = copy_of(trained, tmp_path) / "config.json"
    config.write_text('{"architectures": ["BertModel"]}')
    assert "not a model description of ours" in fails(tmp_path, 2, "eval", "run")


def test_a_terminated_run_goes_on(tmp_path):
    """SIGTERM ends a run after a step, with a checkpoint; --resume goes on from there."""
    arguments = ["train", "tsp", "--size", "5", "--steps", "100000", "--out", "run", *TINY]
    command = [sys.executable, "-m", "egam", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, **pipes) as process:
        assert process.stdout.readline().startswith("step 1 ")
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert errors == "egam: stopped by signal 15; continue with: egam train --resume run\n"
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]
    reached = last_step(tmp_path)
    done = run(tmp_path, "train", "--resume", "run", "--steps", reached + 2, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == last_step(tmp_path) == reached + 2


def test_the_same_command_begins_goes_on_and_has_finished(tmp_path):
    command = ["train", "tsp", "--size", 5, "--steps", 6, "--out", "run", "--or-resume", *TINY]
    begun = run(tmp_path, *command[:4], "--steps", 3, *command[6:])
    assert begun.returncode == 0 and last_step(tmp_path) == 3, begun.stderr
    sentence = fails(tmp_path, 2, *command)
    assert "run: holds a run with steps = 3, and 6 is asked for" in sentence
    lengthened = run(tmp_path, "train", "--resume", "run", "--steps", 6)
    assert lengthened.returncode == 0, lengthened.stderr
    rows = (tmp_path / "run" / "metrics.csv").read_text()
    done = run(tmp_path, *command, "--json")  # nothing is left to do
    assert done.returncode == 0 and json.loads(done.stdout)["steps"] == 6, done.stderr
    assert (tmp_path / "run" / "metrics.csv").read_text() == rows


def last_step(folder):
    return int((folder / "run" / "metrics.csv").read_text().splitlines()[-1].split(",")[0])


def test_torchrun_trains_one_run_with_two_processes(tmp_path):
    """The command of docs/training.md; only one process speaks and writes."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "-m", "egam", "train", "tsp"]
    settings = ["width=16", "heads=2", "hidden=32", "encoder_layers=1", "batch=4", "n=4", "report_every=1"]
    arguments = ["--size", "6", "--steps", "3", "--out", str(tmp_path / "run")]
    arguments += [part for setting in settings for part in ("--set", setting)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "run" / "metrics.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ["step", "1", "2", "3"]
    assert done.stdout.count("step 3 ") + done.stderr.count("step 3 ") == 1


def test_lessons_and_who_learns_from_them(tmp_path, refuses):
    ask = ("lessons", "tsp", "--size", "6-7", "--count", 3, "--solver", "held-karp", "--out", "les", "--json")
    made = run(tmp_path, *ask)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout) == {"folder": "les", "solver": "held-karp", "solved": {"6": 3, "7": 3}}
    assert sorted(path.name for path in (tmp_path / "les").iterdir()) == ["6.npz", "7.npz"]
    ask = ("train", "tsp", "--size", "6-7", "--steps", 2, "--out", "run", "--set", "lessons=les")
    learned = run(tmp_path, *ask, *TINY)
    assert learned.returncode == 0 and "entropy" not in learned.stdout, learned.stderr
    ask = ("lessons", "tsp", "--out", "new")
    assert "size 2 of tsp makes 2 nodes" in refuses(tmp_path, *ask, "--size", 2)
    assert "unknown solver 'held'" in refuses(tmp_path, *ask, "--size", 6, "--solver", "held")
    assert "hygese does not solve tsp" in refuses(tmp_path, *ask, "--size", 6, "--solver", "hygese")
    assert "--seconds is 0" in refuses(tmp_path, *ask, "--size", 6, "--seconds", 0)
    train = ("train", "tsp", "--size", 8, "--steps", 1, "--out", "other")
    assert "les: holds no lessons of size 8" in refuses(tmp_path, *train, "--set", "lessons=les")
    assert "nowhere: holds no lessons" in refuses(tmp_path, *train, "--set", "lessons=nowhere")
