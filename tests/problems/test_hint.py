"""What a decoder is told beside the paper's numbers: another clock, or an instance's levels."""

import math

import numpy as np
import pytest
import torch

from egam.errors import BadInput
from egam.problems import get_problem


@pytest.mark.parametrize("name", ["tsptw", "vrptw"])
def test_both_clocks_by_hand(name):
    """On a line: at stop 1 at 3, waiting to 5; at stop 2 at 6, which has been open since 2."""
    arrays = {
        "coords": np.array([[[0.0, 0], [3, 0], [4, 0]]]),
        "window": np.array([[[0.0, 40], [5, 9], [2, 20]]]),
    }
    told = {}
    for clock in ("paper", "stop"):
        problem = get_problem(name, hint=clock)
        batch = problem.to_batch(arrays, generated=False)
        length = float(batch.unit[0])
        state = problem.start(batch, torch.zeros(1, 1, dtype=torch.long))
        told[clock] = [problem.context(batch, state).item()]
        for node in (1, 2):
            state = problem.step(batch, state, torch.tensor([[node]]))
            told[clock].append(problem.context(batch, state).item())
            if bool(state.done.all()):  # the last stop: the vehicle counts as home, where the clock began at 0
                break
        horizon = float(batch.horizon[0])
    assert told["paper"] == pytest.approx([0, 5 / length / horizon, 6 / length / horizon])
    since = 4 if name == "vrptw" else 6  # TSPTW is done, and at node 0 again
    assert told["stop"] == pytest.approx([0, 0, since / length])


# Four nodes of the unit square; of each value the mean over the three customers and what is typical, where the level
# is 0. CVRP: demands 3 2 1 of 10. PCTSP: prizes .4 .6 .2 and penalties .1 .2 3, of which no more than 1 is seen. TSPDL:
# demands 2 1 1 of 4 and limits 4 3 9, no more than the load of 4. Time windows open at 3 0 6 and are 3 5 4 wide; the
# horizon is 10, and for TSPTW √2 later.
SQUARE = np.array([[[0.0, 0], [1, 0], [0, 1], [1, 1]]])
WINDOWS = np.array([[0.0, 12], [3, 6], [0, 5], [6, 10]])
LATER = 10 + 2**0.5
BY_HAND = {
    "cvrp": ({"demand": [0.0, 3, 2, 1], "capacity": 10.0}, [(0.2, 0.15)]),
    "pctsp": (
        {"prize": [0, 0.4, 0.6, 0.2], "penalty": [0, 0.1, 0.2, 3], "min_prize": 1.0},
        [(0.4, 0.07), (1.3 / 3, 0.12)],
    ),
    "tspdl": ({"demand": [0.0, 2, 1, 1], "draft_limit": [9.0, 4, 3, 9]}, [(1 / 3, 0.03), (2.75 / 3, 0.65)]),
    "tsptw": ({"window": WINDOWS}, [(3 / LATER, 0.45), (4 / LATER, 0.1), (LATER, 25)]),
    "vrptw": ({"window": WINDOWS}, [(0.3, 0.5), (0.4, 0.015), (10, 20)]),
}
SCALES = {"cvrp": (1, 1, 3), "pctsp": (1, 1, 8, 4)}  # of node features


@pytest.mark.parametrize("name", BY_HAND)
def test_levels_and_scales_by_hand(name):
    fields, means = BY_HAND[name]
    expected = [3 * math.log(mean / typical) for mean, typical in means]
    arrays = {"coords": SQUARE, **{field: np.array(value)[None] for field, value in fields.items()}}
    problem, plain = get_problem(name, hint="levels"), get_problem(name, hint="stop" if "tw" in name else "paper")
    batch, before = (each.to_batch(arrays, generated=False) for each in (problem, plain))
    depot = problem.features(batch).depot
    assert depot.shape == (1, problem.spec.depot_features)
    assert depot[0].tolist() == pytest.approx([0, 0, *expected], rel=1e-5)
    seen, before_scaling = problem.features(batch).nodes, plain.features(before).nodes
    assert torch.equal(seen, before_scaling * torch.tensor(SCALES.get(name, (1, 1, 1, 1))))
    action = torch.tensor([[2, 1]])  # the first of them changes what the context said before
    states = [each.start(given, torch.zeros_like(action)) for each, given in ((problem, batch), (plain, before))]
    for step in range(2):
        told, known = problem.context(batch, states[0]), plain.context(before, states[1])
        assert told.shape == (1, 2, problem.spec.context_features)
        assert torch.equal(told[..., :1], known)
        for rollout in range(2):
            assert told[0, rollout, 1 : 1 + len(means)].tolist() == pytest.approx(expected, rel=1e-5), step
        states = [
            each.step(given, state, action)
            for each, given, state in zip((problem, plain), (batch, before), states, strict=True)
        ]


@pytest.mark.parametrize(
    ("name", "hint", "found"),
    [
        ("tsp", "stop", "hint 'stop' of tsp is unknown; accepted: paper"),
        ("vrptw", "stpo", r"hint 'stpo' of vrptw is unknown \(did you mean 'stop'\?\); accepted: paper, stop, levels"),
        ("pctsp", "stop", "hint 'stop' of pctsp is unknown; accepted: paper, levels"),
    ],
)
def test_other_problems_have_other_hints(name, hint, found):
    with pytest.raises(BadInput, match=found):
        get_problem(name, hint=hint)


def test_little_missing_prize_is_told_at_the_scale_of_prizes():
    """Prizes .4 .6 .2: after customer 2 .4 is missing, more than a quarter; after 1 and 2 nothing; after 2 and 3 .2."""
    fields, _ = BY_HAND["pctsp"]
    problem = get_problem("pctsp", hint="levels")
    batch = problem.to_batch({"coords": SQUARE, **{field: np.array(value)[None] for field, value in fields.items()}})
    state = problem.start(batch, torch.zeros(1, 2, dtype=torch.long))
    told = []
    for action in ([2, 2], [1, 3]):
        state = problem.step(batch, state, torch.tensor([action]))
        told.append(problem.context(batch, state)[0, :, -1].tolist())
    assert told[0] == pytest.approx([2, 2])
    assert told[1] == pytest.approx([0, 8 * 0.2], abs=1e-5)


def test_a_level_of_nothing_is_a_number():
    """No prizes at all: as if a hundredth of what is typical."""
    fields = {"coords": SQUARE, "prize": np.zeros((1, 4)), "penalty": np.full((1, 4), 0.12), "min_prize": np.ones(1)}
    problem = get_problem("pctsp", hint="levels")
    depot = problem.features(problem.to_batch(fields)).depot
    assert depot[0, 2:].tolist() == pytest.approx([3 * math.log(0.01), 0], abs=1e-5)
