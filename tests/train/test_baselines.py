"""Baselines: by hand, Kool's challenge, and what they remember."""

import numpy as np
import pytest
import torch

from egam.nn import NETWORKS
from egam.nn.egam import Shape
from egam.problems import get_problem
from egam.train.baselines import Exponential, GreedyRollout, greedy_objective, symnco
from egam.train.reinforce import Draw, Sampled, advantages, reinforce_step, symmetry

SMALL = Shape(width=16, heads=2, hidden=32, encoder_layers=1, norm="batch")


def sampled(costs, m=1):
    costs = torch.as_tensor(costs)
    return Sampled(None, torch.zeros_like(costs, dtype=torch.long), costs, m)


def case(name="tsp", size=6, count=5):
    problem = get_problem(name)
    batch = problem.to_batch(problem.generate(np.random.default_rng(0), count, size))
    network = NETWORKS["gam"](problem.spec, SMALL)
    return problem, batch, network


def rollout_baseline(problem, network, held_out=50):
    return GreedyRollout(network, problem, 6, held_out, seed=1)


def step(problem, batch, network, baseline):
    return reinforce_step(network, problem, batch, Draw(1, 0), 1, 3, 99, baseline=baseline.advantages)


def test_symnco_by_hand():
    # instance a: copies 1 2 | 3 6, mean 3, means of the copies 1.5 and 4.5; instance b: copies 5 5 | 9 1, all means 5
    costs = torch.tensor([[1.0, 2.0], [5.0, 5.0], [3.0, 6.0], [9.0, 1.0]])  # copy-major
    expected = [[-2 - 0.5, -1 + 0.5], [0.0, 0.0], [0 - 1.5, 3 + 1.5], [4 + 4, -4 - 4]]
    torch.testing.assert_close(symnco(sampled(costs, 2)), torch.tensor(expected))


def test_symnco_without_samples_is_problem_symmetric_only():
    costs = torch.rand(3 * 4, 1)
    torch.testing.assert_close(symnco(sampled(costs, 3)), advantages(costs, 3))


def test_one_copy_with_all_starts_is_pomos_shared_baseline():
    costs = torch.rand(5, 7)
    torch.testing.assert_close(symmetry(sampled(costs)), costs - costs.mean(1, keepdim=True))


def test_exponential_mean_by_hand():
    baseline = Exponential()
    torch.testing.assert_close(baseline.advantages(sampled([[1.0, 3.0]])), torch.tensor([[-1.0, 1.0]]))  # v = 2
    # v = 0.8 · 2 + 0.2 · 7 = 3
    torch.testing.assert_close(baseline.advantages(sampled([[7.0, 7.0]])), torch.tensor([[4.0, 4.0]]))
    again = Exponential()
    again.load(baseline.state())
    assert again.mean == baseline.mean == pytest.approx(3)


@pytest.mark.parametrize("name", ["tsp", "vrptw"])
def test_rollout_baseline_is_exponential_first_and_greedy_then(name):
    problem, batch, network = case(name)
    baseline = rollout_baseline(problem, network)
    starts = torch.tensor([[0, 1, 2]]).expand(5, -1)
    now = Sampled(batch, starts, torch.rand(5, 3), 1)
    torch.testing.assert_close(baseline.advantages(now), now.objective - now.objective.mean())
    baseline.end_epoch(network)
    greedy = greedy_objective(baseline.frozen, problem, batch, starts)
    if name == "vrptw":  # every start is the depot
        assert (greedy == greedy[:, :1]).all()
    else:
        assert (greedy != greedy[:, :1]).any()
    torch.testing.assert_close(baseline.advantages(now), now.objective - greedy)


def test_the_frozen_copy_neither_trains_nor_moves():
    problem, batch, network = case()
    baseline = rollout_baseline(problem, network)
    baseline.end_epoch(network)
    before = {name: tensor.clone() for name, tensor in baseline.frozen.state_dict().items()}
    network.train()
    step(problem, batch, network, baseline)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter -= 0.1 * parameter.grad
    assert all(torch.equal(tensor, before[name]) for name, tensor in baseline.frozen.state_dict().items())
    assert all(parameter.grad is None for parameter in baseline.frozen.parameters())


class Fixed(GreedyRollout):
    """Held-out objectives that a test decides: first the network's, then the frozen copy's."""

    outcomes: list

    def _held_out_objective(self, network):
        return self.outcomes.pop(0)


def test_challenges():
    """Replaced if the network is lower by a one-sided paired t-test at 5 %, and only then."""
    problem, _, network = case()
    noise = np.random.default_rng(0).normal(size=200)
    same = np.zeros(200)
    baseline = Fixed(network, problem, 6, 200, seed=1)
    other = NETWORKS["gam"](problem.spec, SMALL)

    def holds(expected):
        mine, theirs = baseline.frozen.state_dict(), expected.state_dict()
        return all(torch.equal(mine[name], theirs[name]) for name in mine)

    for outcome, replaced in (
        (same, False),  # equal
        (0.3 + noise, False),  # worse
        (noise - noise.mean() - 1.0 * noise.std(ddof=1) / np.sqrt(200), False),  # better, t = -1: p = 0.16
        (noise - noise.mean() - 2.0 * noise.std(ddof=1) / np.sqrt(200), True),  # t = -2: p = 0.023
    ):
        baseline.outcomes = [outcome, same]
        news = baseline.end_epoch(other)
        assert ("is replaced" in news) == replaced and holds(other) == replaced
    assert (baseline.epochs, baseline.replaced) == (4, 1)


def test_a_replaced_copy_gets_fresh_instances():
    problem, _, network = case()
    baseline = rollout_baseline(problem, network)
    first, again = baseline._held_out_objective(network), baseline._held_out_objective(network)
    assert (first == again).all() and first.std() > 0.01
    baseline.replaced = 1
    assert (baseline._held_out_objective(network) != first).all()


def test_a_rollout_baseline_remembers():
    problem, batch, network = case()
    baseline = rollout_baseline(problem, network)
    step(problem, batch, network, baseline)
    baseline.end_epoch(NETWORKS["gam"](problem.spec, SMALL))
    baseline.replaced = 3
    again = rollout_baseline(problem, NETWORKS["gam"](problem.spec, SMALL))
    again.load(baseline.state())
    assert (again.epochs, again.replaced, again.warm_up.mean) == (1, 3, baseline.warm_up.mean)
    assert all(torch.equal(a, b) for a, b in zip(again.state().values(), baseline.state().values(), strict=True))
