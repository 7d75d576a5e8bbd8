"""The routes of the service: HTTP in, HTTP out. What they do is done elsewhere.

`build` makes the application: FastAPI with one function per route, inside `Front`, which every request passes.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp

from egam import __version__
from egam.catalogue import shipped
from egam.errors import BadInput, EgamError, NotInstalled
from egam.instance import Instance
from egam.io import instance_to_dict
from egam.judge import judge
from egam.methods import METHODS
from egam.result import Result
from egam.serve.asked import Options, load, read_judge, read_parse, read_solve
from egam.serve.batching import Job
from egam.serve.docs_page import POLICY, docs_page
from egam.serve.engine import Engine
from egam.serve.front import GONE, Front, error_body
from egam.serve.limits import Limits, Refusal
from egam.serve.metrics import Metrics
from egam.serve.openapi import document
from egam.serve.reading import Reader, unless_gone
from egam.serve.vroom import answer, plan
from egam.serve.vroom_read import read_vroom
from egam.solution import Solution
from egam.solvers import SOLVERS, installed

STATIC = Path(__file__).parent / "static"
PING = 5.0  # seconds of silence after which a stream says that it lives
MANY = 500  # nodes of an answer that is written aside
UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # the second one is for nginx
KEPT = 64  # improvements that a slow reader of a stream may be behind
JUDGED = ("cost", "feasible", "length", "routes", "unserved", "violations", "schedule")
TOLD = ("nodes", "instances", "samples", "seconds", "body_mb")  # limits that clients are told


@dataclass(frozen=True)
class Settings:
    limits: Limits = Limits()
    key: str | None = None
    origins: tuple[str, ...] = ()  # whose pages may ask
    speed: float | None = None  # m/s as the crow flies, for requests of VROOM without matrices


@dataclass(frozen=True)
class Service:
    """The application, and what the process that runs it must know."""

    asgi: ASGIApp
    front: Front
    engine: Engine
    reader: Reader


def build(settings: Settings) -> Service:
    metrics = Metrics()
    engine, reader = Engine(settings.limits, metrics), Reader(settings.limits)
    app = FastAPI(title="EGAM", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    _answer_errors(app)
    _solving(app, settings, engine, reader)
    _looking(app, settings, engine, metrics)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    front = Front(app, metrics, settings.key, settings.origins)
    asgi: ASGIApp = front
    if settings.origins:
        asgi = CORSMiddleware(
            front,
            allow_origins=list(settings.origins),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key"],
            expose_headers=["Retry-After", "X-Request-ID"],
        )
    return Service(asgi, front, engine, reader)


def json_response(data: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(json.dumps(data, allow_nan=False), status, headers, "application/json")


# ---- solving ----------------------------------------------------------------------------------------------------


def _solving(app: FastAPI, settings: Settings, engine: Engine, reader: Reader) -> None:
    limits = settings.limits

    @app.post("/solve")
    async def solve(request: Request) -> Response:
        instances, options = await reader.read(request, lambda body: read_solve(load(body), limits))
        _note(request, problem=instances[0].problem, nodes=instances[0].size, instances=len(instances))
        _note(request, solver=options.method)
        if options.time_limit is not None and "text/event-stream" in request.headers.get("accept", ""):
            return _stream(engine, instances, options)
        results = await _solved(request, engine, engine.put(instances, options))
        nodes = sum(instance.size for instance in instances)
        return await reader.aside(nodes > MANY, lambda: json_response({"results": [one.to_dict() for one in results]}))

    @app.post("/vroom")
    @app.post("/")
    async def vroom(request: Request) -> Response:
        began = time.perf_counter()
        planned = await reader.read(request, lambda body: plan(read_vroom(load(body), limits, settings.speed)))
        loaded = time.perf_counter()
        routes: list[Any] = []
        for instance in planned.instances:
            _note(request, problem=instance.problem, nodes=instance.size, instances=1)
            (result,) = await _solved(request, engine, engine.put([instance], Options()))
            routes.append(result.solution.routes)
            if planned.serves_all(routes[-1]):
                break
        times = (round(1000 * (loaded - began)), round(1000 * (time.perf_counter() - loaded)))
        return json_response(answer(planned, routes, times))

    @app.post("/parse")
    async def parse(request: Request) -> Response:
        instance = await reader.read(request, lambda body: read_parse(load(body), limits))
        _note(request, problem=instance.problem, nodes=instance.size)
        return json_response({"instance": instance_to_dict(instance), "notes": list(instance.notes)})

    @app.post("/judge")
    async def judged(request: Request) -> Response:
        instance, told = await reader.read(request, lambda body: _verdict(*read_judge(load(body), limits)))
        _note(request, problem=instance.problem, nodes=instance.size)
        return json_response(told)


def _verdict(instance: Instance, solution: Solution) -> tuple[Instance, dict[str, Any]]:
    told = Result(instance, solution, judge(instance, solution), method="").to_dict()
    return instance, {key: told[key] for key in JUDGED}


def _note(request: Request, **fields: Any) -> None:
    """For the line in the log."""
    request.state.about.update(fields)


async def _solved(request: Request, engine: Engine, jobs: list[Job]) -> list[Result]:
    """The results, unless the client goes away; then its work is stopped."""
    try:
        return await unless_gone(request, asyncio.gather(*(asyncio.wrap_future(job.answer) for job in jobs)))
    finally:
        engine.forget(jobs)


def _stream(engine: Engine, instances: list[Instance], options: Options) -> Response:
    """Server-sent events: each improvement, then the result."""
    if len(instances) != 1:
        raise BadInput(f"request: there are {len(instances)} instances; a stream is about one")
    loop, fresh = asyncio.get_running_loop(), asyncio.Event()
    events: deque[tuple[str, Any]] = deque(maxlen=KEPT)

    def happened(name: str, data: Any) -> None:
        events.append((name, data))
        fresh.set()

    def improved(result: Result) -> None:
        loop.call_soon_threadsafe(happened, "improvement", result)

    (job,) = engine.put(instances, options, improved)
    job.answer.add_done_callback(lambda future: loop.call_soon_threadsafe(happened, "result", future))

    async def lines() -> AsyncIterator[str]:
        try:
            while True:
                try:
                    async with asyncio.timeout(PING):
                        await fresh.wait()
                except TimeoutError:
                    yield ": still solving\n\n"
                fresh.clear()
                while events:
                    name, data = events.popleft()
                    if name == "improvement":
                        yield _event(name, data.to_dict())
                    else:
                        yield _last(data)
                        return
        finally:
            engine.forget([job])

    return StreamingResponse(lines(), media_type="text/event-stream", headers=UNBUFFERED)


def _last(future: Any) -> str:
    try:
        return _event("result", future.result().to_dict())
    except Exception as error:
        return _event("error", {"error": _sentence(error)[1]})


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n"


# ---- looking ----------------------------------------------------------------------------------------------------


def _looking(app: FastAPI, settings: Settings, engine: Engine, metrics: Metrics) -> None:
    described = document(settings.limits, settings.key is not None)
    page = docs_page(described)

    @app.get("/")
    async def index() -> Response:
        return Response((STATIC / "index.html").read_bytes(), media_type="text/html")

    @app.get("/health")
    async def health() -> Response:
        job = engine.examine()
        # Shielded, as others may wait for the same job.
        result = None if job is None else await asyncio.shield(asyncio.wrap_future(job.answer))
        return json_response({**engine.healthy(result), "version": __version__})

    @app.get("/methods")
    async def methods() -> Response:
        told = {name: getattr(settings.limits, name) for name in TOLD}
        return json_response({"methods": _methods(), "default": "egam", "limits": told})

    @app.get("/weights")
    async def weights() -> Response:
        rows = [
            {
                "name": entry.name,
                "problem": entry.problem,
                "variant": entry.variant,
                "network": entry.network,
                "trained_on": entry.trained_on,
                "sizes": entry.sizes,
            }
            for entry in shipped().values()
        ]
        return json_response({"weights": rows})

    @app.get("/metrics")
    async def counters() -> Response:
        text = metrics.text(engine.gauges())
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/openapi.json")
    async def openapi() -> Response:
        return json_response(described)

    @app.get("/docs")
    async def docs() -> Response:
        return Response(page, media_type="text/html", headers={"Content-Security-Policy": POLICY})


def _methods() -> list[dict[str, Any]]:
    """What `method` may be: networks that have weights, then classical solvers."""
    entries = shipped().values()
    rows = []
    for name, method in METHODS.items():
        if problems := sorted({entry.problem for entry in entries if entry.method == name}):
            rows.append({"name": name, "problems": problems, "decodings": list(method.decodings), "installed": True})
    for name, solver in SOLVERS.items():
        rows.append({"name": name, "problems": list(solver.problems), "decodings": [], "installed": installed(name)})
    return rows


# ---- errors -----------------------------------------------------------------------------------------------------


def _sentence(error: BaseException) -> tuple[int, str]:
    """Status and sentence of whatever went wrong; nothing of the inside of the server."""
    if isinstance(error, Refusal):
        return error.status, str(error)
    if isinstance(error, NotInstalled):
        return 501, str(error)
    if isinstance(error, BadInput):
        return 400, str(error)
    if isinstance(error, EgamError):
        return 500, str(error)
    if isinstance(error, HTTPException):
        return error.status_code, f"{error.detail}".lower()
    if isinstance(error, MemoryError) or "allocate memory" in str(error):
        return 503, "there is not enough memory for this request"
    return 500, "internal error; the server's log has it under the X-Request-ID of this answer"


def _answer_errors(app: FastAPI) -> None:
    async def told(request: Request, error: Exception) -> Response:
        if isinstance(error, ClientDisconnect):
            return Response(status_code=GONE)
        status, sentence = _sentence(error)
        headers = dict(getattr(error, "headers", None) or {})
        if isinstance(error, Refusal) and error.retry_after is not None:
            headers["Retry-After"] = str(error.retry_after)
        if isinstance(error, Refusal) and status in (408, 413):
            headers["Connection"] = "close"  # the rest of its body is not read
        return json_response(error_body(request.url.path, request.method, status, sentence), status, headers)

    for kind in (EgamError, HTTPException, ClientDisconnect, Exception):
        app.add_exception_handler(kind, told)
