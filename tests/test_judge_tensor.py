"""What the problems compute in tensors is what the judge computes in plain Python, for random rollouts of them all."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from egam.instance import KINDS
from egam.judge import judge
from egam.problems import PROBLEMS, get_problem
from egam.problems.base import unstack

CASES = [(name, variant) for name, (_, variants) in PROBLEMS.items() for variant in (variants or ("",))]
INSTANCES, ROLLOUTS = 6, 8


def random_rollouts(problem, batch, rng):
    """[B, S, T] node sequences, their starts included, and the final state."""
    size = batch.travel.shape[1]
    starts = torch.from_numpy(rng.integers(0, size, (INSTANCES, ROLLOUTS)))
    state = problem.start(batch, starts)
    nodes = [state.current]
    for _ in range(3 * size):
        if state.done.all():
            return torch.stack(nodes, -1), state
        allowed = problem.allowed(batch, state).numpy()
        assert allowed.any(-1).all()
        action = torch.from_numpy((rng.random(allowed.shape) * allowed).argmax(-1))
        state = problem.step(batch, state, action)
        nodes.append(action)
    raise AssertionError("a rollout did not end")


@pytest.mark.parametrize("generated", [True, False], ids=["generated", "users"])
@pytest.mark.parametrize("size", [4, 9, 20])
@pytest.mark.parametrize(("name", "variant"), CASES)
def test_tensor_cost_and_penalty_equal_the_judge(name, variant, size, generated):
    problem = get_problem(name, variant)
    rng = np.random.default_rng([size, generated, *name.encode(), *variant.encode()])
    arrays = problem.generate(rng, INSTANCES, size)
    if not generated:  # somebody's own map: elsewhere, larger, and the day does not start at 0
        for field in {"coords", "matrix", "penalty", "window"} & set(arrays):
            arrays[field] = arrays[field] * 37.0
        for field, shift in (("coords", -5000.0), ("window", 480.0)):
            if field in arrays:
                arrays[field] = arrays[field] + shift
    instances = unstack(name, arrays)
    batch = problem.to_batch(arrays, generated)
    sequences, state = random_rollouts(problem, batch, rng)
    unit = 1.0 if KINDS[name].cost == "unserved" else batch.unit[:, None].double()
    costs = (problem.cost(batch, state).double() * unit).numpy()
    penalties = problem.penalty(batch, state).numpy()
    outcomes = set()
    for b, instance in enumerate(instances):
        for s in range(ROLLOUTS):
            verdict = judge(instance, problem.to_solution(sequences[b, s].tolist()))
            assert costs[b, s] == pytest.approx(verdict.cost, rel=2e-5, abs=1e-9)
            assert (penalties[b, s] == 0) == verdict.feasible, verdict.violations
            outcomes.add(verdict.feasible)
    if name in ("tsptw", "tspdl") and size > 4:
        assert False in outcomes  # the comparison has seen something
