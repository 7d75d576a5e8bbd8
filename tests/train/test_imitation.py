"""Learning from a solver's solutions: orders that mean the same, forced rollouts, gradients, runs, files."""

import json

import numpy as np
import pytest
import torch

from egam import judge
from egam.bench.lessons import make_lessons
from egam.decode.rollout import follow
from egam.errors import BadInput
from egam.nn.egam import EGAM, Shape
from egam.problems import PROBLEMS, get_problem
from egam.problems.base import unstack
from egam.solution import Solution
from egam.solvers import solve_classical
from egam.train.config import TrainConfig
from egam.train.imitation import draw_orders, imitation_step, orders, variety
from egam.train.lessons import read_lessons
from egam.train.reinforce import Draw
from egam.train.trainer import Trainer
from egam.weights import read_tensors

SMALL = Shape(width=32, heads=4, hidden=64, encoder_layers=2)
TINY = TrainConfig(
    size="6-7", batch=4, n=3, steps=6, width=16, heads=2, hidden=32, encoder_layers=1, validation_count=4,
    report_every=2, validate_every=2, checkpoint_every=2,
)  # fmt: skip


def solved(name, batch=5, size=7, seed=0):
    """Instances and solutions of a plain rule that never fails on these problems."""
    problem = get_problem(name)
    arrays = problem.generate(np.random.default_rng(seed), batch, size)
    routes = [solve_classical("cheapest-insertion", each, 1).routes for each in unstack(name, arrays)]
    return problem, arrays, routes


def quiet(text):
    pass


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_order_builds_the_same_solution(name):
    problem, arrays, routes = solved(name)
    sequences = draw_orders(problem, routes, 2, 6, np.random.default_rng(1))  # two copies: instances twice
    doubled = {field: np.concatenate([values, values]) for field, values in arrays.items()}
    rollout, followed = follow(problem, problem.to_batch(doubled), sequences)
    assert followed.all()
    for number, instance in enumerate(unstack(name, arrays)):
        expected = judge(instance, Solution.of(routes[number])).cost
        for row in (number, number + len(routes)):
            for sequence in rollout.sequence[row].tolist():
                found = judge(instance, problem.to_solution(sequence))
                assert found.cost == pytest.approx(expected, rel=1e-9)


def test_orders_by_hand():
    rng = np.random.default_rng(0)
    tours = orders(get_problem("tsp"), [[1, 2, 3]], 8, rng)  # eight of the 4 starts x 2 directions
    assert {tuple(tour) for tour in tours} <= {
        (0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2), (3, 2, 1, 0), (2, 1, 0, 3), (1, 0, 3, 2), (0, 3, 2, 1)
    }  # fmt: skip
    assert {tour[0] for tour in tours[:4]} == {0, 1, 2, 3}  # starts differ while there are some
    ways = {tuple(way) for _ in range(40) for way in orders(get_problem("cvrp"), [[1, 2], [3]], 2, rng)}
    assert ways == {(0, 1, 2, 0, 3, 0), (0, 2, 1, 0, 3, 0), (0, 3, 0, 1, 2, 0), (0, 3, 0, 2, 1, 0)}
    assert sorted(orders(get_problem("pctsp"), [[3, 1]], 2, rng)) == [[0, 1, 3, 0], [0, 3, 1, 0]]
    assert orders(get_problem("tsptw"), [[3, 1, 2]], 1, rng) == [[0, 3, 1, 2, 0]]
    assert orders(get_problem("atsp"), [[1, 2]], 3, rng) != orders(get_problem("atsp"), [[2, 1]], 3, rng)
    assert [variety(get_problem(name), 8) for name in PROBLEMS if name not in ("tsp", "atsp", "cvrp")] == [2, 1, 1, 1]


def test_who_is_sent_where_nobody_may_go_does_not_count():
    problem, arrays, routes = solved("cvrp")
    sequences = draw_orders(problem, routes, 1, 2, np.random.default_rng(1))
    sequences[0, 0, 2] = sequences[0, 0, 1]  # a customer twice
    _, followed = follow(problem, problem.to_batch(arrays), sequences)
    assert not followed[0, 0] and followed.sum() == followed.numel() - 1


def gradient(name, micro=99, rank=0, world=1):
    problem, arrays, routes = solved(name, batch=4)
    torch.manual_seed(0)
    network = EGAM(problem.spec, SMALL)
    sequences = draw_orders(problem, routes, 2, 3, np.random.default_rng(2)).unflatten(0, (2, -1))
    mine = slice(rank, None, world)
    batch = problem.to_batch({field: values[mine] for field, values in arrays.items()})
    report = imitation_step(network, problem, batch, sequences[:, mine].flatten(0, 1), Draw(3, 5, rank, world), micro)
    return torch.cat([parameter.grad.flatten() for parameter in network.parameters()]), report


