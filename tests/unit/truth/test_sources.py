"""Mistakes that no run can make, because the code has no way to: looked up in the code and the plans themselves."""

import ast
from itertools import pairwise
from pathlib import Path

import pytest

import labkit
from labkit.core.arms import ARMS, Arm
from labkit.core.clock import SystemClock
from labkit.engines.plan import make_plan
from labkit.engines.profiles import list_profiles, load_profile
from labkit.experiments.warmup import warmup
from labkit.traffic.recording import list_recordings, named

SOURCES = sorted(Path(labkit.__file__).parent.rglob("*.py"))
NAMES_AND_DATES = {"core/clock.py", "experiments/jobs.py", "engines/fake/metrics.py"}
"""Where wall time is read: names of folders and dates for people, and a fake process start time."""


def reads_the_wall_clock(path: Path) -> bool:
    calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return any(ast.unparse(call) in ("time.time", "datetime.now", "datetime.datetime.now") for call in calls)


def test_durations_come_from_a_monotonic_clock_alone():
    root = Path(labkit.__file__).parent
    found = {str(path.relative_to(root)) for path in SOURCES if reads_the_wall_clock(path)}
    assert "core/clock.py" in found
    assert found <= NAMES_AND_DATES
    clock = SystemClock()
    readings = [clock.now() for _ in range(1000)]
    assert readings == sorted(readings)


@pytest.mark.parametrize("arm", ARMS, ids=str)
@pytest.mark.parametrize("profile", list_profiles())
def test_no_engine_is_told_to_pretend_acceptance(profile: str, arm: Arm):
    plan = make_plan(load_profile(profile), arm)
    words = " ".join(" ".join([*process.argv, *process.env.values()]) for process in plan.processes)
    assert "synthetic" not in words
    assert "rejection_sample_method" not in words


def test_what_is_sent_has_words_and_a_growing_prefix_and_not_random_tokens():
    for name in list_recordings():
        recording = named(name)
        requests = [recording.request(n).messages for n in range(len(recording.steps))]
        for before, after in pairwise(requests):
            assert after[: len(before)] == before, name
        text = " ".join(str(message.get("content") or "") for message in requests[-1])
        assert text.count(" the ") > 5, name


def test_warm_up_has_no_first_block_in_common_with_what_is_measured():
    recording = named(list_recordings()[0])
    thrown_away = warmup([(recording, 4)])
    texts = {str(message.get("content")) for step in thrown_away.steps for message in step.append}
    measured = {str(message.get("content")) for step in recording.steps for message in step.append}
    assert not texts & measured
