"""Sym-NCO's invariance term: its sign, whom it pairs, and its gradient through micro-batches."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity

from egam.nn import NETWORKS
from egam.nn.egam import Shape
from egam.problems import get_problem
from egam.train.invariance import Invariance
from egam.train.reinforce import Draw, Extras, reinforce_step, symmetric_copies

SMALL = Shape(width=16, heads=2, hidden=32, encoder_layers=2)
M, B, N = 3, 4, 6


def case(name="gam"):
    problem = get_problem("tsp")
    batch = problem.to_batch(problem.generate(np.random.default_rng(0), B, N))
    return problem, batch, NETWORKS[name](problem.spec, SMALL)


def similarity(term, network, problem, copies):
    """Mean cosine between the projections of the same node of copy 1 and of the others, written out."""
    projected = term.head(network.encode(problem.features(copies)).nodes)
    pairs = [
        cosine_similarity(projected[copy * B + instance, node], projected[instance, node], dim=0)
        for copy in range(1, M)
        for instance in range(B)
        for node in range(N)
    ]
    return torch.stack(pairs).mean()


def test_the_term_is_minus_the_similarity_of_copies_of_the_same_instance():
    problem, batch, network = case()
    copies = symmetric_copies(batch, M, 1, torch.arange(B), "others")
    term = Invariance(16, 0.1)
    value = term(network.encode(problem.features(copies)).nodes, M)
    torch.testing.assert_close(value, -0.1 * similarity(term, network, problem, copies))


def test_equal_copies_have_the_lowest_value():
    assert Invariance(16, 0.1)(torch.randn(B, N, 16).repeat(M, 1, 1), M).item() == pytest.approx(-0.1)


def test_a_step_down_the_loss_brings_the_copies_closer():
    problem, batch, network = case()
    copies = symmetric_copies(batch, M, 1, torch.arange(B), "others")
    term = Invariance(16, 1.0)
    before = similarity(term, network, problem, copies)
    term(network.encode(problem.features(copies)).nodes, M).backward()
    with torch.no_grad():
        for parameter in network.encoder.parameters():  # the head stays: the encoder itself must learn it
            parameter -= 0.02 * parameter.grad
    assert similarity(term, network, problem, copies) > before + 1e-3


def test_pairs_are_copies_of_the_same_instance():
    """Nodes whose copies are equal: any other order of instances inside a copy makes the term worse."""
    nodes, term = torch.randn(B, N, 16), Invariance(16, 1.0)
    paired = term(nodes.repeat(M, 1, 1), M)
    mixed = nodes.repeat(M, 1, 1).view(M, B, N, 16)
    mixed[1] = mixed[1].roll(1, dims=0)
    assert term(mixed.flatten(0, 1), M) > paired + 0.05
    instance_major = nodes.repeat_interleave(M, 0)  # not our layout
    assert term(instance_major, M) > paired + 0.05
    everywhere = nodes.roll(1, dims=0).repeat(M, 1, 1)  # the same order in all copies is the same set of pairs
    torch.testing.assert_close(term(everywhere, M), paired)


def gradients(micro, name="gam", rank=0, world=1, batch_size=B, invariance=True):
    problem = get_problem("tsp")
    torch.manual_seed(0)
    network, term = NETWORKS[name](problem.spec, SMALL), Invariance(16, 50.0)
    draw = Draw(3, 5, rank, world)
    batch = problem.to_batch(draw.arrays(problem, batch_size, (N, N)))
    extras = Extras(turn="others", invariance=term if invariance else None)
    report = reinforce_step(network, problem, batch, draw, M, 2, micro, extras)
    found = [parameter.grad for module in (network, term) for parameter in module.parameters()]
    return torch.cat([torch.zeros(1) if grad is None else grad.flatten() for grad in found]), report


@pytest.mark.parametrize("name", ["gam", "egam"])
def test_micro_batches_may_separate_copies(name):
    whole, report = gradients(99, name)
    parts, report_of_parts = gradients(5, name)
    torch.testing.assert_close(parts, whole, rtol=1e-3, atol=1e-5)
    assert report.loss == pytest.approx(report_of_parts.loss, rel=1e-4)


def test_two_shares_add_up_to_the_batch():
    shares = [gradients(99, rank=rank, world=2)[0] for rank in (0, 1)]
    torch.testing.assert_close(sum(shares), gradients(99)[0], rtol=1e-3, atol=1e-5)


def test_a_training_step_adds_the_terms_gradient_to_reinforce():
    problem = get_problem("tsp")
    torch.manual_seed(0)
    network, term = NETWORKS["gam"](problem.spec, SMALL), Invariance(16, 50.0)
    draw = Draw(3, 5)
    batch = problem.to_batch(draw.arrays(problem, B, (N, N)))
    copies = symmetric_copies(batch, M, 3, draw.instances(B, torch.device("cpu")), "others")
    term(network.encode(problem.features(copies)).nodes, M).backward()
    alone = torch.cat(
        [torch.zeros_like(p).flatten() if p.grad is None else p.grad.flatten() for p in network.parameters()]
    )
    both, without = (gradients(99, invariance=invariance)[0][: len(alone)] for invariance in (True, False))
    assert alone.norm() > 0.1
    torch.testing.assert_close(both - without, alone, rtol=1e-3, atol=1e-4)
