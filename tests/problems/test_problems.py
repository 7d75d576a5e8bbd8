"""What holds for every problem and variant: the table, the contract, random rollouts, units."""

from dataclasses import fields

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from egam.errors import BadInput
from egam.instance import KINDS
from egam.problems import PROBLEMS, get_problem
from egam.problems.base import stack, unstack

EVERY = [(name, variant) for name, (_, variants) in PROBLEMS.items() for variant in variants or ("",)]


def rollout(problem, batch, starts, choose):
    """Steps until all rollouts are done; `choose` picks from what is allowed. Final state and the actions."""
    state, actions = problem.start(batch, starts), []
    limit = 2 * batch.travel.shape[1] + 1
    while not state.done.all():
        assert len(actions) < limit, "the rollout does not end"
        allowed = problem.allowed(batch, state)
        assert allowed.any(-1).all()
        actions.append(choose(allowed, len(actions)))
        assert allowed.gather(2, actions[-1][..., None]).all()
        state = problem.step(batch, state, actions[-1])
    return state, torch.stack(actions)


def at_random(allowed, _):
    return torch.rand(allowed.shape).masked_fill(~allowed, -1).argmax(-1)


def test_the_table_has_every_kind():
    assert list(PROBLEMS) == list(KINDS)
    for name, variant in EVERY:
        problem = get_problem(name, variant)
        assert (problem.name, problem.variant) == (name, variant)
        assert problem.spec.directed == KINDS[name].directed
    assert get_problem("tsptw").variant == get_problem("tspdl").variant == "medium"
    assert get_problem("atsp").variant == "road"


@pytest.mark.parametrize(
    ("name", "variant", "found"),
    [
        ("tspwt", "", "did you mean 'tsptw'.*accepted: tsp, "),
        ("tsptw", "mediun", "did you mean 'medium'.*accepted: medium, easy, hard"),
        ("atsp", "xyz", "accepted: road, matrix"),
        ("tsp", "easy", "no variants"),
    ],
)
def test_unknown_names(name, variant, found):
    with pytest.raises(BadInput, match=found):
        get_problem(name, variant)


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_sizes(name, variant):
    problem = get_problem(name, variant)
    extra = name in ("cvrp", "pctsp", "vrptw")
    batch = problem.to_batch(problem.generate(np.random.default_rng(0), 2, 7))
    assert batch.travel.shape == (2, 7 + extra, 7 + extra)
    with pytest.raises(BadInput, match="size 1 of"):
        problem.generate(np.random.default_rng(0), 2, 1)


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_features_have_the_shapes_of_the_spec(name, variant):
    problem = get_problem(name, variant)
    spec = problem.spec
    batch = problem.to_batch(problem.generate(np.random.default_rng(0), 2, 6))
    nodes = batch.travel.shape[1]
    features = problem.features(batch)
    assert features.nodes.shape == (2, nodes, spec.node_features)
    assert (features.depot is None) == (spec.depot_features == 0)
    assert features.depot is None or features.depot.shape == (2, spec.depot_features)
    assert features.edges.shape == (2, nodes, nodes, spec.edge_features)
    state = problem.start(batch, torch.zeros(2, 3, dtype=torch.long))
    assert problem.context(batch, state).shape == (2, 3, spec.context_features)
    assert all(field.dtype == torch.float32 for field in (features.nodes, features.edges, problem.cost(batch, state)))


