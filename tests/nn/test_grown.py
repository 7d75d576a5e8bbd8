"""Weights in a network that sees more: the same answers at first."""

import numpy as np
import pytest
import torch

from egam.decode.strategies import Decoding, decode
from egam.errors import BadInput
from egam.nn.egam import EGAM, Shape
from egam.nn.grown import grown_state
from egam.problems import get_problem
from egam.problems.base import Features
from egam.train.config import TrainConfig
from egam.train.trainer import Trainer

SMALL = Shape(width=32, heads=4, hidden=64, encoder_layers=2)


def two_networks() -> tuple[EGAM, EGAM]:
    torch.manual_seed(3)
    undirected = EGAM(get_problem("tsp").spec, SMALL).double().eval()
    directed = EGAM(get_problem("atsp").spec, SMALL).double().eval()
    directed.load_state_dict(grown_state(undirected, directed.spec))
    return undirected, directed


@pytest.mark.parametrize("textbook", [True, False])
def test_symmetric_costs_give_the_same_embeddings(textbook):
    undirected, directed = two_networks()
    coords = torch.rand(3, 9, 2, dtype=torch.float64)
    travel = torch.cdist(coords, coords)[..., None]
    nothing = torch.rand(3, 9, 2, dtype=torch.float64)  # features that the undirected network does not have
    ours = directed.encode(Features(torch.cat([coords, nothing], -1), None, travel.expand(-1, -1, -1, 2)), textbook)
    theirs = undirected.encode(Features(coords, None, travel), textbook)
    assert (ours.nodes - theirs.nodes).abs().max() < 1e-9
    assert (ours.edges - theirs.edges).abs().max() < 1e-9


def test_symmetric_instances_get_the_same_tours():
    undirected, directed = (network.float() for network in two_networks())
    coords = np.random.default_rng(5).random((8, 12, 2))
    matrix = np.linalg.norm(coords[:, :, None] - coords[:, None], axis=-1)
    given = {"coords": coords, "matrix": matrix}
    ours = decode(directed, get_problem("atsp"), given, Decoding(), generated=False)
    theirs = decode(undirected, get_problem("tsp"), given, Decoding(), generated=False)
    assert np.abs(ours.cost - theirs.cost).max() < 1e-4


def test_other_features_are_refused():
    cvrp = EGAM(get_problem("cvrp").spec, SMALL)
    with pytest.raises(BadInput, match="undirected problem that has other features"):
        grown_state(cvrp, get_problem("atsp").spec)


def test_a_directed_run_starts_from_undirected_weights(tmp_path):
    shape = {"width": 16, "heads": 2, "hidden": 32, "encoder_layers": 1, "steps": 1, "validation_count": 4, "batch": 2}
    settings = {**shape, "size": "6", "n": 3}
    before = Trainer.fresh(TrainConfig(problem="tsp", **settings), tmp_path / "tsp", say=lambda text: None)
    before.train()
    after = Trainer.fresh(
        TrainConfig(problem="atsp", **settings), tmp_path / "atsp", init=str(tmp_path / "tsp"), say=lambda text: None
    )
    assert torch.equal(after.network.decoder.out_key, before.network.decoder.out_key)
    assert torch.equal(after.network.encoder.layers[0].start.weight, torch.eye(16))
    assert after.train() == 0


@pytest.mark.parametrize(
    ("name", "hint", "method", "at_depot", "in_context"),
    [
        ("pctsp", "paper", "egam", 2, 3),
        ("tspdl", "paper", "egam", 2, 2),
        ("tsptw", "stop", "egam", 3, 3),
        ("cvrp", "paper", "gam", 1, 1),
    ],
)
def test_a_network_that_is_told_more_begins_with_the_same_tours(tmp_path, name, hint, method, at_depot, in_context):
    shape = {"width": 16, "heads": 2, "hidden": 32, "encoder_layers": 1, "steps": 2, "validation_count": 4, "batch": 2}
    settings = {**shape, "problem": name, "method": method, "size": "6", "n": 3}
    before = Trainer.fresh(TrainConfig(**settings, hint=hint), tmp_path / "before", say=lambda text: None)
    before.train()
    after = Trainer.fresh(
        TrainConfig(**settings, hint="levels"), tmp_path / "after", init=str(tmp_path / "before"), say=lambda text: None
    )
    arrays = before.problem.generate(np.random.default_rng(3), 6, 9)
    costs = [decode(trainer.network, trainer.problem, arrays, Decoding()).cost for trainer in (before, after)]
    np.testing.assert_allclose(*costs, rtol=1e-6)
    endings = ("depot.weight", "context.weight")
    old, new = (
        [weight for name, weight in each.network.named_parameters() if name.endswith(endings)]
        for each in (before, after)
    )
    assert after.train() == 0
    for less, more, numbers in zip(old, new, (at_depot, in_context), strict=True):
        assert more.shape[1] == less.shape[1] + numbers
        assert more[:, -numbers:].abs().max() > 0
