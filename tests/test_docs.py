"""Every `egam` line and every Python block of README and docs is run, with its long trainings shortened.

All in this process, so that torch and the weights are loaded once; lines with pipes and `python -m` have their own. In
the Python blocks of guides, `print(x)  # y` must print y; … stands for anything.
"""

import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from egam.cli import main
from egam.cli.app import app

ROOT = Path(__file__).parents[1]
GUIDES = [
    *("docs/quickstart.md", "docs/solve-my-data.md", "docs/api.md", "docs/faq.md", "examples/README.md"),
    *sorted(f"docs/data/{path.name}" for path in (ROOT / "docs" / "data").glob("*.md")),
]
PAGES = ["README.md", "docs/training.md", "docs/rivals.md", *GUIDES]
LINKING = [*PAGES, "CONTRIBUTING.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
NOT_RUN = ("make ", "./scripts/setup.sh", "torchrun ")  # they need the internet, or several GPUs
SMALL = ("width=16", "heads=2", "hidden=32", "encoder_layers=1", "batch=2", "n=2", "validation_count=8")
TINY = [f"--set={pair}" for pair in SMALL]
GPU = "cuda"
EXPECTED = re.compile(r"^(\s*)print\((.*)\)  # (.+)$", re.M)


def blocks(page: str, language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)
    return [block for of, block in fenced if of == language]


def commands(page: str) -> list[str]:
    """All shell lines that can be run here, the templates with [options] aside."""
    lines = [re.sub(r"\s+#.*", "", line).strip() for block in blocks(page, "") for line in block.splitlines()]
    lines = [line.removeprefix(".venv/bin/") for line in lines if line and not line.startswith(NOT_RUN)]
    return [line for line in lines if GPU not in line and "[options]" not in line]


def shortened(line: str) -> list[str]:
    """The same command with a small network, two steps and few instances."""
    words = shlex.split(line)
    words = [sys.executable, "-m", "egam", *words[1:]] if words[0] == "egam" else [sys.executable, *words[1:]]
    for option, value in (("--count", "4"), ("--seconds", "0.2"), ("--steps", "3"), ("--time-limit", "0.4")):
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


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder in which the commands of the guides find what they name."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_line(line: str, monkeypatch) -> int:
    if re.search(r"[|<>*]", line):
        bash = f'egam() {{ {shlex.quote(sys.executable)} -m egam "$@"; }}; set -o pipefail; {line}'
        return subprocess.run(["bash", "-c", bash]).returncode
    if line.startswith("python examples/"):
        monkeypatch.setattr(sys, "argv", line.split()[1:])
        runpy.run_path(line.split()[1], run_name="__main__")
        return 0
    assert line.startswith(("egam ", "python -m egam")), f"this line is of no kind that is run: {line}"
    words = shortened(line)
    if line.startswith("python"):
        return subprocess.run(words).returncode
    monkeypatch.setattr(sys, "argv", ["egam", *words[3:]])
    return main()


def check(expected: str, *values: object) -> None:
    said = " ".join(str(value) for value in values)
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    assert re.fullmatch(pattern, said, re.S), f"prints {said!r}; the page says {expected!r}"


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_snippets(page, clone, monkeypatch):
    lines = commands(page)
    for line in lines:
        made = re.search(r"egam train .*--out (\S+)", line)
        if not (made and (clone / made[1]).exists()):  # else an earlier line of the page made this run
            assert run_line(line, monkeypatch) == 0, line
    names: dict[str, object] = {"__name__": "snippet", "_check": check}
    for code in blocks(page, "python"):
        if page in GUIDES:
            code = EXPECTED.sub(lambda found: f"{found[1]}_check({found[3]!r}, {found[2]})", code)
        exec(compile(code.replace("count=1000", "count=4"), page, "exec"), names)
    promised = re.findall(r"--(?:out|plot) ([\w.-]+\w)|> ([\w.-]+)", "\n".join(lines))
    missing = {name for pair in promised for name in pair if name and not (clone / name).exists()}
    assert not missing
    assert lines or blocks(page, "python")


def test_every_example_is_in_its_list_and_every_block_is_run():
    listed = (ROOT / "examples" / "README.md").read_text()
    scripts = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
    assert scripts and all(f"python examples/{name}\n" in listed for name in scripts)
    for page in GUIDES:
        languages = set(re.findall(r"^```(\w+)$", (ROOT / page).read_text(), re.M))
        assert languages <= {"python", "text"}, f"{page}: nothing runs blocks of {languages}"


def test_examples_say_what_they_promise(clone, capsys):
    runpy.run_path("examples/check_a_plan.py", run_name="__main__")
    said = capsys.readouterr().out
    assert "overload: route 1 carries 63, 3 above the capacity of 60" in said  # 13 + 15 + 15 + 15 + 5
    assert said.count("is not visited") == 12  # 25 orders less 5 and 8


def test_the_table_of_options_is_complete():
    command = typer.main.get_command(app).commands["solve"]
    known = {name for parameter in command.params for name in parameter.opts if name.startswith("--")}
    _, _, section = (ROOT / "docs/solve-my-data.md").read_text().partition("## All options of `egam solve`")
    rows = re.findall(r"^\| (`--.*?) \|", section, re.M)
    listed = {name for row in rows for name in re.findall(r"`(--[\w-]+)`", row)}
    assert listed == known - {"--help"}


def test_pictures_are_there_and_small():
    for page in GUIDES:
        for target in re.findall(r"!\[[^]]+\]\(([^)]+)\)", (ROOT / page).read_text()):
            path = ((ROOT / page).parent / target).resolve()
            assert 1_000 < path.stat().st_size < 150_000, path


# ---- links ------------------------------------------------------------------------------------------------------


def anchors(path: Path) -> set[str]:
    """Of all headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", dict.fromkeys(LINKING))
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", text):
        if target.startswith("http"):
            continue
        path = (ROOT / page).parent / target if target else ROOT / page
        assert path.exists(), f"{page}: {target}"
        assert not anchor or anchor in anchors(path), f"{page}: {target}#{anchor}"
