"""Samples without replacement: they differ, they are all there are, and they have the probabilities they should."""

import itertools

import numpy as np
import pytest
import torch

from egam.decode import draws
from egam.decode.distinct import roll_out_distinct
from egam.decode.rollout import follow, log_likelihood
from egam.decode.strategies import Decoding, decode
from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem

SMALL = Shape(width=32, heads=4, hidden=64, encoder_layers=2)


def case(problem, instances=3, size=8, rows=1):
    """Different instances, or one many times."""
    arrays = problem.generate(np.random.default_rng(3), instances, size)
    batch = problem.to_batch({name: np.repeat(values, rows, 0) for name, values in arrays.items()})
    network = EGAM(problem.spec, SMALL)
    return batch, network, network.prepare(network.encode(problem.features(batch)))


def drawn(problem, batch, network, prepared, samples, seed=0, temperature=1.0):
    starts = torch.zeros(len(batch.travel), samples, dtype=torch.long)
    keys = draws.keys(seed, torch.arange(len(starts)), torch.arange(samples))
    return roll_out_distinct(network, problem, batch, prepared, starts, keys, temperature)


def same_rows(sequences):
    return len(sequences) - len({tuple(each) for each in sequences.tolist()})


def test_all_differ_and_are_what_the_problem_makes_of_them(problem):
    batch, network, prepared = case(problem)
    result = drawn(problem, batch, network, prepared, 12)
    assert [same_rows(each) for each in result.sequence] == [0, 0, 0]
    told, followed = follow(problem, batch, result.sequence)
    assert followed.all()
    torch.testing.assert_close(told.cost, result.cost)
    torch.testing.assert_close(told.penalty, result.penalty)


def test_there_are_no_others():
    problem = get_problem("tsp")
    batch, network, prepared = case(problem, size=4)
    result = drawn(problem, batch, network, prepared, 30)
    every = set(itertools.permutations(range(4)))
    for sequences in result.sequence.tolist():
        assert {tuple(each) for each in sequences[:24]} == every
        assert all(each == sequences[0] for each in sequences[24:])


@pytest.mark.parametrize(("name", "size"), [("tsp", 3), ("tsptw", 4)])
@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_probabilities_are_those_without_replacement(name, size, temperature):
    problem, rows = get_problem(name), 6000
    batch, network, prepared = case(problem, instances=1, size=size, rows=rows)
    result = drawn(problem, batch, network, prepared, 2, temperature=temperature)
    free, nodes = problem.spec.context_first, batch.travel.shape[1]  # may a tour start anywhere?
    tours = torch.tensor([each for each in itertools.permutations(range(nodes)) if free or each[0] == 0])
    told, _ = follow(problem, batch, tours.expand(rows, -1, -1))

    class Heated:
        def score(self, *arguments):
            return network.score(*arguments) / temperature

    with torch.no_grad():
        p = log_likelihood(Heated(), prepared, told)[0].exp() / (nodes if free else 1)
    assert float(p.sum()) == pytest.approx(1, abs=1e-4)
    both = (result.sequence[:, :, None] == tours).all(-1).int().argmax(-1)  # [rows, 2] which tour
    found = torch.bincount(both[:, 0] * 6 + both[:, 1], minlength=36).view(6, 6) / rows
    expected = p[:, None] * p / (1 - p[:, None])
    expected.fill_diagonal_(0)
    deviation = (expected * (1 - expected) / rows).sqrt()
    assert ((found - expected).abs() <= 4 * deviation + 1e-9).all()


def test_one_without_replacement_is_a_sample_and_a_cold_one_is_greedy():
    problem = get_problem("cvrp")
    network, arrays = EGAM(problem.spec, SMALL), problem.generate(np.random.default_rng(2), 7, 9)
    greedy, cold = (decode(network, problem, arrays, Decoding.parse(text)) for text in ("greedy", "distinct:1@1e-6"))
    assert all((a == b).all() for a, b in zip(greedy.sequences, cold.sequences, strict=True))
