"""The service as a client meets it: a real server, a real connection, the answers and the refusals."""

import contextlib
import json
import socket
import threading
import time

import pytest

from egam.instance import KINDS
from egam.io import SCHEMA, instance_from_dict
from egam.judge import judge
from egam.solution import Solution
from serve.made import random_dict, random_instance

httpx = pytest.importorskip("httpx", reason="tests of the service need pip install httpx")

SQUARE = {"problem": "tsp", "coords": [[0, 0], [30, 0], [30, 40], [0, 40]]}  # 30 + 40 + 30 + 40 = 140 around
RESULT_KEYS = {"cost", "feasible", "length", "routes", "violations", "schedule", "seconds", "notes"}


def solved(client, **body):
    reply = client.post("/solve", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()["results"]


def checked(instance, result):
    """A result that says of its routes what the judge says."""
    verdict = judge(instance_from_dict(instance), Solution.of(result["routes"]))
    assert result["cost"] == pytest.approx(verdict.cost) and result["feasible"] == verdict.feasible
    assert len(result["violations"]) == len(verdict.violations)
    return result


# ---- answers ----------------------------------------------------------------------------------------------------


def test_health_really_solves(client):
    reply = client.get("/health")
    assert reply.status_code == 200
    told = reply.json()
    assert told["status"] == "ok" and told["cost"] == pytest.approx(4) and told["seconds"] > 0


def test_one_instance(client):
    (result,) = solved(client, instance=SQUARE)
    assert set(result) >= RESULT_KEYS
    assert checked(SQUARE, result)["cost"] == pytest.approx(140)
    assert [row["node"] for row in result["schedule"]] == result["routes"][0]


@pytest.mark.parametrize("problem", KINDS)
def test_every_problem(client, problem):
    instance = random_dict(problem, 12)
    (result,) = solved(client, instance=instance, decoding="greedy")
    checked(instance, result)
    rows = result["schedule"]
    assert sorted(row["node"] for row in rows) == list(range(1, len(instance["coords"])))
    reply = client.post("/judge", json={"instance": instance, "routes": result["routes"]}).json()
    assert reply["schedule"] == rows
    assert (reply["cost"], reply["feasible"], reply["violations"]) == (
        result["cost"],
        result["feasible"],
        result["violations"],
    )


def test_a_list_of_many_kinds(client):
    instances = [random_dict("tsp", 10), random_dict("cvrp", 8), random_dict("tsp", 10, seed=1), SQUARE]
    results = solved(client, instances=instances, decoding="greedy")
    assert len(results) == 4
    for instance, result in zip(instances, results, strict=True):
        checked(instance, result)


def test_a_classical_solver(client):
    (result,) = solved(client, instance=random_dict("tsp", 8), method="held-karp")
    (ours,) = solved(client, instance=random_dict("tsp", 8), decoding="greedy")
    assert result["cost"] <= ours["cost"] * (1 + 1e-9)  # it is exact


def test_seeds_decide(client):
    body = {"instance": random_dict("tsp", 15), "decoding": "sample:1"}
    first, again, other = (solved(client, **body, seed=seed)[0]["routes"] for seed in (3, 3, 4))
    assert first == again != other


def test_an_answer_does_not_depend_on_who_else_asks(client, server):
    """The same requests one after the other and all at once, sampled ones among them."""
    bodies = [
        {"instance": random_dict(problem, 14, seed), "decoding": decoding, "seed": 5}
        for problem in ("tsp", "cvrp")
        for seed in range(6)
        for decoding in ("greedy", "sample:4")
    ]
    alone = [solved(client, **body)[0]["routes"] for body in bodies]
    before = batched(client)
    together = in_threads(len(bodies), lambda k: ask(server, "/solve", bodies[k]))
    assert [reply.json()["results"][0]["routes"] for reply in together] == alone
    in_one_request = solved(client, instances=[body["instance"] for body in bodies[::2]], decoding="greedy")
    assert [result["routes"] for result in in_one_request] == alone[::2]
    assert batched(client) > before  # some were really solved together


def batched(client):
    """How many batches held more than one instance so far."""
    text = client.get("/metrics").text
    counts = {}
    for line in text.splitlines():
        if line.startswith('egam_batch_size_bucket{lane="quick"') and ('le="1"' in line or 'le="+Inf"' in line):
            counts["one" if 'le="1"' in line else "all"] = int(line.split()[-1])
    return counts["all"] - counts["one"]


def ask(server, path, body, **headers):
    with httpx.Client(base_url=server.url, timeout=120) as client:
        return client.post(path, json=body, headers=headers)


def in_threads(count, call):
    """call(0), ..., call(count - 1), at the same time."""
    answers = [None] * count

    def one(k):
        answers[k] = call(k)

    threads = [threading.Thread(target=one, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert None not in answers
    return answers


# ---- streams ----------------------------------------------------------------------------------------------------


def events_of(reply):
    name = ""
    for line in reply.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def test_a_stream_of_improvements(client):
    instance = random_dict("tsp", 20)
    body = {"instance": instance, "time_limit": 2}
    with client.stream("POST", "/solve", json=body, headers={"Accept": "text/event-stream"}) as reply:
        assert reply.status_code == 200 and reply.headers["content-type"].startswith("text/event-stream")
        found = list(events_of(reply))
    *improvements, (name, last) = found
    assert name == "result" and improvements and {name for name, _ in improvements} == {"improvement"}
    costs = [checked(instance, result)["cost"] for _, result in improvements]
    assert costs == sorted(costs, reverse=True)
    assert checked(instance, last)["cost"] <= costs[-1] * (1 + 1e-9)


def test_a_stream_that_goes_wrong_says_so(client):
    body = {"instance": random_dict("cvrp", 8), "time_limit": 1, "decoding": "starts"}  # all begin at the depot
    with client.stream("POST", "/solve", json=body, headers={"Accept": "text/event-stream"}) as reply:
        ((name, data),) = events_of(reply)
    assert name == "error" and "cvrp begins at node 0" in data["error"]
    body = {"instance": SQUARE, "time_limit": 1, "method": "hygese"}  # which solves no tsp: known before it begins
    reply = client.post("/solve", json=body, headers={"Accept": "text/event-stream"})
    assert reply.status_code == 400 and reply.json()["error"].startswith("hygese does not solve tsp")
    body = {"instances": [SQUARE, SQUARE], "time_limit": 1}
    reply = client.post("/solve", json=body, headers={"Accept": "text/event-stream"})
    assert reply.status_code == 400 and "a stream is about one" in reply.json()["error"]


def test_a_time_limit_without_a_stream(client):
    began = time.monotonic()
    (result,) = solved(client, instance=random_dict("tsp", 12), time_limit=1)
    assert 0.5 < time.monotonic() - began < 20
    checked(random_dict("tsp", 12), result)


def waiting(client, lane):
    for line in client.get("/metrics").text.splitlines():
        if line.startswith(f'egam_waiting{{lane="{lane}"}}'):
            return float(line.split()[-1])
    raise AssertionError("no such line")


def stopped(client):
    lines = client.get("/metrics").text.splitlines()
    return sum(int(line.split()[-1]) for line in lines if line.startswith("egam_stopped_total"))


def test_who_goes_away_stops_its_work(client, server):
    """Four requests of 15 seconds each: the clients leave, and the next one is answered at once."""
    before = stopped(client)
    sockets = []
    for stream in (True, False, True, False):
        body = json.dumps({"instance": random_dict("tsp", 20), "time_limit": 15}).encode()
        accept = "text/event-stream" if stream else "application/json"
        head = f"POST /solve HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n"
        host, port = server.url.removeprefix("http://").split(":")
        connection = socket.create_connection((host, int(port)))
        connection.sendall(head.encode() + body)
        sockets.append(connection)
    until = time.monotonic() + 30
    while waiting(client, "search") < 3 and time.monotonic() < until:
        time.sleep(0.02)
    assert waiting(client, "search") == 3  # one runs
    began = time.monotonic()
    for connection in sockets:
        connection.close()
    (result,) = solved(client, instance=SQUARE, time_limit=0.5)
    assert result["cost"] == pytest.approx(140)
    assert time.monotonic() - began < 12  # not 4 x 15
    assert waiting(client, "search") == 0 and stopped(client) == before + 4


# ---- other routes -----------------------------------------------------------------------------------------------


def test_methods_and_weights(client):
    told = client.get("/methods").json()
    assert told["default"] == "egam" and told["limits"]["nodes"] == 200
    rows = {row["name"]: row for row in told["methods"]}
    assert set(rows["egam"]["problems"]) == set(KINDS) and rows["egam"]["installed"]
    assert rows["held-karp"]["installed"] and "tsp" in rows["held-karp"]["problems"]
    weights = client.get("/weights").json()["weights"]
    assert {row["problem"] for row in weights} == set(KINDS)
    assert "/" not in json.dumps(weights)  # no path of the server


def test_files_are_parsed(client):
    text = "NAME: r\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 0\n3 0 4\nEOF\n"
    told = client.post("/parse", json={"name": "r.tsp", "text": text, "problem": None}).json()
    assert told["instance"]["problem"] == "tsp" and told["instance"]["coords"] == [[0, 0], [3, 0], [0, 4]]
    (result,) = solved(client, instance=told["instance"])
    assert result["cost"] == 12  # 3 + 5 + 4
    reply = client.post("/parse", json={"name": "r.tsp", "text": text.replace("3 0 4", "3 0")})
    assert reply.status_code == 400 and reply.json()["error"].startswith("r.tsp:8: ")
    reply = client.post("/parse", json={"name": "/etc/passwd", "text": ""})
    assert reply.status_code == 400 and "root" not in reply.text


def test_the_page_and_its_files(client):
    reply = client.get("/")
    assert reply.status_code == 200 and reply.headers["content-type"].startswith("text/html")
    assert "default-src 'self'" in reply.headers["content-security-policy"]
    script = client.get("/static/main.js")
    assert script.status_code == 200 and "javascript" in script.headers["content-type"]
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"):
        assert client.get(path).status_code == 404, path
    assert "access-control-allow-origin" not in client.get("/", headers={"Origin": "https://a.example"}).headers


def test_docs_need_nothing_from_elsewhere(client):
    page = client.get("/docs")
    assert page.status_code == 200 and "POST</span> /solve" in page.text
    assert "<script" not in page.text and "https://" not in page.text
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) >= {"/solve", "/vroom", "/", "/parse", "/judge", "/health", "/metrics"}
    schema = document["components"]["schemas"]["Instance-cvrp"]["properties"]
    assert set(schema) == {*SCHEMA["properties"]} - {
        *("prize", "penalty", "min_prize", "window", "draft_limit"),
    }


def test_metrics(client):
    solved(client, instance=SQUARE)
    reply = client.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain")
    assert 'egam_instances_total{method="egam",problem="tsp"}' in reply.text
    assert 'egam_requests_total{route="/solve",status="200"}' in reply.text
    assert memory(client) > 50e6


def test_log_lines_tell_what_was_asked_and_nothing_that_was_said(client, server):
    reply = client.post("/solve", json={"instance": {**SQUARE, "name": "a secret name"}})
    name = reply.headers["x-request-id"]
    until = time.monotonic() + 10
    while not (lines := [line for line in server.log("request") if line["request"] == name]):
        assert time.monotonic() < until
        time.sleep(0.01)
    (line,) = lines
    assert (line["method"], line["path"], line["status"], line["problem"], line["nodes"]) == (
        *("POST", "/solve", 200),
        *("tsp", 4),
    )
    assert line["ms"] > 0 and line["client"] == "127.0.0.1"
    assert "secret" not in json.dumps(server.lines)
    assert not [line for line in server.lines if "not json" in line]


# ---- refusals ---------------------------------------------------------------------------------------------------


def post(client, content, path="/solve", **headers):
    return client.post(path, content=content, headers={"Content-Type": "application/json", **headers})


WHOLE = json.dumps({"instance": SQUARE}).encode()
BODIES = {
    "empty": (b"", 400),
    "blank": (b"  \n ", 400),
    "truncated": (WHOLE[:40], 400),
    "nan": (WHOLE.replace(b"40", b"NaN"), 400),
    "infinity": (WHOLE.replace(b"40", b"-Infinity"), 400),
    "beyond floats": (WHOLE.replace(b"40", b"1e999"), 400),
    "nested": (b"[" * 100_000 + b"]" * 100_000, 400),
    "nested coords": (b'{"instance": {"problem": "tsp", "coords": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}", 400),
    "twice": (b'{"instance": 1, "instance": 2}', 400),
    "list": (b"[]", 400),
    "null": (b"null", 400),
    "binary": (bytes(range(256)), 400),
    "surrogate": (b'{"method": "\\ud800", "instance": ' + json.dumps(SQUARE).encode() + b"}", 400),
    "huge": (b" " * 1_100_000, 413),
    "many nodes": (json.dumps({"instance": {"problem": "tsp", "coords": [[0, k] for k in range(201)]}}).encode(), 413),
    "too long": (json.dumps({"instance": SQUARE, "time_limit": 21}).encode(), 413),
    "too many samples": (json.dumps({"instance": SQUARE, "samples": 10**6}).encode(), 413),
    "unknown method": (json.dumps({"instance": SQUARE, "method": "magic"}).encode(), 400),
    "unknown decoding": (json.dumps({"instance": SQUARE, "decoding": "magic"}).encode(), 400),
    "unknown problem": (json.dumps({"instance": {**SQUARE, "problem": "magic"}}).encode(), 400),
    "path for weights": (json.dumps({"instance": SQUARE, "weights": "/etc/passwd"}).encode(), 400),
}


@pytest.mark.parametrize("name", BODIES)
def test_bad_bodies(client, name):
    body, status = BODIES[name]
    reply = post(client, body)
    assert reply.status_code == status
    assert list(reply.json()) == ["error"]
    sentence = reply.json()["error"]
    assert 5 < len(sentence) < 400 and "\n" not in sentence and "Traceback" not in sentence and "/src/" not in sentence


@pytest.mark.parametrize("path", ["/vroom", "/", "/parse", "/judge"])
@pytest.mark.parametrize("name", ["empty", "truncated", "nan", "nested", "list", "huge", "binary"])
def test_bad_bodies_elsewhere(client, name, path):
    body, status = BODIES[name]
    reply = post(client, body, path)
    assert reply.status_code == status
    told = reply.json()
    assert told.keys() == ({"code", "error"} if path in ("/", "/vroom") else {"error"})
    assert told.get("code", 2) == 2


def test_a_body_that_never_ends(server):
    """Chunks without a length: the server stops reading at its limit."""

    def endless():
        for _ in range(1000):
            yield b"[" * 100_000

    with httpx.Client(base_url=server.url, timeout=60) as client:
        with contextlib.suppress(httpx.WriteError):  # it may close the connection while we are writing
            assert client.post("/solve", content=endless()).status_code == 413
        assert client.get("/health").status_code == 200


def test_many_bodies_that_grow_when_parsed(client, server):
    """12 bodies of a megabyte, each a third of a million empty lists: 20 MB of them in Python."""
    body = b'{"instance": {"problem": "tsp", "coords": [' + b"[]," * 330_000 + b"[]]}}"
    before = memory(client)
    replies = in_threads(12, lambda k: httpx.post(server.url + "/solve", content=body, timeout=120))
    assert {reply.status_code for reply in replies} == {413}  # too many nodes, known only after parsing
    assert memory(client) < before + 200e6


def memory(client):
    lines = client.get("/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith("process_resident_memory_bytes")).split()[1])


def test_decodings_with_too_many_samples(client):
    for decoding in ("sample:1000000", "8x1000", "8x" + "9" * 30):
        reply = client.post("/solve", json={"instance": SQUARE, "decoding": decoding})
        assert reply.status_code == 413, decoding
        assert "samples" in reply.json()["error"]


def test_unknown_paths_and_methods(client):
    for reply, status in ((client.get("/nowhere"), 404), (client.get("/solve"), 405), (client.put("/solve"), 405)):
        assert reply.status_code == status and list(reply.json()) == ["error"]


def test_refused_requests_leave_nothing_behind(client):
    for name in ("nested coords", "many nodes", "nan"):
        post(client, BODIES[name][0])
    assert waiting(client, "quick") == 0 and client.get("/health").status_code == 200


# ---- VROOM ------------------------------------------------------------------------------------------------------

DOCUMENTED = {  # VROOM's own example of custom matrices
    "vehicles": [{"id": 0, "start_index": 0, "end_index": 3}],
    "jobs": [{"id": 1414, "location_index": 1}, {"id": 1515, "location_index": 2}],
    "matrices": {
        "car": {"durations": [[0, 2104, 197, 1299], [2103, 0, 2255, 3152], [197, 2256, 0, 1102], [1299, 3153, 1102, 0]]}
    },
}
SUMMARY_KEYS = {
    *("cost", "routes", "unassigned", "setup", "service", "duration", "waiting_time", "priority", "violations"),
    "computing_times",
}
STEP_KEYS = {"type", "arrival", "duration", "setup", "service", "waiting_time", "violations"}


@pytest.mark.parametrize("path", ["/vroom", "/"])
def test_vrooms_documented_example(client, path):
    reply = client.post(path, json=DOCUMENTED)
    assert reply.status_code == 200
    told = reply.json()
    assert told["code"] == 0 and told["summary"]["cost"] == 5461 and told["unassigned"] == []  # the documented cost
    assert set(told["summary"]) >= SUMMARY_KEYS
    (route,) = told["routes"]
    assert [step.get("id") for step in route["steps"]] == [None, 1414, 1515, None]
    assert all(set(step) >= STEP_KEYS for step in route["steps"])


def test_vrooms_other_documented_example_is_refused_by_name(client):
    place = [2.35044, 48.71764]
    vehicle = {"id": 1, "start": place, "end": place, "capacity": [4], "skills": [1, 14], "time_window": [28800, 43200]}
    job = {"id": 1, "service": 300, "delivery": [1], "location": [1.98935, 48.701], "skills": [1]}
    body = {"vehicles": [vehicle], "jobs": [job], "shipments": [{"amount": [1], "pickup": {}, "delivery": {}}]}
    reply = client.post("/vroom", json=body)
    assert reply.status_code == 400
    assert reply.json() == {"code": 2, "error": "shipments is not modelled by this service; leave it out"}
    del body["shipments"]
    assert client.post("/", json=body).json()["error"].startswith("vehicles[0].skills is not modelled")


def test_vroom_with_windows_and_with_capacity(client):
    line = [[abs(a - b) for b in range(0, 60, 10)] for a in range(0, 60, 10)]
    jobs = [{"id": k, "location_index": k, "time_windows": [[0, 10 * k]]} for k in range(1, 6)]
    body = {
        "vehicles": [{"id": 7, "start_index": 0, "end_index": 0, "time_window": [0, 100]}],
        "jobs": jobs,
        "matrices": {"car": {"durations": line}},
    }
    told = client.post("/vroom", json=body).json()  # only 1, 2, 3, 4, 5 in this order is in time: 50 out, 50 back
    served = [step["id"] for route in told["routes"] for step in route["steps"] if step["type"] == "job"]
    assert sorted(served + [job["id"] for job in told["unassigned"]]) == [1, 2, 3, 4, 5]
    for route in told["routes"]:
        for step in route["steps"]:
            assert step["type"] != "job" or step["arrival"] <= 10 * step["id"]
        assert route["steps"][-1]["arrival"] <= 100
    full = {
        **body,
        "vehicles": [{"id": k, "start_index": 0, "end_index": 0, "capacity": [4]} for k in range(4)],
        "jobs": [{"id": k, "location_index": k, "pickup": [2]} for k in range(1, 6)],
    }
    told = client.post("/vroom", json=full).json()
    assert told["summary"]["unassigned"] == 0 and told["summary"]["routes"] >= 3  # two pickups of 2 in each
    assert all(step["load"][0] <= 4 for route in told["routes"] for step in route["steps"])
    assert told["summary"]["pickup"] == [10]


def test_random_instances_survive_the_way_through_json(client):
    for problem in KINDS:
        instance = random_instance(problem, 10, seed=3)
        reply = client.post("/judge", json={"instance": random_dict(problem, 10, seed=3), "routes": [[2, 1]]})
        assert reply.json()["cost"] == pytest.approx(judge(instance, Solution.of([[2, 1]])).cost)
