"""A whole run over fake engines with known answers: the numbers of the table, and every way of failing."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from labkit.analysis.arms import arm_table
from labkit.core.chat import Usage
from labkit.core.errors import BadInput, EngineDied, EngineNotReady
from labkit.core.progress import Progress
from labkit.engines.fake import FakeDials, FakeEngine, Fault
from labkit.experiments.asked import Asked
from labkit.experiments.runner import run_replay
from labkit.experiments.serving import Served, StaticProvider
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, save

BLOCK = 16
REPLY = 5


def recording(steps: int = 5, reply: str = "abcd" * REPLY) -> Recording:
    """A first prompt of 102 tokens as the fake counts, then 40 more per step and the reply of the step before."""
    made = []
    for turn in range(1, steps + 1):
        text = f"{turn:04d}" * (100 if turn == 1 else 38)
        made.append(
            RecordedStep(
                turn=turn,
                kind="act",
                append=[{"role": "user", "content": text}],
                reply={"role": "assistant", "content": reply},
                request={"max_tokens": REPLY, "ignore_eos": True},
                usage=Usage(completion_tokens=REPLY),
                tool_name="look",
                tool_s=0.5,
                tool_bytes=7,
                gap_s=0.5,
            )
        )
    header = RecordingHeader(name="known", task="known-task", decided_by="scripted", model="fake", tools=[])
    return Recording(header=header, steps=tuple(made))


@pytest.fixture
def source(tmp_path: Path) -> str:
    return str(save(recording(), tmp_path / "known.jsonl"))


def asked(source: str, *arms: str, **more: object) -> Asked:
    return Asked(profile="cpu-smollm2", recording=source, arms=arms, **more)


def static(urls: Mapping[str, str], block_size: int = BLOCK) -> StaticProvider:
    return StaticProvider(urls, "fake", block_size)


async def run(question: Asked, urls: Mapping[str, str], root: Path, **more: object) -> Run:
    provider = more.pop("provider", None) or static(urls)
    return await run_replay("quick", question, provider, store=RunStore(root), **more)


async def test_base_against_prefix_on_one_engine_gives_the_known_numbers(source: str, tmp_path: Path):
    dials = FakeDials(block_size=BLOCK, ttft_s=0.02, prefill_s_per_token=0.0005, itl_s=0.01)
    async with FakeEngine(dials) as engine:
        done = await run(
            asked(source, "base", "prefix"), {"base": engine.base_url, "prefix": engine.base_url}, tmp_path
        )
    assert done.info.state == "done"
    table = arm_table(done.steps(), done.chunks()).set_index("arm")
    base, prefix = table.loc["base"], table.loc["prefix"]
    prompts = [103, 150, 197, 244, 291]  # 100 + 3 marks; then reply 5 + 2 marks, message 38 + 2 marks
    hits = [0, 96, 144, 192, 240]  # what the prompt before left, in whole blocks of 16
    assert base["n_steps"] == prefix["n_steps"] == 5
    assert base["prompt_cached"] == 0
    assert base["prompt_computed"] == sum(prompts)
    assert prefix["prompt_cached"] == sum(hits)
    assert prefix["prompt_computed"] == sum(prompts) - sum(hits)
    assert base["hit_ceiling"] == prefix["hit_ceiling"] == pytest.approx(sum(hits) / sum(prompts))
    assert prefix["hit_rate"] == prefix["hit_ceiling"]
    assert (base["switched_by"], prefix["switched_by"]) == ("salt", "flag")

    ttft = {"base": [0.02 + 0.0005 * n for n in prompts]}
    ttft["prefix"] = [0.02 + 0.0005 * (n - hit) for n, hit in zip(prompts, hits, strict=True)]
    late = 0.15  # on a busy machine the client is late, and never early
    for arm in ("base", "prefix"):
        assert sorted(ttft[arm])[2] <= table.loc[arm, "ttft_p50_s"] <= sorted(ttft[arm])[2] + late
        assert sorted(ttft[arm])[3] <= table.loc[arm, "ttft_p95_s"] <= sorted(ttft[arm])[4] + late
        assert 0.008 <= table.loc[arm, "itl_p50_s"] <= 0.01 + late
    steps = _timed(done)
    took = (steps["t_end"] - steps["t_send"]).groupby(steps["arm"]).sum()
    assert took["base"] >= sum(ttft["base"]) + 5 * 4 * 0.01
    assert prefix["ratio_to_base"] == pytest.approx(took["base"] / took["prefix"])
    assert prefix["ratio_to_base"] > 1.2
    assert prefix["n_pairs"] == 5


async def test_salts_isolate_passes_and_requests(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials(block_size=BLOCK)) as engine:
        urls = {"base": engine.base_url, "prefix": engine.base_url}
        done = await run(asked(source, "base", "prefix", repeats=2, steps=3), urls, tmp_path)
        salts = [body["cache_salt"] for body in engine.received if "0001" in body["messages"][0]["content"]]
    assert len(salts) == 12
    assert len(set(salts[:6])) == 6  # base: a fresh one per request
    assert len(set(salts[6:9])) == len(set(salts[9:])) == 1  # prefix: one per pass
    assert not set(salts[6:9]) & set(salts[9:])
    steps = done.steps()
    firsts = steps[(steps["turn"] == 1) & ~steps["warmup"]]
    assert (firsts["cached_tokens"] == 0).all()


async def test_acceptance_comes_from_the_reply(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials(num_spec_tokens=2, acceptance=(1,))) as engine:
        done = await run(asked(source, "spec"), {"spec": engine.base_url}, tmp_path)
    row = arm_table(done.steps(), done.chunks()).iloc[0]
    # 5 tokens: one from prefill, then two rounds of 1 + 1 accepted out of 2 drafted
    assert row["acceptance_rate"] == 0.5
    assert row["acceptance_length"] == 2.0


async def test_warm_up_is_kept_marked_and_the_same_in_every_arm(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials()) as engine:
        done = await run(asked(source, "base", "spec"), {"base": engine.base_url, "spec": engine.base_url}, tmp_path)
        texts = [body["messages"] for body in engine.received if "quick brown fox" in body["messages"][0]["content"]]
    steps = done.steps()
    assert list(steps[steps["warmup"]]["arm"]) == ["base", "base", "spec", "spec"]
    assert texts[:2] == texts[2:]
    assert set(steps[steps["warmup"]]["task"]) == {"warmup"}
    assert set(steps[~steps["warmup"]]["task"]) == {"known-task"}


async def test_the_ceiling_counts_generated_blocks_as_far_as_the_engine_said_the_recorded_words(tmp_path: Path):
    async with FakeEngine(FakeDials(block_size=4, reply_tokens=REPLY)) as engine:
        provider = static({"prefix": engine.base_url}, block_size=4)
        unlike = str(save(recording(2), tmp_path / "unlike.jsonl"))
        first = await run(asked(unlike, "prefix"), {}, tmp_path, provider=provider)
        alike = str(save(recording(2, reply="".join(_filler_of(engine))), tmp_path / "alike.jsonl"))
        second = await run(asked(alike, "prefix"), {}, tmp_path, provider=provider)
    other, said = (_timed(r).iloc[1] for r in (first, second))
    assert other["ceiling_tokens"] == other["cached_tokens"] == 100
    assert said["ceiling_tokens"] == said["cached_tokens"] == 104
    assert said["text_sha256"] != ""


async def test_in_live_history_the_engines_own_blocks_are_all_found_again(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials(block_size=4, reply_tokens=REPLY)) as engine:
        provider = static({"prefix": engine.base_url}, block_size=4)
        done = await run(asked(source, "prefix", history="live"), {}, tmp_path, provider=provider)
    steps = _timed(done)
    assert list(steps["cached_tokens"]) == list(steps["ceiling_tokens"])
    assert steps.loc[1, "cached_tokens"] == (steps.loc[0, "prompt_tokens"] + REPLY - 1) // 4 * 4
    assert set(steps["history"]) == {"live"}


def _filler_of(engine: FakeEngine) -> list[str]:
    from labkit.engines.fake.generation import default_reply, reply_tokens

    return [token.text for token in reply_tokens(default_reply({"messages": []}, engine.dials))]


def _timed(done: Run):
    steps = done.steps()
    return steps[~steps["warmup"]].reset_index(drop=True)


async def test_a_failed_request_is_a_row_and_the_run_goes_on(source: str, tmp_path: Path):
    fault = Fault(kind="die_mid_stream", every=3, after_chunks=2)  # requests 1 and 2 are the warm-up
    async with FakeEngine(FakeDials(fault=fault)) as engine:
        done = await run(asked(source, "base"), {"base": engine.base_url}, tmp_path)
    steps = _timed(done)
    assert done.info.state == "done"
    assert "base: 2 of 5 steps failed" in done.info.note
    assert list(steps["error"].notna()) == [True, False, False, True, False]
    broken = done.chunks()[(done.chunks()["turn"] == 1) & ~done.chunks()["warmup"]]
    assert len(broken) == 2
    assert steps.loc[0, "t_first_token"] > steps.loc[0, "t_send"]
    assert steps.loc[0, "tool_name"] == "look"


async def test_three_failures_in_a_row_end_the_arm_and_not_the_run(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials(fault=Fault(kind="http"))) as broken, FakeEngine(FakeDials()) as good:
        done = await run(asked(source, "base", "prefix"), {"base": broken.base_url, "prefix": good.base_url}, tmp_path)
    steps = _timed(done)
    assert done.info.state == "partial"
    assert "base not measured: all 3 requests failed" in done.info.note
    assert steps.groupby("arm").size().to_dict() == {"base": 3, "prefix": 5}
    assert steps[steps["arm"] == "base"]["error"].str.contains("the fault dial is on").all()


class Refusing(StaticProvider):
    """A provider whose arm `pd` the engine refuses, in words of its own."""

    async def serve(self, arm, on_progress=lambda _: None, spec_method=None) -> Served:
        if arm.label == "pd":
            raise EngineNotReady("No module named nixl", "Install it.", ("line one", "line two"))
        return await super().serve(arm, on_progress)


async def test_a_refused_arm_is_kept_in_the_engines_words_and_left_out(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials()) as engine:
        provider = Refusing({"base": engine.base_url}, "fake", BLOCK)
        done = await run(asked(source, "base", "pd", repeats=2), {}, tmp_path, provider=provider)
    refused = [event for event in done.events() if event["type"] == "refused"]
    assert len(refused) == 1
    assert refused[0]["arm"] == "pd"
    assert refused[0]["log_tail"] == ["line one", "line two"]
    assert done.info.state == "partial"
    assert "pd not measured: No module named nixl" in done.info.note
    last = [event for event in done.events() if event["type"] == "progress"][-1]
    assert last["done"] == last["total"] == 10


class Dying(StaticProvider):
    """A provider that finds the engine of `base` dead whenever it looks."""

    def check(self, served: Served) -> None:
        if served.base_url == self.urls["base"]:
            raise EngineDied("engine ended while it was measured", "", ("Killed",))


async def test_an_engine_that_dies_mid_stream_ends_its_arm_with_its_last_words(source: str, tmp_path: Path):
    fault = Fault(kind="die_mid_stream", every=4)  # requests 1 and 2 are the warm-up
    async with FakeEngine(FakeDials(fault=fault)) as engine, FakeEngine(FakeDials()) as other:
        provider = Dying({"base": engine.base_url, "spec": other.base_url}, "fake", BLOCK)
        done = await run(asked(source, "base", "spec"), {}, tmp_path, provider=provider)
    died = [event for event in done.events() if event["type"] == "engine_died"]
    assert died[0]["arm"] == "base"
    assert died[0]["log_tail"] == ["Killed"]
    steps = _timed(done)
    assert list(steps[steps["arm"] == "base"]["error"].notna()) == [False, True]
    assert done.info.state == "partial"


async def test_a_cancelled_run_opens_as_cancelled_with_what_was_measured(source: str, tmp_path: Path):
    enough = asyncio.Event()

    def watch(progress: Progress) -> None:
        if progress.done == 2:
            enough.set()

    async with FakeEngine(FakeDials(ttft_s=0.1)) as engine:
        work = asyncio.ensure_future(run(asked(source, "base"), {"base": engine.base_url}, tmp_path, on_progress=watch))
        await enough.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await asyncio.sleep(0.05)
        assert engine.running == 0
    done = RunStore(tmp_path).open("latest")
    assert done.info.state == "cancelled"
    assert len(_timed(done)) == 2


async def test_counters_of_the_block_and_the_health_of_the_client_are_in_the_folder(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials(block_size=BLOCK)) as engine:
        done = await run(asked(source, "prefix", steps=2), {"prefix": engine.base_url}, tmp_path)
    (counters,) = (event for event in done.events() if event["type"] == "counters")
    assert counters["processes"]["engine"]["growth"]["requests"] == 2
    assert counters["processes"]["engine"]["growth"]["prompt_cached"] == 96
    assert {"host", "client"} <= set(done.samples()["source"])


async def test_progress_in_the_folder_counts_steps_and_ends_with_no_time_left(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials()) as engine:
        done = await run(asked(source, "base", steps=2, repeats=2), {"base": engine.base_url}, tmp_path)
    said = [event for event in done.events() if event["type"] == "progress"]
    assert [event["done"] for event in said if event["stage"] == "measuring base"] == [1, 2, 3, 4]
    assert said[-1]["eta_s"] == 0.0
    assert {event["total"] for event in said} == {4}


async def test_a_wrong_question_leaves_no_folder(source: str, tmp_path: Path):
    for question, field in ((asked(source, "base", steps=0), "steps"), (asked(source, "base", "base"), "arms")):
        with pytest.raises(BadInput) as error:
            await run(question, {}, tmp_path / "runs")
        assert error.value.field == field
    assert not (tmp_path / "runs").exists()


async def test_what_was_asked_is_in_run_json(source: str, tmp_path: Path):
    question = asked(source, "base", steps=1, gaps=True, job="j1")
    async with FakeEngine(FakeDials()) as engine:
        done = await run(question, {"base": engine.base_url}, tmp_path)
    kept = json.loads((done.folder / "run.json").read_text())["asked"]
    assert Asked.from_dict({**kept, "arms": tuple(kept["arms"])}) == question
