"""Waiting for a router to hear of both engines, against a router that is only its /health and its log."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from aiohttp import web

from labkit.core.clock import SystemClock
from labkit.core.errors import EngineDied, EngineNotReady
from labkit.engines.moriio.registration import require_registered, wait_registered
from labkit.engines.ports import free_ports, require_free
from labkit.engines.process import ProcessState
from labkit.engines.refusals import of_status

CLOCK = SystemClock()
NOT_YET = "Waiting for discovered workers: {} prefill, {} decode"


class Health:
    """GET /health: 503 with the texts in turn, the last one again and again; 200 for an empty one."""

    def __init__(self) -> None:
        self.says: list[str] = [""]

    async def answer(self, _: web.Request) -> web.Response:
        words = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        return web.Response(status=503 if words else 200, text=words or "OK")


@pytest.fixture
def health() -> Health:
    return Health()


@pytest.fixture
async def router(health: Health, tmp_path: Path) -> AsyncIterator[ProcessState]:
    app = web.Application()
    app.router.add_get("/health", health.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    log = tmp_path / "router.log"
    log.touch()
    yield ProcessState(role="router", pid=1, created=1.0, port=port, url=f"http://127.0.0.1:{port}", log=str(log))
    await runner.cleanup()


async def test_it_says_who_is_missing_until_nobody_is(router: ProcessState, health: Health) -> None:
    health.says = ["starting", NOT_YET.format(0, 0), NOT_YET.format(0, 1), NOT_YET.format(1, 0), ""]
    seen: list[Sequence[str]] = []
    await wait_registered(router, CLOCK, seen.append)
    assert seen == [("prefill", "decode"), ("prefill", "decode"), ("prefill",), ("decode",)]


async def test_it_ends_with_the_role_and_the_time(router: ProcessState, health: Health) -> None:
    health.says = [NOT_YET.format(1, 0)]
    with pytest.raises(
        EngineNotReady, match=r"the router has not heard of decode for 0 s, so it answers every request"
    ):
        await wait_registered(router, CLOCK, lambda _: None, within_s=0.1)


@pytest.mark.parametrize(
    "words",
    [
        "MoRI-IO transfer_mode mismatch: expected Write, got Read",
        "Unknown MoRI-IO transfer_mode 'PUSH'",
        "Failed to parse MoRI-IO service registration: missing field `zmq_address`",
    ],
)
async def test_a_refused_registration_is_not_waited_for(router: ProcessState, health: Health, words: str) -> None:
    Path(router.log).write_bytes(b"2026 WARN x\n2026 WARN " + words.encode() + b" from \x00k\x80; skipping\n")
    health.says = [NOT_YET.format(1, 0)]
    began = CLOCK.now()
    with pytest.raises(EngineNotReady) as caught:
        await wait_registered(router, CLOCK, lambda _: None)
    assert CLOCK.now() - began < 5
    assert f"decode has not registered, and the router turned an engine away: {words}" in caught.value.message
    assert words in caught.value.log_tail[0]


async def test_what_a_stranger_was_refused_long_ago_is_not_told_of_an_engine_that_serves(
    router: ProcessState, health: Health
) -> None:
    Path(router.log).write_text("WARN MoRI-IO transfer_mode mismatch: expected Write, got Read from x; skipping\n")
    health.says = [NOT_YET.format(1, 0), ""]
    await require_registered(router, CLOCK, "x.pd.1")
    await wait_registered(router, CLOCK, lambda _: None)


async def test_a_router_that_is_gone_knows_nobody(tmp_path: Path) -> None:
    port = free_ports(["router"])["router"]
    gone = ProcessState(role="router", pid=1, created=1.0, port=port, url=f"http://127.0.0.1:{port}")
    with pytest.raises(EngineNotReady, match=r"x\.pd\.1 is up, but of no use: the router has not heard of"):
        await require_registered(gone, CLOCK, "x.pd.1", within_s=0.1)


def test_a_row_of_free_ports_is_free_in_whole() -> None:
    ports = free_ports(["a", "b", "c"], {"a": 4, "b": 8})
    rows = [set(range(ports[name], ports[name] + count)) for name, count in (("a", 4), ("b", 8), ("c", 1))]
    assert len(set.union(*rows)) == 13
    for name, count in (("a", 4), ("b", 8), ("c", 1)):
        require_free(name, ports[name], count)


async def test_a_process_that_ended_is_not_waited_for(router: ProcessState, health: Health) -> None:
    def ended(_: Sequence[str]) -> None:
        raise EngineDied("the decode process ended")

    health.says = [NOT_YET.format(1, 0)]
    with pytest.raises(EngineDied, match="decode"):
        await wait_registered(router, CLOCK, ended)


def test_a_request_without_a_pair_is_told_what_that_means() -> None:
    failed = of_status("http://127.0.0.1:8300/v1/chat/completions", 503, "No eligible P/D pair")
    assert failed.status == 503
    assert "The router has no prefill or no decode" in failed.hint
    assert "stopped announcing" not in of_status("http://x", 503, "Service Unavailable").hint
