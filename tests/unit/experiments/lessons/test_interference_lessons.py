"""What the lesson says of a run under load whose gaps and prompts were made up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import a_step, chunks_at

from labkit.analysis.concurrency import WindowRow
from labkit.core.conditions import of_agents
from labkit.experiments.dashboard.layers.halves import Halves
from labkit.experiments.lessons.chunked import (
    Pair,
    chunks_shown,
    in_chunks,
    promised_gaps,
    small_chunks_divide_the_gap,
    two_sizes,
)
from labkit.experiments.lessons.interference import (
    dots,
    in_company,
    longest_prompts,
    moment,
    spans_shown,
    stalls_last_as_predicted,
)
from labkit.experiments.lessons.under_split import (
    levels_shown,
    prefill_slows_with_its_share,
    split_trades_gaps_for_first_tokens,
    streams_run_on,
)
from labkit.store.runs import Run, RunStore

RATE, USUAL = 500.0, 0.1
SIX = (100, 200, 300, 400, 500, 600)


def crowded(root: Path, stalls: dict[str, float], tokens: Sequence[int] = SIX, chunk: int = 2048) -> Run:
    """Alone, an arm's gaps are 0.1 s and its prefill is 500 tokens/s. With two agents each prompt of agent 1 stops the
    stream of agent 0 for `stalls[arm]` times what the rate says. The engine's command line says how long a chunk is.
    """
    command = ["python", "--max-num-batched-tokens", str(chunk)]
    fingerprint = {"engines": {"e": {"processes": [{"role": "engine", "argv": command, "env": {}}]}}}
    with RunStore(root).create("interference", {"arms": list(stalls)}, fingerprint) as writer:
        for arm, times in stalls.items():
            told = {"prompt_tokens": 600, "cached_tokens": 100, "prefill_s": 500 / RATE, "completion_tokens": 4}
            alone = a_step(writer.id, arm=arm, agent="0", condition=of_agents(1), t_send=0.0, t_first_token=1.0,
                           t_last=1.3, t_end=1.3, **told)  # fmt: skip
            for turn in range(1, 6):
                step = a_step(**{**alone.to_dict(), "turn": turn})
                writer.step(step, chunks_at(step, 1.0, 1.1, 1.2, 1.3))
            for turn, new in enumerate(tokens, start=1):
                for step, at in company(writer.id, arm, turn, new, times):
                    writer.step(step, chunks_at(step, *at))
            for agents in (1, 2):
                window = WindowRow(arm=arm, condition=of_agents(agents), repeat=0, agents=agents, start=0.0, end=99.0,
                                   close=99.0, sent=1, cut=0, gaps=False)  # fmt: skip
                writer.event("window", **window.to_dict())
        writer.finish("done", "")
    return RunStore(root).open(writer.id)


def company(run: str, arm: str, turn: int, new: int, times: float) -> list[tuple[Any, Sequence[float]]]:
    """Ten seconds of their own for each turn: the stream, and the prompt that stops it."""
    t = 10.0 * turn
    stall = USUAL + times * new / RATE
    about = {"arm": arm, "condition": of_agents(2), "turn": turn, "completion_tokens": 4}
    end = t + 0.1 + stall
    stream = a_step(run, agent="0", t_send=t - 1, t_first_token=t, t_last=end, t_end=end, **about)
    prompt = a_step(
        run, agent="1", t_send=t + 0.15, t_first_token=t + stall, t_last=t + stall, t_end=t + stall,
        prompt_tokens=new + 32, cached_tokens=32, **about,
    )  # fmt: skip
    return [(stream, (t, t + 0.1, end)), (prompt, (t + stall,))]


def test_gaps_of_the_predicted_length_are_as_predicted(tmp_path):
    load = in_company(crowded(tmp_path, {"prefix": 1.0}))
    assert load.most == 2
    assert load.rates["prefix"] == (2500, 5.0, 5)
    outcome = stalls_last_as_predicted(load, "prefix")
    assert outcome.holds is True
    assert "of 100 to 600 new tokens the longest gap was 1.00 times the predicted one" in outcome.saw
    assert "n = 6 pairs of a prompt and a stream under prefix" in outcome.saw
    assert list(longest_prompts(load, "prefix", most=1).iloc[0]) == [600, "1.30 s", "1.30 s", "100 ms"]


def test_gaps_of_twice_that_length_are_a_surprise(tmp_path):
    load = in_company(crowded(tmp_path, {"prefix": 2.5}))
    outcome = stalls_last_as_predicted(load, "prefix")
    assert outcome.holds is False


def test_few_prompts_tell_nothing(tmp_path):
    load = in_company(crowded(tmp_path, {"prefix": 1.0}, tokens=(100, 200)))
    assert stalls_last_as_predicted(load, "prefix").holds is None
    assert stalls_last_as_predicted(load, "pd").holds is None


def test_the_figures_have_the_arms_that_were_asked_for(tmp_path):
    load = in_company(crowded(tmp_path, {"prefix": 1.0, "prefix+pd": 0.1}))
    assert {lane.arm for lane in moment(load, "prefix").lanes} == {"prefix"}
    assert {lane.arm for lane in moment(load, "prefix", "prefix+pd").lanes} == {"prefix", "prefix+pd"}
    plain, split = dots(load, "prefix", "prefix+pd", lines=("prefix",)).arms
    assert (plain.per_s, split.per_s) == (500, None)


def test_the_windows_have_units(tmp_path):
    load = in_company(crowded(tmp_path, {"prefix": 1.0}))
    table = spans_shown(load)
    assert list(table) == ["arm", "agents", "requests sent", "start (s)", "end (s)"]
    assert list(table["end (s)"]) == [round(end, 1) for end in load.spans["end"]]


def test_the_split_against_its_twin_at_the_heaviest_load(tmp_path):
    load = in_company(crowded(tmp_path, {"prefix": 1.0, "prefix+pd": 0.1}))
    table = levels_shown(load)
    assert list(table.index) == [("prefix", 1), ("prefix", 2), ("prefix+pd", 1), ("prefix+pd", 2)]
    assert table.loc[("prefix", 1), "ITL p99"] == "100 ms"
    assert "95 % of ITL p99" not in table, "no level has five agent-runs"
    told = load.levels.assign(itl_low_s=[0.1, None, None, None], itl_high_s=[0.2, None, None, None])
    assert list(levels_shown(load._replace(levels=told))["95 % of ITL p99"]) == ["100 ms to 200 ms", "–", "–", "–"]
    outcome = split_trades_gaps_for_first_tokens(load, "prefix", "prefix+pd")
    assert outcome.holds is None, "two agent-runs"
    assert outcome.saw.startswith("with 2 agents the 99th percentile of gaps was ")
    assert split_trades_gaps_for_first_tokens(load, "prefix", "pd").saw == (
        "prefix and pd were not both measured under one load"
    )


@pytest.mark.parametrize(("stall", "holds"), [(0.05, True), (1.0, False)])
def test_streams_that_run_on_beside_a_prompt_and_streams_that_do_not(tmp_path, stall, holds):
    load = in_company(crowded(tmp_path, {"prefix": 1.0, "prefix+pd": stall}))
    outcome = streams_run_on(load, "prefix", "prefix+pd")
    assert outcome.holds is holds
    assert outcome.saw.startswith(f"under prefix+pd {6 if holds else 0} of 6 streams ran on without a stall beside")
    assert "(under prefix 0 of 6)" in outcome.saw
    assert streams_run_on(load, "prefix", "pd").holds is None


def test_half_of_the_cores_are_held_to_half_of_the_rate(tmp_path):
    load = in_company(crowded(tmp_path, {"prefix": 1.0, "prefix+pd": 1.0}))
    cores = Halves(unit="core", prefill=("0",), decode=("1", "0"))
    outcome = prefill_slows_with_its_share(load, "prefix", "prefix+pd", cores)
    assert outcome.holds is False
    assert outcome.saw.startswith(
        "prefill on 1 of 2 cores computed 500 tokens a second under prefix+pd, 100 % of the 500"
    )
    whole = Halves(unit="GPU", prefill=("0", "1"), decode=("0", "1"))
    assert prefill_slows_with_its_share(load, "prefix", "prefix+pd", whole).holds is True
    assert prefill_slows_with_its_share(load, "prefix", "prefix+pd", None).holds is None


@pytest.mark.parametrize(("small", "holds"), [(0.25, True), (0.9, False)])
def test_chunks_that_divide_the_gap_and_chunks_that_do_not(tmp_path, small, holds):
    whole = in_chunks(crowded(tmp_path / "a", {"prefix": 1.0}, tokens=(600,) * 6))
    chunks = in_chunks(crowded(tmp_path / "b", {"prefix": small}, tokens=(600,) * 6, chunk=128))
    assert (whole.most_tokens, chunks.most_tokens) == (2048, 128)
    outcome = small_chunks_divide_the_gap(Pair(whole, chunks), "prefix")
    assert outcome.holds is holds
    assert "the longest gap was 1.30 s in one pass and " in outcome.saw
    assert "; those prompts' own TTFT was " in outcome.saw
    table = chunks_shown(Pair(whole, chunks), "prefix")
    assert list(table.index) == [2048, 128]
    assert list(table["prompts of over 128 new tokens (n)"]) == [6, 6]


def test_prompts_within_one_chunk_say_nothing_of_chunks(tmp_path):
    whole = in_chunks(crowded(tmp_path, {"prefix": 1.0}))
    assert small_chunks_divide_the_gap(Pair(whole, whole), "prefix").holds is None


def test_a_run_that_nobody_made_is_said_to_be_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))
    run = crowded(tmp_path, {"prefix": 1.0})
    pair = two_sizes(run, {}, None, (run.id, ""))
    assert pair.small is None
    assert chunks_shown(pair, "prefix") is None, "no prompt is longer than the only chunk"
    outcome = small_chunks_divide_the_gap(pair, "prefix")
    assert outcome.holds is None
    assert "labkit run interference --profile cpu-smollm2+max-num-batched-tokens=256" in outcome.saw
    assert two_sizes(run, {}, None, (run.id, run.id)).small.most_tokens == 2048


def test_what_chunks_should_leave_of_the_longest_prompt(tmp_path):
    load = in_company(crowded(tmp_path, {"prefix": 1.0}))
    table = promised_gaps(load, "prefix", (2048, 250))
    assert table.values.tolist() == [[1, "1.30 s", "0.00 ms"], [3, "600 ms", "200 ms"]]
    assert promised_gaps(load, "pd").empty
