"""The text of a file, and the numbers in it. Every error names the file and, where there is one, the line.

Nothing here knows a format. Numbers are read strictly: no nan, no inf, no underscores, nothing beyond `LARGEST`.
"""

from __future__ import annotations

import math
import os
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from egam.errors import BadInput
from egam.instance import LARGEST

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
NUMBERS = re.compile(r"[0-9eE+.-]*")  # letters of numbers
WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
LONGEST_SHOWN = 40  # characters of a bad value in a message
LARGEST_SIZE = 10_000  # nodes of a file: their distance table takes 800 MB


@dataclass(frozen=True)
class Source:
    """One file: `name` as the user called it, for messages; `text` without a byte order mark."""

    name: str
    text: str

    @property
    def stem(self) -> str:
        """What an instance without a name of its own is called."""
        return Path(self.name).stem

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix.lower()

    @cached_property
    def lines(self) -> list[str]:
        """Line k of the file is lines[k - 1]; \\n, \\r\\n and \\r end one."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def bad(self, sentence: str, line: int | None = None) -> BadInput:
        where = self.name if line is None else f"{self.name}:{line}"
        return BadInput(f"{where}: {sentence}")

    def number(self, what: str, token: str, line: int | None) -> float:
        if not NUMBER.fullmatch(token):
            raise self.bad(f"{what} is {shown(token)}; a number is expected", line)
        value = float(token)
        if abs(value) > LARGEST:
            raise self.bad(f"{what} is {shown(token)}; numbers up to {LARGEST:g} are accepted", line)
        return value

    def numbers(self, what: str, tokens: list[str], line: int | None) -> list[float]:
        """The same for many at once, which is faster when all is well."""
        if NUMBERS.fullmatch("".join(tokens)):
            try:
                values = [float(token) for token in tokens]
            except ValueError:
                values = [math.inf]
            if all(abs(value) <= LARGEST for value in values):
                return values
        return [self.number(what, token, line) for token in tokens]

    def whole(self, what: str, token: str, line: int | None) -> int:
        if not WHOLE.fullmatch(token):
            raise self.bad(f"{what} is {shown(token)}; a whole number is expected", line)
        return int(token)


def shown(value: object) -> str:
    """A bad value for a message: quoted, on one line, not too long."""
    text = "".join(letter if letter.isprintable() else "?" for letter in str(value))
    return f"'{text[:LONGEST_SHOWN]}…'" if len(text) > LONGEST_SHOWN else f"'{text}'"


def plain(value: float) -> str:
    """A number as files hold it, which reads back as the same number; whole ones without a point."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def rounded(cost: float) -> str:
    """A cost for people: without the last digits, which are rounding errors of sums."""
    return plain(float(f"{cost:.12g}"))


def load(path: str | os.PathLike[str]) -> Source:
    """The text of a file; "-" is standard input."""
    if str(path) == "-":
        return decode("stdin", sys.stdin.buffer.read())
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path that no file system takes
        raise BadInput(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return decode(str(path), data)


def decode(name: str, data: bytes) -> Source:
    try:
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        sentence = "is not text in UTF-8, or a binary file; save it as UTF-8"
        raise BadInput(f"{name}:{line}: {sentence} (the first bad byte is 0x{data[error.start]:02x})") from None
    return as_source(name, text)


def as_source(name: str, text: str) -> Source:
    """Text that a reader can start with."""
    source = Source(name, text.removeprefix("\ufeff"))
    if "\0" in source.text:
        line = source.text[: source.text.index("\0")].count("\n") + 1
        raise source.bad("is a binary file; text is expected", line)
    if not source.text.strip():
        raise source.bad("is empty")
    return source
