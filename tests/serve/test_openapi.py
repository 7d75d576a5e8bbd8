"""The OpenAPI document against the server: schemathesis makes requests from it, good and bad ones."""

import pytest

from egam.serve.limits import Limits
from egam.serve.openapi import document

schemathesis = pytest.importorskip("schemathesis", reason="needs pip install schemathesis")
from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402

DOCUMENT = document(Limits(nodes=200, seconds=20), with_key=False)
CALLS = [(path, method) for path, calls in DOCUMENT["paths"].items() for method in calls]


def tried(server, path, method, mode, examples):
    """Send requests that hypothesis makes; status, type and body of every answer must be as the document says."""
    operation = schemathesis.openapi.from_dict(DOCUMENT)[path][method]
    checks = schemathesis.checks
    # Lists whose lengths must agree cannot be said in a schema: what is good by it may still be refused. And a 413 is
    # no refusal to schemathesis, so that the tests below look at the statuses of bad requests themselves.
    excluded = [checks.positive_data_acceptance, checks.negative_data_rejection]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def send(case):
        reply = case.call(base_url=server.url, timeout=60)
        statuses.append(reply.status_code)
        case.validate_response(reply, excluded_checks=excluded)

    statuses = []
    send()
    return statuses


@pytest.mark.parametrize("path, method", CALLS, ids=[f"{method} {path}" for path, method in CALLS])
def test_good_requests(server, path, method):
    assert tried(server, path, method, GenerationMode.POSITIVE, 12 if method == "post" else 1)


@pytest.mark.parametrize("path", [path for path, method in CALLS if method == "post"])
def test_bad_requests(server, path):
    assert set(tried(server, path, "post", GenerationMode.NEGATIVE, 12)) <= {400, 413}


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path, method in CALLS if method == "post"])
def test_many_requests(server, path):
    assert 500 not in tried(server, path, "post", GenerationMode.POSITIVE, 300)
    assert set(tried(server, path, "post", GenerationMode.NEGATIVE, 300)) <= {400, 413}


def test_the_document_names_every_route_and_no_other():
    pytest.importorskip("fastapi", reason="the service needs pip install 'egam[serve]'")
    from egam.serve.app import Settings, build

    service = build(Settings())
    try:
        routes = [(route.path, getattr(route, "methods", None) or ()) for route in service.front.app.routes]
        there = {(path, method.lower()) for path, methods in routes for method in methods if method != "HEAD"}
        assert there == set(CALLS)
    finally:
        service.reader.close()
        assert service.engine.close(10)
