"""Was it cold, and did an engine start anew: on fake engines that are fresh, used, silent or restarted."""

from pathlib import Path

from factorials import asked, measured, of, recording, run, saved, static

from labkit.core.progress import Progress
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.cold import cold_evidence, evidence, resets
from labkit.experiments.serving import StaticProvider
from labkit.store.runs import RunStore


async def test_under_fresh_salts_turn_1_finds_nothing_and_cold_is_confirmed(tmp_path: Path):
    recordings = saved(tmp_path, "one", "two")
    async with FakeEngine(FakeDials()) as engine:
        urls = dict.fromkeys(("base", "prefix"), engine.base_url)
        done = await run(asked(recordings, *urls, repeats=2, warm=True), static(urls), tmp_path / "runs")
    found = cold_evidence(done)
    assert len(found) == 4
    assert {each.state for each in found} == {"confirmed"}
    assert all("turn 1 of every cold pass found nothing" in each.why for each in found)
    first, *others = found
    assert "the engine was fresh" in first.why
    assert all("the engine had served" in each.why for each in others)


async def test_a_pass_that_found_something_is_not_cold_and_the_note_says_so(tmp_path: Path):
    recordings = saved(tmp_path, "one")
    async with FakeEngine(FakeDials()) as engine:
        done = await run(asked(recordings, "prefix"), static({"prefix": engine.base_url}), tmp_path / "runs")
    steps = done.steps()
    steps.loc[steps["turn"] == 1, "cached_tokens"] = 64
    (found,) = evidence(steps, done.events())
    assert (found.state, found.found) == ("unconfirmed", True)
    assert "turn 1 of one found 64 tokens" in found.why


async def test_an_engine_that_does_not_tell_leaves_cold_unconfirmed_unless_its_counters_were_at_zero(tmp_path: Path):
    recordings = saved(tmp_path, "one")
    async with FakeEngine(FakeDials()) as engine:
        urls = {"base": engine.base_url, "prefix": engine.base_url}
        done = await run(asked(recordings, *urls), static(urls), tmp_path / "runs")
    steps = done.steps()
    steps["cached_tokens"] = steps["cached_tokens"].mask(steps["cached_tokens"].notna())
    first, second = evidence(steps, done.events())
    assert (first.state, first.why) == ("confirmed", "the engine was fresh: its counters were at zero")
    assert second.state == "unconfirmed"
    assert "does not say what turn 1 found" in second.why
    assert "had served" in second.why
    silent = [event for event in done.events() if event["type"] != "first_counters"]
    assert [each.state for each in evidence(steps, silent)] == ["unconfirmed"] * 2


class Restarting(StaticProvider):
    """The engine starts anew before the second arm is served, on the same port."""

    async def serve(self, arm, on_progress=lambda _: None, spec_method=None):
        if arm.prefix_caching:
            self.engine.restart()
        return await super().serve(arm, on_progress)


async def test_an_engine_that_started_anew_between_blocks_is_found_and_said(tmp_path: Path):
    recordings = saved(tmp_path, "one")
    async with FakeEngine(FakeDials()) as engine:
        provider = Restarting({"base": engine.base_url, "prefix": engine.base_url}, "fake", 16)
        object.__setattr__(provider, "engine", engine)
        done = await run(asked(recordings, "base", "prefix", seed=_seed_with("base")), provider, tmp_path / "runs")
    (reset,) = resets(done.events())
    assert (reset.arm, reset.repeat, reset.role) == ("prefix", 0, "engine")
    assert "prefix: the counters of engine began again" in done.info.note
    assert done.info.state == "done"


async def test_a_restart_within_a_pass_is_found_and_said(tmp_path: Path):
    recordings = saved(tmp_path, "one")
    async with FakeEngine(FakeDials()) as engine:

        def restart(progress: Progress) -> None:
            if progress.done == 1 and progress.stage == "measuring prefix":
                engine.restart()

        provider = static({"prefix": engine.base_url})
        done = await run(asked(recordings, "prefix"), provider, tmp_path / "runs", on_progress=restart)
    assert [reset.arm for reset in resets(done.events())] == ["prefix"]
    assert "began again" in done.info.note


def _seed_with(first: str) -> int:
    """A seed under which this arm comes first."""
    seeds = (seed for seed in range(100) if asked(("r",), "base", "prefix", seed=seed).blocks()[0].arm.label == first)
    return next(seeds)


async def test_no_reset_is_seen_where_there_was_none(tmp_path: Path):
    recordings = saved(tmp_path, "one", "two")
    async with FakeEngine(FakeDials()) as engine:
        urls = dict.fromkeys(("base", "prefix"), engine.base_url)
        done = await run(asked(recordings, *urls, repeats=2), static(urls), tmp_path / "runs")
    assert resets(done.events()) == []
    assert "began again" not in done.info.note
    assert len(of(done, "first_counters")) == 4
    assert len(measured(done)) == 2 * 2 * 2 * len(recording("one").steps)
    assert RunStore(tmp_path / "runs").open(done.id).problems() == []
