"""A 135M model as an agent on the real engine: every call well-formed, every prompt replayable to the token."""

from itertools import pairwise
from pathlib import Path

import pytest

from labkit.agents.requests import RequestBuilder
from labkit.agents.specs import TOOLS
from labkit.agents.steps import Step
from labkit.core.chat import Reply
from labkit.engines.client import EngineClient
from labkit.engines.fleet import Fleet
from labkit.engines.registry import Engine
from labkit.experiments.agent_run import AgentAsked, run_live
from labkit.experiments.serving import StaticProvider
from labkit.store.runs import RunStore
from labkit.traffic.recording import list_recordings, load, named, save

pytestmark = pytest.mark.engine
PARAMS = {spec.name: [param.name for param in spec.params] for spec in TOOLS}


@pytest.fixture(params=["prefix", "prefix+spec"])
async def engine(request: pytest.FixtureRequest, fleet: Fleet, plan_for) -> Engine:
    return await fleet.up(plan_for(request.param))


async def test_six_steps_of_a_live_agent(engine: Engine, tmp_path: Path):
    steps: list[Step] = []
    arm = engine.plan.arm
    asked = AgentAsked(task="evict-one-late", profile="cpu-smollm2", arm=arm, steps=6)
    provider = StaticProvider({arm: engine.base_url}, engine.model, 32)
    done = await run_live(asked, provider, store=RunStore(tmp_path / "runs"), on_step=steps.append)

    assert done.outcome.stop_reason == "steps"
    assert [step.kind for step in steps][0::5] == ["plan", "answer"]
    acts = [step for step in steps if step.kind == "act"]
    assert acts
    for step in acts:
        assert step.tool is not None, step.reply
        assert sorted(step.tool.arguments) == sorted(PARAMS[step.tool.name])
        assert step.reply is not None
        assert step.reply.finish_reason == "tool_calls"
        assert not step.reply.message.get("content")

    recording = load(save(done.recording, tmp_path / "r.jsonl"))
    assert recording.header.decided_by == engine.model
    async with EngineClient(engine.base_url, engine.model) as client:
        for index, step in enumerate(steps):
            tokens = await client.tokenize(recording.request(index))
            assert len(tokens) == recording.steps[index].usage.prompt_tokens
            assert tokens == await client.tokenize(step.request)


async def test_what_was_generated_is_the_next_prompts_prefix(engine: Engine, tmp_path: Path):
    """The template writes a call back as it was generated, so the cache reaches into the reply, in whole blocks.

    Not always to its end: a model may cut a word into other tokens than the tokenizer does when it reads it again.
    """
    steps: list[Step] = []
    arm = engine.plan.arm
    asked = AgentAsked(task="ranks-that-jump", profile="cpu-smollm2", arm=arm, steps=5)
    provider = StaticProvider({arm: engine.base_url}, engine.model, 32)
    await run_live(asked, provider, store=RunStore(tmp_path / "runs"), on_step=steps.append)
    usages = [step.reply.usage for step in steps if step.reply]
    for before, after in pairwise(usages):
        whole = before.prompt_tokens + before.completion_tokens - 1  # the last token was never read by the model
        assert before.prompt_tokens // 32 * 32 <= after.cached_tokens <= whole // 32 * 32
    assert any(after.cached_tokens > before.prompt_tokens for before, after in pairwise(usages))


async def test_the_required_mode_makes_well_formed_calls_too(engine: Engine):
    request = RequestBuilder(tool_mode="required").build("act", [{"role": "user", "content": "List the files."}])
    async with EngineClient(engine.base_url, engine.model) as client:
        reply: Reply = await client.chat(request)
    calls = reply.message["tool_calls"]
    assert calls[0]["function"]["name"] in PARAMS


@pytest.mark.parametrize("name", list_recordings())
async def test_the_counts_of_a_shipped_recording_are_the_tokenizers(fleet: Fleet, plan_for, name: str):
    engine, recording = await fleet.up(plan_for("prefix")), named(name)
    async with EngineClient(engine.base_url, engine.model) as client:
        for index, step in enumerate(recording.steps):
            assert len(await client.tokenize(recording.request(index))) == step.usage.prompt_tokens
