"""Several agents at once on fake engines with known answers: the window, what a prompt does to a stream, capacity."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labkit.analysis.capacity import capacity
from labkit.analysis.concurrency import concurrency, windows
from labkit.analysis.interference import interference
from labkit.core.chat import Usage
from labkit.core.errors import EngineDied
from labkit.core.progress import Progress
from labkit.engines.fake import FakeDials, FakeEngine, Fault
from labkit.experiments.capacity_asked import CapacityAsked
from labkit.experiments.design import Design
from labkit.experiments.interference import InterferenceAsked
from labkit.experiments.load_asked import LoadAsked
from labkit.experiments.runner import run_design
from labkit.experiments.serving import Served, StaticProvider
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, save

BLOCK = 2
"""Prompts are short here, and still some blocks long."""


def recording(name: str, tokens: int, turns: int = 3) -> Recording:
    """Short prompts, and replies of so many tokens."""
    steps = tuple(
        RecordedStep(
            turn=turn,
            kind="act",
            append=[{"role": "user", "content": f"{name} {turn}"}],
            reply={"role": "assistant", "content": "ok"},
            request={"max_tokens": tokens, "ignore_eos": True},
            usage=Usage(completion_tokens=tokens),
        )
        for turn in range(1, turns + 1)
    )
    header = RecordingHeader(name=name, task=f"task-{name}", decided_by="scripted", model="fake", tools=[])
    return Recording(header=header, steps=steps)


@pytest.fixture
def source(tmp_path: Path):
    """Names a recording whose replies have so many tokens."""

    def saved(name: str, tokens: int, turns: int = 3) -> str:
        return str(save(recording(name, tokens, turns), tmp_path / f"{name}.jsonl"))

    return saved


async def run(asked: LoadAsked, root: Path, provider: StaticProvider, agents: int | None = None, **more: Any) -> Run:
    """`agents`: this level alone, where the experiment itself is not what is tested."""
    design = asked.design() if agents is None else Design(asked.order(1), lambda _: (asked.load(agents),))
    return await run_design("load", asked, design, provider, store=RunStore(root), **more)


def on(engine: FakeEngine, *arms: str) -> StaticProvider:
    return StaticProvider(dict.fromkeys(arms, engine.base_url), "fake", BLOCK)


QUICK = {"profile": "cpu-smollm2", "arms": ("prefix",), "stagger": 0.05, "gaps": False}


async def test_a_window_counts_what_was_sent_while_all_were_at_work(source, tmp_path: Path):
    asked = InterferenceAsked(**QUICK, recordings=(source("a", 3), source("b", 3)), window=0.6)
    async with FakeEngine(FakeDials(ttft_s=0.05, itl_s=0.01)) as engine:
        done = await run(asked, tmp_path, on(engine, "prefix"), agents=3)
    assert done.info.state == "done"
    assert "cold" not in done.info.note  # a life's first turn lies in the ramp, where it counts for nothing
    steps, spans = done.steps(), windows(done.events()).set_index("condition")
    crowd, span = steps[steps["condition"] == "agents=3"], spans.loc["agents=3"]
    counted = crowd[~crowd["warmup"]]
    assert counted["t_send"].between(span["start"], span["end"]).all()
    assert (counted["t_end"] <= span["close"]).all()
    assert len(counted) == span["sent"]
    first_answers = crowd.groupby(crowd["agent"].str[0])["t_end"].min()
    assert first_answers.max() <= span["start"]  # the ramp: every agent has had its first answer
    ramp = crowd[crowd["warmup"]]
    assert set(ramp["agent"]) >= {"0", "1", "2"}
    assert 0.6 <= span["end"] - span["start"] <= 0.9
    assert span["cut"] == 3  # each agent had gone on, so that what counts ended under the whole load


async def test_each_life_of_an_agent_has_a_salt_and_a_session_of_its_own(source, tmp_path: Path):
    asked = InterferenceAsked(**QUICK, recordings=(source("a", 2), source("b", 2)), window=0.4)
    async with FakeEngine(FakeDials(ttft_s=0.03, block_size=BLOCK)) as engine:
        done = await run(asked, tmp_path, on(engine, "prefix"), agents=2)
        salts = {body["cache_salt"] for body in engine.received}
    steps = done.steps()
    lives = steps[steps["condition"] == "agents=2"].groupby(["agent", "recording"]).size()
    assert {("0", "a"), ("0.1", "b"), ("1", "b"), ("1.1", "a")} <= set(lives.index)
    runs = steps[steps["condition"] != ""].groupby(["condition", "agent"]).ngroups
    assert runs <= len(salts) - 1 <= runs + 3  # one is the warm-up's; a life that was cut at its first step has no row
    assert not steps.duplicated(["recording", "agent", "condition", "repeat", "turn"]).any()
    assert (steps[steps["turn"] == 1]["cached_tokens"] == 0).all()
    counted, span = steps[~steps["warmup"]], windows(done.events()).iloc[0]
    assert span["prompt_tokens"] == counted["prompt_tokens"].sum()
    assert span["ceiling_tokens"] == counted["cached_tokens"].sum() > 0


async def test_counters_are_read_around_the_window_and_not_given_to_a_step(source, tmp_path: Path):
    asked = InterferenceAsked(**QUICK, recordings=(source("a", 4),), window=0.5)
    async with FakeEngine(FakeDials(ttft_s=0.03, transfer_s=0.01)) as engine:
        done = await run(asked, tmp_path, on(engine, "prefix"), agents=2)
    counters = [event for event in done.events() if event["type"] == "counters"]
    assert [event["condition"] for event in counters] == ["agents=2"]
    grown = counters[0]["processes"]["engine"]["growth"]["prompt_tokens"]
    counted = done.steps()[(done.steps()["condition"] == "agents=2") & ~done.steps()["warmup"]]
    assert grown >= counted["prompt_tokens"].sum() * 0.5
    assert counted["transferred_tokens"].isna().all()


async def test_a_prompt_that_stops_other_streams_is_found_and_named(source, tmp_path: Path):
    """Prefill takes 0.25 s and stops every stream in `prefix`; in `prefix+pd` it stops none."""
    dials = {"ttft_s": 0.25, "itl_s": 0.01}
    asked = InterferenceAsked(
        **{**QUICK, "arms": ("prefix", "prefix+pd"), "stagger": 0.2}, recordings=(source("a", 8),), agents=(1, 2),
        window=0.6,
    )  # fmt: skip
    async with FakeEngine(FakeDials(serial_prefill=True, **dials)) as mixed, FakeEngine(FakeDials(**dials)) as split:
        provider = StaticProvider({"prefix": mixed.base_url, "prefix+pd": split.base_url}, "fake", 16)
        done = await run(asked, tmp_path, provider)
    rows = interference(done.steps(), done.chunks(), windows(done.events())).set_index(["arm", "agents"])
    assert rows.loc[("prefix", 1), "n_stalls"] == rows.loc[("prefix+pd", 1), "n_stalls"] == 0
    assert rows.loc[("prefix+pd", 2), "n_stalls"] == 0
    stopped = rows.loc[("prefix", 2)]
    assert stopped["n_stalls"] >= 1
    assert stopped["stalls_overlapped"] == 1.0
    assert stopped["gaps_overlapped"] < 0.5
    assert 0.19 * stopped["n_stalls"] < stopped["lost_s"] < 0.7 * stopped["n_stalls"]
    assert stopped["itl_p99_s"] > 0.2 > rows.loc[("prefix+pd", 2), "itl_p99_s"]
    assert stopped["too_few"]
    assert pd.isna(stopped["itl_low_s"])
    assert rows.loc[("prefix", 1), "itl_ratio"] == 1.0


async def test_the_search_finds_the_capacity_that_the_engine_has(source, tmp_path: Path):
    """One prefill at a time, 0.1 s each, and nothing else: with n agents TTFT is n x 0.1 s; 0.39 s allows three.

    Half of the requests must be good, so that what a busy machine adds to a few of them decides nothing.
    """
    objective = {"ttft": 0.39, "itl": 1.0, "share": 0.5}
    asked = CapacityAsked(**QUICK, recordings=(source("a", 1),), window=1.1, max_agents=8, **objective)
    async with FakeEngine(FakeDials(serial_prefill=True, ttft_s=0.1)) as engine:
        done = await run(asked, tmp_path, on(engine, "prefix"))
    steps, chunks, spans = done.steps(), done.chunks(), windows(done.events())
    (row,) = capacity(steps, chunks, spans, asked.slo).to_dict("records")
    assert (row["agents"], row["most_tried"], row["at_least"]) == (3, 4, False)
    assert row["low"] <= 3 <= row["high"]
    assert row["goodput_per_s"] == pytest.approx(10, abs=2)  # one prefill each 0.1 s
    assert [event["agents"] for event in done.events() if event["type"] == "probe"] == [1, 2, 4, 3]
    assert len({event["engine"] for event in done.events() if event["type"] == "serving"}) == 1
    flying = concurrency(steps, spans)
    assert flying.groupby("condition")["share"].sum().tolist() == pytest.approx([1.0] * 4)
    busiest = flying.loc[flying.groupby("condition")["seconds"].idxmax()].set_index("condition")["in_flight"]
    assert busiest.to_dict() == {"agents=1": 1, "agents=2": 2, "agents=3": 3, "agents=4": 4}
    last = [event for event in done.events() if event["type"] == "progress"][-1]
    assert last["done"] == last["total"]


async def test_a_request_that_failed_is_not_good(source, tmp_path: Path):
    asked = CapacityAsked(**QUICK, recordings=(source("a", 1),), window=0.7, ttft=5.0, itl=1.0, max_agents=4)
    async with FakeEngine(FakeDials(ttft_s=0.05, fault=Fault(kind="http", every=3))) as engine:
        done = await run(asked, tmp_path, on(engine, "prefix"))
    (row,) = capacity(done.steps(), done.chunks(), windows(done.events()), asked.slo).to_dict("records")
    assert (row["agents"], row["at_least"]) == (0, False)


class Dead(StaticProvider):
    """A provider that finds its engine dead whenever it looks."""

    def check(self, served: Served) -> None:
        raise EngineDied("engine ended while it was measured", "", ("Killed",))


async def test_an_engine_that_dies_under_load_ends_its_arm(source, tmp_path: Path):
    asked = InterferenceAsked(**QUICK, recordings=(source("a", 4),), window=1.0)
    async with FakeEngine(FakeDials(ttft_s=0.02, fault=Fault(kind="die_mid_stream", every=9))) as engine:
        done = await run(asked, tmp_path, Dead({"prefix": engine.base_url}, "fake", 16), agents=2)
    lost = [event for event in done.events() if event["type"] in ("engine_died", "refused")]
    assert [event["log_tail"] for event in lost] == [["Killed"]]
    assert not [event for event in done.events() if event["type"] == "window"]
    assert "engine ended while it was measured" in done.info.note


async def test_an_agent_that_is_late_says_so(source, tmp_path: Path):
    """Coordinated omission: the client is held up for 0.2 s just when its two agents are due."""
    asked = InterferenceAsked(**QUICK, recordings=(source("a", 2),), window=0.5)

    def hold(progress: Progress) -> None:
        if progress.message.startswith("2 agents: waiting"):
            time.sleep(0.2)

    async with FakeEngine(FakeDials(ttft_s=0.05)) as engine:
        done = await run(asked, tmp_path, on(engine, "prefix"), agents=2, on_progress=hold)
    steps = done.steps()
    steps = steps[steps["condition"] == "agents=2"]
    held_up = steps["agent"].isin({"0", "1"}) & (steps["turn"] == 1)
    assert (steps[held_up]["send_lag_s"] >= 0.2 - QUICK["stagger"]).all()
    assert (steps["send_lag_s"] >= 0).all()
    assert steps[~held_up]["send_lag_s"].median() < 0.05
