"""The five nodes of test_tsp.py, 100 times as large."""

import numpy as np
import pytest
import torch

from egam.errors import BadInput
from egam.problems import get_problem
from egam.problems.tsptw import TSPTW

COORDS = np.array([[[0.0, 0], [30, 0], [30, 40], [0, 40], [60, 40]]])
WINDOW = np.array([[[0.0, 1000], [50, 100], [0, 80], [100, 145], [0, 200]]])
ARRAYS = {"coords": COORDS, "window": WINDOW}


def roll(batch, actions):
    problem = TSPTW()
    state = problem.start(batch, torch.zeros(1, 1, dtype=torch.long))
    times = []
    for action in actions:
        assert problem.allowed(batch, state)[0, 0, action]
        state = problem.step(batch, state, torch.tensor([[action]]))
        times.append(state.time.item())
    assert state.done.item()
    return times, problem.cost(batch, state).item(), problem.penalty(batch, state).item()


def test_late_tour():
    # 1: at 30, waits until 50; 2: at 90, 10 late; 3: at 120; 4: at 180. Length 30 + 40 + 30 + 60 + 72.11 = 232.11
    times, cost, penalty = roll(TSPTW().to_batch(ARRAYS), (1, 2, 3, 4))
    assert times == pytest.approx([0.5, 0.9, 1.2, 1.8])
    assert cost == pytest.approx(2.321110, abs=1e-6)
    assert penalty == pytest.approx(1 + 0.1)  # one late node + its lateness


def test_feasible_tour_is_not_penalised():
    # 2: at 50; 1: at 90; 3: at 140; 4: at 200, just in time. Length 50 + 40 + 50 + 60 + 72.11 = 272.11
    times, cost, penalty = roll(TSPTW().to_batch(ARRAYS), (2, 1, 3, 4))
    assert times == pytest.approx([0.5, 0.9, 1.4, 2.0])
    assert cost == pytest.approx(2.721110, abs=1e-6)
    assert penalty == 0


def test_features_and_context():
    # node 0 closes at max(100 + 30, 80 + 50, 145 + 40, 200 + 72.11) = 272.11
    problem = TSPTW()
    batch = problem.to_batch(ARRAYS)
    assert batch.window[0, 0].tolist() == pytest.approx([0, 2.721110], abs=1e-6)
    assert problem.features(batch).nodes[0, 1].tolist() == pytest.approx([0.3, 0, 0.5 / 2.721110, 1 / 2.721110])
    state = problem.start(batch, torch.zeros(1, 1, dtype=torch.long))
    state = problem.step(batch, state, torch.tensor([[1]]))
    assert problem.allowed(batch, state)[0, 0].tolist() == [False, False, True, True, True]
    assert problem.context(batch, state)[0, 0].tolist() == pytest.approx([0.5 / 2.721110])
    assert problem.to_solution([0, 1, 2, 3, 4]).routes == ((1, 2, 3, 4),)


def test_times_count_from_node_0s_opening():
    late_shift = {"coords": COORDS, "window": WINDOW + 480}  # the same day, from 8 o'clock on
    assert roll(TSPTW().to_batch(late_shift), (1, 2, 3, 4)) == roll(TSPTW().to_batch(ARRAYS), (1, 2, 3, 4))


@pytest.mark.parametrize(("variant", "low", "high"), [("easy", 0.5, 0.75), ("medium", 0.1, 0.2)])
def test_generated_windows(variant, low, high):
    arrays = TSPTW(variant=variant).generate(np.random.default_rng(1), 200, 20)  # time span 55 * 20 = 1100
    starts, ends = arrays["window"][:, 1:, 0], arrays["window"][:, 1:, 1]
    assert (arrays["window"][:, 0] == [0, 2200]).all()
    assert starts.min() >= 0 and 1090 < starts.max() < 1100 and (starts == starts.round()).all()
    assert (ends - starts).min() >= 1100 * low and (ends - starts).max() <= 1100 * high
    assert arrays["coords"].shape == (200, 20, 2) and 99 < arrays["coords"].max() < 100


def test_hard_windows_hold_a_tour():
    problem = TSPTW(variant="hard")
    arrays = problem.generate(np.random.default_rng(1), 100, 5)
    batch = problem.to_batch(arrays)
    widths = arrays["window"][:, 1:, 1] - arrays["window"][:, 1:, 0]
    assert widths.min() > 0 and widths.max() <= 100
    orders = torch.tensor([[a, b, c, d] for a in range(1, 5) for b in range(1, 5) for c in range(1, 5)
                           for d in range(1, 5) if len({a, b, c, d}) == 4])  # fmt: skip
    state = problem.start(batch, torch.zeros(100, 24, dtype=torch.long))
    for action in orders.T:
        state = problem.step(batch, state, action.expand(100, 24))
    assert (problem.penalty(batch, state).amin(1) == 0).all()


def test_beta_weighs_the_penalty():
    one, five = get_problem("tsptw", "hard"), get_problem("tsptw", "hard", beta=5.0)
    batch = one.to_batch(one.generate(np.random.default_rng(0), 4, 8))
    state = one.start(batch, torch.zeros(4, 1, dtype=torch.long))
    for node in range(1, 8):
        state = one.step(batch, state, torch.full((4, 1), node))
    assert (one.penalty(batch, state) > 0).all()
    torch.testing.assert_close(five.penalty(batch, state), 5 * one.penalty(batch, state))


def test_only_what_penalises_has_a_beta():
    with pytest.raises(BadInput, match="beta 2 of cvrp: cvrp has no penalty that it could weigh"):
        get_problem("cvrp", beta=2.0)
