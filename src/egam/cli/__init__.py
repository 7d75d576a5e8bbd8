"""The command line: options in, numbers out. One file per command; what a command does lives elsewhere in the package.

Torch is imported inside the commands that need it, so that `egam --help` and every refusal are quick.
"""

from __future__ import annotations

# Each registers its command with the app.
from egam.cli import bench, convert, doctor, evaluate, generate, judge, lessons, serve, solve, train, weights
from egam.cli.app import main

__all__ = [
    "bench",
    "convert",
    "doctor",
    "evaluate",
    "generate",
    "judge",
    "lessons",
    "main",
    "serve",
    "solve",
    "train",
    "weights",
]
