"""Where published instances lie: in EGAM_DATA, else beside the repository; without them their tests skip."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("EGAM_DATA") or ROOT.parent / "shared" / "data")


@pytest.fixture
def published() -> Path:
    if not DATA.is_dir():
        pytest.skip("no published instances here; EGAM_DATA may name their folder")
    return DATA


@pytest.fixture
def examples() -> Path:
    return ROOT / "examples" / "data"
