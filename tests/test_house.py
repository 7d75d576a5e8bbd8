"""The house rules that a syntax tree can show: imports go downwards, and what must stay light never imports torch."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "egam"
FLOORS = [  # from the ground up; a module may import from its own floor and from those below
    {"errors", "files", "machine", "methods", "metric", "npz"},
    {"instance", "solution"},
    {"judge", "schedule", "infeasible", "repair", "catalogue", "card", "solvers", "io", "plot"},
    {"result"},
    {"advice"},
    {"problems"},
    {"nn"},
    {"decode"},
    {"weights", "train"},
    {"solve"},
    {"bench", "doctor"},
    {"serve"},
    {"cli", "__main__"},
]
LIGHT = [  # no torch
    *("__init__", "errors", "files", "machine", "metric", "npz", "instance", "solution", "judge", "solvers", "io"),
    *("plot", "methods", "schedule", "infeasible", "repair", "catalogue", "card", "result", "advice", "solve"),
]


def floor(name: str) -> int:
    return next(number for number, names in enumerate(FLOORS) if name in names)


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Dotted names of everything a module imports, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_downwards(path):
    own = path.relative_to(PACKAGE).with_suffix("").parts[0]
    if own == "__init__":
        return
    rooms = {name.split(".")[1] for name in imported(path) if name.startswith("egam.")}
    known = {room for room in rooms if any(room in names for names in FLOORS)}
    above = {room for room in known if floor(room) > floor(own)}
    assert not above, f"{own} imports {above}, which stand above it"


@pytest.mark.parametrize("room", LIGHT)
def test_light_rooms_never_import_torch(room):
    paths = [PACKAGE / f"{room}.py"] if (PACKAGE / f"{room}.py").exists() else sorted((PACKAGE / room).rglob("*.py"))
    assert paths
    for path in paths:
        assert not {name for name in imported(path) if name.split(".")[0] == "torch"}, path


def test_import_egam_brings_no_torch():
    code = "import sys, egam; assert 'torch' not in sys.modules, 'torch'; egam.Instance.__name__"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_network_never_sees_a_problem_by_name():
    names = ("tsp", "cvrp", "vrptw")
    for path in (PACKAGE / "nn").glob("*.py"):
        strings = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        assert not [text for text in strings if text in names], path
