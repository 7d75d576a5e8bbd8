"""What every request passes: is it let in, what did it end with, how long did it take. Plain ASGI around the routes."""

from __future__ import annotations

import json
import logging
import secrets
import time
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from egam.serve.limits import Refusal, closing
from egam.serve.log import say
from egam.serve.metrics import Metrics
from egam.serve.security import HEADERS, check_key, check_site

QUIET = ("/static/", "/health", "/metrics")  # logged at level debug
VROOM = ("/", "/vroom")  # where answers have VROOM's codes
GONE = 499  # nginx's word for a client that did not wait


def error_body(path: str, method: str, status: int, sentence: str) -> dict[str, Any]:
    """`{"error": ...}`, with VROOM's code where VROOM's shape is spoken."""
    if method == "POST" and path in VROOM:
        return {"code": 1 if status >= 500 or status == 429 else 2, "error": sentence}
    return {"error": sentence}


class Front:
    def __init__(self, app: ASGIApp, metrics: Metrics, key: str | None, origins: tuple[str, ...]) -> None:
        self.app, self.metrics, self.key, self.origins = app, metrics, key, origins
        self.under_way = 0
        self.draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0
        about: dict[str, Any] = {"request": secrets.token_hex(4)}
        scope.setdefault("state", {})["about"] = about  # routes add what they learn, for the log

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers["X-Request-ID"] = about["request"]
                if self.draining:
                    headers["Connection"] = "close"
            await send(message)

        self.under_way += 1
        try:
            self._let_in(scope)
            await self.app(scope, receive, counted)
        except Refusal as refusal:
            await self._refuse(scope, counted, refusal)
        except Exception:
            status = 500
            raise
        finally:
            self.under_way -= 1
            self._tell(scope, about, status or GONE, time.perf_counter() - began)

    def _let_in(self, scope: Scope) -> None:
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        check_site(self.origins, method, headers)
        if method != "OPTIONS":  # a browser's question about CORS carries no key
            check_key(self.key, method, path, headers)
        if self.draining and (method == "POST" or path == "/health"):
            raise closing()

    async def _refuse(self, scope: Scope, send: Send, refusal: Refusal) -> None:
        body = json.dumps(error_body(scope["path"], scope["method"], refusal.status, str(refusal))).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if refusal.retry_after is not None:
            headers.append((b"retry-after", str(refusal.retry_after).encode()))
        if refusal.status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        headers.append((b"connection", b"close"))  # its body was not read
        await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _tell(self, scope: Scope, about: dict[str, Any], status: int, seconds: float) -> None:
        path = scope["path"]
        route = getattr(scope.get("route"), "path", None) or ("/static" if path.startswith("/static/") else "other")
        self.metrics.count("egam_requests_total", route=route, status=str(status))
        self.metrics.see("egam_request_seconds", seconds, route=route)
        level = logging.DEBUG if path.startswith(QUIET) and status < 400 else logging.INFO
        client = scope["client"][0] if scope.get("client") else None
        fields = {"method": scope["method"], "path": path[:200], "status": status, "ms": round(1000 * seconds, 1)}
        say("request", level, client=client, **fields, **about)
