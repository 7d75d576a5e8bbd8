"""GAM, GATv2 and POMO's network: textbook against tables, steps against the parallel pass, sizes, symmetries."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from egam.decode import draws
from egam.decode.rollout import log_likelihood, roll_out
from egam.errors import BadInput
from egam.nn import NETWORKS
from egam.nn.decoder import View
from egam.nn.egam import Shape
from egam.nn.gam import GAM, DotAttention
from egam.problems import get_problem
from egam.problems.base import Features, map_tensors

RIVALS = ["gam", "gatv2", "pomo"]
SMALL = Shape(width=32, heads=4, hidden=64, encoder_layers=2, norm="batch")
B, S, SIZE = 3, 5, 8


def case(problem, name, shape=SMALL):
    """A batch and a network whose parameters, the norms' and biases too, are all different."""
    batch = problem.to_batch(problem.generate(np.random.default_rng(0), B, SIZE))
    network = NETWORKS[name](problem.spec, shape).double()
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.3 * torch.randn_like(parameter))
    return map_tensors(batch, lambda tensor: tensor.double()), network


def starts_and_keys(batch):
    return torch.arange(B * S).view(B, S) % batch.travel.shape[1], draws.keys(7, torch.arange(B), torch.arange(S))


def stepwise(network, encoded, rollout):
    """Log-likelihoods of finished rollouts, decision by decision, by the textbook."""
    total = torch.zeros(rollout.cost.shape, dtype=torch.float64)
    for step in range(rollout.sequence.shape[-1] - 1):
        view = map_tensors(rollout.seen, lambda tensor, step=step: tensor[:, :, step])
        log_p = network.decoder.textbook(encoded, view).log_softmax(-1)
        total = total + log_p.gather(-1, rollout.sequence[..., step + 1, None]).squeeze(-1)
    return total


@pytest.mark.parametrize("name", RIVALS)
def test_parallel_pass_is_the_textbook_step_by_step(problem, name):
    """Fast tables, rollout and parallel scoring against textbook encoder and decoder; gradients too."""
    batch, network = case(problem, name)
    features = problem.features(batch)
    prepared = network.prepare(network.encode(features))
    rollout = roll_out(network, problem, batch, prepared, *starts_and_keys(batch), record=True)
    parallel = log_likelihood(network, prepared, rollout)
    torch.testing.assert_close(parallel.detach().float(), rollout.log_likelihood, rtol=0, atol=1e-5)
    by_steps = stepwise(network, network.encode(features, textbook=True), rollout)
    torch.testing.assert_close(parallel, by_steps, rtol=0, atol=1e-9)

    weight = torch.linspace(-1, 1, B * S, dtype=torch.float64).view(B, S)
    parameters = dict(network.named_parameters())
    fast, slow = (
        torch.autograd.grad((weight * total).sum(), list(parameters.values())) for total in (parallel, by_steps)
    )
    for key, a, b in zip(parameters, fast, slow, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-8, msg=lambda text, key=key: f"{key}: {text}")
    assert all(gradient.abs().max() > 0 for gradient in fast if gradient.numel())


def test_self_attention_is_pytorchs():
    ours, nodes = DotAttention(32, 4, output_bias=True), torch.randn(3, 7, 32)
    torch.nn.init.normal_(ours.bias)
    theirs = torch.nn.MultiheadAttention(32, 4, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.maps.query, ours.maps.key, ours.maps.value]))
        theirs.in_proj_bias.zero_()
        theirs.out_proj.weight.copy_(ours.maps.output)
        theirs.out_proj.bias.copy_(ours.bias)
    torch.testing.assert_close(ours(nodes, None), theirs(nodes, nodes, nodes)[0], rtol=0, atol=1e-5)


def test_logits_by_hand():
    """Width 1, one head, two nodes h = (1, 2), context weights (current 1, first 0), graph weight 1, all other maps 1.

    mean 1.5; at node 0 q = 1 + 1.5 = 2.5. Glimpse over both nodes: scores 2.5 and 5, weights σ(-2.5) = 0.0758582 and
    0.9241418, g = 0.0758582 + 2 · 0.9241418 = 1.9241418. Logits 10 tanh(g h_j): 10 tanh(1.9241418) = 9.5825722 and
    10 tanh(3.8482836) = 9.9909164. With node 0 not allowed g = 2 and the only logit is 10 tanh(4) = 9.9932930.
    """
    network = GAM(get_problem("tsp").spec, Shape(width=1, heads=1, hidden=1, encoder_layers=1))
    decoder = network.decoder
    with torch.no_grad():
        decoder.context.weight.copy_(torch.tensor([[1.0, 0.0]]))
        for map_ in (decoder.graph, decoder.key, decoder.value, decoder.output, decoder.pointer):
            map_.weight.fill_(1.0)
    encoded = network.encode(Features(torch.zeros(1, 2, 2), None, torch.zeros(1, 2, 2, 1)))
    encoded = replace(encoded, nodes=torch.tensor([[[1.0], [2.0]]]))
    here = torch.zeros(1, 2, dtype=torch.long)
    view = View(here, here, torch.zeros(1, 2, 0), torch.tensor([[[True, True], [False, True]]]))
    expected = torch.tensor([[[9.5825722, 9.9909164], [-torch.inf, 9.9932930]]])
    for textbook in (True, False):
        torch.testing.assert_close(network.step(network.prepare(encoded), view, textbook), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("layers", "expected"), [(3, 692_736), (6, 1_286_016), (9, 1_879_296), (12, 2_472_576)])
