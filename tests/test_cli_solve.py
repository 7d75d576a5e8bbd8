"""egam solve, judge, convert and weights as a user meets them; most of it runs in this process."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import egam
from egam.cli import main

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
ENVIRONMENT.pop("EGAM_TRACEBACK", None)
CSV = "name,x,y,demand\ndepot,0,0,0\nanna,3,0,4\nben,3,4,3\ncleo,0,4,2\ndora,1,1,5\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.csv").write_text(CSV)
    for name, size in (("a", 6), ("b", 6), ("c", 7)):
        coords = np.random.default_rng(size).random((size, 2))
        egam.write(egam.Instance.tsp(coords, name=name), tmp_path / f"{name}.json")
    return tmp_path


@pytest.fixture
def call(monkeypatch, capsys):
    """Exit code, stdout and stderr of a command in this process."""

    def run(*arguments, stdin=None):
        monkeypatch.setattr(sys, "argv", ["egam", *map(str, arguments)])
        if stdin is not None:
            import io

            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        code = main()
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def refused(answer, code=2):
    found, out, err = answer
    assert found == code and out == "" and err.startswith("egam: ") and err.count("\n") == 1, answer
    return err


# ---- solve ------------------------------------------------------------------------------------------------------


def test_solve_in_a_process_of_its_own(folder):
    command = [sys.executable, "-m", "egam", "solve", "orders.csv", "--capacity", "9", "--json", "--out", "o.sol"]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["problem"] == "cvrp" and found["feasible"] and found["nodes"] == 5
    assert sorted(node for route in found["routes"] for node in route) == [1, 2, 3, 4]
    assert "anna" in [name for route in found["named_routes"] for name in route]
    assert done.stderr == "wrote o.sol\n" and "Route #1" in (folder / "o.sol").read_text()


def test_solve_prints_routes(folder, call):
    code, out, err = call("solve", "orders.csv", "--capacity", 9, "--samples", 8)
    assert (code, err) == (0, "")
    assert out.startswith("orders (cvrp, 5 nodes): cost ") and "route 1, load " in out and "depot - " in out
    assert "method egam, weights cvrp" in out


def test_solve_with_a_picture(folder, call):
    pytest.importorskip("matplotlib")
    code, _, err = call("solve", "a.json", "--samples", 0, "--plot", "a.png", "--out", "a.tour")
    assert code == 0 and err == "wrote a.tour\nwrote a.png\n"
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    assert call("solve", "a.json", "--samples", 0, "--plot", "a.svg", "--quiet")[2] == ""


def test_solve_with_a_classical_solver(folder, call):
    code, out, _ = call("solve", "a.json", "--method", "held-karp", "--json")
    found = json.loads(out)
    assert code == 0 and found["proven"] and found["method"] == "held-karp" and found["weights"] == ""


def test_stdin_and_stdout(folder, call):
    text = (folder / "a.json").read_text()
    code, out, err = call("solve", "-", "--samples", 0, "--out", "-", "--to", "tour", stdin=text)
    assert code == 0 and out.startswith("NAME : a\nTYPE : TOUR") and out.endswith("EOF\n") and err == ""
    assert json.loads(call("solve", "-", "--samples", 0, "--json", stdin=text)[1])["instance"] == "a"


def test_weights_and_seed(folder, call):
    name = call("solve", "a.json", "--samples", 0, "--weights", "atsp", "--json")[1]
    assert json.loads(name)["weights"] == "atsp"
    again = [json.loads(call("solve", "a.json", "--decode", "sample:2", "--seed", 5, "--json")[1]) for _ in range(2)]
    assert again[0]["routes"] == again[1]["routes"] and again[0]["tries"] == 2


def test_headings_of_others(folder, call):
    (folder / "sheet.csv").write_text(
        CSV.replace("name", "Stop ID").replace("demand", "Order Qty,Phone").replace("\n", ",7\n")
    )
    (folder / "sheet.csv").write_text((folder / "sheet.csv").read_text().replace("Phone,7", "Phone"))
    options = ("--column", "demand=Order Qty", "--column", "name=Stop ID", "--ignore-columns", "--capacity", 9)
    code, said, _ = call("solve", "sheet.csv", *options, "--samples", 0)
    assert code == 0 and "note: columns that were left out: phone" in said and "cleo" in said
    assert "--column is 'demand'" in refused(call("solve", "sheet.csv", "--column", "demand"))
    assert "columns is given, but is of no use with json" in refused(call("solve", "a.json", "--column", "x=y"))


def test_several_files(folder, call):
    code, out, err = call("solve", "a.json", "b.json", "c.json", "orders.csv", "--samples", 0, "--out", "routes")
    assert code == 2  # orders.csv has no capacity, and says so
    assert err.startswith("egam: orders.csv") and "capacity" in err.splitlines()[0]
    rows = [line.split("│")[1:-1] for line in out.splitlines() if line.startswith("│")]
    assert [row[0].strip() for row in rows[:3]] == ["a.json", "b.json", "c.json"]
    assert rows[3][4].strip() == "3 of 3"
    costs = [float(row[3]) for row in rows]
    assert costs[3] == pytest.approx(np.mean(costs[:3]), rel=1e-4)
    assert names(folder / "routes") == ["a.sol", "b.sol", "c.sol"]


def test_several_files_as_json(folder, call):
    code, out, err = call("solve", "c.json", "nowhere.tsp", "a.json", "--samples", 0, "--json", "--quiet")
    found = json.loads(out)
    assert code == 2 and [result["file"] for result in found["results"]] == ["c.json", "a.json"]
    assert found["failed"][0]["file"] == "nowhere.tsp" and "cannot be read" in found["failed"][0]["error"]
    assert found["means"]["solved"] == found["means"]["feasible"] == 2
    assert err.count("\n") == 1 and "nowhere.tsp" in err


def test_one_of_several_cannot_be_solved(folder, call):
    """held-karp solves no cvrp; the others are solved."""
    code, out, err = call("solve", "a.json", "orders.csv", "--capacity", 9, "--method", "held-karp", "--json")
    assert code == 2 and "capacity is given, but is of no use with json files" in err
    assert json.loads(out)["results"] == []
    code, out, err = call("solve", "a.json", "c.json", "--method", "hygese", "--json")
    assert code == 2 and err.count("hygese does not solve tsp") == 2 and json.loads(out)["means"]["cost"] is None


def test_not_feasible(folder, call):
    (folder / "late.json").write_text(
        json.dumps({"problem": "tsptw", "coords": [[0, 0], [9, 0], [0, 9]], "window": [[0, 99], [0, 1], [0, 99]]})
    )
    code, out, _ = call("solve", "late.json", "--samples", 0)
    assert code == 0 and "NOT FEASIBLE" in out and "stop 1 cannot be reached before 9" in out
    code, out, _ = call("solve", "late.json", "--samples", 0, "--strict", "--json")
    assert code == 4 and json.loads(out)["feasible"] is False


@contextmanager
def ctrl_c_after(seconds):
    """Ctrl-C while the block runs, and never after it; also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_prints_the_best_so_far(folder, call):
    call("solve", "a.json", "--samples", 0)  # loads
    with ctrl_c_after(3):
        code, out, err = call("solve", "a.json", "--time-limit", 100)
    assert (code, err) == (130, "")
    assert out.startswith("a (tsp, 6 nodes): cost") and "stopped by Ctrl-C: this is the best so far" in out


