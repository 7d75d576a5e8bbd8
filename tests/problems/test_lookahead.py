"""The mask "lookahead": what it leaves, beside what brute force says."""

import itertools

import numpy as np
import pytest
import torch

from egam.decode import draws
from egam.decode.rollout import roll_out
from egam.errors import BadInput
from egam.judge import judge
from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem
from egam.problems.base import MASKS, TOLERANCE, unstack

SMALL = Shape(width=16, heads=2, hidden=32, encoder_layers=1)


def walks(problem, batch, random, steps=99):
    """States and masks along random rollouts of a batch, 4 for each instance."""
    state = problem.start(batch, torch.zeros(len(batch.travel), 4, dtype=torch.long))
    while not bool(state.done.all()) and steps:
        allowed = problem.allowed(batch, state)
        yield state, allowed
        noise = torch.from_numpy(random.random(allowed.shape)).masked_fill(~allowed, -1.0)
        state, steps = problem.step(batch, state, noise.argmax(-1)), steps - 1


def sampled(problem, count, size):
    batch = problem.to_batch(problem.generate(np.random.default_rng(5), count, size))
    network = EGAM(problem.spec, SMALL)
    keys = draws.keys(1, torch.arange(count), torch.arange(6))
    prepared = network.prepare(network.encode(problem.features(batch)))
    return roll_out(network, problem, batch, prepared, torch.zeros(count, 6, dtype=torch.long), keys)


def test_draft_limits_are_looked_ahead_exactly():
    """A port may be next if and only if some order of the others is feasible after it."""
    problem = get_problem("tspdl", "hard", "lookahead")
    arrays = problem.generate(np.random.default_rng(1), 12, 6)
    random = np.random.default_rng(2)
    arrays["demand"][:, 1:] = random.integers(1, 4, (12, 5))
    arrays["draft_limit"][:, 1:] = random.integers(2, 14, (12, 5))  # not all of these have a feasible order
    batch = problem.to_batch(arrays)
    paper = get_problem("tspdl", "hard")

    def possible(row, load, rest):
        for order in itertools.permutations(rest):
            loads = load + np.cumsum([float(batch.demand[row, port]) for port in order])
            if all(sum_ <= batch.limit[row, port] + TOLERANCE for sum_, port in zip(loads, order, strict=True)):
                return True
        return False

    masked = 0
    for state, allowed in walks(problem, batch, random):
        every = paper.allowed(batch, state)
        for row, number in itertools.product(range(12), range(4)):
            left = [port for port in range(6) if every[row, number, port]]
            load = float(state.load[row, number])
            good = []
            for port in left:
                after = load + float(batch.demand[row, port])
                others = [other for other in left if other != port]
                if after <= batch.limit[row, port] + TOLERANCE and possible(row, after, others):
                    good.append(port)
            expected = good or left
            assert [port for port in range(6) if allowed[row, number, port]] == expected
            masked += len(expected) < len(left)
    assert masked > 20


@pytest.mark.parametrize("variant", ["easy", "medium", "hard"])
def test_tours_with_draft_limits_are_feasible_even_untrained(variant):
    assert (sampled(get_problem("tspdl", variant, "lookahead"), 20, 15).penalty == 0).all()
    assert (sampled(get_problem("tspdl", variant), 20, 15).penalty > 0).any()


def in_time(batch, row, here, now, order):
    """Is each node of `order` reached in time, straight from one to the next, after service at `here` began `now`?"""
    for node in order:
        now = max(now + batch.travel[row, here, node], batch.window[row, node, 0])
        if now > batch.window[row, node, 1] + TOLERANCE:
            return False
        here = node
    return True


