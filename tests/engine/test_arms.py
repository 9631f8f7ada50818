"""All eight arms on the real CPU engine: each starts, answers like `base`, and shows its own layers and no others.

The conversation grows like an agent's: instructions, then tool results, each turn a whole extension of the last.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest
from engine.conftest import Planner

from labkit.core.arms import ARMS, Arm
from labkit.core.chat import ChatRequest, Message, Reply
from labkit.engines.client import EngineClient
from labkit.engines.fleet import Fleet
from labkit.engines.registry import Engine
from labkit.telemetry.engine_metrics import Counts, delta, scrape

pytestmark = pytest.mark.engine

TURNS = 3
MAX_TOKENS = 24
BLOCK = 32


@dataclass(frozen=True)
class Observation:
    """What one arm did with the conversation. `counters`: what each process counted meanwhile, by role."""

    replies: list[Reply]
    counters: dict[str, Counts]

    @property
    def texts(self) -> list[str]:
        return [str(reply.message["content"]) for reply in self.replies]


class Observatory:
    """Brings an arm up, holds the conversation once, ends the arm, and remembers."""

    def __init__(self, fleet: Fleet, plan_for: Planner) -> None:
        self._fleet, self._plan_for = fleet, plan_for
        self._seen: dict[Arm, Observation] = {}

    def __call__(self, arm: Arm) -> Observation:
        if arm not in self._seen:
            self._seen[arm] = asyncio.run(self._observe(arm))
        return self._seen[arm]

    async def _observe(self, arm: Arm) -> Observation:
        engine = await self._fleet.up(self._plan_for(arm.label))
        try:
            return await _converse(engine)
        finally:
            self._fleet.down(engine.id)


@pytest.fixture(scope="module")
def observe(fleet: Fleet, plan_for: Planner) -> Observatory:
    return Observatory(fleet, plan_for)


async def _converse(engine: Engine) -> Observation:
    before = {role: await scrape(url) for role, url in engine.metrics_urls.items()}
    messages, replies = [_instructions(), _user("Find the bug now.")], []
    async with EngineClient(engine.base_url, engine.model) as client:
        for turn in range(TURNS):
            request = ChatRequest(messages=messages, max_tokens=MAX_TOKENS, ignore_eos=True)
            reply = await client.chat(request)
            replies.append(reply)
            messages = [*messages, reply.message, _user(_tool_result(turn))]
    after = {role: await scrape(url) for role, url in engine.metrics_urls.items()}
    return Observation(replies, {role: delta(before[role], after[role]).counts for role in before})


def _instructions() -> Message:
    rules = " ".join(f"Rule {n}: call one tool at a time, read the result before step {n + 1}." for n in range(18))
    return {"role": "system", "content": f"You are a code analysis agent with the tools read_file, run_tests. {rules}"}


def _tool_result(turn: int) -> str:
    lines = [f"def get_item_{turn}_{n}(cache, key):\n    return cache.get(key)" for n in range(6)]
    return f"Result of read_file('src/mod_{turn}.py'):\n" + "\n".join(lines)


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_an_arm_answers_like_base(arm: Arm, observe: Observatory) -> None:
    assert observe(arm).texts == observe(ARMS[0]).texts
    prompts = [reply.usage.prompt_tokens or 0 for reply in observe(arm).replies]
    assert prompts == sorted(prompts)
    assert 350 < prompts[0] < prompts[-1] < 1000
    assert [reply.usage.completion_tokens for reply in observe(arm).replies] == [MAX_TOKENS] * TURNS


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_prefixes_are_reused_in_the_arms_that_say_so(arm: Arm, observe: Observatory) -> None:
    replies = observe(arm).replies
    cached = [reply.usage.cached_tokens or 0 for reply in replies]
    if arm.prefix_caching:
        previous = [reply.usage.prompt_tokens or 0 for reply in replies]
        assert all(hit >= before - 2 * BLOCK for hit, before in zip(cached[1:], previous, strict=False))
    else:
        assert cached == [0] * TURNS


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_drafts_are_made_in_the_arms_that_say_so(arm: Arm, observe: Observatory) -> None:
    drafted = [reply.usage.drafted_tokens for reply in observe(arm).replies]
    if arm.speculation:
        assert sum(count or 0 for count in drafted) > 0
    else:
        assert drafted == [None] * TURNS


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_prompts_are_transferred_in_the_arms_that_say_so(arm: Arm, observe: Observatory) -> None:
    counters = observe(arm).counters
    if not arm.pd_split:
        assert list(counters) == ["engine"]
        assert counters["engine"].prompt_transferred == 0
        return
    prompts = sum(reply.usage.prompt_tokens or 0 for reply in observe(arm).replies)
    assert counters["prefill"].prompt_tokens == prompts
    assert counters["prefill"].prompt_transferred == 0
    moved = counters["decode"].prompt_transferred
    assert moved is not None
    assert 0 < moved <= prompts
