"""What a decoder is told beside the paper's numbers: another clock, or an instance's levels."""

import numpy as np
import pytest
import torch

from egam.errors import BadInput
from egam.problems import get_problem
from egam.problems.base import CLOCKS


@pytest.mark.parametrize("name", ["tsptw", "vrptw"])
def test_both_clocks_by_hand(name):
    """On a line: at stop 1 at 3, waiting to 5; at stop 2 at 6, which has been open since 2."""
    arrays = {
        "coords": np.array([[[0.0, 0], [3, 0], [4, 0]]]),
        "window": np.array([[[0.0, 40], [5, 9], [2, 20]]]),
    }
    told = {}
    for clock in CLOCKS:
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


def test_levels_of_pctsp_by_hand():
    """Prizes .4 .6 .2, penalties .1 .2 3 of three customers: means .4 and, as no more than 1 is seen, 1.3 / 3."""
    arrays = {
        "coords": np.array([[[0.0, 0], [1, 0], [0, 1], [1, 1]]]),
        "prize": np.array([[0, 0.4, 0.6, 0.2]]),
        "penalty": np.array([[0, 0.1, 0.2, 3.0]]),
        "min_prize": np.array([1.0]),
    }
    problem = get_problem("pctsp", hint="levels")
    batch = problem.to_batch(arrays)
    state = problem.start(batch, torch.zeros(1, 2, dtype=torch.long))
    assert problem.context(batch, state).shape == (1, 2, problem.spec.context_features)
    assert problem.context(batch, state)[0, 1].tolist() == pytest.approx([1, 4, 13 / 3])
    state = problem.step(batch, state, torch.tensor([[1, 2]]))
    assert problem.context(batch, state)[0, 0].tolist() == pytest.approx([0.6, 4, 13 / 3])
    assert problem.context(batch, state)[0, 1].tolist() == pytest.approx([0.4, 4, 13 / 3])


@pytest.mark.parametrize(
    ("name", "hint", "found"),
    [
        ("tsp", "stop", "hint 'stop' of tsp is unknown; accepted: paper"),
        ("vrptw", "stpo", r"hint 'stpo' of vrptw is unknown \(did you mean 'stop'\?\); accepted: paper, stop"),
        ("pctsp", "stop", "hint 'stop' of pctsp is unknown; accepted: paper, levels"),
    ],
)
def test_other_problems_have_other_hints(name, hint, found):
    with pytest.raises(BadInput, match=found):
        get_problem(name, hint=hint)
