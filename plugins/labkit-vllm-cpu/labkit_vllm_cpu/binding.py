"""Which cores a process may use, before and after forks.

libgomp binds the thread that first uses it to the first bound core. That is right for the Worker, which computes, and
wrong for the API server and EngineCore, which would share that core with it, as would every thread they start.
"""

from __future__ import annotations

import os

from labkit_vllm_cpu import switches

_generation = 0
"""0 the API server, 1 its children (EngineCore), 2 theirs (Worker)."""


def release() -> None:
    """Let this process use every core that it was started with."""
    if switches.bound_cores():
        os.sched_setaffinity(0, switches.allowed_cores())


def after_fork_in_child() -> None:
    """EngineCore gets all cores; the Worker, two forks down, its first bound one, where libgomp expects it."""
    global _generation
    _generation += 1
    cores = switches.bound_cores()
    if cores and _generation == 2:
        os.sched_setaffinity(0, {cores[0]})
    else:
        release()
