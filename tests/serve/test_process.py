"""The process: keys and other sites, full queues, SIGTERM, kill -9 under load, wrong options."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from serve.made import random_dict

httpx = pytest.importorskip("httpx", reason="tests of the service need pip install httpx")

SQUARE = {"problem": "tsp", "coords": [[0, 0], [30, 0], [30, 40], [0, 40]]}
KEY = "a-key-of-these-tests"


@pytest.fixture(scope="module")
def guarded(start_server, tmp_path_factory):
    """A server with a key and short queues, and pages of another site let in."""
    file = tmp_path_factory.mktemp("key") / "key.txt"
    file.write_text(KEY + "\n")
    limits = ("--queue", 3, "--wait-seconds", 5, "--read-seconds", 1)
    return start_server("--api-key-file", file, "--cors", "https://plan.example", *limits)


def post(server, body, path="/solve", **headers):
    return httpx.post(server.url + path, json=body, headers=headers, timeout=60)


def with_key(server, body, path="/solve"):
    return post(server, body, path, Authorization=f"Bearer {KEY}")


# ---- key and sites ----------------------------------------------------------------------------------------------


def test_a_key_is_needed(guarded):
    assert with_key(guarded, {"instance": SQUARE}).status_code == 200
    assert post(guarded, {"instance": SQUARE}, **{"X-API-Key": KEY}).status_code == 200
    for headers in ({}, {"Authorization": f"Bearer {KEY}x"}, {"Authorization": f"Basic {KEY}"}, {"X-API-Key": "x"}):
        reply = post(guarded, {"instance": SQUARE}, **headers)
        assert reply.status_code == 401 and "key" in reply.json()["error"]
        assert reply.headers["www-authenticate"] == "Bearer"
    assert post(guarded, {}, "/vroom").json()["code"] == 2
    assert httpx.get(guarded.url + "/metrics").status_code == 401
    for path in ("/", "/health", "/methods", "/docs", "/static/main.js"):
        assert httpx.get(guarded.url + path, timeout=60).status_code == 200, path
    assert KEY not in json.dumps(guarded.lines)


def test_pages_of_other_sites(guarded):
    let_in = {"Origin": "https://plan.example", "Sec-Fetch-Site": "cross-site", "X-API-Key": KEY}
    reply = post(guarded, {"instance": SQUARE}, **let_in)
    assert reply.status_code == 200 and reply.headers["access-control-allow-origin"] == "https://plan.example"
    reply = post(guarded, {"instance": SQUARE}, **{**let_in, "Origin": "https://evil.example"})
    assert reply.status_code == 403 and "access-control-allow-origin" not in reply.headers
    asked = {"Origin": "https://plan.example", "Access-Control-Request-Method": "POST"}
    reply = httpx.options(guarded.url + "/solve", headers={**asked, "Access-Control-Request-Headers": "content-type"})
    assert reply.status_code == 200
    reply = httpx.options(guarded.url + "/solve", headers={**asked, "Origin": "https://evil.example"})
    assert reply.status_code == 400 and "access-control-allow-origin" not in reply.headers


# ---- queues -----------------------------------------------------------------------------------------------------


def test_a_full_queue(guarded):
    reply = with_key(guarded, {"instances": [SQUARE] * 4})
    assert reply.status_code == 413 and "4 instances; up to 3" in reply.json()["error"]
    body = {"instance": random_dict("tsp", 20), "time_limit": 3}
    replies = []
    threads = [threading.Thread(target=lambda: replies.append(with_key(guarded, body))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    statuses = sorted(reply.status_code for reply in replies)
    assert statuses == [200, 200, 429, 429]  # one runs, one waits
    for reply in replies:
        if reply.status_code == 429:
            assert int(reply.headers["retry-after"]) >= 1
            assert reply.json()["error"] == "1 instances that take long wait already"


def test_a_body_that_dawdles(guarded):
    def slow():
        yield b'{"instance": '
        time.sleep(3)
        yield json.dumps(SQUARE).encode() + b"}"

    try:
        reply = httpx.post(guarded.url + "/solve", content=slow(), headers={"X-API-Key": KEY}, timeout=60)
        assert reply.status_code == 408 and "within 1 s" in reply.json()["error"]
    except httpx.HTTPError:
        pass  # it closed the connection before we had said everything
    assert [line for line in guarded.log("request") if line["status"] == 408]


# ---- ends -------------------------------------------------------------------------------------------------------


def test_sigterm_finishes_what_runs_and_refuses_what_comes(start_server):
    server = start_server()
    outcome = {}

    def long():
        body = {"instance": random_dict("tsp", 20), "time_limit": 5}
        outcome["reply"] = post(server, body)

    thread = threading.Thread(target=long)
    thread.start()
    idle = httpx.Client(base_url=server.url, timeout=60)  # keeps its connection
    assert idle.get("/health").status_code == 200
    wait_until_it_searches(idle)
    server.terminate()
    while not server.log("signal"):
        time.sleep(0.01)
    for reply in (post(server, {"instance": SQUARE}), idle.post("/solve", json={"instance": SQUARE})):
        assert reply.status_code == 503 and "shutting down" in reply.json()["error"]
        assert "retry-after" in reply.headers
    assert post(server, {}, "/vroom").json()["code"] == 1
    assert httpx.get(server.url + "/health").status_code == 503  # nobody should be sent here any more
    thread.join(60)
    assert outcome["reply"].status_code == 200 and outcome["reply"].json()["results"][0]["feasible"]
    assert server.ended() == 0
    assert server.log("ended")[0]["finished"] is True
    with pytest.raises(httpx.ConnectError):
        idle.get("/health")


def test_two_signals_end_it_at_once(start_server):
    server = start_server()
    thread = threading.Thread(target=lambda: hopeful(server))
    thread.start()
    with httpx.Client(base_url=server.url, timeout=60) as client:
        wait_until_it_searches(client)
    began = time.monotonic()
    server.terminate()
    time.sleep(0.3)
    server.process.send_signal(signal.SIGINT)
    server.ended(20)
    assert time.monotonic() - began < 15  # and not the 30 s that were asked for
    thread.join(60)


def wait_until_it_searches(client):
    until = time.monotonic() + 60
    while 'egam_at_work{lane="search"} 1' not in client.get("/metrics").text:
        assert time.monotonic() < until
        time.sleep(0.02)


def hopeful(server, body=None):
    """A request whose server may die."""
    with contextlib.suppress(httpx.HTTPError):
        post(server, body or {"instance": random_dict("tsp", 20), "time_limit": 30})


def test_kill_9_under_load_and_a_clean_restart(start_server):
    server = start_server()
    port = int(server.url.rpartition(":")[2])
    stop, statuses, failures = threading.Event(), [], []

    def load(k):
        body = {"instance": random_dict("tsp", 20, seed=k), "decoding": "greedy"}
        with httpx.Client(base_url=server.url, timeout=60) as client:
            while not stop.is_set():
                try:
                    statuses.append(client.post("/solve", json=body).status_code)
                except httpx.HTTPError as error:
                    failures.append(type(error).__name__)
                    stop.wait(0.5)

    threads = [threading.Thread(target=load, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 30
    while len(statuses) < 20 and time.monotonic() < until:
        time.sleep(0.02)
    server.kill()
    before = len(statuses)
    again = start_server("--port", port)  # the last --port counts: the same address, at once
    assert again.url == server.url
    until = time.monotonic() + 30
    while len(statuses) < before + 20 and time.monotonic() < until:
        time.sleep(0.02)
    stop.set()
    for thread in threads:
        thread.join(60)
    assert len(statuses) >= before + 20 and set(statuses) == {200}
    assert failures  # those whose server was killed noticed
    assert httpx.get(again.url + "/health", timeout=60).json()["status"] == "ok"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems let the child run to its time limit")
def test_solvers_of_a_killed_server_end_too(start_server):
    pytest.importorskip("ortools", reason="the solver that uses all of its time needs pip install ortools")
    server = start_server()
    body = {"instance": random_dict("tsp", 30), "method": "or-tools", "time_limit": 50}
    thread = threading.Thread(target=lambda: hopeful(server, body))
    thread.start()
    until = time.monotonic() + 60
    while not (children := children_of(server.process.pid)):
        assert time.monotonic() < until
        time.sleep(0.05)
    while not all("egam.serve.apart" in command_of(child) for child in children):  # not yet itself
        time.sleep(0.05)
    time.sleep(1)  # until it has asked to be killed along
    server.kill()
    while any(command_of(child) for child in children):
        assert time.monotonic() < until, children
        time.sleep(0.05)
    thread.join(60)


def children_of(pid):
    found = [Path(f"/proc/{pid}/task/{thread}/children") for thread in os.listdir(f"/proc/{pid}/task")]
    return [int(child) for path in found for child in path.read_text().split()]


def command_of(pid):
    """What a process runs; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


# ---- options ----------------------------------------------------------------------------------------------------


def refused(*options, **environment):
    command = [sys.executable, "-m", "egam", "serve", *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=60)
    assert done.stdout == "" and done.stderr.startswith("egam: ") and done.stderr.count("\n") == 1, done.stderr
    assert done.returncode == 2
    return done.stderr


def test_wrong_options(guarded, tmp_path):
    port = guarded.url.rpartition(":")[2]
    assert "cannot listen on 127.0.0.1" in refused("--port", port)
    assert "limit queue is 0" in refused("--queue", 0)
    assert "the key cannot be read" in refused("--api-key-file", tmp_path / "nowhere")
    assert "EGAM_API_KEY: the key must be" in refused(EGAM_API_KEY="short")
    assert "--cors is 'everybody'" in refused("--cors", "everybody")
    assert "--log-level is 'loud'" in refused("--log-level", "loud")
    assert "--speed is -1" in refused("--speed", -1)
