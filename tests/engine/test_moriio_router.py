"""MoRI-IO without a GPU: the MI300X plan's own router in discovery mode, the lab's fleet and client, and stand-ins that
announce themselves with vLLM's own heartbeat program.

What is not proven here is the transfer itself: no KV moves. Ports are free ones, never the profile's.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import moriio_worker
import psutil
import pytest
from engine.moriio_fleet import (
    chat,
    heartbeat,
    in_mode,
    moriio_plan,
    received,
    router_says,
    seconds_until,
)

from labkit.core.errors import EngineDied, EngineNotReady, PortInUse, RequestFailed
from labkit.core.progress import Progress
from labkit.engines.fleet import Fleet
from labkit.engines.moriio import old_variables, settings
from labkit.engines.moriio.halves import halves
from labkit.engines.registry import Engine

pytestmark = pytest.mark.engine

CACHED = "7"
SLOW_PREFILL_S = 0.4
SLOW = {"prefill": {"STANDIN_PREFILL_S": str(SLOW_PREFILL_S), "STANDIN_CACHED_TOKENS": CACHED}}
REQUEST_ID = re.compile(
    r"___prefill_addr_host:127\.0\.0\.1,handshake:(\d+),notify:(\d+)"
    r"___decode_addr_host:127\.0\.0\.1,handshake:(\d+),notify:(\d+)_[0-9a-f]{32}"
)
NOBODY = {"remote_engine_id": None, "remote_block_ids": None}


class Vllm:
    """vLLM's own code in a process, which takes its time to import while other tests run."""

    def __init__(self) -> None:
        script = Path(moriio_worker.__file__).with_name("moriio_truth.py")
        env = {**os.environ, "VLLM_HOST_IP": "127.0.0.1"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self._process = subprocess.Popen([sys.executable, str(script)], env=env, text=True, **pipes)

    def says(self, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
        out, err = self._process.communicate(json.dumps(asked), timeout=120)
        assert self._process.returncode == 0, err
        return list(json.loads(out.splitlines()[-1]))

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module", autouse=True)
def vllm() -> Iterator[Vllm]:
    asked = Vllm()
    yield asked
    asked.close()


@pytest.fixture(scope="module")
def moriio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """An empty fleet that finds the stand-in when a plan says `vllm`."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("moriio")
        patch.setenv("PATH", moriio_worker.install(folder / "bin", os.environ["PATH"]))
        fleet = Fleet(folder / "state", device_missing=lambda vendor: "")  # the stand-in needs no GPU
        yield fleet
        fleet.down()


@pytest.fixture(scope="module")
def write(moriio: Fleet) -> Engine:
    """The arm `pd` as the profile has it."""
    return asyncio.run(moriio.up(moriio_plan(env=SLOW)))


@pytest.fixture(scope="module")
def read(moriio: Fleet) -> Engine:
    """The profile's variant `read`."""
    return asyncio.run(moriio.up(moriio_plan("+read", env=SLOW)))


def ports(engine: Engine) -> list[str]:
    """Handshake and notify of prefill, then of decode."""
    names = [f"{role}-{what}" for role in ("prefill", "decode") for what in ("handshake", "notify")]
    return [str(engine.plan.ports[name]) for name in names]


async def test_write_sends_both_legs_at_once_and_each_reads_the_other_in_the_request_id(write: Engine) -> None:
    reply, chunks = await chat(write, session="agent-1")
    prefill, decode = received(write, "prefill")[-1], received(write, "decode")[-1]
    assert len(chunks) == len(reply.chunks) == 6
    assert decode["arrived"] < prefill["answered"]
    named = REQUEST_ID.fullmatch(prefill["headers"]["x-request-id"])
    assert named
    assert list(named.groups()) == ports(write)
    assert decode["headers"]["x-request-id"] == named[0]
    ours, theirs = prefill["body"].pop("kv_transfer_params"), decode["body"].pop("kv_transfer_params")
    both = {**NOBODY, "transfer_id": ours["transfer_id"], "remote_dp_size": 1, "remote_tp_size": 4}
    assert re.fullmatch(r"tx-[0-9a-f]{32}", ours["transfer_id"])
    assert ours == {**both, "do_remote_decode": True, "do_remote_prefill": False}
    assert theirs == {**both, "do_remote_decode": False, "do_remote_prefill": True}
    assert {name: prefill["body"][name] for name in ("max_tokens", "min_tokens", "stream")} == {
        "max_tokens": 1,
        "min_tokens": 1,
        "stream": False,
    }
    assert decode["body"]["max_tokens"] == 6


async def test_read_asks_decode_only_once_prefill_has_said_where_its_blocks_are(read: Engine) -> None:
    reply, _ = await chat(read)
    prefill, decode = received(read, "prefill")[-1], received(read, "decode")[-1]
    assert len(reply.chunks) == 6
    assert decode["arrived"] > prefill["answered"]
    assert prefill["headers"]["x-request-id"] == decode["headers"]["x-request-id"]
    ours, theirs = prefill["body"]["kv_transfer_params"], decode["body"]["kv_transfer_params"]
    asked = {**NOBODY, "transfer_id": ours["transfer_id"], "remote_dp_size": 1}
    assert ours == {**asked, "do_remote_decode": True, "do_remote_prefill": False}
    config = json.loads(next(word for word in read.plan.processes[0].argv if "MoRIIOConnector" in word))
    assert theirs == moriio_worker.handed_over(config, 4, ours)


async def test_both_legs_get_every_field_of_the_request_and_the_reply_the_cached_tokens_of_prefill(
    write: Engine, read: Engine
) -> None:
    for engine in (write, read):
        reply, _ = await chat(engine, seed=3, cache_salt="cold-1", extra={"chat_template_kwargs": {"thinking": False}})
        assert reply.usage.cached_tokens == int(CACHED)
        for role in ("prefill", "decode"):
            body = received(engine, role)[-1]["body"]
            assert body["return_token_ids"] is True
            assert (body["seed"], body["cache_salt"]) == (3, "cold-1")
            assert body["chat_template_kwargs"] == {"thinking": False}


async def test_what_prefill_refuses_is_told_to_the_client(write: Engine, read: Engine) -> None:
    """READ has the engine's own words; WRITE, whose decode leg is under way by then, the status alone."""
    for engine, words in ((write, "Prefill request failed to .* with status 500"), (read, "out of luck")):
        before = len(received(engine, "decode"))
        with pytest.raises(RequestFailed, match=words) as failed:
            await chat(engine, extra={"standin_status": 500})
        assert failed.value.status == 500
        assert len(received(engine, "decode")) - before == (1 if engine is write else 0)


async def test_in_read_mode_the_router_goes_on_when_prefill_hands_nothing_over(read: Engine) -> None:
    """Nobody is told but the router's log: decode is asked without a word of where the blocks are."""
    reply, _ = await chat(read, extra={"standin_keeps": True})
    assert reply.finish_reason == "length"
    assert received(read, "decode")[-1]["body"]["kv_transfer_params"] == {"remote_dp_size": 1}


def test_a_lost_heartbeat_is_told_and_its_return_serves_again(moriio: Fleet, write: Engine, read: Engine) -> None:
    """The router forgets an engine 5 s after its last ping, 3 s after the one before: within 2 to 5 s of a stop.

    It says so to who asks: to a request with 503, to the fleet on /health; the processes are all alive. The first ping
    that arrives brings the engine back. An engine that hangs while its heartbeat goes on is never forgotten.
    """
    hangs = psutil.Process(read.process("decode").pid)
    hangs.suspend()
    pings = heartbeat(write, "decode")
    pings.send_signal(signal.SIGSTOP)
    try:
        took = seconds_until(lambda: router_says(write)[0] == 503, at_most=9)
        assert took > 1
        assert router_says(write) == (503, "Waiting for discovered workers: 1 prefill, 0 decode")
        assert write.alive
        with pytest.raises(RequestFailed, match="No eligible P/D pair") as failed:
            asyncio.run(chat(write))
        assert failed.value.status == 503
        assert "stopped announcing itself" in failed.value.hint
        with pytest.raises(EngineNotReady, match=r"is up, but of no use: the router has not heard of decode") as found:
            asyncio.run(moriio.up(write.plan))
        assert found.value.hint == f"End it and start it again: labkit down {write.id}"
        assert router_says(read)[0] == 200
    finally:
        pings.send_signal(signal.SIGCONT)
        hangs.resume()
    assert seconds_until(lambda: router_says(write)[0] == 200, at_most=5) < 5
    assert len(asyncio.run(chat(write))[1]) == 6
    assert asyncio.run(moriio.up(write.plan)).id == write.id


def test_a_start_waits_until_the_router_has_heard_of_both(moriio: Fleet) -> None:
    """An engine that answers /health and has not registered would be a 503 for the first request."""
    plan = moriio_plan(env={"prefill": {"STANDIN_REGISTER_AFTER_S": "2"}})
    seen: list[Progress] = []
    engine = asyncio.run(moriio.up(plan, seen.append))
    said = list(dict.fromkeys(each.message.partition(": ")[2] for each in seen))
    assert said[0] == "router"
    assert "waiting for prefill to register with the router" in said
    assert said[-1] == "first token through router"
    assert len(asyncio.run(chat(engine))[1]) == 6
    moriio.down(engine.id)


def test_a_router_that_comes_late_still_hears_of_both(moriio: Fleet) -> None:
    """The pings wait in the engines' sockets until there is somebody to take them."""
    engine = asyncio.run(moriio.up(moriio_plan("+read", router_first=False, arm="late")))
    assert [process.role for process in engine.processes] == ["prefill", "decode", "router"]
    assert len(asyncio.run(chat(engine))[1]) == 6
    moriio.down(engine.id)


def test_an_engine_of_the_other_mode_is_turned_away_and_the_start_says_so_at_once(moriio: Fleet) -> None:
    plan = in_mode(moriio_plan(env={"decode": {"STANDIN_REGISTER_AFTER_S": "1"}}), "decode", read=True)
    began = time.monotonic()
    with pytest.raises(EngineNotReady, match="decode has not registered, and the router turned an engine away") as said:
        asyncio.run(moriio.up(plan))
    assert "MoRI-IO transfer_mode mismatch: expected Write, got Read" in said.value.message
    assert time.monotonic() - began < 20
    assert [engine.id for engine in moriio.ps() if engine.plan.key == plan.key] == []


def test_a_killed_engine_is_told_and_what_is_left_of_it_can_be_ended(moriio: Fleet) -> None:
    """Its heartbeat ends with it. Until the router forgets it, a request fails with the router's words for that."""
    engine = asyncio.run(moriio.up(moriio_plan(arm="killed")))
    pings = heartbeat(engine, "decode")
    os.kill(engine.process("decode").pid, signal.SIGKILL)
    seconds_until(lambda: engine.dead_roles == ["decode"], at_most=5)
    seconds_until(lambda: not pings.is_running(), at_most=5)
    assert engine.status == "dead"
    with pytest.raises(RequestFailed, match="Decode request failed") as failed:
        asyncio.run(chat(engine))
    assert failed.value.status == 500
    fixed = replace(engine.plan, fixed=tuple(engine.plan.ports))
    with pytest.raises(PortInUse, match=f"engine {engine.id} is dead, but not all of it has ended") as refused:
        asyncio.run(moriio.up(fixed))
    assert refused.value.hint == f"End the rest of it: labkit down {engine.id}"
    moriio.down(engine.id)
    assert asyncio.run(moriio.up(fixed)).plan.ports == fixed.ports


def test_a_router_that_dies_is_told_before_the_engines_are_waited_for(moriio: Fleet) -> None:
    plan = moriio_plan(env={})
    broken = [
        replace(each, argv=(*each.argv, "--policy", "no-such-policy")) if each.role == "router" else each
        for each in plan.layout
    ]
    with pytest.raises(EngineDied, match="the router process ended: its command line was refused"):
        asyncio.run(moriio.up(replace(plan, layout=tuple(broken))))


def test_the_stand_ins_and_the_checks_say_what_vllm_would(write: Engine, read: Engine, vllm: Vllm) -> None:
    """Against vLLM's own functions and source, for the same plans and for what the router sent."""
    asked = [_question(engine) for engine in (write, read)]
    for engine, question, truth in zip((write, read), asked, vllm.says(asked), strict=True):
        endpoint = f"tcp://127.0.0.1:{engine.plan.ports['discovery']}"
        every = [moriio_worker.PING_INTERVAL_S, moriio_worker.MAX_PING_RETRIES]
        for role, config in question["configs"].items():
            assert truth["heartbeats"][role] == [endpoint, moriio_worker.message(config, 4), *every]
        handed_over = moriio_worker.handed_over(question["configs"]["prefill"], 4, question["asked"])
        assert truth["handed_over"] == handed_over
        numbers = [int(port) for port in ports(engine)]
        assert truth["peers"] == {"prefill": ["127.0.0.1", *numbers[2:]], "decode": ["127.0.0.1", *numbers[:2]]}
        assert truth["keys"] == sorted(settings.KNOWN)
        assert (truth["defaults"], truth["longest_s"]) == (settings.TIMEOUTS, settings.LONGEST_S)
        keys = {name: line.partition(" = ")[0] for name, line in old_variables.IGNORED.items()}
        assert truth["variables"] == keys


def _question(engine: Engine) -> dict[str, Any]:
    argvs = {half.process.role: half.process.argv for half in halves(engine.plan.processes)}
    configs = {role: json.loads(argv[argv.index("--kv-transfer-config") + 1]) for role, argv in argvs.items()}
    asyncio.run(chat(engine))
    seen = received(engine, "prefill")[-1]
    params = seen["body"]["kv_transfer_params"]
    return {"configs": configs, "tp": 4, "request_id": seen["headers"]["x-request-id"], "asked": params}