def test_parameter_counts_of_the_papers_symnco_row(layers, expected):
    """0.69, 1.29, 1.88 and 2.47 M on VRPTW: 197,760 per layer, 98,432 in the decoder, 1,024 at the inputs."""
    network = GAM(get_problem("vrptw").spec, Shape(encoder_layers=layers, norm="batch"))
    assert sum(parameter.numel() for parameter in network.parameters()) == expected
    assert sum(parameter.numel() for parameter in network.encoder.layers[0].parameters()) == 197_760
    assert sum(parameter.numel() for parameter in network.decoder.parameters()) == 98_432


def test_parameter_counts_of_the_others():
    """POMO on CVRP: 6 layers of 197,760 + 128 (the output's bias); inputs 3·128 + 128 and 2·128 + 128; decoder: context
    129·128, keys and values 2·128², output 128² + 128. An attention of GATv2 has 2·128² + 128 in the place of 4·128².
    """
    network = NETWORKS["pomo"](get_problem("cvrp").spec, Shape(encoder_layers=6))
    assert sum(p.numel() for p in network.parameters()) == 6 * 197_888 + 512 + 384 + 16_512 + 2 * 16_384 + 16_512
    gatv2 = NETWORKS["gatv2"](get_problem("vrptw").spec, Shape(encoder_layers=3))
    assert sum(p.numel() for p in gatv2.parameters()) == 692_736 - 3 * (2 * 128**2 - 128)


@pytest.mark.parametrize("name", RIVALS)
def test_permuted_nodes_permute_the_output(name):
    problem = get_problem("tsp")
    batch, network = case(problem, name)
    order = torch.randperm(SIZE)
    features = problem.features(batch)
    mixed = Features(features.nodes[:, order], None, features.edges[:, order][:, :, order])
    plain, permuted = network.encode(features), network.encode(mixed)
    torch.testing.assert_close(permuted.nodes, plain.nodes[:, order], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", RIVALS)
def test_a_batch_is_many_batches_of_one(name):
    """In evaluation, when batch norm has its running statistics."""
    problem = get_problem("vrptw")
    batch, network = case(problem, name)
    features = problem.features(batch)
    network.train().encode(features)
    network.eval()
    together = network.encode(features).nodes
    for k in range(B):
        alone = network.encode(map_tensors(features, lambda tensor, k=k: tensor[k : k + 1])).nodes
        torch.testing.assert_close(alone[0], together[k], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", RIVALS)
def test_missing_edges_are_not_looked_at_nor_taken(name):
    problem = get_problem("tsp")
    batch, network = case(problem, name)
    features = problem.features(batch)
    apart = torch.zeros(SIZE, SIZE, dtype=torch.bool)
    apart[:4, :4] = apart[4:, 4:] = True  # two halves that know nothing of each other
    features.adjacency = apart.expand(B, -1, -1)
    network.eval()  # batch norm would mix them
    moved = replace(features, nodes=features.nodes + 0.3 * (torch.arange(SIZE) >= 4)[:, None])
    encoded, other = (network.encode(either) for either in (features, moved))
    torch.testing.assert_close(encoded.nodes[:, :4], other.nodes[:, :4], rtol=0, atol=1e-12)
    assert (encoded.nodes[:, 4:] - other.nodes[:, 4:]).abs().max() > 1e-3
    here = torch.zeros(B, 1, dtype=torch.long)
    view = View(here, here, torch.zeros(B, 1, 0, dtype=torch.float64), torch.ones(B, 1, SIZE, dtype=torch.bool))
    for textbook in (True, False):
        logits = network.step(network.prepare(encoded), view, textbook)
        assert (logits[..., 4:] == -torch.inf).all() and logits[..., :4].isfinite().all()


@pytest.mark.parametrize("name", RIVALS)
def test_mixed_precision_runs_and_is_near(name):
    problem = get_problem("tsp")
    batch, network = case(problem, name)
    network.float()
    features = problem.features(map_tensors(batch, lambda tensor: tensor.float()))
    exact = network.encode(features)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = network.encode(features)
        here = torch.zeros(B, 1, dtype=torch.long)
        view = View(here, here, torch.zeros(B, 1, 0), torch.ones(B, 1, SIZE, dtype=torch.bool))
        logits = network.step(network.prepare(rough), view)
    logits.float().sum().backward()
    assert (rough.nodes.float() - exact.nodes).abs().mean() < 0.05


@pytest.mark.parametrize("name", RIVALS)
def test_one_glimpse_only(name):
    with pytest.raises(BadInput, match=f"decoder_layers is 2; {name} has one glimpse"):
        NETWORKS[name](get_problem("tsp").spec, replace(SMALL, decoder_layers=2))
