"""Has the router heard of both engines? An engine that answers /health but has not registered is of no use to it.

A router in discovery mode answers GET /health with 503 and `Waiting for discovered workers: 0 prefill, 1 decode` until
it has both, and again when one has not pinged for 5 s; a request gets a 503 as well then. (Its /readiness and /workers
do not count discovered engines and stay at 0.) The other way round an engine registers while it still warms up, so a
start waits for both: its own /health, and this.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import aiohttp

from labkit.core.clock import Clock
from labkit.core.errors import EngineNotReady
from labkit.engines.logs import tail
from labkit.engines.process import ProcessState

REGISTER_S = 30.0
"""An engine that is healthy has long begun to ping, every 3 s: ten pings are more than enough."""
_POLL_S = 0.25
_LINES = 200
_SHOWN = 3
_WAITING = re.compile(r"(?P<prefill>\d+) prefill, (?P<decode>\d+) decode")
_REJECTED = re.compile(
    r"(MoRI-IO transfer_mode mismatch: expected \w+, got \w+|Unknown MoRI-IO transfer_mode '[^']*'|"
    r"Failed to parse MoRI-IO service registration: .*)"
)
OnWait = Callable[[Sequence[str]], None]
"""Called at every poll with the roles that have not registered."""


async def wait_registered(router: ProcessState, clock: Clock, on_wait: OnWait, within_s: float = REGISTER_S) -> None:
    """At a start: until the router knows prefill and decode. `on_wait` may raise, when a process has ended.

    Raises EngineNotReady when the router turns an engine away, in its words, and after `within_s` seconds.
    """

    def look(missing: Sequence[str]) -> None:
        on_wait(missing)
        _require_accepted(router, missing)

    await _until_known(router, clock, look, within_s)


async def require_registered(router: ProcessState, clock: Clock, name: str, within_s: float = 5.0) -> None:
    """Of an engine that was up before: raises EngineNotReady when the router has lost an engine for `within_s` seconds.

    An engine that is forgotten, after 5 s without a ping, is back with the next one: one lost costs it a second.
    """
    try:
        await _until_known(router, clock, lambda _: None, within_s)
    except EngineNotReady as error:
        what = f"{name} is up, but of no use: {error.message}"
        raise EngineNotReady(what, f"End it and start it again: labkit down {name}", error.log_tail) from error


async def _until_known(router: ProcessState, clock: Clock, look: OnWait, within_s: float) -> None:
    until = clock.now() + within_s
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as http:
        while missing := await _missing(http, router.url):
            look(missing)
            if clock.now() > until:
                raise _unregistered(router, missing, within_s)
            await asyncio.sleep(_POLL_S)


async def _missing(http: aiohttp.ClientSession, url: str) -> tuple[str, ...]:
    """The roles that the router does not know; both when it does not answer, or not in words that are known."""
    try:
        async with http.get(f"{url}/health") as response:
            if response.status == 200:
                return ()
            words = _WAITING.search(await response.text(errors="replace"))
    except (aiohttp.ClientError, TimeoutError):
        words = None
    return tuple(role for role in ("prefill", "decode") if words is None or words[role] == "0")


def _require_accepted(router: ProcessState, missing: Sequence[str]) -> None:
    """The router goes on without an engine that it turned away, and says so in its log alone."""
    log = tail(Path(router.log), _LINES)
    for line in reversed(log):
        if found := _REJECTED.search(line):
            hint = "The first engine that registers sets READ or WRITE for as long as the router lives."
            what = f"{' and '.join(missing)} has not registered, and the router turned an engine away: {found[1]}"
            raise EngineNotReady(what, hint, (line,))


def _unregistered(router: ProcessState, missing: Sequence[str], waited_s: float) -> EngineNotReady:
    roles = " and ".join(missing)
    what = f"the router has not heard of {roles} for {waited_s:.0f} s, so it answers every request with 503"
    hint = f"Does the heartbeat of {roles} still run? See: labkit logs"
    return EngineNotReady(what, hint, tuple(tail(Path(router.log), _SHOWN)))
