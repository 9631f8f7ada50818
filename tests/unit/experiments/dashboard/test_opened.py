"""A run held open: the same numbers as reading its folder, read once, and a live one by what is new."""

from __future__ import annotations

import threading

import huge_run
import pandas as pd
import pytest
from run_folders import write
from synthetic import steps

from labkit.analysis.arms import arm_table
from labkit.analysis.latency import itl_by_step
from labkit.experiments.compared import parts
from labkit.experiments.dashboard.opened import Followed, Opened
from labkit.experiments.view import view
from labkit.store.runs import Run, RunStore


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    root = tmp_path_factory.mktemp("runs")
    return RunStore(root).open(huge_run.write(root, huge_run.Size(agents=6, turns=3, chunks=5, tasks=2)))


def test_it_has_the_numbers_of_the_folder(run):
    opened = Opened(run)
    [part] = parts(run.info, run.steps(), run.chunks())
    pd.testing.assert_frame_equal(opened.arm_table, arm_table(part.steps, part.chunks))
    pd.testing.assert_frame_equal(opened.view.table(), view(run).table())
    by_step = itl_by_step(run.chunks())
    pd.testing.assert_frame_equal(opened.step_gaps.astype(by_step.dtypes), by_step)
    row = opened.arm_table.set_index("arm").loc["spec"]
    assert opened.gaps["spec"].n == row["n_gaps"]
    assert opened.gaps["spec"].p99 == pytest.approx(row["itl_p99_s"])


def test_the_view_is_what_reading_anew_gives(tmp_path):
    writer = RunStore(tmp_path).create("replay", {"arms": ["base", "pd"]}, {})
    write(writer, steps(("base",), turns=2))
    writer.event("progress", stage="measuring base", message="turn 2", done=2, total=8, eta_s=33.0)
    writer.event("refused", arm="pd", repeat=0, message="no such connector", hint="", log_tail=["nixl"])
    writer.finish("partial", "pd not measured")
    run = RunStore(tmp_path).open(writer.id)
    now, anew = Opened(run).view, view(run)
    assert (now.info, now.progress, now.refused, now.died, now.log_tail) == (
        anew.info, anew.progress, anew.refused, anew.died, anew.log_tail,
    )  # fmt: skip
    assert now.summary == anew.summary


def test_a_live_run_is_one_for_all_until_something_happens(tmp_path):
    with RunStore(tmp_path).create("replay", {"arms": ["base"]}, {}) as writer:
        followed = Followed(RunStore(tmp_path).open(writer.id))
        first = followed.now()
        assert followed.now() is first
        write(writer, steps(("base",), turns=2))
        second = followed.now()
        assert (len(first.steps), len(second.steps), second.live) == (0, 2, True)
    assert not followed.now().live


def test_tabs_look_at_a_live_run_while_it_is_written(tmp_path):
    with RunStore(tmp_path).create("replay", {"arms": ["base"]}, {}) as writer:
        followed, bad = Followed(RunStore(tmp_path).open(writer.id)), []

        def look() -> None:
            for _ in range(25):
                now = followed.now()
                if len(now.chunks) != 20 * len(now.steps) or len(now.arm_table) > 1:
                    bad.append(now)

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for turn in range(1, 20):
            write(writer, steps(("base",), turns=turn)[-1:])
        for thread in threads:
            thread.join()
        assert bad == []
        assert len(followed.now().steps) == 19
