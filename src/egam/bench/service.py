"""The bars of the service: `python -m egam.bench.service` starts a server on loopback and measures it from outside.

    throughput   64 clients at once against one in sequence, N=50, greedy: at least 3 times as many answers per second
    latency      one client in sequence, after warm-up: 99 of 100 answers within 150 ms
    memory       of the server, resident, after 10,000 requests of all problems and sizes: within 10 % of after 1,000
Server and clients share the machine, as the clients' part is small. Run it on two quiet cores; each line is one JSON
object, the last says which bars are met.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from egam.errors import EgamError
from egam.instance import KINDS
from egam.io import instance_to_dict
from egam.machine import cores
from egam.problems import get_problem
from egam.problems.base import unstack

CLIENTS = 64
THROUGHPUT, LATENCY_MS, GROWTH = 3.0, 150.0, 0.10  # the bars


@dataclass(frozen=True)
class Load:
    """How much is sent."""

    warm_up: int = 100
    sequence: int = 1000  # by one client
    at_once: int = 3200  # by 64 clients
    few: int = 1000  # requests after which memory is read first
    many: int = 10_000  # and last


# ---- server and clients -----------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def server(options: list[str]) -> Iterator[int]:
    """`egam serve` on loopback; its port."""
    port = free_port()
    command = [sys.executable, "-m", "egam", "serve", "--port", str(port), *options]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while True:
            if process.poll() is not None or time.monotonic() > until:
                raise EgamError(f"the server did not start: {' '.join(command)}")
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(60)


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> bytes:
    """One request on an open connection; the body of its answer, which must be 200."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.I)
    body = await reader.readexactly(int(length[1]) if length else 0)
    if not head.startswith(b"HTTP/1.1 200"):
        raise EgamError(f"the server answered {head.splitlines()[0].decode()}: {body[:200].decode()}")
    return body


async def send(port: int, requests: Sequence[bytes], clients: int) -> list[float]:
    """Send all requests through so many connections at once; the seconds that each took."""
    todo, took = list(reversed(requests)), []

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while todo:
            request, began = todo.pop(), time.perf_counter()
            await ask(reader, writer, request)
            took.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return took


def request(problem: str, size: int, seed: int) -> bytes:
    """POST /solve of one random instance, greedy."""
    arrays = get_problem(problem).generate(np.random.default_rng(seed), 1, size)
    (instance,) = unstack(problem, arrays)
    body = json.dumps({"instance": instance_to_dict(instance), "decoding": "greedy"}).encode()
    head = f"POST /solve HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


def gauge(port: int, name: str) -> float:
    """What the server tells of itself."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
        found = re.search(rf"^{name} (\S+)", reply.read().decode(), re.M)
    return float(found[1]) if found else float("nan")


# ---- measurements -----------------------------------------------------------------------------------------------


def speed(port: int, load: Load) -> dict[str, Any]:
    """One client in sequence, then 64 at once; N=50, greedy, TSP. CPU is the server's, less disturbed by others."""
    made = [request("tsp", 50, seed) for seed in range(200)]

    def some(count: int) -> list[bytes]:
        return [made[k % len(made)] for k in range(count)]

    asyncio.run(send(port, some(load.warm_up), 1))
    asyncio.run(send(port, some(load.warm_up), CLIENTS))
    found: dict[str, Any] = {}
    for name, count, clients in (("alone", load.sequence, 1), ("together", load.at_once, CLIENTS)):
        cpu, began = gauge(port, "process_cpu_seconds"), time.perf_counter()
        took = sorted(asyncio.run(send(port, some(count), clients)))
        found[f"{name}_per_second"] = count / (time.perf_counter() - began)
        found[f"{name}_p50_ms"] = 1e3 * took[count // 2]
        found[f"{name}_p99_ms"] = 1e3 * took[int(0.99 * (count - 1))]
        found[f"{name}_cpu_ms"] = 1e3 * (gauge(port, "process_cpu_seconds") - cpu) / count
    return {**found, "ratio": found["together_per_second"] / found["alone_per_second"]}


def memory(port: int, load: Load) -> dict[str, Any]:
    """All problems, 20 to 60 nodes, by 64 clients; memory after few and after many requests."""
    chance = random.Random(1)
    made = [request(chance.choice(list(KINDS)), chance.choice((20, 30, 40, 50, 60)), seed) for seed in range(500)]
    sent = 0
    read: dict[int, float] = {}
    for goal in (load.few, load.many):
        asyncio.run(send(port, [made[k % len(made)] for k in range(sent, goal)], CLIENTS))
        sent, read[goal] = goal, gauge(port, "process_resident_memory_bytes") / 1e6
    first, last = read[load.few], read[load.many]
    return {"requests": [load.few, load.many], "resident_mb": [first, last], "growth": last / first - 1}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the requests")
    parser.add_argument("options", nargs="*", help="of egam serve, after --")
    arguments = parser.parse_args()
    load = Load(20, 100, 320, 100, 1000) if arguments.quick else Load()
    print(json.dumps({"cores": cores(), "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS")}), flush=True)
    with server(arguments.options) as port:
        fast = speed(port, load)
        print(json.dumps({"speed": _rounded(fast)}), flush=True)
    with server(arguments.options) as port:  # a fresh one
        held = memory(port, load)
        print(json.dumps({"memory": _rounded(held)}), flush=True)
    bars = {
        f"throughput at least {THROUGHPUT:g} times": fast["ratio"] >= THROUGHPUT,
        f"p99 under {LATENCY_MS:g} ms": fast["alone_p99_ms"] < LATENCY_MS,
        f"memory within {GROWTH:.0%}": abs(held["growth"]) <= GROWTH,
    }
    print(json.dumps({"bars": bars}))


def _rounded(found: dict[str, Any]) -> dict[str, Any]:
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in found.items()}


if __name__ == "__main__":
    main()
