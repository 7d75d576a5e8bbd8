"""docs/service.md says what the command line and the server do."""

import json
import re
from dataclasses import fields
from pathlib import Path

from egam.serve.limits import Limits
from egam.serve.openapi import document

PAGE = (Path(__file__).parents[2] / "docs" / "service.md").read_text()


def test_limits_and_their_defaults():
    rows = dict(re.findall(r"^\| `--([\w-]+)` \| ([\d.]+) \|", PAGE, re.M))
    assert rows == {field.name.replace("_", "-"): f"{getattr(Limits(), field.name):g}" for field in fields(Limits)}


def test_options_of_the_command():
    from egam.cli.serve import serve

    options = {name.replace("_", "-") for name in serve.__annotations__ if name != "return"}
    assert {option for option in options if f"`--{option}" not in PAGE} == set()


def test_every_route_is_told():
    for path in document(Limits(), False)["paths"]:
        assert f"`{path}`" in PAGE or f" {path}`" in PAGE, path


def test_the_example(client):
    (body,) = re.findall(r"-d '\n(.*?)'\n", PAGE, re.S)
    reply = client.post("/solve", json=json.loads(body))
    assert reply.status_code == 200
    (result,) = reply.json()["results"]
    assert result["cost"] == 140
    told = PAGE[PAGE.index("A result has") : PAGE.index("With a `time_limit` and")]
    for word in re.findall(r"`(\w+)`", told):
        assert word in result or word in result["schedule"][0] or word in ("served", "failed", "unvisited"), word
