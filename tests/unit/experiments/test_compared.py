"""Which rows a sum is of: not the block that only shows drift, no warm-up, and cold and warm apart."""

from dataclasses import replace
from pathlib import Path

from builders import a_step, chunks_at, frame_of
from factorials import asked, run, saved, static

from labkit.core.conditions import of_toggled
from labkit.core.records import ChunkRecord, RunInfo
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.compared import compared, of_whole_laps, parts, sent
from labkit.experiments.view import view


async def test_every_arm_of_the_table_has_the_same_steps(tmp_path: Path):
    recordings = saved(tmp_path, "one", "two")
    async with FakeEngine(FakeDials()) as engine:
        urls = dict.fromkeys(("base", "prefix", "spec"), engine.base_url)
        question = asked(recordings, *urls, repeats=2, drift_check=True)
        done = await run(question, static(urls), tmp_path / "runs")
    steps = done.steps()
    assert steps[~steps["warmup"]].groupby("arm").size().tolist().count(18) == 1  # of which one block shows drift
    table = view(done).table()
    assert table["n_steps"].tolist() == [12, 12, 12]
    assert len(compared(done.info, done.chunks())) < len(done.chunks())
    alone = {**done.info.asked, "drift_check": False}
    counted = compared(replace(done.info, asked=alone), steps)
    assert counted.equals(steps[~steps["warmup"]])


def test_what_followed_a_toggle_happened_and_counts_in_no_sum():
    """Two laps under base; in the second prefix serves from the third step on: no lap of either."""
    info = RunInfo(id="r", experiment="live", created="", state="done", asked={}, fingerprint={})
    made = [a_step(repeat=lap, turn=turn) for lap in (0, 1) for turn in (1, 2)]
    made += [a_step(arm="prefix", repeat=1, turn=turn, condition=of_toggled("base")) for turn in (3, 4)]
    made += [a_step(arm="prefix", repeat=1, turn=turn) for turn in (1, 2)]
    rows, chunks = frame_of(made), frame_of([chunk for step in made for chunk in chunks_at(step, 1.1)])
    assert (len(sent(info, rows)), len(compared(info, rows))) == (8, 6)
    (part,) = parts(info, rows, chunks)
    assert (len(part.steps), len(part.chunks)) == (6, 6)
    whole, cut = of_whole_laps(info, rows)
    assert cut == 1
    assert list(zip(whole["arm"], whole["repeat"], strict=True)) == [("base", 0)] * 2 + [("prefix", 1)] * 2
    none, _ = of_whole_laps(info, frame_of([]))
    assert none.empty


def test_cold_and_warm_passes_are_parts_of_their_own():
    info = RunInfo(id="r", experiment="factorial", created="", state="done", asked={}, fingerprint={})
    made = [a_step(cache=cache, turn=turn) for cache in ("warm", "cold") for turn in (1, 2)]
    made += [a_step(cache="warm", warmup=True)]
    chunks = frame_of([chunk for step in made for chunk in chunks_at(step, 1.1, 1.2)])
    cold, warm = parts(info, frame_of(made), chunks)
    assert [(part.cache, part.title("Times"), len(part.steps), len(part.chunks)) for part in (cold, warm)] == [
        ("cold", "Times (cold passes)", 2, 4), ("warm", "Times (warm passes)", 2, 4),
    ]  # fmt: skip
    (alone,) = parts(info, frame_of(made[2:4]), chunks)
    assert (alone.title("Times"), len(alone.steps)) == ("Times", 2)
    (none,) = parts(info, frame_of([]), frame_of([], ChunkRecord))
    assert none.steps.empty
