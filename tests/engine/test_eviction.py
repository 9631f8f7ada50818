"""A cache that is too small, on the real engine: what it forgets is called eviction, and nothing else is.

33 blocks of 32 tokens hold the first prompt of one recording or of another, and not both. The first is sent, then the
other, then the first again under the same salt: an infinite cache would serve it whole.
"""

import asyncio
from pathlib import Path

import pytest

from labkit.analysis.cache_gap import step_gap
from labkit.core.arms import arm_named
from labkit.engines.fleet import Fleet
from labkit.engines.profiles import Profile, load_profile
from labkit.experiments.asked import Asked
from labkit.experiments.design import Block, Design, Pass
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.runner import run_design
from labkit.store.runs import RunStore
from labkit.traffic.recording import named
from labkit.traffic.replay import ReplayOptions

pytestmark = pytest.mark.engine
BLOCK = 32


def small() -> Profile:
    """The default profile with hardly any cache; one of the blocks is vLLM's own."""
    profile = load_profile("cpu-smollm2")
    flags = {**profile.engine.flags, "num-gpu-blocks-override": 34, "max-model-len": 1024}
    return profile.model_copy(update={"engine": profile.engine.model_copy(update={"flags": flags})})


def test_what_the_engine_had_and_forgot_is_eviction(fleet: Fleet, model_path: str, tmp_path: Path):
    first, other = named("ranks-that-jump-live"), named("wide-letters-live")
    one = ReplayOptions(steps=1)
    passes = (
        Pass(recording=first, options=one),
        Pass(recording=other, options=one),
        Pass(recording=first, options=one, cache="warm"),
    )
    design = Design((Block(arm_named("prefix"), 0),), lambda _: passes)
    asked = Asked(profile="cpu-smollm2", recording=first.header.name, arms=("prefix",))
    run = asyncio.run(run_design("replay", asked, design, FleetProvider(fleet, small()), store=RunStore(tmp_path)))
    gap = step_gap(run.steps())
    print(gap.to_string())
    cold, warm = gap[gap["cache"] == "cold"], gap[gap["cache"] == "warm"].iloc[0]
    assert (cold["cached"] == 0).all()
    assert (gap[["routing", "beyond", "template_drift", "off"]] == 0).all(axis=None)
    assert warm["ceiling"] == (warm["prompt"] - 1) // BLOCK * BLOCK
    assert 0 < warm["cached"] < warm["ceiling"]
    assert warm["eviction"] == warm["ceiling"] - warm["cached"]
