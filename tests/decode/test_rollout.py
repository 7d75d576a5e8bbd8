"""The decoding loop and the parallel scoring pass, for every problem."""

import numpy as np
import pytest
import torch

from egam.decode import draws
from egam.decode.rollout import choose, log_likelihood, roll_out
from egam.nn import decoder, products
from egam.nn.decoder import View
from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem

SMALL = Shape(width=32, heads=4, hidden=64, encoder_layers=2, decoder_layers=2)
B, S, SIZE = 3, 5, 8


both_scorings = pytest.mark.parametrize("projected_from", [1, 99], ids=["edges projected", "queries folded"])


def prepared_case(problem, shape=SMALL, seed=0):
    batch = problem.to_batch(problem.generate(np.random.default_rng(seed), B, SIZE))
    network = EGAM(problem.spec, shape)
    return batch, network, network.prepare(network.encode(problem.features(batch)))


def starts_and_keys(batch):
    nodes = batch.travel.shape[1]
    starts = torch.arange(B * S).view(B, S) % nodes
    return starts, draws.keys(7, torch.arange(B), torch.arange(S))


class Textbook:
    def __init__(self, network):
        self.network = network

    def step(self, prepared, view):
        return self.network.step(prepared, view, textbook=True)


@pytest.mark.parametrize("copies", [False, True], ids=["as AVX2 likes it", "as AVX-512 likes it"])
def test_fast_steps_are_textbook_steps(problem, copies, monkeypatch):
    monkeypatch.setattr(products, "COPIES_TRANSPOSED", copies)
    batch, network, prepared = prepared_case(problem)
    starts, keys = starts_and_keys(batch)
    fast = roll_out(network, problem, batch, prepared, starts, keys)
    textbook = roll_out(Textbook(network), problem, batch, prepared, starts, keys)
    assert torch.equal(fast.sequence, textbook.sequence)
    torch.testing.assert_close(fast.log_likelihood, textbook.log_likelihood, rtol=0, atol=1e-4)


def test_what_is_not_measured_is_not_a_number(problem):
    batch, network, prepared = prepared_case(problem)
    starts, keys = starts_and_keys(batch)
    measured = roll_out(network, problem, batch, prepared, starts, keys)
    quick = roll_out(network, problem, batch, prepared, starts, keys, measure=False)
    assert torch.equal(quick.sequence, measured.sequence) and torch.equal(quick.cost, measured.cost)
    assert quick.log_likelihood.isnan().all() and quick.entropy.isnan().all()
    assert measured.log_likelihood.isfinite().all() and measured.entropy.isfinite().all()


@both_scorings
def test_parallel_log_likelihood_is_the_step_by_step_one(problem, projected_from, monkeypatch):
    monkeypatch.setattr(decoder, "PROJECTED_FROM", projected_from)
    batch, network, prepared = prepared_case(problem)
    rollout = roll_out(network, problem, batch, prepared, *starts_and_keys(batch), record=True)
    torch.testing.assert_close(log_likelihood(network, prepared, rollout), rollout.log_likelihood, rtol=0, atol=1e-4)


@both_scorings
def test_parallel_gradient_is_the_step_by_step_one(problem, projected_from, monkeypatch):
    monkeypatch.setattr(decoder, "PROJECTED_FROM", projected_from)
    batch, network, _ = prepared_case(problem)
    network.double()
    batch = type(batch)(**{k: v.double() if v.is_floating_point() else v for k, v in vars(batch).items()})
    features = problem.features(batch)
    prepared = network.prepare(network.encode(features))
    rollout = roll_out(network, problem, batch, prepared, *starts_and_keys(batch), record=True)
    weight = torch.linspace(-1, 1, B * S, dtype=torch.float64).view(B, S)
    parallel = torch.autograd.grad(
        (weight * log_likelihood(network, prepared, rollout)).sum(), list(network.parameters())
    )

    encoded = network.encode(features, textbook=True)
    total = torch.zeros(B, S, dtype=torch.float64)
    for step in range(rollout.sequence.shape[-1] - 1):
        seen = rollout.seen
        view = View(
            seen.current[:, :, step], seen.first[:, :, step], seen.context[:, :, step], seen.allowed[:, :, step]
        )
        log_p = network.decoder.textbook(encoded, view).log_softmax(-1)
        total = total + log_p.gather(-1, rollout.sequence[..., step + 1, None]).squeeze(-1)
    stepwise = torch.autograd.grad((weight * total).sum(), list(network.parameters()))
    for (name, _), fast, slow in zip(network.named_parameters(), parallel, stepwise, strict=True):
        torch.testing.assert_close(fast, slow, rtol=1e-6, atol=1e-8, msg=lambda text, name=name: f"{name}: {text}")


def test_only_allowed_nodes_are_chosen(problem):
    batch, network, prepared = prepared_case(problem)
    rollout = roll_out(network, problem, batch, prepared, *starts_and_keys(batch), record=True)
    taken = rollout.seen.allowed.gather(-1, rollout.sequence[..., 1:, None])
    assert taken.all()


def test_sampling_follows_the_probabilities():
    logits = torch.tensor([0.2, 0.5, 0.0, 0.3]).log().view(1, 1, 4).expand(1, 20_000, 4)
    keys = draws.keys(3, torch.arange(1), torch.arange(20_000))
    counts = choose(logits, draws.uniforms(keys, 0)).flatten().bincount(minlength=4) / 20_000
    assert counts[2] == 0
    torch.testing.assert_close(counts, torch.tensor([0.2, 0.5, 0.0, 0.3]), rtol=0, atol=0.015)  # 4 standard errors


def test_draws_are_uniform_and_belong_to_the_instance():
    keys = draws.keys(1, torch.arange(100), torch.arange(100))
    values = draws.uniforms(keys, 5)
    assert values.min() >= 0 and values.max() < 1
    assert abs(values.mean() - 0.5) < 0.012 and abs(values.var() - 1 / 12) < 0.004
    assert keys.unique().numel() == 10_000
    assert torch.equal(draws.keys(1, torch.arange(40, 60), torch.arange(100)), keys[40:60])


def test_golden_tours():
    """Fixed seed, fixed logits and tours: a change of the network's arithmetic shows here."""
    problem = get_problem("tsp")
    torch.manual_seed(0)
    batch, network, prepared = prepared_case(problem, Shape())
    result = roll_out(network, problem, batch, prepared, torch.zeros(B, 1, dtype=torch.long))
    assert result.sequence.squeeze(1).tolist() == [
        [0, 1, 6, 5, 7, 2, 4, 3],
        [0, 5, 3, 6, 1, 7, 4, 2],
        [0, 7, 5, 1, 4, 3, 2, 6],
    ]
    nowhere = torch.zeros(B, 1, dtype=torch.long)
    view = View(nowhere, nowhere, torch.zeros(B, 1, 0), torch.ones(B, 1, SIZE, dtype=torch.bool))
    golden = [-1.4158978, 0.8705353, -0.1851988, -0.6428418, -0.5831612, 0.2544233, 0.2492494, -0.7564490]
    torch.testing.assert_close(network.step(prepared, view)[0, 0], torch.tensor(golden), rtol=0, atol=1e-4)
