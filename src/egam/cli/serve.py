"""`egam serve`: the service and the page, on this machine unless told otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from egam.cli.app import app
from egam.errors import BadInput, NotInstalled
from egam.serve.limits import Limits

LEVELS = ("debug", "info", "warning", "error")
USUAL = Limits()


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all of this machine's.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one, told in the line `ready`.")] = 8000,
    api_key_file: Annotated[
        Path | None, typer.Option(help="Its first line must come with requests; EGAM_API_KEY does the same.")
    ] = None,
    cors: Annotated[
        list[str] | None, typer.Option(help="Origin whose pages may ask, such as https://plan.example; repeatable.")
    ] = None,
    speed: Annotated[
        float | None, typer.Option(help="m/s as the crow flies, for requests of VROOM without matrices.")
    ] = None,
    nodes: Annotated[int, typer.Option(help="Of one instance, at most.")] = USUAL.nodes,
    instances: Annotated[int, typer.Option(help="Of one request, at most.")] = USUAL.instances,
    samples: Annotated[int, typer.Option(help="Of one instance, at most.")] = USUAL.samples,
    body_mb: Annotated[float, typer.Option(help="Megabytes of one request, at most.")] = USUAL.body_mb,
    bodies_mb: Annotated[float, typer.Option(help="Of all that are being read, at most.")] = USUAL.bodies_mb,
    seconds: Annotated[float, typer.Option(help="time_limit of one request, at most.")] = USUAL.seconds,
    read_seconds: Annotated[float, typer.Option(help="Until a body must have arrived.")] = USUAL.read_seconds,
    queue: Annotated[int, typer.Option(help="Instances that wait, at most.")] = USUAL.queue,
    wait_seconds: Annotated[float, typer.Option(help="That these take, at most.")] = USUAL.wait_seconds,
    memory_gb: Annotated[float, typer.Option(help="GiB that the network may use.")] = USUAL.memory_gb,
    connections: Annotated[int, typer.Option(help="At once, at most.")] = USUAL.connections,
    batch: Annotated[int, typer.Option(help="Instances solved together, at most.")] = USUAL.batch,
    window_ms: Annotated[float, typer.Option(help="How long the first of a batch waits.")] = USUAL.window_ms,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Answer requests over HTTP, and serve the page, until a signal comes."""
    if log_level not in LEVELS:
        raise BadInput(f"--log-level is '{log_level}'; accepted: {', '.join(LEVELS)}")
    if speed is not None and not 0 < speed < 1e6:
        raise BadInput(f"--speed is {speed:g}; metres per second above 0 are expected")
    limits = Limits(
        nodes=nodes,
        instances=instances,
        samples=samples,
        body_mb=body_mb,
        bodies_mb=bodies_mb,
        seconds=seconds,
        read_seconds=read_seconds,
        queue=queue,
        wait_seconds=wait_seconds,
        memory_gb=memory_gb,
        connections=connections,
        batch=batch,
        window_ms=window_ms,
    )
    from egam.serve.security import check_origins, read_key

    key, origins = read_key(api_key_file), check_origins(cors or [])
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise NotInstalled(f"egam serve needs the package {error.name}; install: pip install 'egam[serve]'") from None
    from egam.serve.app import Settings
    from egam.serve.run import serve as run

    run(Settings(limits, key, origins, speed), host, port, log_level)
