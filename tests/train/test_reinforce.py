"""One training step: baseline, independence from how the batch is cut, and agreement of several processes."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch

from egam.bench.speed import textbook_step
from egam.decode import draws
from egam.decode.rollout import Rollout, log_likelihood, roll_out
from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem
from egam.problems.base import map_tensors
from egam.train.reinforce import (
    Draw,
    Extras,
    advantages,
    distinct_starts,
    reinforce_step,
    solution_weights,
    symmetric_copies,
)
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


def weights_of(objective, likelihood, m, extras):
    return solution_weights(advantages(objective, m), objective, likelihood, m, extras)


def test_advantages_by_hand():
    # one instance, two copies, two samples: costs 1 2 | 3 6, mean 3; a second instance is constant
    costs = torch.tensor([[1.0, 2.0], [5.0, 5.0], [3.0, 6.0], [5.0, 5.0]])  # copy-major: (copy 0: a, b), (copy 1: a, b)
    expected = torch.tensor([[-2.0, -1.0], [0.0, 0.0], [0.0, 3.0], [0.0, 0.0]])
    torch.testing.assert_close(advantages(costs, 2), expected)


def test_sizes_get_as_many_steps_or_as_much_time():
    """Of N = 3 and 4, a step of which takes 9 and 16, the smaller gets 16 of 25 steps for as much time."""
    steps, time = ([Draw(1, step).size((3, 4), even) for step in range(4000)] for even in ("steps", "time"))
    assert set(steps) == set(time) == {3, 4}
    assert steps.count(3) / 4000 == pytest.approx(1 / 2, abs=0.03)
    assert time.count(3) / 4000 == pytest.approx(16 / 25, abs=0.03)
    arrays = Draw(1, 7).arrays(get_problem("tsp"), 2, (3, 4), "time")
    assert arrays["coords"].shape[1] == time[7]


@pytest.mark.parametrize("m", [1, 2, 3])
def test_advantages_sum_to_zero_over_each_instance(m):
    result = advantages(torch.rand(m * 5, 7, dtype=torch.float64), m)
    torch.testing.assert_close(
        result.view(m, 5, 7).sum((0, 2)), torch.zeros(5, dtype=torch.float64), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("extras", [Extras(), Extras(standardize=True), Extras(entropy=0.3), Extras(True, 0.0, 0.3)])
@pytest.mark.parametrize("m", [1, 3])
def test_weights_sum_to_zero_over_each_instance(extras, m):
    objective, likelihood = torch.rand(2, m * 5, 7, dtype=torch.float64)
    weights = weights_of(objective, likelihood, m, extras)
    assert weights.abs().max() > 0.01
    torch.testing.assert_close(
        weights.view(m, 5, 7).sum((0, 2)), torch.zeros(5, dtype=torch.float64), rtol=0, atol=1e-12
    )


def test_standardised_advantages_have_spread_one():
    scales = torch.tensor([1.0, 10.0, 100.0, 0.1, 1.0], dtype=torch.float64).repeat(3)[:, None]
    objective = scales * torch.rand(3 * 5, 7, dtype=torch.float64)
    weights = weights_of(objective, torch.zeros_like(objective), 3, Extras(standardize=True))
    spread = weights.view(3, 5, 7).pow(2).mean((0, 2)).sqrt()
    torch.testing.assert_close(spread, torch.ones(5, dtype=torch.float64), rtol=0, atol=1e-12)
    # solutions of one cost stay at 0, and differences below a thousandth are divided by a thousandth, not by themselves
    near = torch.tensor([[3.0, 3.0], [3.0, 3.0 + 2e-4]], dtype=torch.float64)
    weights = weights_of(near, torch.zeros_like(near), 1, Extras(standardize=True))
    torch.testing.assert_close(weights, torch.tensor([[0.0, 0.0], [-0.1, 0.1]], dtype=torch.float64), rtol=0, atol=1e-9)


def test_imitation_adds_to_the_best_solution_only():
    # as in test_advantages_by_hand: instance a costs 1 2 | 3 6, its best is copy 0's first; b's best is copy 1's second
    costs = torch.tensor([[1.0, 2.0], [5.0, 5.0], [3.0, 6.0], [5.0, 4.0]])
    added = weights_of(costs, torch.zeros_like(costs), 2, Extras(imitate=0.5)) - advantages(costs, 2)
    expected = torch.zeros(4, 2)
    expected[0, 0] = expected[3, 1] = -0.5 * 2 * 2  # -imitate·m·n
    torch.testing.assert_close(added, expected)


def test_entropy_weight_has_the_gradient_of_minus_the_entropy():
    """All six tours of four nodes from node 0, and all pairs of them as two samples: Σ p_a p_b (mean of weight·∇log p).

    With both costs equal only the entropy term is left. The mean of n samples holds each sample itself, so that the
    baseline takes 1/n of the gradient away: (n - 1) / n = 1/2 of ∇ Σ p log p is expected.
    """
    problem = get_problem("tsp")
    batch = problem.to_batch(problem.generate(np.random.default_rng(0), 1, 4))
    network = EGAM(problem.spec, SMALL).double()
    batch = map_tensors(batch, lambda tensor: tensor.double())
    prepared = network.prepare(network.encode(problem.features(batch)))
    keys = draws.keys(0, torch.arange(1), torch.arange(300))
    rollout = roll_out(network, problem, batch, prepared, torch.zeros_like(keys), keys, record=True)
    likelihood = one_of_each(rollout, log_likelihood(network, prepared, rollout))  # [6]
    probability = likelihood.exp()
    assert len(likelihood) == 6 and probability.sum().item() == pytest.approx(1)

    pairs = torch.cartesian_prod(torch.arange(6), torch.arange(6))  # [36, 2]
    drawn = likelihood[pairs]
    weights = weights_of(torch.ones(36, 2), drawn.detach(), 1, Extras(entropy=1.0))
    chance = probability.detach()[pairs].prod(-1)
    parameters = list(network.parameters())
    sampled = torch.autograd.grad((chance * (weights * drawn).mean(-1)).sum(), parameters, retain_graph=True)
    exact = torch.autograd.grad((probability * likelihood).sum() / 2, parameters)
    assert max(gradient.abs().max() for gradient in exact) > 1e-4
    for ours, theirs in zip(sampled, exact, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-12)


def one_of_each(rollout: Rollout, values: torch.Tensor) -> torch.Tensor:
    """The values of the first rollout of each distinct sequence of one instance."""
    first = {tuple(sequence): number for number, sequence in reversed(list(enumerate(rollout.sequence[0].tolist())))}
    return values[0, sorted(first.values())]


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
            import os, sys
            from safetensors.torch import save_file
            from torch import distributed
            from egam.train.config import TrainConfig
            from egam.train.trainer import Trainer
            config = TrainConfig(steps=3, batch=4, n=4, size="7", width=32, heads=4, hidden=64, encoder_layers=2)
            trainer = Trainer(config, ".")
            trainer._one_step()
            if trainer.rank == 0:
                save_file({name: p.grad for name, p in trainer.network.named_parameters()}, sys.argv[1])
            if trainer.world > 1:
                distributed.barrier()  # leave together, and at once: how a run ends is another test's
                os._exit(0)
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
