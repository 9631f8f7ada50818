"""Waiting for an engine: healthy, proven by one token, or dead with a reason. Never longer than the deadline."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import aiohttp

from labkit.core.clock import Clock
from labkit.core.errors import EngineDied, EngineNotReady, PortInUse
from labkit.engines.causes import Cause, likely_cause
from labkit.engines.logs import tail
from labkit.engines.process import ProcessState, exit_code, is_alive

_POLL_S = 0.25
_PORT_TAKEN = re.compile(r"(?:Error|Errno 98)\b.*[Aa]ddress already in use")
_TAIL = 12
_MAX_WORDS = 300
_AROUND = 2
"""Lines shown before and after the one that names the cause: what follows it is mostly other processes' tracebacks."""
_CAUSE_LINES = 400
"""A traceback of the outer process follows the inner one that names the cause, so the search looks further back."""


async def wait_healthy(
    processes: Sequence[ProcessState],
    clock: Clock,
    deadline: float,
    tick: Callable[[], None],
    *,
    path: str = "/health",
    alive: Sequence[ProcessState] = (),
) -> None:
    """Until every one answers GET `path` with 200.

    Raises EngineDied at the first death, among them and those of `alive`, PortInUse when it was for a port,
    EngineNotReady at `deadline`. `deadline`: a reading of `clock`. `tick` is called at every poll.
    """
    waiting = list(processes)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as http:
        while waiting:
            require_alive([*processes, *alive])
            tick()
            waiting = [process for process in waiting if not await _healthy(http, process.url + path)]
            if waiting:
                _require_ports(waiting)
                _require_time(waiting, clock, deadline)
                await asyncio.sleep(_POLL_S)


async def prove(
    url: str, model: str, processes: Sequence[ProcessState], clock: Clock, deadline: float, tick: Callable[[], None]
) -> None:
    """Until a token came through `url`, whatever stands behind it. Raises like `wait_healthy`, with the last answer."""
    body = {"model": model, "prompt": "Ready?", "max_tokens": 1, "temperature": 0}
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as http:
        tick()
        while (refused := await _refusal(http, f"{url}/v1/completions", body)) is not None:
            require_alive(processes)
            tick()
            _require_time(processes, clock, deadline, f": the last answer was {refused}")
            await asyncio.sleep(_POLL_S)


def require_alive(processes: Sequence[ProcessState]) -> None:
    """Raises EngineDied, with the likely cause and the end of its log, when one has ended; PortInUse for a port."""
    for process in processes:
        if not is_alive(process):
            _require_ports([process])
            raise died(process)


def died(process: ProcessState) -> EngineDied:
    """The error for a process that ended."""
    log, code = tail(Path(process.log), _CAUSE_LINES), exit_code(process)
    cause = likely_cause(log, code)
    reason = f": {cause.what}" if cause else "" if code is None else f" with status {code}"
    hint = cause.hint if cause else f"The whole log: {process.log}"
    return EngineDied(f"the {process.role} process ended{reason}", hint, _relevant(log, cause))


def _relevant(log: Sequence[str], cause: Cause | None) -> tuple[str, ...]:
    """The lines around the cause, else the last ones."""
    if cause is None or cause.line is None:
        return tuple(log[-_TAIL:])
    return tuple(log[max(0, cause.line - _AROUND) : cause.line + _AROUND + 1])


def _require_ports(waiting: Sequence[ProcessState]) -> None:
    """Raises PortInUse when a log says that a port was taken: a thread died of it, and the process waits for ever."""
    for process in waiting:
        log = tail(Path(process.log), _CAUSE_LINES)
        line = next((number for number, text in enumerate(log) if _PORT_TAKEN.search(text)), None)
        if line is not None:
            what = f"a port of the {process.role} process was taken before it could listen"
            raise PortInUse(
                what, "Start it again: other ports are chosen.", tuple(log[max(0, line - _AROUND) : line + 1])
            )


def _require_time(waiting: Sequence[ProcessState], clock: Clock, deadline: float, why: str = "") -> None:
    if clock.now() > deadline:
        roles = ", ".join(process.role for process in waiting)
        raise EngineNotReady(
            f"{roles} did not become ready in time{why}",
            f"The whole log: {waiting[0].log}",
            tuple(tail(Path(waiting[0].log), _TAIL)),
        )


async def _healthy(http: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with http.get(url) as response:
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False


async def _refusal(http: aiohttp.ClientSession, url: str, body: dict[str, object]) -> str | None:
    """Why there was no token, in words; None when there was one."""
    try:
        async with http.post(url, json=body) as response:
            if response.status == 200 and (await response.json())["choices"]:
                return None
            return f"HTTP {response.status} {(await response.text(errors='replace'))[:_MAX_WORDS]}".strip()
    except (aiohttp.ClientError, TimeoutError) as error:
        return str(error) or type(error).__name__
