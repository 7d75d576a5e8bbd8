"""What a decoder is told of the time."""

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
        problem = get_problem(name, clock=clock)
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


def test_other_problems_have_no_clock():
    with pytest.raises(BadInput, match="clock 'stop' of tsp is unknown; accepted: paper"):
        get_problem("tsp", clock="stop")
    with pytest.raises(BadInput, match=r"clock 'stpo' of vrptw is unknown \(did you mean 'stop'\?\)"):
        get_problem("vrptw", clock="stpo")
