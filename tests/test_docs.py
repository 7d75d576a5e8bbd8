"""Every `egam` line and every Python block of README and docs is run, with its long trainings shortened."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "docs/training.md"]
TINY = [f"--set={pair}" for pair in ("width=16", "heads=2", "hidden=32", "encoder_layers=1", "batch=2", "n=2")]
GPU = "cuda"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


def commands(page: str) -> list[str]:
    lines = [line.split("#")[0].strip() for block in blocks(page, "") for line in block.splitlines()]
    return [line for line in lines if re.match(r"(egam|python -m egam)\b", line) and "[options]" not in line]


def shortened(line: str) -> list[str]:
    """The same command with a small network, two steps and few instances."""
    words = shlex.split(line)
    words = [sys.executable, "-m", "egam", *words[1:]] if words[0] == "egam" else [sys.executable, *words[1:]]
    for option, value in (("--count", "4"), ("--seconds", "0.2"), ("--steps", "3")):
        if option in words:
            words[words.index(option) + 1] = value
    if "train" in words:
        if "--minutes" in words:
            at = words.index("--minutes")
            words[at : at + 2] = ["--steps", "2"]
        elif "--steps" not in words and "--resume" not in words:
            words += ["--steps", "2"]
        words += [] if "--resume" in words else TINY
    if "eval" in words and "--count" not in words and "--data" not in words:
        words += ["--count", "4"]
    return words


@pytest.mark.parametrize("page", PAGES)
def test_commands_run_in_order(page, tmp_path):
    lines = [line for line in commands(page) if GPU not in line]
    assert len(lines) >= 2
    done: set[str] = set()
    for line in lines:
        words = shortened(line)
        if "--out" in words and words[words.index("--out") + 1] in done:
            continue  # a run that an earlier line of the page made
        if "--out" in words:
            done.add(words[words.index("--out") + 1])
        result = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 0, f"{line}\n{result.stdout}\n{result.stderr}"


def test_python_block_of_the_readme(tmp_path):
    first = next(line for line in commands("README.md") if " train " in line)
    subprocess.run(shortened(first), cwd=tmp_path, check=True, capture_output=True)
    (code,) = blocks("README.md", "python")
    code = code.replace("count=1000", "count=4")
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "cost=" in result.stdout


@pytest.mark.parametrize("page", [*PAGES, "docs/model.md", "docs/problems.md", "docs/README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not target.startswith("http"):
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target}"
