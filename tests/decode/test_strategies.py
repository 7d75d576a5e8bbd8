import numpy as np
import pytest
import torch

from egam.decode import draws
from egam.decode.rollout import roll_out
from egam.decode.strategies import Decoding, batch_within, decode
from egam.errors import BadInput
from egam.nn.egam import EGAM, Shape
from egam.nn.temperature import Temperature
from egam.problems import get_problem

HEATLESS = ("8x20@", "8x20@0", "8x20@-1", "8x20@nan", "8x20@inf", "8x20@hot", "greedy@1", "8xstarts@2", "@2")
INDISTINCT = ("8xsample:3", "distinct:", "distinct:0", "distinct", "8xdistinct", "8x:3", ":3")
SMALL = Shape(width=32, heads=4, hidden=64, encoder_layers=2)


def case(name="tsp", count=7, size=9, variant=""):
    problem = get_problem(name, variant)
    return EGAM(problem.spec, SMALL), problem, problem.generate(np.random.default_rng(2), count, size)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("greedy", Decoding()),
        ("sample:1280", Decoding(samples=1280)),
        ("8x20", Decoding(8, 20)),
        ("8x20@1.5", Decoding(8, 20, temperature=1.5)),
        ("sample:3@0.5", Decoding(samples=3, temperature=0.5)),
        ("distinct:7", Decoding(samples=7, distinct=True)),
        ("8xdistinct:20@2", Decoding(8, 20, temperature=2, distinct=True)),
        ("8xgreedy", Decoding(8)),
        ("starts", Decoding(all_starts=True)),
        ("8xstarts", Decoding(8, all_starts=True)),
    ],
)
def test_parse(text, expected):
    assert Decoding.parse(text) == expected


@pytest.mark.parametrize(
    "text", ["", "greed", "sample:", "sample:0", "20", "8x", "8x-1", "7x20", "sample:1.5", *HEATLESS, *INDISTINCT]
)
def test_parse_refuses(text):
    with pytest.raises(BadInput, match="accepted: greedy"):
        Decoding.parse(text)


@pytest.mark.parametrize("text", ["greedy", "sample:6", "8x3", "starts", "8xdistinct:3"])
def test_batch_size_does_not_change_answers(text):
    network, problem, arrays = case()
    whole = decode(network, problem, arrays, Decoding.parse(text), seed=5)
    pieces = decode(network, problem, arrays, Decoding.parse(text), seed=5, batch_size=2)
    np.testing.assert_allclose(whole.cost, pieces.cost, rtol=1e-5)
    assert all((a == b).all() for a, b in zip(whole.sequences, pieces.sequences, strict=True))


def test_seed_decides():
    network, problem, arrays = case()
    first, again, other = (decode(network, problem, arrays, Decoding(samples=3), seed=s).cost for s in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_cold_samples_are_greedy_and_hot_ones_differ_more():
    network, problem, arrays = case("cvrp")
    greedy, cold = (decode(network, problem, arrays, Decoding.parse(text)) for text in ("greedy", "sample:1@1e-6"))
    assert all((a == b).all() for a, b in zip(greedy.sequences, cold.sequences, strict=True))
    batch = problem.to_batch(arrays, True)
    prepared = network.prepare(network.encode(problem.features(batch)))
    starts, keys = torch.zeros(7, 64, dtype=torch.long), draws.keys(0, torch.arange(7), torch.arange(64))
    rolled = [roll_out(network, problem, batch, prepared, starts, keys, temperature=heat) for heat in (0.05, 1.0, 5.0)]
    likelihood = [float(each.log_likelihood.mean()) for each in rolled]  # that of the network, for all
    assert likelihood[0] > likelihood[1] > likelihood[2]


def test_weights_ask_for_a_temperature_by_size():
    network, problem, arrays = case(size=20)
    plain = decode(network, problem, arrays, Decoding(samples=5)).cost
    network.temperature = Temperature(((20, 4.0), (80, 1.0)))
    assert network.temperature.at(20) == network.temperature.at(5) == pytest.approx(4)
    assert network.temperature.at(40) == pytest.approx(2) and network.temperature.at(1000) == pytest.approx(1)
    asked, told, one = (
        decode(network, problem, arrays, Decoding(samples=5, temperature=heat)).cost for heat in (None, 4.0, 1.0)
    )
    np.testing.assert_array_equal(asked, told)
    np.testing.assert_array_equal(plain, one)
    assert (asked != plain).any()


def test_more_samples_are_never_worse(problem):
    network = EGAM(problem.spec, SMALL)
    arrays = problem.generate(np.random.default_rng(3), 6, 8)
    few = decode(network, problem, arrays, Decoding(samples=2), seed=4)
    many = decode(network, problem, arrays, Decoding(samples=12), seed=4)
    assert (many.feasible | ~few.feasible).all()  # what was feasible stays so
    both = many.feasible & few.feasible
    assert (many.cost[both] <= few.cost[both] + 1e-9).all()


def test_feasible_beats_cheap():
    network, problem, arrays = case("tspdl", count=30, size=5)
    one, best = (decode(network, problem, arrays, Decoding(samples=n), seed=1) for n in (1, 2000))
    assert best.feasible.mean() > max(0.9, one.feasible.mean())


def test_all_starts_need_a_free_start():
    network, problem, arrays = case("cvrp")
    with pytest.raises(BadInput, match="cvrp begins at node 0"):
        decode(network, problem, arrays, Decoding(all_starts=True))


def test_memory_limit_sizes_batches():
    eight = batch_within(8.0, 50, Decoding(8, 20), 128)
    assert eight == pytest.approx(2 * batch_within(4.0, 50, Decoding(8, 20), 128), abs=1)
    assert batch_within(1e-9, 50, Decoding(), 128) == 1
    with pytest.raises(BadInput, match="memory limit is 0 GiB"):
        batch_within(0, 50, Decoding(), 128)


def test_user_units_scale_costs_back():
    network, problem, arrays = case()
    plain = decode(network, problem, arrays, Decoding(), generated=False)
    metres = decode(network, problem, {"coords": arrays["coords"] * 5000 + 1e5}, Decoding(), generated=False)
    np.testing.assert_allclose(metres.cost, plain.cost * 5000, rtol=1e-3)
