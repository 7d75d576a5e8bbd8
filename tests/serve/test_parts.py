"""The parts without a server: bodies, limits, the key, metrics, log lines."""

import io
import json
import logging

import pytest

from egam.errors import BadInput
from egam.serve.asked import Options, load, read_judge, read_parse, read_solve
from egam.serve.limits import Limits, Refusal
from egam.serve.log import JsonLines, say
from egam.serve.metrics import Metrics, resident_bytes
from egam.serve.security import check_key, check_site, read_key

SQUARE = {"problem": "tsp", "coords": [[0, 0], [1, 0], [1, 1], [0, 1]]}
LIMITS = Limits(nodes=5, instances=3, samples=160, seconds=10)


def solve_body(**more):
    return {"instance": SQUARE, **more}


# ---- bodies -----------------------------------------------------------------------------------------------------


def test_a_body_with_everything():
    options = {"method": "egam", "samples": 20, "decoding": None, "time_limit": 2.5, "seed": 7}
    instances, found = read_solve({"instances": [SQUARE, SQUARE], **options}, LIMITS)
    assert [instance.size for instance in instances] == [4, 4]
    assert found == Options("egam", 20, None, 2.5, 7)
    assert read_solve(solve_body(), LIMITS)[1] == Options()


BAD_JSON = {
    b"": "is empty",
    b"{": "is no JSON",
    b'{"a": 1': "is no JSON",
    b"[1, 2]": "no object",
    b'{"a": NaN}': "NaN is no number",
    b'{"a": -Infinity}': "Infinity is no number",
    b'{"a": 1, "a": 2}': "is there twice",
    b"\xff\xfe{": "UTF-8",
    b'{"a": "\x00"}': "binary",
    b'{"a": ' + b"[" * 200_000: "nested too deeply",
    b'{"a": ' + b"9" * 10_000 + b"}": "thousands of digits",
}


@pytest.mark.parametrize("body", BAD_JSON, ids=lambda body: body[:16].decode("latin-1"))
def test_bodies_that_are_no_json(body):
    with pytest.raises(BadInput, match=BAD_JSON[body]) as caught:
        load(body)
    assert len(str(caught.value)) < 200


BAD_SOLVE = [
    ({}, "one of instance and instances"),
    (solve_body(instances=[SQUARE]), "one of instance and instances"),
    ({"instances": []}, "a list of one or more"),
    ({"instances": 5}, "a list of one or more"),
    ({"instance": 5}, "instance: is '5'; an object is expected"),
    ({"instance": {**SQUARE, "demnd": []}}, r"instance: unknown key 'demnd' \(did you mean 'demand'"),
    ({"instances": [SQUARE, {"problem": "tsp"}]}, r"instances\[1\]"),
    (solve_body(methd="egam"), r"unknown key 'methd' \(did you mean 'method'"),
    (solve_body(method=5), "method is '5'"),
    (solve_body(samples=-1), "samples is '-1'"),
    (solve_body(decoding="8x"), "decoding '8x' is unknown"),
    (solve_body(samples=1.5), "samples is '1.5'"),
    (solve_body(samples=True), "samples is 'True'"),
    (solve_body(seed=-1), "seed is '-1'"),
    (solve_body(seed=2**32), "seed is 4294967296"),
    (solve_body(time_limit=0), "time_limit is 0"),
    (solve_body(time_limit="5"), "time_limit is '5'"),
    (solve_body(time_limit=float("inf")), "time_limit is 'inf'"),
    (solve_body(time_limit=10**400), "time_limit is '1000"),
]


@pytest.mark.parametrize("body, sentence", BAD_SOLVE, ids=[sentence for _, sentence in BAD_SOLVE])
def test_bad_bodies_of_solve(body, sentence):
    with pytest.raises(BadInput, match=sentence):
        read_solve(body, LIMITS)


