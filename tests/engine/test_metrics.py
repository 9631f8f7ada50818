"""The engine's own counters against what it told the client: the names are right, and the numbers agree."""

import pytest

from labkit.core.chat import ChatRequest, Reply
from labkit.engines.client import EngineClient
from labkit.engines.fleet import Fleet
from labkit.engines.registry import Engine
from labkit.telemetry import names
from labkit.telemetry.engine_metrics import Counts, delta, scrape

pytestmark = pytest.mark.engine
TEXT = "The cache keeps what was seen before, block by block, and forgets what is least used. " * 8
ELSEWHERE = {"prompt_transferred", "transfers", "transfer_bytes", "transfer_failures", "transfer_s"}
ELSEWHERE |= {"transfers_expired"}
"""NIXL's series, and a source of tokens that an engine without a connector may not name."""


@pytest.fixture
async def engine(fleet: Fleet, plan_for) -> Engine:
    return await fleet.up(plan_for("prefix+spec"))


async def ask(engine: Engine, text: str) -> tuple[Reply, Counts]:
    """One request, and what the counters grew by meanwhile."""
    (url,) = engine.metrics_urls.values()
    before = await scrape(url)
    async with EngineClient(engine.base_url, engine.model) as client:
        reply = await client.chat(ChatRequest(messages=[{"role": "user", "content": text}], max_tokens=24))
    grown = delta(before, await scrape(url))
    assert not grown.restarted
    return reply, grown.counts


async def test_counters_grow_by_what_the_reply_says(engine: Engine):
    await ask(engine, TEXT)
    reply, counts = await ask(engine, TEXT + "Go on.")
    usage = reply.usage
    assert usage.cached_tokens
    assert usage.cached_tokens > 0
    assert counts.requests == 1
    assert (counts.prompt_tokens, counts.prompt_cached) == (usage.prompt_tokens, usage.cached_tokens)
    assert counts.prompt_computed == usage.prompt_tokens - usage.cached_tokens
    assert counts.generation_tokens == usage.completion_tokens
    assert (counts.drafts, counts.drafted_tokens, counts.accepted_tokens) == (
        usage.drafts,
        usage.drafted_tokens,
        usage.accepted_tokens,
    )
    assert counts.prefill_s == pytest.approx(usage.prefill_s, abs=1e-3)


async def test_every_name_that_is_read_is_on_the_page(engine: Engine):
    _, counts = await ask(engine, TEXT)
    known = {*names.COUNTS, *names.TIMES} - ELSEWHERE
    assert {name for name in known if getattr(counts, name) is None} == set()


async def test_every_token_has_an_event(engine: Engine):
    reply, _ = await ask(engine, "Count from one to ten.")
    assert sum(chunk.tokens or 0 for chunk in reply.chunks) == reply.usage.completion_tokens
