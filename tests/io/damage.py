"""Damaged copies of a file: cut off, bytes flipped, lines lost, doubled or swapped, numbers replaced by garbage."""

from __future__ import annotations

import re

import numpy as np

GARBAGE = [
    *(
        "nan",
        "inf",
        "-1",
        "0",
        "1e999",
        "1_000",
        "0x10",
        "--",
        "''",
        '"',
        "EOF",
        "é",
        "１",
        "-9999999999999999999999",
        "1e15",
    ),
    *(
        "NODE_COORD_SECTION",
        "DIMENSION : 1000000000",
        "TYPE : CVRP",
        "null",
        "[]",
        "{",
        "true",
        ":",
        ",",
        ";",
        "#",
        "\t",
    ),
]


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    for _ in range(rng.integers(1, 4)):
        data = WAYS[rng.integers(len(WAYS))](data, rng)
    return data


def _cut_off(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: rng.integers(len(data) + 1)]


def _flip_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.integers(1, 6)):
        if changed:
            changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _lose_a_line(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.split(b"\n")
    lines.pop(rng.integers(len(lines)))
    return b"\n".join(lines)


def _double_a_line(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.split(b"\n")
    lines.insert(rng.integers(len(lines)), lines[rng.integers(len(lines))])
    return b"\n".join(lines)


def _swap_lines(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.split(b"\n")
    a, b = rng.integers(len(lines), size=2)
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def _swap_numbers(data: bytes, rng: np.random.Generator) -> bytes:
    found = list(re.finditer(rb"\d+", data))
    if len(found) < 2:
        return data
    first, second = sorted(rng.integers(len(found), size=2))
    if first == second:
        return data
    a, b = found[first], found[second]
    return data[: a.start()] + b[0] + data[a.end() : b.start()] + a[0] + data[b.end() :]


def _put_garbage(data: bytes, rng: np.random.Generator) -> bytes:
    found = list(re.finditer(rb"\S+", data))
    if not found:
        return data
    word = found[rng.integers(len(found))]
    return data[: word.start()] + GARBAGE[rng.integers(len(GARBAGE))].encode() + data[word.end() :]


WAYS = (_cut_off, _flip_bytes, _lose_a_line, _double_a_line, _swap_lines, _swap_numbers, _put_garbage)
