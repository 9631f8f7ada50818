"""Mistakes that benchmarks are known for, made impossible or visible: whole runs on an engine whose truth is known.

docs/measuring.md lists all of them and names the test or the reason for each.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

from labkit.analysis.arms import arm_table
from labkit.core.chat import Usage
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.asked import Asked
from labkit.experiments.runner import run_replay
from labkit.experiments.serving import StaticProvider
from labkit.store.exports import export
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, save

TOKENS = 13


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Four turns; each adds 40 tokens to a first prompt of 100 as the fake counts."""
    steps = tuple(
        RecordedStep(
            turn=turn,
            kind="act",
            append=[{"role": "user", "content": f"{turn:04d}" * (100 if turn == 1 else 38)}],
            reply={"role": "assistant", "content": "abcd" * TOKENS},
            request={"max_tokens": TOKENS, "ignore_eos": True},
            usage=Usage(completion_tokens=TOKENS),
        )
        for turn in range(1, 5)
    )
    header = RecordingHeader(name="known", task="known-task", decided_by="scripted", model="fake", tools=[])
    return str(save(Recording(header=header, steps=steps), tmp_path / "known.jsonl"))


async def replayed(source: str, urls: Mapping[str, str], root: Path, **more: object) -> Run:
    asked = Asked(profile="cpu-smollm2", recording=source, arms=tuple(urls), **more)
    return await run_replay("replay", asked, StaticProvider(urls, "fake", 16), store=RunStore(root))


def timed(run: Run) -> pd.DataFrame:
    steps = run.steps()
    return steps[~steps["warmup"]]


async def test_a_second_run_on_the_same_engine_finds_nothing_of_the_first(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials(block_size=16)) as engine:
        first = timed(await replayed(source, {"prefix": engine.base_url}, tmp_path))
        second = timed(await replayed(source, {"prefix": engine.base_url}, tmp_path))
    assert first["cached_tokens"].sum() > 0
    assert list(first["cached_tokens"]) == list(second["cached_tokens"])
    assert second["cached_tokens"].iloc[0] == 0


async def test_a_chunk_of_several_tokens_is_not_taken_for_one(source: str, tmp_path: Path):
    dials = FakeDials(num_spec_tokens=2, acceptance=(2,), itl_s=0.03)
    async with FakeEngine(dials) as engine:
        run = await replayed(source, {"spec": engine.base_url}, tmp_path)
    steps, chunks = timed(run), run.chunks()
    chunks = chunks[~chunks["warmup"]]
    assert set(steps["completion_tokens"]) == {TOKENS}
    assert chunks["tokens"].sum() == len(steps) * TOKENS
    assert len(chunks) == len(steps) * 5  # the first token, then 12 in rounds of 3
    row = arm_table(run.steps(), run.chunks()).iloc[0]
    assert 0.029 <= row["itl_p50_s"] < 0.04  # what a reader sees
    assert 0.0099 <= row["tpot_p50_s"] < 0.014  # what a token takes: a third


async def test_pinned_length_measures_time_and_never_acceptance(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials(num_spec_tokens=2, acceptance=(1,))) as engine:
        pinned = await replayed(source, {"spec": engine.base_url}, tmp_path, mode="pinned")
        natural = await replayed(source, {"spec": engine.base_url}, tmp_path)
    assert (timed(pinned)["drafted_tokens"] > 0).all()
    assert set(timed(pinned)["mode"]) == {"pinned"}
    of_pinned, of_natural = (arm_table(run.steps(), run.chunks()).iloc[0] for run in (pinned, natural))
    assert pd.isna(of_pinned["acceptance_rate"])
    assert pd.isna(of_pinned["acceptance_length"])
    assert of_natural["acceptance_rate"] == 0.5


async def test_a_prompt_that_is_too_long_is_a_failed_step_and_not_a_shorter_prompt(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials(max_model_len=200)) as engine:
        run = await replayed(source, {"base": engine.base_url}, tmp_path)
    steps = timed(run)
    assert list(steps["error"].isna()) == [True, True, False, False]
    assert steps["prompt_tokens"].isna().iloc[2]
    assert "200" in steps["error"].iloc[2]
    assert arm_table(run.steps(), run.chunks()).iloc[0][["n_steps", "n_failed"]].tolist() == [4, 2]


async def test_what_was_not_measured_is_null_from_the_stream_to_the_export(source: str, tmp_path: Path):
    async with FakeEngine(FakeDials(prefix_caching=False)) as engine:
        run = await replayed(source, {"base": engine.base_url}, tmp_path, steps=1)
    row = arm_table(run.steps(), run.chunks()).iloc[0]
    for name in ("acceptance_rate", "acceptance_length", "prompt_transferred"):
        assert pd.isna(row[name]), name
    export(run, "json", tmp_path / "out")
    exported = [step for step in json.loads((tmp_path / "out/steps.json").read_text()) if not step["warmup"]]
    for name in ("drafted_tokens", "accepted_tokens", "transferred_tokens", "reasoning_tokens", "transfer_s"):
        assert exported[0][name] is None, name
