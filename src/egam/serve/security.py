"""Who may ask: an optional key, and no other web site's pages unless they were let in.

The key stands in a file or in the environment, never on the command line, where other users see it. It is compared in
constant time. A browser says of each request which site's page makes it; those of other sites are refused.
"""

from __future__ import annotations

import hmac
import os
import re
from collections.abc import Mapping
from pathlib import Path

from egam.errors import BadInput
from egam.serve.limits import Refusal

VARIABLE = "EGAM_API_KEY"
SHORTEST = 8  # characters; shorter keys are guessed
PUBLIC = ("/", "/health", "/docs", "/openapi.json", "/methods", "/weights")  # to look at, without a key
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
}


def read_key(path: Path | None) -> str | None:
    """The first line of the file, else the variable EGAM_API_KEY, else no key."""
    if path is None:
        key, where = os.environ.get(VARIABLE), VARIABLE
        if key is None:
            return None
    else:
        where = str(path)
        try:
            lines = path.read_text(encoding="ascii").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it holds more than letters, digits and signs of ASCII"
            raise BadInput(f"{path}: the key cannot be read: {reason}") from None
        key = lines[0].strip()
    if len(key) < SHORTEST or not key.isascii() or not key.isprintable() or " " in key:
        raise BadInput(f"{where}: the key must be {SHORTEST} or more printable characters of ASCII without spaces")
    return key


def check_origins(origins: list[str]) -> tuple[str, ...]:
    """`https://plan.example:8443`: scheme, host and perhaps a port, as browsers say it."""
    for origin in origins:
        if not re.fullmatch(r"https?://[\w.-]+(:\d{1,5})?", origin, re.ASCII):
            raise BadInput(f"--cors is '{origin}'; an origin such as https://plan.example is expected, without a path")
    return tuple(origins)


def check_key(key: str | None, method: str, path: str, headers: Mapping[str, str]) -> None:
    """Raise unless the request carries the key, or needs none."""
    if key is None or (method in ("GET", "HEAD") and (path in PUBLIC or path.startswith("/static/"))):
        return
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        given = headers.get("x-api-key", "")
    if not hmac.compare_digest(given.strip().encode("latin-1", "replace"), key.encode()):
        raise Refusal(401, "the key is missing or wrong; send it as `Authorization: Bearer KEY` or as `X-API-Key: KEY`")


def check_site(origins: tuple[str, ...], method: str, headers: Mapping[str, str]) -> None:
    """Raise if a page of another site makes the request and its origin was not let in."""
    from_elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if from_elsewhere and method not in ("GET", "HEAD", "OPTIONS") and headers.get("origin") not in origins:
        raise Refusal(403, "pages of other sites may not ask here; start the server with --cors ORIGIN to let one in")
