"""One JSON object per line on stderr: what was asked, how it ended, how long it took. Never what a body said."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any, TextIO

LOGGER = logging.getLogger("egam.serve")


class JsonLines(logging.Formatter):
    """The record's `fields`, or its message; an exception as its traceback, on the same line."""

    def format(self, record: logging.LogRecord) -> str:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {"time": f"{stamp}.{int(record.msecs):03d}Z", "level": record.levelname.lower()}
        line.update(getattr(record, "fields", None) or {"event": "message", "text": record.getMessage()})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def start_logging(level: str = "info", stream: TextIO | None = None) -> None:
    """Send our lines, and those of uvicorn, to stderr."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("egam.serve", "uvicorn", "uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level.upper() if name == "egam.serve" else "WARNING")


def say(event: str, level: int = logging.INFO, /, **fields: Any) -> None:
    LOGGER.log(level, event, extra={"fields": {"event": event, **fields}})