@pytest.mark.parametrize(("name", "variant"), EVERY)
@settings(deadline=None, max_examples=8)
@given(size=st.integers(5, 12), seed=st.integers(0, 10_000))
def test_random_rollouts_end_and_stay_ended(name, variant, size, seed):
    torch.manual_seed(seed)
    problem = get_problem(name, variant)
    batch = problem.to_batch(problem.generate(np.random.default_rng(seed), 3, size))
    nodes = batch.travel.shape[1]
    state, actions = rollout(problem, batch, torch.randint(nodes, (3, 4)), at_random)
    for node in range(1, nodes):
        assert ((actions == node).sum(0) <= 1).all()
    if not KINDS[name].optional_stops:
        assert state.visited.all()

    only = torch.nn.functional.one_hot(state.first, nodes).bool()
    assert torch.equal(problem.allowed(batch, state), only)
    after = problem.step(batch, state, state.first)
    for field in fields(state):
        if field.name != "current" or problem.spec.depot_features:  # the tours of tsp.py may walk home
            assert torch.equal(getattr(after, field.name), getattr(state, field.name)), field.name

    solution = problem.to_solution([int(problem.start(batch, state.first).current[0, 0]), *actions[:, 0, 0].tolist()])
    assert 0 not in solution.visits and len(set(solution.visits)) == len(solution.visits)
    assert len(solution.routes) <= 1 or KINDS[name].many_routes


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_the_users_units_do_not_matter(name, variant):
    torch.manual_seed(1)
    problem = get_problem(name, variant)
    arrays = problem.generate(np.random.default_rng(1), 4, 8)
    batch = problem.to_batch(arrays)
    starts = torch.zeros(4, 5, dtype=torch.long)
    state, actions = rollout(problem, batch, starts, at_random)
    larger = {
        field: values * (37.0 if field in ("coords", "matrix", "penalty", "window") else 3.0)
        for field, values in arrays.items()
    }
    user = problem.to_batch(stack(unstack(name, larger)), generated=False)
    user_state, _ = rollout(problem, user, starts, lambda _, step: actions[step])
    if name == "vrptw":  # costs count customers
        assert torch.equal(problem.cost(user, user_state), problem.cost(batch, state))
    else:
        raw = problem.cost(batch, state) * batch.unit[:, None]
        torch.testing.assert_close(problem.cost(user, user_state) * user.unit[:, None], 37 * raw)
    assert torch.equal(problem.penalty(user, user_state) == 0, problem.penalty(batch, state) == 0)
    assert user.coords.min() >= 0 and user.coords.max() <= 1


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_generators_use_the_given_source_only(name, variant):
    problem = get_problem(name, variant)
    first, second = (problem.generate(np.random.default_rng(5), 3, 9) for _ in range(2))
    assert first.keys() == second.keys() and all((first[field] == second[field]).all() for field in first)


def scaled_travel(coords, matrix):
    """[N, N] as a network sees it."""
    batch = get_problem("atsp").to_batch({"coords": coords[None], "matrix": matrix[None]}, generated=False)
    return batch.travel[0].double().numpy(), float(batch.unit[0])


def test_a_matrix_is_measured_against_the_map():
    """A map 1000 wide and 10 high: its side stands for 1. Rounded lengths must come out like the lengths themselves
    and not with the largest as the square's diagonal; nor may seconds at 0.05 per unit change what is seen."""
    rng = np.random.default_rng(0)
    coords = rng.random((30, 2)) * [1000, 10]
    coords[:2] = [[0, 0], [1000, 0]]
    lengths = np.sqrt(((coords[:, None] - coords[None, :]) ** 2).sum(-1))
    seen, unit = scaled_travel(coords, np.round(lengths))
    assert unit == pytest.approx(1000, rel=0.01)
    assert np.abs(seen - lengths / 1000).max() < 0.01
    seconds, _ = scaled_travel(coords, lengths * 0.05)
    assert np.abs(seconds - lengths / 1000).max() < 1e-6


def test_a_matrix_that_has_nothing_to_do_with_its_map_is_measured_by_its_largest_entry():
    matrix = np.ones((4, 4)) - np.eye(4)
    matrix[0, 1] = 3.9
    apart = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]]) / 1.5
    for coords in (np.zeros((4, 2)), apart):  # on one point; far apart, but one way is 4 times the others
        seen, unit = scaled_travel(coords, matrix)
        assert unit == pytest.approx(3.9 / 2**0.5)
        assert seen.max() == pytest.approx(2**0.5)


def test_an_entry_that_forbids_a_way_does_not_squeeze_the_others():
    """Nine tenths of the entries are 1 or less, so that what is above 4 counts as 4: a unit is 4 / sqrt(2)."""
    matrix = np.ones((4, 4)) - np.eye(4)
    matrix[0, 1] = 1e9
    problem = get_problem("atsp")
    batch = problem.to_batch({"matrix": matrix[None]}, generated=False)
    assert batch.unit.item() == pytest.approx(4 / 2**0.5)
    assert batch.travel[0, 0, 1].item() == pytest.approx(1e9 * 2**0.5 / 4)  # costs stay what they are
    assert problem.features(batch).edges.max() == 3  # what the network sees does not
