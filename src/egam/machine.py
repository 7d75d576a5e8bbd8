"""What this process asks of the machine it runs on: threads, and memory pages that stay mapped.

A CPU training step allocates and frees the same large blocks thousands of times. glibc hands such blocks back to the
kernel, which must clear every page again at the next step; `keep_pages` makes it keep them. Elsewhere it does nothing.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from pathlib import Path

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4  # glibc's names for mallopt's options
PAD = 64 << 20


def keep_pages() -> bool:
    """Keep freed memory in this process. True if the C library took it."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_MAX, 0) and mallopt(_TRIM_THRESHOLD, 2**31 - 1) and mallopt(_TOP_PAD, PAD))


def give_back_pages() -> bool:
    """Hand freed memory back to the system, which takes a few milliseconds. True if the C library did."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL("libc.so.6").malloc_trim(0))
    except (OSError, AttributeError):
        return False


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """Its model, as far as the system tells."""
    return _told("model name") or platform.processor() or platform.machine()


def made_by_intel() -> bool:
    """Is the processor one for which Intel's matrix library takes its own best kernels?"""
    return "GenuineIntel" in (_told("vendor_id") or platform.processor())


def _told(key: str) -> str:
    """What Linux tells of the first core; nothing elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")
