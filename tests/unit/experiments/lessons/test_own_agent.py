"""What a recording promises and what became of it, on recordings and runs whose numbers are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from chat_logs import lines, written
from run_folders import ended
from synthetic import chunks, frame, recording, steps

from labkit.analysis.arms import arm_table
from labkit.core.chat import Usage
from labkit.core.errors import BadInput
from labkit.doctor.records import Check
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.engines.profiles import load_profile
from labkit.experiments.kept_recordings import keep_recordings
from labkit.experiments.lessons.own_agent import command_at, played, recorded, replayed_at, replayed_in
from labkit.experiments.lessons.own_predicted import Pace, pace, pace_in_words, predicted
from labkit.experiments.lessons.own_shown import beside, checks_shown, promises_shown, steps_shown
from labkit.experiments.lessons.own_told import (
    cache_serves,
    drafts_stay_below,
    pays_most,
    prefixes_hold,
    solved,
    takes_as_long,
    text_bounds_the_cache,
)
from labkit.experiments.lessons.promised import promised, promised_by_turn
from labkit.store.runs import RunStore
from labkit.traffic.from_chat_log import from_chat_log
from labkit.traffic.recording import Recording, save

PROFILE = load_profile("cpu-smollm2")
BOTH = "prefix+spec"
USAGES = (
    Usage(prompt_tokens=100, cached_tokens=0, completion_tokens=21, prefill_s=0.2, decode_s=1.0),
    Usage(prompt_tokens=200, cached_tokens=96, completion_tokens=11, prefill_s=0.208, decode_s=0.5),
    Usage(prompt_tokens=300, cached_tokens=192, completion_tokens=1, prefill_s=0.216, decode_s=0.0),
)


def counted() -> Recording:
    """Three steps: 2 ms a computed prompt token, 50 ms a reply token after the first."""
    made = recording(turns=3)
    return replace(made, steps=tuple(replace(s, usage=u) for s, u in zip(made.steps, USAGES, strict=True)))


def measured(arms=("base", "prefix", BOTH), turns: int = 6):
    """The steps of a run, and its table."""
    of = steps(arms, turns)
    return frame(of), arm_table(frame(of), frame([chunk for step in of for chunk in chunks(step)]))


def turns_like_the_run(turns: int = 6):
    """What would be promised of the made-up run: the ceilings that it has."""
    rows = frame(steps(("prefix",), turns))
    return rows.assign(
        repeated_tokens=rows["ceiling_tokens"], output_tokens=rows["completion_tokens"], pieces=20, passes=10, seen=15,
        prompt_chars=rows["prompt_tokens"] * 4, repeated_chars=rows["ceiling_tokens"] * 4, output_chars=80,
    )  # fmt: skip


def test_what_repeats_is_whole_blocks_of_the_prompt_before_and_its_reply():
    turns = promised_by_turn(counted(), PROFILE)
    # 100 + 21 - 1 = 120 of 32-token blocks: 96; 200 + 11 - 1 = 210: 192.
    assert list(turns["repeated_tokens"]) == [0, 96, 192]
    assert list(turns["prompt_tokens"]) == [100, 200, 300]
    assert list(turns["output_tokens"]) == [21, 11, 1]


def test_characters_repeat_all_but_what_was_appended():
    made = counted()
    turns = promised_by_turn(made, PROFILE)
    added = [len(step.append[0]["content"]) + 1 for step in made.steps]
    assert list(turns["prompt_chars"] - turns["repeated_chars"])[1:] == [length + 1 for length in added[1:]]
    assert turns["repeated_chars"].iloc[0] == 0


def test_only_the_first_steps_are_promised_when_asked():
    assert list(promised_by_turn(counted(), PROFILE, 2)["turn"]) == [1, 2]


def test_a_log_without_counts_promises_characters_alone(tmp_path: Path):
    log = from_chat_log(written(tmp_path, lines()))
    (row,) = promised([log], PROFILE).to_dict("records")
    assert row["steps"] == 3
    assert 0.5 < row["repeated_text"] < 1
    assert row["read_per_written"] > 1
    shown = promises_shown(promised([log, counted()], PROFILE))
    assert shown.loc["prompt that repeats, in tokens", "chat"] == "–"
    assert shown.loc["prompt that repeats, in tokens", "tiny"] == "48 %"  # 288 of 600


def test_a_pace_is_seconds_a_token_that_was_computed_or_written():
    at = pace(counted())
    assert at is not None
    assert at.prefill_s == pytest.approx(0.624 / 312)
    assert at.decode_s == pytest.approx(1.5 / 30)
    assert at.n == 3
    assert pace_in_words(at) == "2.00 ms a prompt token that is computed, 50.0 ms a reply token; n = 3 steps"
    assert pace(recording()) is None
    assert "no times" in pace_in_words(None)


def test_an_arm_is_predicted_from_what_its_layers_leave():
    turns = promised_by_turn(counted(), PROFILE).assign(pieces=10, passes=5)
    arms = predicted(turns, Pace(prefill_s=0.002, decode_s=0.05, n=3), ("base", "prefix", BOTH, "pd")).set_index("arm")
    assert arms["computed"].tolist()[:3] == [600, 312, 312]
    assert arms["passes"].tolist()[:3] == [33, 33, 16.5]
    assert arms["predicted_s"].tolist()[:3] == pytest.approx([1.2 + 1.65, 0.624 + 1.65, 0.624 + 0.825])
    assert arms.loc["pd"].isna().all()


def test_without_a_pace_or_counts_no_second_is_predicted(tmp_path: Path):
    log = from_chat_log(written(tmp_path, lines()))
    assert predicted(promised_by_turn(log, PROFILE), pace(counted()), ["base"])["predicted_s"].isna().all()
    assert predicted(promised_by_turn(counted(), PROFILE), None, ["base"])["predicted_s"].isna().all()


def test_predicted_and_measured_stand_beside_each_other():
    _, table = measured()
    should = predicted(turns_like_the_run(), Pace(prefill_s=0.001, decode_s=0.1, n=6), ("base", "prefix", BOTH))
    shown = beside(should, table)
    # The made-up run takes 1 ms a computed token, and 20 tokens in 2 s, or in 1 s with drafts: what the pace says.
    assert list(shown["measured / predicted"]) == ["1.00x"] * 3
    assert list(shown["n"]) == ["6"] * 3
    assert set(beside(should)["measured"]) == {"–"}


def test_predictions_that_hold_and_those_that_do_not():
    rows, table = measured()
    turns = turns_like_the_run()
    should = predicted(turns, Pace(prefill_s=0.001, decode_s=0.1, n=6), ("base", "prefix", BOTH))
    assert cache_serves(turns, table).holds
    assert not cache_serves(turns.assign(repeated_tokens=0), table).holds
    assert takes_as_long(should, table, "base").holds
    assert not takes_as_long(should.assign(predicted_s=1.0), table, "base").holds
    assert text_bounds_the_cache(turns, table).holds
    assert not text_bounds_the_cache(turns.assign(repeated_chars=0), table).holds
    # 20 tokens with 30 accepted would leave no pass: 10 of them leave 10 passes, 2 tokens each, the bound of 20 / 10.
    drafted = rows.assign(accepted_tokens=rows["accepted_tokens"].where(rows["accepted_tokens"].isna(), 10))
    held = drafts_stay_below(turns, drafted, BOTH)
    assert held.holds
    assert "2.00 tokens" in held.saw
    assert "n = 6 steps" in held.saw
    assert not drafts_stay_below(turns.assign(passes=15), drafted, BOTH).holds


def test_the_layer_that_saves_more_is_told_with_both_numbers():
    rows, _ = measured()
    turns = turns_like_the_run()
    should = predicted(turns, Pace(prefill_s=0.001, decode_s=0.1, n=6), ("base", "prefix", BOTH))
    held = pays_most(should, rows, BOTH)
    assert held.holds is True
    assert "prefix caching saved 4.9" in held.saw  # all that the ceiling allows: 4,952 tokens at 1 ms
    assert "drafts saved 6.00 s more" in held.saw
    other = should.assign(predicted_s=[20.0, 1.0, 0.5])
    assert pays_most(other, rows, BOTH).holds is False
    few, _ = measured(turns=4)
    assert pays_most(should, few, BOTH).holds is None


def test_what_was_not_measured_is_told_as_such():
    rows, table = measured(("base",))
    turns = turns_like_the_run()
    should = predicted(turns, None, ("base", "prefix", BOTH))
    for held in (
        cache_serves(turns, table),
        text_bounds_the_cache(turns, table),
        takes_as_long(should, table, "base"),
        takes_as_long(should, table, "prefix"),
        drafts_stay_below(turns, rows, BOTH),
        pays_most(should, rows, BOTH),
        solved(recording()),
    ):
        assert held.holds is None
        assert held.saw


@pytest.mark.parametrize(("reached", "holds", "verdict"), [(False, True, "fails"), (True, False, "passes")])
def test_whether_the_goal_was_reached_is_the_hidden_checks_word(reached: bool, holds: bool, verdict: str):
    made = recording(turns=3)
    held = solved(replace(made, header=replace(made.header, reached=reached, decided_by="small")))
    assert held.holds is holds
    assert held.saw == f"after 3 calls decided by small the hidden check {verdict} (n 1)"


def check(status: str, found: str = "mine: said") -> Check:
    return Check(name="Requests as sent", area="prompt prefix", status=status, found=found, why="")  # type: ignore[arg-type]


def test_a_prefix_that_breaks_is_told_first():
    assert prefixes_hold({"a": [check("ok")], "b": [check("ok")]}).holds is True
    unknown = prefixes_hold({"a": [check("ok"), check("unknown")]})
    assert unknown.holds is None
    assert "1 of 2 checks" in unknown.saw
    broken = prefixes_hold({"a": [check("ok")], "b": [check("fail", "b: at message 1"), check("unknown")]})
    assert broken.holds is False
    assert "b: at message 1" in broken.saw
    assert checks_shown({"a": [check("ok")]}).loc[("a", "Requests as sent"), "found"] == "said"


def test_steps_are_shown_with_a_dash_for_what_nobody_counted():
    shown = steps_shown(recording(turns=2))
    assert list(shown["said or called"]) == ["One, two, three."] * 2
    assert set(shown["prompt tokens"]) == {"–"}
    assert list(steps_shown(counted())["from the cache"]) == ["0", "96", "192"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    return RunStore()


def test_a_stored_recording_is_the_one_that_the_run_replayed(store: RunStore, tmp_path: Path, capsys):
    with store.create("replay", {"profile": "cpu-smollm2", "recording": "tiny", "arms": ["base"]}, {}) as writer:
        keep_recordings(writer, [recording()])
        writer.step(replace(steps(("base",), 1)[0], run=writer.id), [])
    found = recorded(tmp_path, "cpu-smollm2", 3, tmp_path / "own", "stored", writer.id)
    assert found == recording()
    assert f"stored run {writer.id}" in capsys.readouterr().out
    with pytest.raises(BadInput, match="replayed one recording"):
        replayed_in(store.open(ended(steps(("base",), 1))))


def test_a_script_is_played_without_an_engine_and_not_among_ones_own_runs(store: RunStore, tmp_path: Path):
    from labkit.agents.tasks import load_task

    done = played(load_task("ranks-that-jump").folder, "cpu-smollm2", tmp_path / "own")
    assert done.outcome.reached is True
    assert not store.root.exists()


async def test_an_engine_that_runs_already_is_sent_the_recording(tmp_path: Path):
    import asyncio

    path = save(recording(), tmp_path / "tiny.jsonl")
    async with FakeEngine(FakeDials(model="fake", block_size=32)) as engine:
        run = await asyncio.to_thread(replayed_at, engine.base_url, "fake", 32, path, tmp_path / "own")
    table = arm_table(run.steps(), run.chunks()).set_index("arm")
    assert list(table.index) == ["base", "prefix"]
    assert table.loc["base", "hit_rate"] == 0
    assert table.loc["prefix", "hit_rate"] == pytest.approx(table.loc["prefix", "hit_ceiling"])


def test_the_command_says_the_same():
    assert command_at("mine.jsonl", 32, "http://127.0.0.1:9", "m").split() == [
        "labkit", "replay", "mine.jsonl", "--arms", "base,prefix", "--attach", "base=http://127.0.0.1:9", "--attach",
        "prefix=http://127.0.0.1:9", "--attach", "model=m", "--attach", "block_size=32",
    ]  # fmt: skip
