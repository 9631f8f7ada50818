"""The block that only shows drift is in no table of arms."""

from pathlib import Path

from factorials import asked, run, saved, static

from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.compared import compared
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
    from dataclasses import replace

    assert compared(replace(done.info, asked=alone), steps).equals(steps)
