"""docs/benchmarks.md: its tables are those of the files and of the code, and its commands run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from egam.bench import rows, sets, tables
from egam.bench.reference_table import reference_table
from egam.bench.results import read_results
from egam.bench.training_table import training_table
from egam.judge import judge
from egam.solution import Solution
from egam.solvers import SOLVERS, installed

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text()
FILES = sorted((ROOT / "benchmarks" / "references").glob("*.npz"))
RESULTS = read_results(ROOT / "benchmarks" / "n20")
PROBLEMS = sorted({row["problem"] for row in RESULTS})


def test_reference_table_is_that_of_the_files():
    table = reference_table(ROOT / "benchmarks" / "references").markdown().partition("\n\n")[2].strip()
    assert table in PAGE


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_reference_costs_are_what_the_judge_says(path):
    """A sample of each file; the set is found by the file's name."""
    found = rows.read(path)
    name, dataset = sets.load(path.stem, len(found.cost))
    assert name == path.stem and sets.references(name, dataset, path.parent) is not None
    for number in range(0, len(found.cost), 97):
        verdict = judge(dataset.instance(number), Solution.of(found.routes[number]))
        assert verdict.feasible == found.feasible[number]
        assert not verdict.feasible or verdict.cost == pytest.approx(found.cost[number], rel=1e-12)
    assert found.about["command"].startswith("python -m egam.bench.references")


def test_solver_table_is_that_of_the_code():
    lines = re.findall(r"^\| `([\w-]+)` \| ([\w, ]+) \| .* \| (.*) \|$", PAGE, re.M)
    found = {name: (problems, install.strip("`")) for name, problems, install in lines}
    assert found == {
        name: (", ".join(solver.problems), "with egam" if solver.package == "numpy" else solver.pip)
        for name, solver in SOLVERS.items()
    }


def test_commands_run_in_order(tmp_path):
    block = re.findall(r"^```\n(.*?)^```$", PAGE, re.M | re.S)[0]
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    lines = [line for line in block.splitlines() if line.startswith("egam ")]
    assert len(lines) == 5
    for line in lines:
        words = shlex.split(line.replace("--seconds 0.5", "--seconds 0.1").replace("--count 1000", "--count 2"))
        for name in ("or-tools", "lkh"):
            if name in words and not installed(name):
                at = words.index(name)
                del words[at - 1 : at + 1]
        result = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 0, f"{line}\n{result.stderr}"
    assert (tmp_path / "run-bench" / "gap-tsp20.png").stat().st_size > 5000


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#]+)\)", PAGE))
def test_links_lead_somewhere(target):
    assert (ROOT / "docs" / target).exists()


@pytest.mark.parametrize("problem", PROBLEMS)
def test_result_tables_are_those_of_the_results(problem):
    (table,) = tables.table(problem, RESULTS, 20)
    assert table.markdown().partition("\n\n")[2].strip() in PAGE


def test_the_table_of_trainings_is_that_of_the_runs():
    assert training_table(ROOT / "benchmarks" / "n20" / "training").markdown().partition("\n\n")[2].strip() in PAGE
