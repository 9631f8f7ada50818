"""What this machine has for an engine: asked here, so that making a plan stays pure."""

from __future__ import annotations

import os


def usable_cores() -> tuple[int, ...]:
    """CPU numbers that this process may use, in order."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))