TOO_LARGE = [
    ({"instances": [SQUARE] * 4}, "there are 4 instances; up to 3"),
    ({"instance": {"problem": "tsp", "coords": [[0, k] for k in range(6)]}}, "there are 6 nodes; up to 5"),
    (solve_body(samples=161), "there are 161 samples; up to 160"),
    (solve_body(decoding="8x21"), "there are 168 samples; up to 160"),
    (solve_body(time_limit=11), "time_limit is 11 s; up to 10"),
    ({"instances": [SQUARE] * 3, "time_limit": 4}, "time_limit times 3 instances is 12 s; up to 10"),
]


@pytest.mark.parametrize("body, sentence", TOO_LARGE, ids=[sentence for _, sentence in TOO_LARGE])
def test_more_than_the_limits(body, sentence):
    with pytest.raises(Refusal, match=sentence) as caught:
        read_solve(body, LIMITS)
    assert caught.value.status == 413


def test_limits_are_checked_themselves():
    with pytest.raises(BadInput, match="limit queue is 0"):
        Limits(queue=0)
    with pytest.raises(BadInput, match="limit seconds is nan"):
        Limits(seconds=float("nan"))
    assert Limits(window_ms=0).window_ms == 0


TSPLIB = "NAME: five\nTYPE: TSP\nDIMENSION: {n}\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n{rows}\nEOF\n"


def tsplib(n, said=None):
    return TSPLIB.format(n=said or n, rows="\n".join(f"{k} {k} 0" for k in range(1, n + 1)))


def test_texts_of_files():
    instance = read_parse({"name": "five.tsp", "text": tsplib(5), "problem": None}, LIMITS)
    assert (instance.problem, instance.size, instance.name) == ("tsp", 5, "five")
    csv = "x,y,demand\n" + "\n".join(f"{k},{k},{min(k, 1)}" for k in range(4))
    assert read_parse({"name": "a.csv", "text": csv, "capacity": 3}, LIMITS).capacity == 3
    with pytest.raises(BadInput, match="text is missing"):
        read_parse({"name": "a.csv"}, LIMITS)
    with pytest.raises(BadInput, match="/etc/passwd: looks like no format"):
        read_parse({"name": "/etc/passwd", "text": "hello"}, LIMITS)  # a name, and no path that is opened
    with pytest.raises(BadInput, match="unknown key 'path'"):
        read_parse({"name": "a", "text": "b", "path": "/etc/passwd"}, LIMITS)
    with pytest.raises(BadInput, match="name is"):
        read_parse({"name": "a\nb", "text": tsplib(5)}, LIMITS)


def test_long_files_are_refused_before_their_tables_are_made():
    texts = (
        tsplib(6),
        json.dumps({"problem": "tsp", "coords": [[k, 0] for k in range(6)]}),
        "x,y\n" + "1,1\n" * 60,
    )
    for text in texts:
        with pytest.raises(Refusal, match=r"there are \d+ stops; up to 5") as caught:
            read_parse({"name": "six", "text": text}, LIMITS)
        assert caught.value.status == 413


def test_routes_to_be_judged():
    instance, solution = read_judge({"instance": SQUARE, "routes": [[1, 2, 3]]}, LIMITS)
    assert instance.size == 4 and solution.routes == ((1, 2, 3),)
    with pytest.raises(Refusal, match="4 nodes have 42 visits and routes; up to 40"):
        read_judge({"instance": SQUARE, "routes": [[1] * 41]}, LIMITS)
    for routes in (None, [1, 2], [["1"]], [[True]], [[10**30]]):
        with pytest.raises(BadInput, match="routes"):
            read_judge({"instance": SQUARE, "routes": routes}, LIMITS)


# ---- key and sites ----------------------------------------------------------------------------------------------