@pytest.mark.parametrize("table", [1, 1 << 22])  # one rollout or instance at a time, and all at once
@pytest.mark.parametrize("together", [7, 4, 1])  # all of the customers: exact; some; single ones
def test_time_windows_are_looked_ahead_by_groups(together, table, monkeypatch):
    monkeypatch.setattr("egam.problems.tsptw.TABLE", table)
    monkeypatch.setattr("egam.problems.in_time.TABLE", table)
    monkeypatch.setattr("egam.problems.in_time.MOST", 99)
    monkeypatch.setattr("egam.problems.in_time.TOGETHER", together)
    problem, paper = get_problem("tsptw", "medium", "lookahead"), get_problem("tsptw", "medium")
    batch = problem.to_batch(problem.generate(np.random.default_rng(1), 16, 8))
    by_deadline = 1 + batch.window[:, 1:, 1].argsort(dim=-1, stable=True)
    masked = dict.fromkeys(range(1, together + 1), 0)
    for state, allowed in walks(problem, batch, np.random.default_rng(2)):
        every = paper.allowed(batch, state)
        for row, number in itertools.product(range(16), range(4)):
            left = [node for node in range(8) if every[row, number, node]]
            here, now = int(state.current[row, number]), state.time[row, number]
            some = [set(by_deadline[row, at : at + together].tolist()) for at in range(7)]

            def keeps(node, most, left=left, row=row, here=here, now=now, some=some):
                if not in_time(batch, row, here, now, [node]):
                    return False
                time = max(now + batch.travel[row, here, node], batch.window[row, node, 0])
                others = [other for other in left if other != node]
                groups = [g for size in range(1, most + 1) for g in itertools.combinations(others, size)]
                return all(
                    any(in_time(batch, row, node, time, order) for order in itertools.permutations(group))
                    for group in groups
                    if len(group) == 1 or any(each.issuperset(group) for each in some)
                )

            good = {most: [node for node in left if keeps(node, most)] for most in range(1, together + 1)}
            expected = good[together] or good[1] or left
            assert [node for node in range(8) if allowed[row, number, node]] == expected
            for most in range(1, together + 1):
                masked[most] += len(good[most]) < len(good.get(most - 1, left))
    assert all(
        masked[most] > 3 for most in range(1, min(together, 4) + 1)
    )  # larger ones of eight nodes say nothing new


def test_of_too_many_tight_groups_the_tightest_are_looked_at():
    problem, rng = get_problem("tsptw", "medium", "lookahead"), np.random.default_rng(1)
    arrays = problem.generate(rng, 4, 12)
    arrays["window"][:, 1:] = [0, 300]  # all of them by the same time: every group may fail
    batch = problem.to_batch(arrays)
    assert batch.groups.shape == (4, 16 * 12, 12)
    few = batch.leave_by.masked_fill(batch.leave_by == np.inf, np.nan).nanmean(1)  # [B, M]
    assert (few[:, :20].mean(1) < few[:, -20:].mean(1)).all()


def test_windows_that_are_never_closed_and_few_nodes():
    """Of two customers the pair says something if neither can be the later one whenever the other is served."""
    problem = get_problem("tsptw", "medium", "lookahead")
    coords = np.array([[[0.0, 0], [10, 0], [0, 10]]])
    for ends, groups in (([11, 11], 1), ([11, 1000], 0), ([1000, 1000], 1)):
        window = np.array([[[0.0, 2000], [0, ends[0]], [0, ends[1]]]])
        batch = problem.to_batch({"coords": coords, "window": window})
        assert int(batch.groups.any(-1).sum()) == groups


def test_time_windows_are_met_more_often():
    late = {mask: (sampled(get_problem("tsptw", "hard", mask), 30, 10).penalty > 0).float().mean() for mask in MASKS}
    assert late["lookahead"] < late["paper"]


def test_the_best_vehicle_route_is_not_lost():
    """All routes of five customers under both masks: the same fewest customers are left out."""
    paper, ahead = get_problem("vrptw"), get_problem("vrptw", mask="lookahead")
    arrays = paper.generate(np.random.default_rng(3), 10, 5)
    arrays["window"][:, 1:] *= 0.1  # crowded, so that choices matter
    arrays["window"][:, 1:, 1] += 0.2
    batch = paper.to_batch(arrays)

    def fewest(problem, row):
        one = type(batch)(*(value[row : row + 1] for value in vars(batch).values()))
        best, states = 99.0, [problem.start(one, torch.zeros(1, 1, dtype=torch.long))]
        while states:
            state = states.pop()
            if bool(state.done.all()):
                best = min(best, float(problem.cost(one, state)))
                continue
            allowed = problem.allowed(one, state)[0, 0].nonzero().flatten().tolist()
            states += [problem.step(one, state, torch.tensor([[node]])) for node in allowed]
        return best

    found = [(fewest(paper, row), fewest(ahead, row)) for row in range(10)]
    assert all(a == b for a, b in found)
    assert len({a for a, _ in found}) > 1


def test_no_visit_of_the_vehicle_fails():
    problem = get_problem("vrptw", mask="lookahead")
    arrays = problem.generate(np.random.default_rng(5), 20, 20)
    rolled = sampled(problem, 20, 20)
    for instance, row in zip(unstack("vrptw", arrays), rolled.sequence.tolist(), strict=True):
        for sequence in row:
            solution = problem.to_solution(sequence)
            assert judge(instance, solution).cost == 20 - len(solution.visits)


@pytest.mark.parametrize("name", ["tsp", "atsp", "cvrp", "pctsp"])
def test_other_problems_have_the_papers_mask_alone(name):
    with pytest.raises(BadInput, match=f"mask 'lookahead' of {name} is unknown; accepted: paper"):
        get_problem(name, mask="lookahead")