def test_ctrl_c_among_several_files(folder, call):
    with ctrl_c_after(3):
        code, out, _ = call("solve", "c.json", "a.json", "b.json", "--time-limit", 100, "--json")
    assert code == 130 and [result["file"] for result in json.loads(out)["results"]] == ["c.json"]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["a.json", "--out", "a.doc"], "--out is a.doc; accepted are names that end in .sol"),
        (["a.json", "--out", "missing/a.sol"], "there is no folder missing"),
        (["a.json", "--out", "-"], "--out - needs --to"),
        (["a.json", "--to", "sol"], "--to is given without --out"),
        (["a.json", "--out", "x.sol", "--to", "word"], "--to is 'word'; accepted: sol"),
        (["a.json", "--out", "missing/a", "--to", "sol"], "there is no folder missing"),
        (["a.json", "--out", "-", "--to", "sol", "--json"], "--out - and --json both write to standard output"),
        (["a.json", "--out", "a.geojson"], "has coordinates on a plane; GeoJSON needs longitudes and latitudes"),
        (
            ["a.json", "--method", "nearest-neighbour", "--samples", "3"],
            "samples is given, but nearest-neighbour is no",
        ),
        (["a.json", "--plot", "a.gif"], "--plot is a.gif; accepted are names that end in .png"),
        (["a.json", "b.json", "--out", "all.sol"], "a folder is expected"),
        (["a.json", "./a.json", "--out", "all"], "two files are called a"),
        (["nowhere.tsp"], "nowhere.tsp: cannot be read"),
        (["a.json", "--method", "egma"], "unknown method 'egma' (did you mean 'egam'?)"),
        (["a.json", "--weights", "cvrp"], "the weights cvrp are for cvrp"),
        (["a.json", "--samples", "-3"], "samples is -3"),
        (["a.json", "--problem", "tps"], "unknown problem 'tps' (did you mean 'tsp'?)"),
        ([], "Missing argument"),
    ],
)
def test_solve_refuses(folder, call, arguments, found):
    before = names(folder)
    assert found in refused(call("solve", *arguments))
    assert names(folder) == before


# ---- judge ------------------------------------------------------------------------------------------------------