def test_keys(tmp_path, monkeypatch):
    monkeypatch.delenv("EGAM_API_KEY", raising=False)
    assert read_key(None) is None
    file = tmp_path / "key"
    file.write_text("from-the-file-1\nsecond line\n")
    assert read_key(file) == "from-the-file-1"
    monkeypatch.setenv("EGAM_API_KEY", "from-the-variable")
    assert read_key(None) == "from-the-variable" and read_key(file) == "from-the-file-1"
    for text in ("", "short", "with spaces inside", "späßchen-mit-umlaut"):
        file.write_text(text)
        with pytest.raises(BadInput, match="the key"):
            read_key(file)
    with pytest.raises(BadInput, match="cannot be read"):
        read_key(tmp_path / "nowhere")


def test_requests_with_and_without_the_key():
    key = "a-long-key"
    for headers in ({"authorization": f"Bearer {key}"}, {"authorization": f"bearer {key}"}, {"x-api-key": key}):
        check_key(key, "POST", "/solve", headers)
    wrong = ({}, {"authorization": key}, {"authorization": "Bearer a-long-keY"}, {"x-api-key": ""}, {"x-api-key": "ß"})
    for headers in wrong:
        with pytest.raises(Refusal, match="missing or wrong") as caught:
            check_key(key, "POST", "/solve", headers)
        assert caught.value.status == 401
    check_key(key, "GET", "/health", {})
    check_key(key, "GET", "/static/main.js", {})
    for method, path in (("GET", "/metrics"), ("POST", "/"), ("POST", "/health")):
        with pytest.raises(Refusal):
            check_key(key, method, path, {})
    check_key(None, "POST", "/solve", {})


def test_pages_of_other_sites():
    page = {"sec-fetch-site": "cross-site", "origin": "https://elsewhere.example"}
    with pytest.raises(Refusal, match="--cors"):
        check_site((), "POST", page)
    check_site(("https://elsewhere.example",), "POST", page)
    check_site((), "GET", page)
    check_site((), "POST", {"sec-fetch-site": "same-origin"})
    check_site((), "POST", {})  # no browser


# ---- metrics and log --------------------------------------------------------------------------------------------


def test_metrics_in_prometheus_form():
    metrics = Metrics()
    metrics.count("egam_requests_total", route="/solve", status="200")
    metrics.count("egam_requests_total", 2, route="/solve", status="200")
    for seconds in (0.004, 0.005, 0.3, 100.0):
        metrics.see("egam_request_seconds", seconds, (0.005, 1.0))
    text = metrics.text({"egam_waiting": ("Instances that wait.", {(("lane", 'a"b'),): 3.0})})
    assert text.splitlines() == [
        "# HELP egam_requests_total Answered requests by route and status.",
        "# TYPE egam_requests_total counter",
        'egam_requests_total{route="/solve",status="200"} 3',
        "# HELP egam_request_seconds Seconds from the first byte of a request to the last of its answer.",
        "# TYPE egam_request_seconds histogram",
        'egam_request_seconds_bucket{le="0.005"} 2',
        'egam_request_seconds_bucket{le="1"} 3',
        'egam_request_seconds_bucket{le="+Inf"} 4',
        "egam_request_seconds_sum 100.309000",
        "egam_request_seconds_count 4",
        "# HELP egam_waiting Instances that wait.",
        "# TYPE egam_waiting gauge",
        'egam_waiting{lane="a\\"b"} 3',
    ]
    assert resident_bytes() > 10e6 or resident_bytes() == 0


def test_log_lines_are_json():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("egam.serve")
    logger.addHandler(handler)
    logger.setLevel("INFO")
    try:
        say("asked", path="/solve", status=200)
        try:
            raise RuntimeError("two\nlines")
        except RuntimeError:
            logger.exception("it broke")
    finally:
        logger.removeHandler(handler)
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["event"], first["path"], first["status"], first["level"]) == ("asked", "/solve", 200, "info")
    assert second["text"] == "it broke" and "RuntimeError: two\nlines" in second["traceback"]
