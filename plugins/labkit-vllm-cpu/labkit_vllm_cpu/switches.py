"""The environment variables of this package, read in one place. Unset means: leave vLLM as it is.

| variable                     | meaning                                                                            |
|------------------------------|------------------------------------------------------------------------------------|
| LABKIT_VLLM_CPU_AFFINITY     | `1`: NIXL may not move the model's thread to another core                          |
| LABKIT_VLLM_CPU_NIXL_DELAY_US| pause of NIXL's progress thread between polls, microseconds                        |
| LABKIT_VLLM_CPU_SPIN_S       | how long an engine process spins on its queue after a message, seconds (vLLM: 1)   |
| LABKIT_VLLM_CPU_BIND         | cores of the worker's threads for `labkit_vllm_cpu.serve`; the first is its main one |
"""

from __future__ import annotations

import os

_PREFIX = "LABKIT_VLLM_CPU_"
ALLOWED = _PREFIX + "ALLOWED"


def keep_affinity() -> bool:
    """Whether NIXL's pinning is to be undone."""
    return os.environ.get(_PREFIX + "AFFINITY") == "1"


def nixl_delay_us() -> int | None:
    """Microseconds between two polls of NIXL's progress thread, or None."""
    text = os.environ.get(_PREFIX + "NIXL_DELAY_US")
    return int(text) if text else None


def spin_s() -> float | None:
    """Seconds of spinning after a message, or None."""
    text = os.environ.get(_PREFIX + "SPIN_S")
    return float(text) if text else None


def bound_cores() -> list[int]:
    """Cores to bind to, in order; empty when nothing is asked."""
    return _cores(_PREFIX + "BIND")


def allowed_cores() -> list[int]:
    """Cores that the process had before libgomp bound it; set by `preload`, not by users."""
    return _cores(ALLOWED)


def _cores(name: str) -> list[int]:
    return [int(core) for core in os.environ.get(name, "").split(",") if core]
