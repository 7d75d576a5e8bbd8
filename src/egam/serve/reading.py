"""Bodies of requests: counted while they arrive, refused as soon as they are too large or too slow, parsed aside.

All bodies that are being read or parsed share one budget, and at most two are parsed at once: that bounds the memory
that clients can take before anything is known about them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from egam.serve.limits import Limits, Refusal, busy, too_large

AT_ONCE = 20_000  # bytes of a body that is parsed without going to another thread
T = TypeVar("T")


class Reader:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.held = 0  # bytes
        self._parsers = ThreadPoolExecutor(2, thread_name_prefix="egam-parse")

    async def read(self, request: Request, parse: Callable[[bytes], T]) -> T:
        """What `parse` makes of the body."""
        mine = 0
        chunks: list[bytes] = []
        try:
            self._check_announced(request)
            async with asyncio.timeout(self.limits.read_seconds):
                async for chunk in request.stream():
                    mine, self.held = mine + len(chunk), self.held + len(chunk)
                    chunks.append(chunk)
                    self._check(mine)
            body = b"".join(chunks)
            chunks.clear()
            return await self.aside(mine > AT_ONCE, lambda: parse(body))
        except TimeoutError:
            raise Refusal(408, f"the body did not arrive within {self.limits.read_seconds:g} s") from None
        finally:
            self.held -= mine

    async def aside(self, long: bool, work: Callable[[], T]) -> T:
        """Do it here if it is short, else in another thread, so that others are answered meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._parsers, work) if long else work()

    def close(self) -> None:
        self._parsers.shutdown(wait=False, cancel_futures=True)

    def _check_announced(self, request: Request) -> None:
        announced = request.headers.get("content-length", "0")
        if announced.isdigit() and int(announced) > self.limits.body_bytes:
            raise self._too_large(int(announced))

    def _check(self, mine: int) -> None:
        if mine > self.limits.body_bytes:
            raise self._too_large(mine)
        if self.held > self.limits.bodies_bytes:
            raise busy("too many bodies are being read")

    def _too_large(self, size: int) -> Refusal:
        return too_large("the body has", size, self.limits.body_bytes, " bytes")


async def gone(request: Request) -> None:
    """Returns when the client has closed the connection; the body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def unless_gone(request: Request, work: asyncio.Future[Any]) -> Any:
    """The outcome of `work`, or ClientDisconnect as soon as nobody waits for it."""
    leaving = asyncio.ensure_future(gone(request))
    try:
        await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise ClientDisconnect
        return work.result()
    finally:
        leaving.cancel()
        work.cancel()
