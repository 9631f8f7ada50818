"""The MI300X plan on stand-in engines behind the real router, and what both saw."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import psutil

from labkit.core.arms import arm_named
from labkit.core.chat import ChatRequest, Chunk, Reply
from labkit.engines.client import EngineClient
from labkit.engines.plan import Plan, make_plan
from labkit.engines.profiles import load_profile
from labkit.engines.registry import Engine

PROFILE = "mi300x-8-qwen3-235b"


def moriio_plan(variant: str = "", env: Mapping[str, Mapping[str, str]] | None = None, **changes: Any) -> Plan:
    """The plan of the arm `pd` for this machine's memory, without fixed ports. `env`: by role; `changes`: of Plan."""
    profile = load_profile(PROFILE + variant)
    engine = profile.engine.model_copy(update={"memory_gib": 0.1, "max_startup_s": 40.0})
    profile = profile.model_copy(update={"engine": engine, "ports": {}})
    plan = make_plan(profile, arm_named("pd"))
    layout = tuple(replace(each, env={**each.env, **(env or {}).get(each.role, {})}) for each in plan.layout)
    return replace(plan, layout=layout, **changes)


def in_mode(plan: Plan, role: str, read: bool) -> Plan:
    """`plan` with the read_mode of one engine set."""
    old, new = (json.dumps({"read_mode": value})[1:-1].replace(": ", ":") for value in (not read, read))
    layout = [
        replace(each, argv=tuple(word.replace(old, new) for word in each.argv)) if each.role == role else each
        for each in plan.layout
    ]
    return replace(plan, layout=tuple(layout))


async def chat(engine: Engine, **fields: Any) -> tuple[Reply, list[Chunk]]:
    """One streamed chat through the router, as the lab sends it, and the chunks as they came."""
    chunks: list[Chunk] = []
    request = ChatRequest(messages=[{"role": "user", "content": "Say something."}], max_tokens=6, **fields)
    async with EngineClient(engine.base_url, engine.model, timeout_s=20) as client:
        return await client.chat(request, chunks.append), chunks


def received(engine: Engine, role: str) -> list[dict[str, Any]]:
    """The chat requests that reached an engine: headers (lower case), body, when it arrived and was answered."""
    with urlopen(f"{engine.process(role).url}/test/received") as answer:
        seen: list[dict[str, Any]] = json.load(answer)
    lower = [{**each, "headers": {name.lower(): value for name, value in each["headers"].items()}} for each in seen]
    return [each for each in lower if each["path"] == "/v1/chat/completions"]


def heartbeat(engine: Engine, role: str) -> psutil.Process:
    """The process that pings the router for an engine."""
    children = psutil.Process(engine.process(role).pid).children()
    return next(child for child in children if any("moriio_heartbeat" in word for word in child.cmdline()))


def router_says(engine: Engine) -> tuple[int, str]:
    """Status and text of the router's GET /health."""
    try:
        with urlopen(f"{engine.process('router').url}/health", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def seconds_until(condition: Callable[[], object], at_most: float) -> float:
    """How long it took to come true. Fails after `at_most`."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < at_most, "it never came true"
        time.sleep(0.05)
    return time.monotonic() - began
