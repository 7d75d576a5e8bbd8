"""From options to lanes, batches and `egam.solve`, without HTTP."""

import threading
import time

import pytest

from egam.errors import BadInput
from egam.instance import KINDS
from egam.serve import work
from egam.serve.apart import solve_apart
from egam.serve.asked import Options
from egam.serve.engine import Engine
from egam.serve.limits import Limits, Refusal
from egam.serve.metrics import Metrics
from egam.solve import solve
from serve.made import random_instance

GREEDY = Options(decoding="greedy")


@pytest.fixture(scope="module")
def engine():
    engine = Engine(Limits(seconds=5), Metrics())
    yield engine
    assert engine.close(30)


def lane(engine, problem, size, options):
    (job,) = engine.put([random_instance(problem, size)], options)
    name = next(lane.name for lane in engine.lanes if lane is engine._lane(job.task))
    engine.forget([job])
    return name


def test_lanes(engine):
    assert lane(engine, "tsp", 50, GREEDY) == "quick"
    assert lane(engine, "tsp", 20, Options()) == "quick"
    assert lane(engine, "tsp", 400, GREEDY) == "search"  # (400 / 100)² * 21 rollouts of 4 ms: 1.3 s
    assert lane(engine, "tsp", 20, Options(decoding="greedy", time_limit=1)) == "search"
    assert lane(engine, "tsp", 20, Options(method="held-karp")) == "classical"


def test_estimates():
    fifty = random_instance("tsp", 50)
    # a greedy rollout costs 1 and its encoding 20, all of it a quarter of that at half the size
    assert work.units(fifty, GREEDY) == pytest.approx(21 / 4)
    assert work.units(fifty, Options(decoding="8x20")) == pytest.approx((8 * 20 + 160) / 4)
    assert work.units(fifty, Options(decoding="starts")) == pytest.approx((20 + 50) / 4)
    assert work.units(fifty, Options(samples=1)) == work.units(fifty, GREEDY)
    assert work.units(fifty, Options(samples=1000)) > work.units(fifty, Options()) > work.units(fifty, GREEDY)
    assert work.seconds(fifty, Options(time_limit=3)) == 3
    assert work.seconds(fifty, Options("or-tools", time_limit=3)) == 3


def test_what_takes_too_long_is_refused(engine):
    sentence = "30 instances of up to 50 nodes with decoding 8x20 would take about 10 s; up to 5 s are accepted here"
    with pytest.raises(Refusal) as no:
        engine.put([random_instance("tsp", 50)] * 30, Options(decoding="8x20"))
    assert str(no.value) == sentence and no.value.status == 413
    with pytest.raises(BadInput, match="hygese does not solve tsp"):
        engine.put([random_instance("tsp", 8)], Options("hygese"))
    assert not any(lane.waiting for lane in engine.lanes)


@pytest.mark.parametrize("problem", KINDS)
def test_answers_of_a_batch_are_those_of_each_alone(problem):
    instances = [random_instance(problem, 8, seed) for seed in range(3)]
    alone = [solve(instance, decoding="8x2", seed=9).routes for instance in instances]
    assert [result.routes for result in solve(instances[::-1], decoding="8x2", seed=9)][::-1] == alone


def test_a_classical_solver_in_its_own_process():
    instance = random_instance("tsp", 9)
    result = solve_apart(instance, "held-karp", 5.0, 0, lambda: False)
    assert result is not None and result.proven and result.method == "held-karp"
    assert result.routes == solve(instance, "held-karp").routes and result.instance is instance
    with pytest.raises(BadInput, match="held-karp does not solve cvrp"):
        solve_apart(random_instance("cvrp", 9), "held-karp", 5.0, 0, lambda: False)


def test_its_process_ends_when_nobody_waits():
    pytest.importorskip("ortools", reason="the solver that uses all of its time needs pip install ortools")
    stop = threading.Event()
    threading.Timer(1.0, stop.set).start()
    began = time.monotonic()
    assert solve_apart(random_instance("tsp", 24), "or-tools", 60.0, 0, stop.is_set) is None
    assert time.monotonic() - began < 20


def test_improvements_come_while_a_search_runs(engine):
    seen = []
    (job,) = engine.put([random_instance("tsp", 20)], Options(time_limit=1.0), seen.append)
    result = job.answer.result(60)
    assert seen and seen[-1].cost == pytest.approx(result.cost)
    costs = [one.cost for one in seen]
    assert costs == sorted(costs, reverse=True)


def test_a_search_ends_when_nobody_waits(engine):
    (job,) = engine.put([random_instance("tsp", 20)], Options(time_limit=5.0))
    until = time.monotonic() + 30
    while not engine.search.at_work and time.monotonic() < until:
        time.sleep(0.01)
    began = time.monotonic()
    engine.forget([job])
    while engine.busy and time.monotonic() < began + 30:
        time.sleep(0.01)
    assert time.monotonic() - began < 4.5
