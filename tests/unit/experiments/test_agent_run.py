"""A live agent as a run: the folder, the recording, and that the recording replays to the very same requests."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from labkit.agents.loop import Loop
from labkit.agents.scripted import ScriptedModel, load_script
from labkit.agents.steps import Step
from labkit.agents.tasks import load_task
from labkit.agents.tools import Toolbox
from labkit.cli import agent
from labkit.core.errors import UnknownName
from labkit.engines.fake import FakeDials, FakeEngine, FakeReply, Fault
from labkit.experiments.agent_rows import generated
from labkit.experiments.agent_run import AgentAsked, AgentRun, run_live
from labkit.experiments.serving import StaticProvider
from labkit.store.runs import RunStore
from labkit.traffic.recording import load, save

TASK = "evict-one-late"
BLOCK = 16


def replies() -> tuple[FakeReply, ...]:
    """What a model would say that follows the script: the script's own words, in the order that the loop asks for."""
    task, said = load_task(TASK), list[FakeReply]()

    def keep(step: Step) -> None:
        message = step.reply.message
        calls = tuple((c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls") or [])
        said.append(FakeReply(content=message["content"] or "", tool_calls=calls))

    with task.workspace() as workspace:
        model = ScriptedModel(load_script(task.folder / "script.toml"))
        asyncio.run(Loop(task.goal, model, Toolbox(workspace), task.limits, on_step=keep).run())
    return tuple(said)


REPLIES = replies()


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def nowhere() -> StaticProvider:
    return StaticProvider({}, "none")


async def live(store: RunStore, arm: str = "prefix", **dials: object) -> tuple[AgentRun, list[Step]]:
    steps: list[Step] = []
    async with FakeEngine(FakeDials(model="fake", block_size=BLOCK, **dials)) as engine:
        provider = StaticProvider({arm: engine.base_url}, "fake", BLOCK)
        asked = AgentAsked(task=TASK, profile="cpu-smollm2", arm=arm)
        return await run_live(asked, provider, store=store, on_step=steps.append), steps


async def test_an_engine_that_says_the_right_things_solves_the_task(store: RunStore):
    done, steps = await live(store, replies=REPLIES)
    assert done.outcome.stop_reason == "finished"
    assert done.outcome.reached is True
    rows = done.run.steps()
    assert done.run.info.state == "done"
    assert list(rows["kind"]) == [step.kind for step in steps]
    assert set(rows["arm"]) == {"prefix"}
    assert rows["prompt_tokens"].notna().all()
    assert (rows["t_first_token"] >= rows["t_send"]).all()
    assert rows["cached_tokens"].iloc[1:].gt(0).all()
    assert rows.loc[rows["tool_name"] == "run_tests", "tool_s"].gt(0).all()
    assert len(done.run.chunks()) >= len(rows)


async def test_base_is_salted_so_that_nothing_is_cached(store: RunStore):
    done, _ = await live(store, arm="base", replies=REPLIES)
    rows = done.run.steps()
    assert set(rows["switched_by"]) == {"salt"}
    assert rows["cached_tokens"].fillna(0).eq(0).all()


async def test_the_recording_replays_to_the_requests_that_were_sent(store: RunStore, tmp_path: Path):
    done, steps = await live(store, replies=REPLIES)
    recording = load(save(done.recording, tmp_path / "r.jsonl"))
    assert len(recording.steps) == len(steps)
    for index, step in enumerate(steps):
        assert recording.request(index) == replace(step.request, cache_salt=None)
    assert recording.header.decided_by == "fake"
    assert recording.header.reached is True


async def test_the_run_folder_holds_the_recording_and_the_outcome(store: RunStore):
    done, steps = await live(store, replies=REPLIES)
    lines = done.run.recordings()
    assert lines[0]["type"] == "recording"
    assert [line["turn"] for line in lines[1:]] == [step.turn for step in steps]
    events = {event["type"]: event for event in done.run.events()}
    assert events["outcome"]["reached"] is True
    assert events["serving"]["arm"] == "prefix"


async def test_what_a_live_agent_said_and_was_told_is_kept_beside_its_steps(store: RunStore):
    done, steps = await live(store, replies=REPLIES)
    said = done.run.replies()
    assert [each.turn for each in said] == [step.turn for step in steps]
    assert [each.append for each in said] == [step.append for step in steps]
    assert [each.reply for each in said] == [step.reply.message for step in steps]


async def test_an_engine_that_fails_leaves_a_partial_run_with_its_reason(store: RunStore):
    done, steps = await live(store, replies=REPLIES, fault=Fault(kind="die_mid_stream", every=4))
    assert done.run.info.state == "partial"
    assert done.outcome.stop_reason == "error"
    assert done.outcome.reached is False
    assert steps[-1].error
    assert done.run.steps()["error"].notna().sum() == 1
    assert len(done.recording.steps) == len(steps) - 1


async def test_a_script_needs_no_engine(store: RunStore):
    asked = AgentAsked(task=TASK, profile="cpu-smollm2", model="scripted", with_engine=False)
    done = await run_live(asked, nowhere(), store=store)
    assert done.outcome.reached is True
    assert done.recording.header.decided_by == "scripted"
    assert set(done.run.steps()["arm"]) == {"none"}
    assert done.run.steps()["prompt_tokens"].isna().all()
    assert done.run.steps()["t_first_token"].isna().all()
    assert done.run.chunks().empty


async def test_a_script_is_counted_by_the_engine(store: RunStore):
    async with FakeEngine(FakeDials(model="fake", replies=())) as engine:
        asked = AgentAsked(task=TASK, profile="cpu-smollm2", model="scripted")
        done = await run_live(asked, StaticProvider({"prefix": engine.base_url}, "fake"), store=store)
    prompts = [step.usage.prompt_tokens for step in done.recording.steps]
    assert None not in prompts
    assert prompts == sorted(prompts)
    assert done.recording.header.counted_by == "fake"
    assert done.recording.header.decided_by == "scripted"


async def test_an_unknown_task_leaves_no_run(store: RunStore):
    with pytest.raises(UnknownName, match=TASK):
        await run_live(AgentAsked(task="evict", profile="cpu-smollm2"), nowhere(), store=store)
    assert store.folders() == []


def test_generated_tokens_end_with_the_end_mark():
    opening, end, line, role = 1, 2, 3, 4
    prompt = [opening, role, 50, end, line, opening, role]
    told = [*prompt, 60, 61, 62, end, line, opening, role]
    assert generated(prompt, told) == 4


def test_what_another_template_generates_is_not_known():
    assert generated([1, 2], [1, 2, 3, 4]) is None


@pytest.fixture
def cli() -> typer.Typer:
    app = typer.Typer()
    agent.register(app)
    return app


def test_the_command_line_lists_tasks_and_recordings(cli: typer.Typer):
    assert TASK in CliRunner().invoke(cli, ["tasks"]).output
    assert "scripted" in CliRunner().invoke(cli, ["recordings"]).output


def test_the_command_line_shows_every_step_and_the_verdict(
    cli: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path / "state"))
    done = CliRunner().invoke(cli, ["agent", "--task", TASK, "--model", "scripted"])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    steps = [words for line in lines if (words := line.split()) and words[0].isdigit()]
    assert [words[:2] for words in steps[:2]] == [["1", "plan"], ["2", "act"]]
    assert "reached: yes" in lines
    assert sum("edit_file" in line for line in lines) == 2
