"""Shares of a batch on one core each: what they give, in which mode they run, and that nothing else changes."""

import threading

import pytest
import torch

from egam.nn.egam import EGAM, Shape
from egam.problems import get_problem
from egam.side_by_side import shares, side_by_side
from egam.train.reinforce import Draw, reinforce_step

CPU = torch.device("cpu")


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_shares_cover_everything_once(two_threads):
    for count in (1, 2, 7, 16):
        cuts = shares(count, CPU)
        assert [k for cut in cuts for k in range(count)[cut]] == list(range(count))
        assert len(cuts) == min(2, count)


def test_another_device_is_not_shared_out(two_threads):
    assert shares(8, torch.device("meta")) == [slice(0, 8)]


def test_tasks_run_at_once_on_one_core_each_and_answer_in_order(two_threads):
    both_are_here = threading.Barrier(2, timeout=20)

    def task(number):
        both_are_here.wait()
        return number, torch.get_num_threads()

    assert side_by_side([lambda: task(0), lambda: task(1)]) == [(0, 1), (1, 1)]
    assert torch.get_num_threads() == 2


def test_tasks_have_the_callers_modes(two_threads):
    def modes():
        return torch.is_grad_enabled(), torch.is_inference_mode_enabled()

    assert side_by_side([modes, modes]) == [(True, False)] * 2
    with torch.no_grad():
        assert side_by_side([modes, modes]) == [(False, False)] * 2
    with torch.inference_mode():
        assert side_by_side([modes, modes]) == [(False, True)] * 2


def test_an_error_of_a_task_is_the_callers(two_threads):
    def fails():
        raise ValueError("of the second")

    with pytest.raises(ValueError, match="of the second"):
        side_by_side([lambda: 1, fails])


@pytest.mark.parametrize("name", ["tsp", "cvrp", "vrptw"])
def test_a_training_step_gives_the_same_gradient_on_one_and_two_cores(name, two_threads):
    problem = get_problem(name)
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        network = EGAM(problem.spec, Shape(width=32, heads=4, hidden=64, encoder_layers=2))
        batch = problem.to_batch(Draw(3, 0).arrays(problem, 6, (7, 7)))
        report = reinforce_step(network, problem, batch, Draw(3, 0), 2, 3, 4)
        found.append((report, [parameter.grad for parameter in network.parameters()]))
    (one, first), (two, second) = found
    assert one.objective == pytest.approx(two.objective)
    assert one.loss == pytest.approx(two.loss, rel=1e-4)  # a sum of differences in single precision
    for a, b in zip(first, second, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)
