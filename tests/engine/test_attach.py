"""Engines of the fleet, attached by their addresses as if somebody else had started them: what a run of the fleet says
of them, and what is null where no page of counters is named.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pytest

from labkit.core.progress import silent
from labkit.engines.fleet import Fleet
from labkit.store.runs import Run

pytestmark = pytest.mark.engine


def labkit(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "LABKIT_RUNS": str(folder / "runs"), "LABKIT_STATE": str(folder / "none of the fleet's")}
    env.pop("OPENAI_API_KEY", None)
    command = [sys.executable, "-m", "labkit", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=200)


def quick(folder: Path, arms: str, *words: str, steps: int = 3) -> tuple[Run, pd.DataFrame]:
    """The run, and its steps that count."""
    done = labkit(folder, "run", "quick", "--arms", arms, "--steps", str(steps), "--json", *words)
    assert done.returncode == 0, done.stderr
    run = Run(Path(json.loads(done.stdout.splitlines()[-1])["folder"]))
    rows = run.steps()
    return run, rows[~rows["warmup"]]


def unread(run: Run) -> list[set[str]]:
    return [set(event["unread"]) for event in run.events() if event["type"] == "attached"]


def filled(steps: pd.DataFrame, columns: Sequence[str]) -> bool:
    return bool(steps[list(columns)].notna().all().all())


@pytest.fixture(autouse=True)
def ended(fleet: Fleet) -> Iterator[None]:
    """What a test started is ended with it: the tests that come after need the memory, and look for an empty fleet."""
    yield
    fleet.down()


async def test_the_prefix_arm_by_its_address(fleet: Fleet, plan_for, tmp_path: Path):
    engine = await fleet.up(plan_for("prefix"), silent)
    found = json.loads(labkit(tmp_path, "attach", f"{engine.base_url}/v1", "--json").stdout)
    known = found["known"]
    assert (known["kind"], known["model"], known["block_size"]) == ("vllm", "smollm2-135m", 32)
    assert (known["prefix_caching"], known["speculation"], known["split"]) == (True, False, False)
    assert (known["cached_tokens"], known["request_metrics"], known["salt"]) == (True, True, "checked")
    assert known["version"].startswith("0.32")
    assert found["unread"] == {}

    run, steps = quick(tmp_path, "base,prefix", "--endpoint", engine.base_url)
    base, prefix = (steps[steps["arm"] == arm] for arm in ("base", "prefix"))
    assert (base["cached_tokens"] == 0).all()
    assert (prefix["cached_tokens"].iloc[1:] > 0).all()
    assert (prefix["cached_tokens"] <= prefix["ceiling_tokens"]).all()
    assert filled(steps, ("queue_s", "prefill_s", "decode_s", "server_s", "reachable_tokens"))
    assert steps.groupby("turn")["text_sha256"].nunique().max() == 1  # the same text in both arms
    assert unread(run) == [set(), set()]
    assert fleet.get(engine.id).alive

    refused = labkit(tmp_path, "run", "quick", "--arms", "spec", "--endpoint", engine.base_url)
    assert refused.returncode == 1
    assert "--speculative-config" in refused.stderr


async def test_the_split_arm_by_its_routers_address(fleet: Fleet, plan_for, tmp_path: Path):
    engine = await fleet.up(plan_for("prefix+pd"), silent)
    found = json.loads(labkit(tmp_path, "attach", engine.base_url, "--json").stdout)
    assert (found["known"]["kind"], found["arm"]) == ("vllm-router", "prefix+pd")
    assert set(found["known"]["workers"]) == {"prefill", "decode"}
    assert f"decode={engine.metrics_urls['decode']}" in found["go_on"][0]

    pages = [word for role, url in engine.metrics_urls.items() for word in ("--metrics", f"{role}={url}")]
    run, read = quick(tmp_path, "pd", "--endpoint", engine.base_url, "--arm-is", "pd", *pages, steps=2)
    assert (read["transferred_tokens"] > 0).all()
    assert (read["transfer_s"] > 0).all()
    assert filled(read, ("queue_s", "prefill_s", "decode_s", "server_s"))
    assert unread(run) == [set()]

    run, blind = quick(tmp_path, "pd", "--endpoint", engine.base_url, steps=1)
    lost = ["transferred_tokens", "transfer_s", "server_s"]
    assert blind[lost].isna().all().all()
    assert set(lost) <= unread(run)[0]
    assert "transfer_s null throughout, as no --metrics decode=URL was given" in run.info.note
    assert fleet.get(engine.id).alive
