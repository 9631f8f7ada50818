"""`labkit run speculation` over fake engines with known acceptance, one of which is refused."""

from dataclasses import replace
from pathlib import Path

import pytest
from running_fakes import running
from typer.testing import CliRunner

from labkit.analysis.draft_positions import position_table
from labkit.analysis.drafter_gain import gain_table
from labkit.analysis.drafters import drafter_table
from labkit.cli import build
from labkit.core.arms import Arm
from labkit.core.errors import BadInput, EngineNotReady, UnknownName
from labkit.core.progress import OnProgress, silent
from labkit.core.records import KINDS
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.engines.profiles import load_profile
from labkit.experiments.runner import run_design
from labkit.experiments.serving import Served, StaticProvider
from labkit.experiments.speculation import SpeculationAsked
from labkit.store.runs import RunStore
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, save

TURNS = 8
SPOKEN = 13
"""One token from prefill, then rounds: 3 of 1 + 3 with a good drafter, 12 of 1 with a bad one."""
WORDS = "no module named arctic_inference"


@pytest.fixture
def source(tmp_path: Path) -> str:
    made = [
        RecordedStep(
            turn=turn,
            kind=KINDS[turn % 2],
            append=[{"role": "user", "content": f"{turn:04d}" * 30}],
            reply={"role": "assistant", "content": "abcd" * 5},
            request={"max_tokens": 64},
        )
        for turn in range(1, TURNS + 1)
    ]
    header = RecordingHeader(name="known", task="known-task", decided_by="scripted", model="fake", tools=[])
    return str(save(Recording(header=header, steps=tuple(made)), tmp_path / "known.jsonl"))


class WithoutSuffix(StaticProvider):
    """Refuses one drafter, as an engine does that lacks its package."""

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        if spec_method == "suffix":
            raise EngineNotReady(WORDS)
        return await super().serve(arm, on_progress, spec_method)


async def test_acceptance_and_gain_of_each_drafter_and_the_words_of_the_one_that_was_refused(
    source: str, tmp_path: Path
):
    asked = SpeculationAsked(profile="cpu-smollm2", recordings=(source,))
    dials = FakeDials(block_size=4, reply_tokens=SPOKEN, itl_s=0.01)
    good, bad = replace(dials, num_spec_tokens=4, acceptance=(3,)), replace(dials, num_spec_tokens=4, acceptance=(0,))
    async with FakeEngine(dials) as plain, FakeEngine(good) as ngram, FakeEngine(bad) as draft:
        urls = {"prefix": plain.base_url, "prefix+spec ngram": ngram.base_url}
        urls["prefix+spec draft_model"] = draft.base_url
        provider = WithoutSuffix(urls, "fake", 4)
        design = asked.design(load_profile("cpu-smollm2"))
        done = await run_design("speculation", asked, design, provider, store=RunStore(tmp_path / "runs"))
    assert done.info.state == "partial"
    assert WORDS in done.info.note
    table = drafter_table(done.steps()).set_index(["method", "group"])
    assert set(table.index.get_level_values(0)) == {"ngram", "draft_model"}
    assert table.loc[("ngram", "all"), "rate"] == 0.75
    assert table.loc[("ngram", "all"), "length"] == 4.0
    assert table.loc[("draft_model", "all"), "rate"] == 0.0
    assert table.loc[("ngram", "act"), "n"] == table.loc[("ngram", "plan"), "n"] == TURNS // 2
    assert [table.loc[("ngram", turns), "drafts"] for turns in ("1-5", "6-20")] == [5 * 3, 3 * 3]
    gains = gain_table(done.steps()).set_index(["method", "group"])
    assert gains.loc[("ngram", "all"), "n_pairs"] == gains.loc[("ngram", "all"), "n_same"] == TURNS
    # 3 rounds in place of 12; how long each is late on a busy machine is not ours
    assert gains.loc[("ngram", "all"), "decode_gain"] > 1.5
    assert gains.loc[("ngram", "all"), "decode_gain"] > gains.loc[("draft_model", "all"), "decode_gain"]
    positions = position_table(event for event in done.events() if event["type"] == "counters")
    assert positions[positions["method"] == "ngram"]["rate"].tolist() == [1.0, 1.0, 1.0, 0.0]


def test_every_request_is_natural_and_a_condition_tells_the_drafter():
    asked = SpeculationAsked(profile="cpu-smollm2", repeats=2, seed=5)
    design = asked.design(load_profile("cpu-smollm2"))
    told = {block.label: {each.condition for each in design.passes(block)} for block in design.blocks}
    assert told == {
        "prefix": {"method=none"},
        "prefix+spec ngram": {"method=ngram"},
        "prefix+spec suffix": {"method=suffix"},
        "prefix+spec draft_model": {"method=draft_model"},
    }
    assert {each.options.mode for block in design.blocks for each in design.passes(block)} == {"natural"}
    assert [block.repeat for block in design.blocks] == [0] * 4 + [1] * 4
    assert "pinned" not in CliRunner().invoke(build(), ["run", "speculation", "--help"]).output


@pytest.mark.parametrize("seed", [None, 1])
def test_each_repeat_starts_the_drafters_engine_anew(seed: int | None):
    asked = SpeculationAsked(profile="cpu-smollm2", methods=("ngram",), repeats=4, seed=seed)
    design = asked.design(load_profile("cpu-smollm2"))
    assert design.fresh_starts
    assert [block.repeat for block in design.blocks] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_drafters_that_need_other_engine_settings_have_a_reference_with_them():
    asked = SpeculationAsked(profile="mi300x-8-qwen3-235b", arm="spec")
    design = asked.design(load_profile("mi300x-8-qwen3-235b"))
    references = {
        (block.label, each.condition) for block in design.blocks for each in design.passes(block)
        if not block.arm.speculation
    }  # fmt: skip
    assert references == {("base", "method=none"), ("base ngram", "method=none for ngram+suffix")}


def test_a_wrong_question_is_refused_before_anything_runs():
    profile = load_profile("cpu-smollm2")
    with pytest.raises(BadInput, match="arm"):
        SpeculationAsked(profile="cpu-smollm2", arm="prefix").design(profile)
    with pytest.raises(UnknownName, match="ngram"):
        SpeculationAsked(profile="cpu-smollm2", methods=("ngrams",)).design(profile)
    with pytest.raises(BadInput, match="methods"):
        SpeculationAsked(profile="cpu-smollm2", methods=("ngram", "ngram")).design(profile)
    with pytest.raises(BadInput, match="repeats"):
        SpeculationAsked(profile="cpu-smollm2", repeats=0).design(profile)


def test_the_command_prints_every_group(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("COLUMNS", "140")
    with running(FakeDials(), FakeDials(num_spec_tokens=2, acceptance=(1,))) as (plain, spec):
        attach = [f"--attach=prefix={plain.base_url}", f"--attach=prefix+spec={spec.base_url}", "--attach=model=fake"]
        words = ["run", "speculation", "--recordings", source, "--methods", "ngram", *attach]
        ran = CliRunner().invoke(build(), words)
        again = CliRunner().invoke(build(), ["show", "latest"])
    assert ran.exit_code == 0, ran.output
    for output in (ran.output, again.output):
        for said in (
            "By kind of step",
            "By turn",
            "Accepted at position",
            f"ngram {TURNS} of {TURNS}",
            "natural replay",
        ):
            assert said in output
