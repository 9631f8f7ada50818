"""Why an agent of many steps costs more than so many questions, measured on the real engine with the fewest steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from notebook_runs import MARKDOWN, execute, figures, printed, shown

from labkit.analysis.growth import growth_table
from labkit.store.runs import RunStore

STEM = "01_why_agents_are_different"
SMALL = {"COUNTS": [1, 5]}
SENT = {1: 669, 5: 5071}
"""The recording's own prompts, added up by hand."""
LAST = 1435


@pytest.mark.engine
def test_on_the_real_engine(real: Path):
    done = execute(STEM, real, **SMALL)
    table = growth_table(RunStore().open("latest").steps()).set_index(["arm", "steps"])
    assert {count: table.loc[("base", count), "prompt_computed"] for count in SENT} == SENT
    assert LAST <= table.loc[("prefix", 5), "prompt_computed"] <= 1.25 * LAST
    assert table.loc[("base", 5), "prefill_share"] > table.loc[("prefix", 5), "prefill_share"]
    tokens, waits, prefill, cached, decode, time, tasks, tasks_time, memory, busy, worth = shown(done, MARKDOWN)
    assert tokens.startswith(
        "**As predicted:** base computed 5,071 prompt tokens in 5 steps, where 5,071 were predicted"
    )
    assert waits.startswith("**Too few to tell:**")
    assert "(n = 4 turns in each arm)" in waits
    assert "under base a call takes" in prefill
    assert "(n = 5 calls)" in prefill
    assert cached.startswith("**As predicted:** at 5 steps prefix computed")
    assert "under prefix (n = 5 calls in each arm)" in decode
    assert time.startswith("**Too few to tell:**")
    assert tasks.startswith("**As predicted:**")
    assert "n = 6 tasks, 2 starts of an engine" in tasks_time
    assert "from 1 step to 5 base computed 7.58x as many tokens" in memory
    assert "the processor was" in busy
    assert worth.startswith("**As predicted:** beside a single step, 5 steps computed 7.58x the prompt tokens in ")
    assert len(figures(done)) == 5
    assert all(figure["data"] for figure in figures(done))
    assert "night-shifts: the first prompt has 669 tokens, each step adds 144" in printed(done)
