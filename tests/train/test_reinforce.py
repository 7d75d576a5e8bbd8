"""One training step: baseline, independence from how the batch is cut, and agreement of several processes."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch

from egam.bench.speed import textbook_step
from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem
from egam.problems.base import map_tensors
from egam.train.reinforce import Draw, advantages, distinct_starts, reinforce_step, symmetric_copies
from egam.weights import read_tensors

SMALL = Shape(width=32, heads=4, hidden=64, encoder_layers=2)


def gradient(name="tsp", micro=99, m=1, rank=0, world=1, batch=4):
    problem = get_problem(name)
    torch.manual_seed(0)
    network = EGAM(problem.spec, SMALL)
    draw = Draw(3, 5, rank, world)
    arrays = draw.arrays(problem, batch, (7, 7))
    report = reinforce_step(network, problem, problem.to_batch(arrays), draw, m, 4, micro)
    return torch.cat([parameter.grad.flatten() for parameter in network.parameters()]), report


def test_advantages_by_hand():
    # one instance, two copies, two samples: costs 1 2 | 3 6, mean 3; a second instance is constant
    costs = torch.tensor([[1.0, 2.0], [5.0, 5.0], [3.0, 6.0], [5.0, 5.0]])  # copy-major: (copy 0: a, b), (copy 1: a, b)
    expected = torch.tensor([[-2.0, -1.0], [0.0, 0.0], [0.0, 3.0], [0.0, 0.0]])
    torch.testing.assert_close(advantages(costs, 2), expected)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_advantages_sum_to_zero_over_each_instance(m):
    result = advantages(torch.rand(m * 5, 7, dtype=torch.float64), m)
    torch.testing.assert_close(
        result.view(m, 5, 7).sum((0, 2)), torch.zeros(5, dtype=torch.float64), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("name", ["tsp", "cvrp", "vrptw"])
@pytest.mark.parametrize("m", [1, 2])
def test_micro_batches_add_up_to_the_batch(name, m):
    whole, report = gradient(name, m=m)
    parts, report_of_parts = gradient(name, micro=3, m=m)
    torch.testing.assert_close(parts, whole, rtol=1e-3, atol=1e-5)
    assert report.cost == pytest.approx(report_of_parts.cost, rel=1e-5)


def test_fast_step_has_the_textbook_gradient():
    problem = get_problem("tsp")
    batch = problem.to_batch(problem.generate(np.random.default_rng(0), 5, 8))
    batch = map_tensors(batch, lambda tensor: tensor.double())
    gradients = []
    for step in ("fast", "textbook"):
        torch.manual_seed(0)
        network = EGAM(problem.spec, SMALL).double()
        if step == "fast":
            reinforce_step(network, problem, batch, Draw(1, 2), 1, 6, 2)
        else:
            textbook_step(network, problem, batch, Draw(1, 2), 6)
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in network.parameters()]))
    assert gradients[0].norm() > 1e-3
    torch.testing.assert_close(*gradients, rtol=1e-6, atol=1e-9)


def test_two_shares_add_up_to_the_batch():
    whole, _ = gradient(batch=4)
    shares = [gradient(rank=rank, world=2, batch=4)[0] for rank in (0, 1)]
    torch.testing.assert_close(sum(shares), whole, rtol=1e-3, atol=1e-5)


def test_two_processes_by_torchrun_have_the_gradient_of_one(tmp_path):
    """A step of the trainer on two processes (gloo), against one process with the whole batch."""
    script = tmp_path / "step.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys
            from safetensors.torch import save_file
            from egam.train.config import TrainConfig
            from egam.train.trainer import Trainer
            config = TrainConfig(steps=3, batch=4, n=4, size="7", width=32, heads=4, hidden=64, encoder_layers=2)
            trainer = Trainer(config, ".")
            trainer._one_step()
            if trainer.rank == 0:
                save_file({name: p.grad for name, p in trainer.network.named_parameters()}, sys.argv[1])
            """
        )
    )
    launch = {"one": [sys.executable], "two": [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2"]}
    gradients = []
    for name, command in launch.items():
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [*command, str(script), str(tmp_path / name)], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        gradients.append(read_tensors(tmp_path / name)[0])
    assert max(tensor.abs().max() for tensor in gradients[0].values()) > 0.01
    for name, tensor in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], tensor, rtol=1e-3, atol=1e-6)


def test_starts_are_distinct_and_uniform():
    problem = get_problem("tsp")
    keys = torch.arange(4000).view(400, 10)
    starts = distinct_starts(problem, 10, keys)
    assert (starts.sort(-1).values == torch.arange(10)).all()
    assert starts[:, 0].bincount(minlength=10).min() > 15  # 40 expected
    assert (distinct_starts(get_problem("cvrp"), 10, keys) == 0).all()


def test_copies_are_symmetric():
    problem = get_problem("tsp")
    batch = problem.to_batch(problem.generate(np.random.default_rng(0), 3, 6))
    copies = symmetric_copies(batch, 2, 1, torch.arange(3))
    lengths = torch.cdist(copies.coords.double(), copies.coords.double())
    torch.testing.assert_close(lengths, copies.travel.double(), rtol=0, atol=1e-5)
    assert (copies.coords[:3] - copies.coords[3:]).abs().max() > 0.05  # the two copies differ
