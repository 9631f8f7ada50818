"""The notebook on prefix caching on the real engine: the cache serves, blocks round, and too many agents end it."""

from __future__ import annotations

from pathlib import Path

import pytest
from notebook_runs import MARKDOWN, execute, figures, printed, shown

from labkit.experiments.lessons.disturbed import disturbed
from labkit.store.runs import RunStore

SMALL = {
    "STEPS": 2,
    "OTHER_STEPS": 2,
    "OTHER_BLOCK": 32,  # the warm engine's own: no further start
    "AGENT_STEPS": 2,
    "AGENTS": [1, 4],
    "WINDOW": 8.0,
    "CACHE_BLOCKS": 58,
    "CONTEXT": 1792,
}


@pytest.mark.engine
def test_on_the_real_engine(real: Path):
    done = execute("02_prefix_caching", real, **SMALL)
    default, first, price, evicted, checked, rounded, other, words, falls, cost = shown(done, MARKDOWN)
    assert "**Surprise:**" in default
    assert "has prefix caching on" in default
    assert "from turn 2 on the first token took" in first
    assert "under base and" in price
    assert evicted.startswith("**As predicted:** 0 of ")
    assert checked.startswith("**As predicted:** at 32 tokens it is the ceiling that the run kept in 4 of 4 steps")
    assert "blocks of 32 tokens instead of 32 take 0 % of the ceiling" in rounded
    assert other.startswith("**As predicted:** with blocks of 32 tokens")
    assert "the next turn found" in words
    assert "with 1 agent the cache served at least" in falls
    assert "**Surprise:**" not in falls
    why_no_times = disturbed([RunStore().open("latest")])
    assert (why_no_times or "the median time to first token was") in cost
    assert "So 2 agents fit at any time" in printed(done)
    measured = figures(done)[4]["data"]
    rates = next(trace["y"] for trace in measured if trace["name"] == "prefix: measured")
    assert next(trace["x"] for trace in measured if trace["name"] == "predicted") == [1, 2, 3, 4]
    assert rates[0] > 2 * rates[1]
