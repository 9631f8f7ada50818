"""Two agents at once on the real engine: the load is steady, and what company costs is in the table."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.analysis.concurrency import concurrency, mean_in_flight, windows
from labkit.engines.fleet import Fleet
from labkit.store.runs import Run

pytestmark = pytest.mark.engine


@pytest.mark.usefixtures("model_path")
def test_two_agents_in_each_others_way(fleet: Fleet, tmp_path: Path):
    env = {**os.environ, "LABKIT_RUNS": str(tmp_path / "runs"), "LABKIT_STATE": str(fleet.state_dir)}
    load = ["--agents", "1,2", "--window", "8", "--stagger", "1", "--steps", "3"]
    words = ["run", "interference", "--arms", "prefix", "--recordings", "ranks-that-jump-live", *load, "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "labkit", *words], env=env, capture_output=True, text=True, check=False, timeout=400
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    alone, company = said["levels"]
    assert (alone["agents"], company["agents"]) == (1, 2)
    assert alone["n_failed"] == company["n_failed"] == 0
    assert company["ttft_p50_s"] > alone["ttft_p50_s"]
    assert company["itl_p99_s"] > alone["itl_p50_s"]
    assert 0 < company["hit_rate"] <= company["hit_ceiling"]
    assert company["tokens_per_s"] > 0

    run = Run(Path(said["folder"]))
    steps, spans = run.steps(), windows(run.events())
    flying = mean_in_flight(concurrency(steps, spans))
    assert 0.8 < flying["prefix", "agents=1"] <= 1
    assert 1.6 < flying["prefix", "agents=2"] <= 2
    crowd = steps[(steps["condition"] == "agents=2") & ~steps["warmup"]]
    assert crowd["drafts"].isna().all()
    assert (crowd["queue_s"] >= 0).all()  # the reply's own, of this very request
    (counters,) = (e for e in run.events() if e["type"] == "counters" and e["condition"] == "agents=2")
    growth = counters["processes"]["engine"]["growth"]
    assert growth["prompt_cached"] > 0
