"""`labkit run steps` over a fake engine that counts: a quadratic sum without a cache, and with one the last prompt."""

from pathlib import Path

import pytest
from running_fakes import running
from typer.testing import CliRunner

from labkit.analysis.exponents import exponent_table
from labkit.analysis.growth import growth_table
from labkit.cli import build
from labkit.core.chat import Usage
from labkit.core.errors import BadInput
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.runner import run_design
from labkit.experiments.serving import StaticProvider
from labkit.experiments.steps import LONG_RECORDING, StepsAsked, counts_of
from labkit.store.runs import RunStore
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, save

BLOCK, REPLY, FIRST, MORE = 4, 5, 103, 47
"""As the fake counts: 100 tokens and 3 marks; then 5 + 2 for the reply before, 38 + 2 for the message."""


def recording(steps: int) -> Recording:
    made = [
        RecordedStep(
            turn=turn,
            kind="act",
            append=[{"role": "user", "content": f"{turn:04d}" * (100 if turn == 1 else 38)}],
            reply={"role": "assistant", "content": "abcd" * REPLY},
            request={"max_tokens": 64},
            usage=Usage(completion_tokens=REPLY),
            tool_name="look",
            tool_s=0.5,
        )
        for turn in range(1, steps + 1)
    ]
    header = RecordingHeader(name="known", task="known-task", decided_by="scripted", model="fake", tools=[])
    return Recording(header=header, steps=tuple(made))


@pytest.fixture
def source(tmp_path: Path) -> str:
    return str(save(recording(12), tmp_path / "known.jsonl"))


async def test_each_cut_is_a_cold_pass_whose_sums_are_the_closed_form(source: str, tmp_path: Path):
    asked = StepsAsked(profile="cpu-smollm2", recordings=(source,), counts=(1, 3, 12), repeats=3, seed=1)
    async with FakeEngine(FakeDials(block_size=BLOCK, reply_tokens=9)) as engine:
        provider = StaticProvider({"base": engine.base_url, "prefix": engine.base_url}, "fake", BLOCK)
        done = await run_design("steps", asked, asked.design(), provider, store=RunStore(tmp_path / "runs"))
    assert done.info.state == "done"
    table = growth_table(done.steps(), done.samples(), 8).set_index(["arm", "steps"])
    for count in (1, 3, 12):
        base, prefix = table.loc[("base", count)], table.loc[("prefix", count)]
        sent = count * FIRST + MORE * count * (count - 1) // 2
        hits = sum((FIRST + MORE * (turn - 1)) // BLOCK * BLOCK for turn in range(1, count))
        assert base["prompt_sent"] == prefix["prompt_sent"] == base["prompt_computed"] == sent
        assert prefix["prompt_computed"] == sent - hits
        assert base["generated"] == count * REPLY  # pinned: the fake alone would say nine
        assert base["with_tools_s"] == pytest.approx(base["e2e_s"] + 0.5 * count)
        assert base["kv_bytes"] == 8 * (FIRST + MORE * (count - 1) + REPLY)
        assert (base["n_passes"], prefix["n_passes"]) == (3, 3)
    grown = exponent_table(done.steps()).set_index(["measure", "arm"])
    assert grown.loc[("prompt_computed", "base"), "last_exponent"] > 1.3
    assert grown.loc[("prompt_computed", "prefix"), "last_exponent"] < 1.0
    assert grown.loc[("prompt_computed", "base"), "verdict"] == "faster than the steps, on this one task"
    assert grown.loc[("e2e_s", "base"), "verdict"] == "too few to tell"  # one engine for all repeats


def test_a_recording_that_is_too_short_stands_under_its_own_length_once(source: str):
    asked = StepsAsked(profile="cpu-smollm2", recordings=(source,), counts=(1, 15, 30))
    passes = asked.design().passes(asked.design().blocks[0])
    assert [(each.condition, each.count) for each in passes] == [("steps=1", 1), ("steps=12", 12)]
    assert asked.too_long() == [f"{source} has 12 steps, so it stands under 12 in place of 15 and 30"]
    assert asked.too_long()[0] in asked.in_words()


def test_the_default_is_as_long_as_it_says():
    asked = StepsAsked(profile="cpu-smollm2")
    assert asked.recordings == (LONG_RECORDING,)
    assert asked.too_long() == []
    assert asked.design().total == 2 * (1 + 5 + 15 + 30)


def test_cuts_are_shuffled_by_the_seed_alike_in_all_arms_and_otherwise_in_each_repeat():
    asked = StepsAsked(profile="cpu-smollm2", repeats=4, seed=3)
    design = asked.design()
    orders = {}
    for block in design.blocks:
        orders.setdefault(block.repeat, set()).add(tuple(each.condition for each in design.passes(block)))
    assert all(len(seen) == 1 for seen in orders.values())
    assert len(set.union(*orders.values())) > 1
    assert asked.design().blocks == design.blocks


@pytest.mark.parametrize("text", ["", "1,x", "0", "1,-2"])
def test_counts_that_are_none_are_refused(text: str):
    with pytest.raises(BadInput, match="counts"):
        counts_of(text)


def test_counts_as_they_are_typed():
    assert counts_of(" 1, 5,15") == (1, 5, 15)
    with pytest.raises(BadInput, match="counts"):
        StepsAsked(profile="cpu-smollm2", counts=()).design()


def test_the_command_measures_and_prints_what_grows(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("COLUMNS", "120")
    with running(FakeDials(block_size=BLOCK)) as (engine,):
        attach = [f"--attach={arm}={engine.base_url}" for arm in ("base", "prefix")]
        words = ["run", "steps", "--recordings", source, "--counts", "1,4", *attach, "--attach=model=fake"]
        ran = CliRunner().invoke(build(), words)
        again = CliRunner().invoke(build(), ["show", "latest"])
    assert ran.exit_code == 0, ran.output
    for output in (ran.output, again.output):
        assert "too few to tell (n 1, repeats of one task)" in output
        assert "cut after 1 and 4 steps" in output
        # hits of 100, 148 and 196 of 694 tokens, in blocks of 4
        assert "At 4 steps prefix computes 36 % of the prompt tokens that base computes, in " in output
        assert "(n = 1 pass, no interval: too few to tell of the time)" in output