def test_judge(folder, call):
    """The rectangle 3 x 4 with dora at 1, 1 left out: 14 long, all but dora visited, load 9."""
    (folder / "plan.sol").write_text("Route #1: 1 2 3\nCost 99\n")
    code, out, err = call("judge", "orders.csv", "plan.sol", "--capacity", 9)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "orders (cvrp, 5 nodes): cost 14 (length), NOT FEASIBLE"
    assert lines[1] == "route 1, load 9: depot - anna - ben - cleo - depot"
    assert lines[2] == "broken: node 4 (dora) is not visited" and len(lines) == 3
    code, out, _ = call("judge", "orders.csv", "plan.sol", "--capacity", 9, "--json", "--strict")
    found = json.loads(out)
    assert code == 4 and found["cost"] == 14 and not found["feasible"] and found["violations"][0]["stop"] == "dora"
    assert "method" not in found


def test_judge_from_stdin_with_a_picture(folder, call):
    pytest.importorskip("matplotlib")
    plan = '{"routes": [["anna", "ben", "cleo"], ["dora"]]}'
    code, out, _ = call("judge", "orders.csv", "-", "--capacity", 9, "--plot", "p.pdf", stdin=plan)
    assert code == 0 and "feasible" in out and (folder / "p.pdf").exists()


def test_judge_refuses(folder, call):
    (folder / "plan.sol").write_text("Route #1: one two\n")
    assert "plan.sol:1: " in refused(call("judge", "orders.csv", "plan.sol", "--capacity", 9))
    assert "both -" in refused(call("judge", "-", "-"))
    assert "cannot be read" in refused(call("judge", "a.json", "nowhere.sol"))


# ---- convert ----------------------------------------------------------------------------------------------------


def test_convert(folder, call):
    assert call("convert", "orders.csv", "orders.vrp", "--capacity", 9) == (0, "", "")
    assert egam.read(folder / "orders.vrp").capacity == 9
    text = (folder / "orders.vrp").read_text()
    code, out, _ = call("convert", "-", "-", "--from", "tsplib", "--to", "json", stdin=text)
    assert code == 0 and json.loads(out)["capacity"] == 9
    assert "tsplib, csv, json" in refused(call("convert", "a.json", "-", "--to", "solomon"))
    assert "a format is needed" in refused(call("convert", "a.json", "-"))
    assert "accepted: " in refused(call("convert", "a.json", "a.doc"))


def test_convert_says_what_it_left_out(folder, call):
    code, out, err = call("convert", "orders.csv", "t.tsp", "--problem", "tsp")
    assert code == 0 and out == "" and err.startswith("note: ") and "demand" in err
    assert call("convert", "orders.csv", "t.tsp", "--problem", "tsp", "--quiet")[2] == ""


def test_convert_a_plan(folder, call):
    (folder / "plan.sol").write_text("Route #1: 5 3 1\nRoute #2: 2 4\n")
    assert call("convert", "plan.sol", "plan.tour", "--instance", "a.json")[0] == 0
    assert (folder / "plan.tour").read_text().splitlines()[-3] == "5"  # node 4 has the id 5


# ---- weights ----------------------------------------------------------------------------------------------------


def test_weights(folder, call):
    code, out, _ = call("weights")
    assert code == 0 and all(problem in out for problem in egam.KINDS)
    found = json.loads(call("weights", "--json")[1])["weights"]
    assert {row["problem"] for row in found} == set(egam.KINDS) and all(row["sizes"] for row in found)
    assert json.loads(call("weights", "tsp", "--json")[1])["weights"][0]["name"] == "tsp"
    assert "no name of shipped weights" in refused(call("weights", "none"))


def test_help_and_refusals_load_no_torch(tmp_path):
    code = (
        "import sys; sys.argv = ['egam', *{!r}]; from egam.cli import main; main(); assert 'torch' not in sys.modules"
    )
    for arguments in (["weights"], ["solve", "nowhere.tsp"], ["convert", "nowhere.tsp", "x.json"], ["--help"]):
        command = [sys.executable, "-c", code.format(arguments)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, (arguments, done.stderr)


def shared_data() -> list[Path]:
    root = Path(os.environ.get("EGAM_DATA", Path(__file__).parents[2] / "shared" / "data"))
    patterns = ("tsplib/*.tsp", "cvrplib/*.vrp", "solomon/*.txt")
    return sorted(path for pattern in patterns for path in root.glob(pattern))


@pytest.mark.skipif(not shared_data(), reason="no published instances here")
def test_published_instances_are_read_solved_and_judged(folder, call):
    files = [str(path) for path in shared_data()]
    code, out, _ = call("solve", *files, "--samples", 0, "--json", "--out", "routes")
    found = json.loads(out)
    assert code == 0 and len(found["results"]) == len(files) and found["failed"] == []
    for result, file in zip(found["results"], files, strict=True):
        assert result["feasible"]
        judged = json.loads(call("judge", file, folder / "routes" / f"{Path(file).stem}.sol", "--json")[1])
        assert judged["feasible"] and judged["cost"] == pytest.approx(result["cost"])
