"""The vLLM plugin: three repairs for engines that share few cores. Each has its own switch and is off unless set.

vLLM loads it in every one of its processes. On anything but the CPU platform it does nothing.

1. Affinity. NIXL's connector pins the calling thread, which is the one that runs the model, to the last core of the
   NUMA node, whatever binding was asked for. Prefill and decode then compute on the same core (decode was 3.5 times
   slower). The connector asks the platform which cores there are, so it is told: those that you already have.
2. NIXL's pause. The binding sets the progress thread's pause to 0, so it polls all the time and takes a whole core in
   each engine. With 1000 us it takes 1-3 %.
3. Spin. EngineCore spins on its queue for one second after each message, on a core that a model could use. A reader
   that does not spin parks until it is notified, and vLLM loses a notification now and then (its PUB socket drops what
   does not fit): the reader then sleeps out vLLM's interval of 5 s between two tokens. So it is woken every 5 ms.
"""

from __future__ import annotations

import os
from typing import Any

from labkit_vllm_cpu import switches

_done: set[str] = set()
_RECHECK_MS = 5
"""How often a parked reader looks by itself: costs under 1 % of a core, and bounds what a lost notification costs."""


def register() -> None:
    """Entry point of `vllm.general_plugins`; may be called several times in one process."""
    from vllm.platforms import current_platform

    if not current_platform.is_cpu():
        return
    if switches.keep_affinity():
        _once("affinity", lambda: _keep_affinity(type(current_platform)))
    if (delay := switches.nixl_delay_us()) is not None:
        _once("nixl delay", lambda: _pause_nixl(delay))
    if (seconds := switches.spin_s()) is not None:
        _once("spin", lambda: _spin_less(seconds))


def _once(name: str, repair: Any) -> None:
    if name not in _done:
        _done.add(name)
        repair()


def _keep_affinity(platform: Any) -> None:
    """The caller takes the largest core of each list: with one list per core of ours its pinning changes nothing."""

    def discover_numa_topology(cls: Any) -> list[list[int]]:
        return [[core] for core in sorted(os.sched_getaffinity(0))]

    platform.discover_numa_topology = classmethod(discover_numa_topology)


def _pause_nixl(delay_us: int) -> None:
    """Wraps the agent's constructor: the pause is set in a config object right before it is called."""
    try:
        from nixl import _bindings
    except ImportError:  # no NIXL, no progress thread
        return
    agent = _bindings.nixlAgent

    def nixl_agent(name: str, config: Any) -> Any:
        config.pthrDelay = delay_us
        return agent(name, config)

    _bindings.nixlAgent = nixl_agent


def _spin_less(seconds: float) -> None:
    from vllm.distributed.device_communicators import shm_broadcast

    shm_broadcast.SpinCondition.__init__.__defaults__ = (seconds,)
    shm_broadcast.SHM_READER_RECHECK_INTERVAL_MS = _RECHECK_MS
