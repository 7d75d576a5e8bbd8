"""64 clients at once, sizes 20 to 60, all problems: every answer must be what the judge says of its routes."""

import asyncio
import random

import pytest

from egam.instance import KINDS
from egam.io import instance_to_dict
from egam.judge import judge
from egam.solution import Solution
from serve.made import random_instance

httpx = pytest.importorskip("httpx", reason="tests of the service need pip install httpx")
CLIENTS = 64
NEVER_BROKEN = ("tsp", "atsp", "cvrp", "pctsp", "vrptw")  # the network cannot break a rule of these


def asked(count, seed=1):
    chance = random.Random(seed)
    return [
        random_instance(chance.choice(list(KINDS)), chance.choice((20, 30, 40, 50, 60)), number)
        for number in range(count)
    ]


async def all_answers(url, instances, decoding):
    """Each client sends one request after the other, all clients at once; the statuses of all, and results."""
    results, statuses, todo = {}, [], list(enumerate(instances))

    async def one_client(client):
        while todo:
            number, instance = todo.pop()
            body = {"instance": instance_to_dict(instance), "decoding": decoding}
            reply = await client.post("/solve", json=body)
            statuses.append(reply.status_code)
            results[number] = reply.json()["results"][0]

    limits = httpx.Limits(max_connections=CLIENTS)
    async with httpx.AsyncClient(base_url=url, timeout=300, limits=limits) as client:
        await asyncio.gather(*(one_client(client) for _ in range(CLIENTS)))
    return statuses, results


def check(instances, statuses, results):
    assert statuses == [200] * len(instances)
    for number, instance in enumerate(instances):
        result = results[number]
        verdict = judge(instance, Solution.of(result["routes"]))
        assert result["cost"] == pytest.approx(verdict.cost) and result["feasible"] == verdict.feasible
        assert verdict.feasible or instance.problem not in NEVER_BROKEN
        assert not {v.kind for v in verdict.violations} - {"late", "draft"}


def test_64_clients(server, client):
    instances = asked(128)
    check(instances, *asyncio.run(all_answers(server.url, instances, "greedy")))
    counters = client.get("/metrics").text
    assert 'egam_waiting{lane="quick"} 0' in counters


@pytest.mark.slow
def test_64_clients_for_long(server):
    instances = asked(3000, seed=2)
    check(instances, *asyncio.run(all_answers(server.url, instances, "greedy")))
    instances = asked(300, seed=3)
    check(instances, *asyncio.run(all_answers(server.url, instances, "sample:8")))
