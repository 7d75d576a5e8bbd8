"""/docs: the OpenAPI document as one HTML page that needs no script and nothing from another host."""

from __future__ import annotations

import json
from html import escape
from typing import Any

POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; } code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { overflow: auto; padding: .75rem; border: 1px solid #8886; border-radius: 6px; }
table { border-collapse: collapse; } td { padding: .15rem .8rem .15rem 0; vertical-align: top; }
.verb { display: inline-block; min-width: 3.2rem; font-weight: 600; }
"""
EXAMPLE = {
    "instance": {"problem": "tsp", "coords": [[0, 0], [30, 0], [30, 40], [0, 40]]},
    "method": "egam",
    "decoding": "8x20",
}


def docs_page(document: dict[str, Any]) -> str:
    info = document["info"]
    curl = f"curl http://127.0.0.1:8000/solve -H 'Content-Type: application/json' -d '{json.dumps(EXAMPLE)}'"
    parts = [
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])}</p>",
        f"<pre>{escape(curl)}</pre>",
        '<p>The same for programs: <a href="openapi.json">openapi.json</a>. <a href="./">The page</a>.</p>',
    ]
    for path, calls in document["paths"].items():
        parts += [_call(path, verb, call) for verb, call in calls.items()]
    parts.append("<h2>Schemas</h2>")
    for name, schema in document["components"]["schemas"].items():
        told = f"<summary><code>{escape(name)}</code></summary><pre>{escape(json.dumps(schema, indent=1))}</pre>"
        parts.append(f'<details id="{escape(name)}">{told}</details>')
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>EGAM API</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body>{''.join(parts)}</body></html>"
    )


def _call(path: str, verb: str, call: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{status}</code></td><td>{escape(answer['description'])} {_schemas(answer)}</td></tr>"
        for status, answer in call["responses"].items()
    )
    asked = f"<p>Body: {_schemas(call['requestBody'])}</p>" if "requestBody" in call else ""
    return (
        f'<h2><code><span class="verb">{verb.upper()}</span> {escape(path)}</code></h2>'
        f"<p>{escape(call['summary'])}. {escape(call.get('description', ''))}</p>{asked}<table>{rows}</table>"
    )


def _schemas(holder: dict[str, Any]) -> str:
    """Links to the schemas of a body, and the kinds of those that have none."""
    found = []
    for kind, body in holder.get("content", {}).items():
        name = body["schema"].get("$ref", "").rpartition("/")[2]
        found.append(f'<a href="#{escape(name)}">{escape(name)}</a>' if name else f"<code>{escape(kind)}</code>")
    return ", ".join(found)
