"""Tensor shapes and types in signatures (jaxtyping) are checked while tests run, and only then."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "2")

from jaxtyping import install_import_hook

install_import_hook(
    ["egam.nn", "egam.decode.draws", "egam.problems.in_time", "egam.problems.symmetry"], "beartype.beartype"
)

import pytest
import torch

from egam.problems import PROBLEMS

ALL = [(name, variant) for name, (_, variants) in PROBLEMS.items() for variant in (variants or ("",))]


@pytest.fixture(autouse=True)
def fixed_seed():
    torch.manual_seed(0)


@pytest.fixture(params=ALL, ids=lambda pair: "-".join(filter(None, pair)))
def problem(request):
    """Every problem in every variant."""
    from egam.problems import get_problem

    return get_problem(*request.param)
