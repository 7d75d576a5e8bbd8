"""The process: listen, warm up, serve until a signal comes, finish what was begun, end.

The first SIGTERM or SIGINT lets everything finish that was accepted and refuses the rest with 503; the second ends
the process at once. `ready` is logged when requests are answered, with the address.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from typing import Any

import uvicorn

from egam.errors import BadInput
from egam.serve.app import Service, Settings, build
from egam.serve.log import say, start_logging

GRACE = 10.0  # seconds beyond the longest time limit that accepted requests may take to finish
BACKLOG = 1024


def serve(settings: Settings, host: str = "127.0.0.1", port: int = 8000, log_level: str = "info") -> None:
    start_logging(log_level)
    listener = _listen(host, port)
    service = build(settings)
    began = time.monotonic()
    service.engine.warm_up()
    config = uvicorn.Config(
        service.asgi,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        limit_concurrency=settings.limits.connections,
        timeout_graceful_shutdown=5,
        ws="none",
    )
    server = uvicorn.Server(config)
    address, actual = listener.getsockname()[:2]
    url = f"http://[{address}]:{actual}" if ":" in address else f"http://{address}:{actual}"
    about = {"url": url, "warm_up_seconds": round(time.monotonic() - began, 2), "key": settings.key is not None}
    asyncio.run(_until_a_signal(server, service, listener, settings.limits.seconds + GRACE, about))
    service.reader.close()
    finished = service.engine.close(1.0)
    say("ended", finished=finished)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except (OSError, OverflowError) as error:
        raise BadInput(f"cannot listen on {host}, port {port}: {getattr(error, 'strerror', None) or error}") from None
    return listener


async def _until_a_signal(
    server: uvicorn.Server, service: Service, listener: socket.socket, seconds: float, about: dict[str, Any]
) -> None:
    """Our own handling of signals is put in place of uvicorn's as soon as that has set its own."""
    loop = asyncio.get_running_loop()
    draining: list[asyncio.Task[None]] = []

    def asked_to_end(name: str) -> None:
        if draining:
            say("signal", name=name, what="ending at once")
            server.force_exit = server.should_exit = True
            return
        say("signal", name=name, what="finishing what was accepted")
        service.front.draining = True
        draining.append(loop.create_task(_drain(server, service, seconds)))

    async def take_over() -> None:
        while not server.started:
            await asyncio.sleep(0.01)
        for one in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(one, asked_to_end, one.name)
        say("ready", **about)

    taking_over = loop.create_task(take_over())
    await server.serve(sockets=[listener])
    taking_over.cancel()


async def _drain(server: uvicorn.Server, service: Service, seconds: float) -> None:
    """Wait until nothing is under way, then let the server end."""
    until = time.monotonic() + seconds
    while (service.front.under_way or service.engine.busy) and time.monotonic() < until:
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.05)  # so that those who come just now are told, too
    server.should_exit = True
