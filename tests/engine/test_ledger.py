"""On the real engine the named parts of the ledger are the wall time, within 2 %: three clocks agree.

The runner's own path is measured: its warm-up, its counters around each step, its rows.
"""

import asyncio
from pathlib import Path

import pandas as pd
import pytest

from labkit.analysis.cache_gap import cache_gap
from labkit.analysis.ledger import PARTS, ledger
from labkit.core.arms import arm_named
from labkit.engines.fleet import Fleet
from labkit.engines.profiles import load_profile
from labkit.experiments.asked import Asked
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.runner import run_replay
from labkit.store.runs import RunStore

pytestmark = pytest.mark.engine

ARMS = ("base", "prefix", "prefix+pd")
STEPS = 3
BAR = 0.02


@pytest.fixture(scope="module")
def steps(fleet: Fleet, model_path: str, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    asked = Asked(profile="cpu-smollm2", recording="ranks-that-jump-live", arms=ARMS, steps=STEPS)
    provider = FleetProvider(fleet, load_profile("cpu-smollm2"))
    store = RunStore(Path(tmp_path_factory.mktemp("runs")))
    return asyncio.run(run_replay("replay", asked, provider, store=store)).steps()


@pytest.mark.parametrize("arm", ARMS)
def test_the_named_parts_are_the_wall_time(steps: pd.DataFrame, arm: str):
    row = ledger(steps).set_index("arm").loc[arm]
    print(row.to_string())
    assert (row["n"], row["n_unsplit"], row["n_over"]) == (STEPS, 0, 0)
    assert row["unaccounted_share"] < BAR
    assert sum(row[part] for part in PARTS) == pytest.approx(row["wall"])
    assert (row[["server", "prefill", "decode"]] > 0).all()
    assert (row["transfer"] > 0) == arm_named(arm).pd_split


def test_no_prompt_was_evicted_and_the_tokenizer_agrees(steps: pd.DataFrame):
    """The cache is far larger than these prompts; what decode made is the only thing out of prefill's reach."""
    gap = cache_gap(steps).set_index("arm")
    print(gap.to_string())
    assert gap.loc["prefix", "lost"] == 0
    assert gap.loc["prefix+pd", "eviction"] == 0
    assert gap.loc["base", "off"] == gap.loc["base", "ceiling"] > 0
    assert (gap["beyond"] == 0).all()
    measured = steps[~steps["warmup"]]
    assert (measured["retokenized_tokens"] == measured["prompt_tokens"]).all()
    assert (measured["parse_s"] > 0).all()
