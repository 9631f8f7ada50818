"""The split on the real engine: two processes of vLLM and a router start, and NIXL moves real KV between them."""

from __future__ import annotations

import re

import pytest
from notebook_runs import execute, figures, printed, shown

from labkit.analysis.concurrency import windows
from labkit.experiments.lessons.interference import in_company
from labkit.experiments.lessons.transfers import all_moved, bytes_a_token
from labkit.store.runs import RunStore

SMALL = {"WINDOW": 10, "STEPS": 2, "REPLAY_STEPS": 0}
"""Short lives, so that prompts are new and long; no second start of the split: the replay is the stored one."""


@pytest.mark.engine
def test_on_the_real_engine(real):
    done = execute("03_prefill_decode_split", real, **SMALL)
    run = RunStore().open("latest")
    assert f"live run {run.id}" in printed(done)
    assert run.info.state == "done"
    steps = run.steps()
    assert steps["error"].isna().all()

    spans = windows(run.events())
    levels = sorted(zip(spans["arm"], spans["agents"], strict=True))
    assert levels == [("prefix", 1), ("prefix", 2), ("prefix+pd", 1), ("prefix+pd", 2)]

    moved = all_moved(run, "prefix+pd")
    assert moved.transfers >= 2
    assert moved.transfer_failures == 0
    assert moved.recomputed == 0
    assert bytes_a_token(moved) >= 46_080
    assert moved.transfer_bytes % (32 * 46_080) == 0

    load = in_company(run)
    assert all(load.rates[arm].per_s > 0 for arm in ("prefix", "prefix+pd"))  # of one or two prompts: not compared
    assert (load.met["arm"] == "prefix").any(), "a prompt was computed beside a stream"
    assert (load.met["gap_s"] > load.met["usual_s"]).any()

    sentences = shown(done, "text/markdown")
    assert len(sentences) == 8
    assert all(re.match(r"\*\*(As predicted|Surprise|Too few to tell|Not measured):\*\* ", said) for said in sentences)
    assert sentences[5].startswith("**As predicted:** ")
    assert "exactly" in sentences[5]
    assert len(figures(done)) == 10
    assert all(figure["data"] for figure in figures(done))
