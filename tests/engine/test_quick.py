"""`labkit run quick` on the real engine: one engine, two arms, three steps; what it started is ended."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.engines.fleet import Fleet
from labkit.store.runs import Run

pytestmark = pytest.mark.engine


@pytest.mark.usefixtures("model_path")
def test_prefix_caching_against_a_salt_on_every_request(fleet: Fleet, tmp_path: Path):
    env = {**os.environ, "LABKIT_RUNS": str(tmp_path / "runs"), "LABKIT_STATE": str(fleet.state_dir)}
    up_before = [engine.id for engine in fleet.ps()]
    words = ["run", "quick", "--steps", "3", "--arms", "base,prefix", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "labkit", *words], env=env, capture_output=True, text=True, check=False, timeout=400
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    base, prefix = said["arms"]
    assert (base["switched_by"], prefix["switched_by"]) == ("salt", "flag")
    assert base["prompt_cached"] == 0
    assert prefix["prompt_cached"] > 0
    assert 0.9 * prefix["hit_ceiling"] <= prefix["hit_rate"] <= prefix["hit_ceiling"]

    run = Run(Path(said["folder"]))
    steps = run.steps()[~run.steps()["warmup"]]
    assert steps.groupby("turn")["text_sha256"].nunique().max() == 1  # the same text in both arms
    assert steps.groupby("turn")["prompt_tokens"].nunique().max() == 1
    assert (steps["queue_s"] + steps["prefill_s"] + steps["decode_s"] <= steps["t_end"] - steps["t_send"]).all()
    assert len({event["engine"] for event in run.events() if event["type"] == "serving"}) == 1
    (counters, _) = (event["processes"]["engine"] for event in run.events() if event["type"] == "counters")
    assert counters["growth"]["prompt_computed"] == base["prompt_computed"]
    assert [engine.id for engine in fleet.ps()] == up_before