@pytest.mark.parametrize("name", ["tsp", "cvrp", "vrptw"])
def test_micro_batches_have_the_gradient_of_the_batch(name):
    whole, report = gradient(name)
    parts, same = gradient(name, micro=3)
    torch.testing.assert_close(whole, parts, rtol=1e-4, atol=1e-6)
    assert report.loss == pytest.approx(same.loss, rel=1e-5)


def test_two_processes_have_the_gradient_of_one():
    whole, _ = gradient("tsp")  # equal sizes: as many decisions in each share
    shares = [gradient("tsp", rank=rank, world=2)[0] for rank in range(2)]
    torch.testing.assert_close(whole, shares[0] + shares[1], rtol=1e-4, atol=1e-6)


@pytest.fixture(scope="module")
def lessons(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lessons")
    made = make_lessons(get_problem("tsp"), (6, 7), 12, "held-karp", 1.0, 7, 1, folder, "egam lessons ..")
    assert made == {6: 12, 7: 12}
    return folder


def test_a_network_learns_what_it_is_shown(lessons, tmp_path):
    config = TrainConfig(**{**vars(TINY), "lessons": str(lessons), "steps": 60, "lr": 3e-3, "width": 32})
    trainer = Trainer.fresh(config, tmp_path / "run", say=quiet)
    losses = []
    trainer.train(lambda now: losses.append(now._imitate(Draw(9, 9)).loss) if now.step in (1, 60) else None)
    assert losses[1] < 0.6 * losses[0]


def test_a_killed_and_resumed_run_equals_an_unbroken_one(lessons, tmp_path):
    config = TrainConfig(**{**vars(TINY), "lessons": str(lessons)})
    Trainer.fresh(config, tmp_path / "whole", say=quiet).train()

    def kill(running):
        if running.step == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Trainer.fresh(config, tmp_path / "broken", say=quiet).train(kill)
    Trainer.resumed(tmp_path / "broken", say=quiet).train()
    whole, broken = (read_tensors(tmp_path / name / "state.safetensors")[0] for name in ("whole", "broken"))
    assert all(torch.equal(whole[key], broken[key]) for key in whole)
    trained = json.loads((tmp_path / "whole" / "config.json").read_text())["trained"]
    assert trained["lessons"] == {"solver": "held-karp", "instances": 24} and str(lessons) not in trained["recipe"]


def test_lessons_come_back_as_they_were_made(lessons):
    read = read_lessons(lessons, get_problem("tsp"), (7, 7))
    assert list(read.arrays) == [7] and len(read.routes[7]) == 12
    arrays, routes = read.draw(np.random.default_rng(0), 5, 7)
    for instance, each in zip(unstack("tsp", arrays), routes, strict=True):
        best = judge(instance, solve_classical("held-karp", instance, 1)).cost
        assert judge(instance, Solution.of(each)).cost == pytest.approx(best)


def test_the_same_command_again_makes_nothing_new_and_another_one_is_refused(lessons):
    before = (lessons / "6.npz").stat().st_mtime_ns
    problem = get_problem("tsp")
    assert make_lessons(problem, (6, 6), 12, "held-karp", 1.0, 7, 1, lessons, "") == {6: 12}
    assert (lessons / "6.npz").stat().st_mtime_ns == before
    with pytest.raises(BadInput, match=r"6\.npz: was made with count 12, not 13"):
        make_lessons(problem, (6, 6), 13, "held-karp", 1.0, 7, 1, lessons, "")


@pytest.mark.parametrize(
    ("name", "sizes", "sentence"),
    [("tsp", (8, 9), "holds no lessons of size 8 to 9"), ("cvrp", (6, 6), "lessons of tsp; those of cvrp")],
)
def test_lessons_that_do_not_fit_are_refused(lessons, name, sizes, sentence):
    with pytest.raises(BadInput, match=sentence):
        read_lessons(lessons, get_problem(name), sizes)


def test_a_size_of_which_nothing_can_be_solved_is_left_out(tmp_path):
    problem, rule = get_problem("tsptw"), "earliest-deadline"  # of seed 0 it solves two of N = 5 and none of N = 6
    assert make_lessons(problem, (5, 6), 2, rule, 1.0, 0, 1, tmp_path, "") == {5: 2, 6: 0}
    assert list(read_lessons(tmp_path, problem, (5, 6)).arrays) == [5]
    with pytest.raises(BadInput, match="earliest-deadline solved none of the instances"):
        make_lessons(problem, (6, 6), 2, rule, 1.0, 0, 1, tmp_path, "")
