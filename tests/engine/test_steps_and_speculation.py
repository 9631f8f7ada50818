"""`labkit run steps` and `labkit run speculation` on the real engine, as short as they can be."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from labkit.engines.fleet import Fleet
from labkit.store.runs import Run

pytestmark = pytest.mark.engine


def labkit(fleet: Fleet, runs: Path, *words: str) -> dict[str, Any]:
    """What the command says of its run; engines that other tests have up are used and left alone."""
    env = {**os.environ, "LABKIT_RUNS": str(runs), "LABKIT_STATE": str(fleet.state_dir)}
    done = subprocess.run(
        [sys.executable, "-m", "labkit", *words, "--json"],
        env=env, capture_output=True, text=True, check=False, timeout=400,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.usefixtures("model_path")
def test_two_cuts_in_two_arms(fleet: Fleet, tmp_path: Path):
    said = labkit(fleet, tmp_path, "run", "steps", "--counts", "1,2", "--arms", "base,prefix")
    rows = {(row["arm"], row["steps"]): row for row in said["growth"]}
    assert set(rows) == {("base", 1), ("base", 2), ("prefix", 1), ("prefix", 2)}
    one, two = rows["base", 1], rows["base", 2]
    assert one["prompt_computed"] == rows["prefix", 1]["prompt_computed"] == 669
    assert two["prompt_sent"] == two["prompt_computed"] == 669 + 718
    # the second prompt finds the first one's whole blocks of 32; nothing of the pass before, whose salt is another
    assert 32 * (669 // 32) <= two["prompt_sent"] - rows["prefix", 2]["prompt_computed"] <= 718
    assert (one["generated"], two["generated"]) == (33, 33 + 26)  # as recorded
    assert one["kv_bytes"] == (669 + 33) * 2 * 30 * 3 * 64 * 4
    assert 0 < two["prefill_share"] < 1
    assert {row["verdict"] for row in said["exponents"]} == {"too few to tell"}


@pytest.mark.usefixtures("model_path")
def test_ngram_against_no_speculation(fleet: Fleet, tmp_path: Path):
    recording = ("--recordings", "ranks-that-jump-live", "--steps", "3")
    said = labkit(fleet, tmp_path, "run", "speculation", "--methods", "ngram", *recording)
    every = next(row for row in said["acceptance"] if row["by"] == "all")
    gain = next(row for row in said["gains"] if row["by"] == "all")
    assert every["n"] == gain["n_pairs"] == gain["n_same"] == 3  # greedy text is what it was
    assert 0 <= every["accepted"] <= every["drafted"]
    assert every["drafted"] > 0
    assert every["too_few"]
    assert gain["verdict"] == "too few to tell"
    rates = [row["rate"] for row in said["positions"]]
    assert rates == sorted(rates, reverse=True)
    assert sum(row["accepted"] for row in said["positions"]) == every["accepted"]
    steps = Run(Path(said["folder"])).steps()
    assert set(steps[~steps["warmup"]]["condition"]) == {"method=none", "method=ngram"}
