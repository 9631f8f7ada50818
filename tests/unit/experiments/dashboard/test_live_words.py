"""Where the next steps go, what a toggle may say of its own run's engines, and where a click on a lane leads."""

from __future__ import annotations

import pytest

from labkit.core.arms import Arm
from labkit.core.records import RunInfo
from labkit.experiments.arm_state import ArmState
from labkit.experiments.dashboard.live.jump import step_address
from labkit.experiments.dashboard.live.own_arms import as_its_run_sees, can_repeat, flips, one_flip_away
from labkit.experiments.dashboard.live.wish import wish

SERVES = [
    {"type": "serving", "arm": "base"},
    {"type": "switch", "arm": "base", "was": "", "waited_s": 30.0, "warm": False},
]
MEASURING = {"type": "progress", "stage": "measuring base", "message": "turn 1"}
STARTING = {"type": "progress", "stage": "starting spec", "message": "starting (12 s of ~30 s): engine"}


@pytest.mark.parametrize(
    ("events", "said"),
    [
        (SERVES, "next steps: base"),
        ([*SERVES, {"type": "switch", "arm": "spec", "was": "base", "waited_s": 24.0, "warm": False}, MEASURING],
         "next steps: spec (started, agents waited 24.0 s)"),
        ([*SERVES, {"type": "steer", "arm": "spec"}], "asked for spec: the next steps go there"),
        ([*SERVES, {"type": "steer", "arm": "spec"}, STARTING], "starting spec: engine, 12 s of ~30 s; agents wait"),
        ([*SERVES, {"type": "steer", "arm": "prefix"},
          {"type": "switch", "arm": "prefix", "was": "base", "waited_s": 0.01, "warm": True}, MEASURING],
         "next steps: prefix (warm)"),
        ([*SERVES, {"type": "steer", "arm": "pd"}, {"type": "refused", "arm": "pd", "message": "no such connector"},
          MEASURING],
         "pd refused: no such connector; the run goes on under base"),
        ([*SERVES, {"type": "steer", "arm": "spec"}, {"type": "steer", "arm": "base"}], "next steps: base"),
        ([*SERVES, {"type": "steer", "arm": "spec"}, STARTING, {"type": "steer", "arm": "base"}], "next steps: base"),
        ([*SERVES, {"type": "steer", "arm": "spec"}, STARTING,
          {"type": "switch", "arm": "spec", "was": "base", "waited_s": 24.0, "warm": False}],
         "next steps: spec (started, agents waited 24.0 s)"),
        ([*SERVES, {"type": "steer", "arm": "spec"},
          {"type": "switch", "arm": "spec", "was": "base", "waited_s": 3.0, "warm": True, "warmed": True}],
         "next steps: spec (warmed up, agents waited 3.00 s)"),
    ],
)  # fmt: skip
def test_where_the_next_steps_go(events, said):
    found = wish(events)
    assert found is not None
    assert found.said == said


def test_before_an_arm_has_served_the_progress_says_all():
    assert wish([STARTING]) is None
    assert wish([]) is None


def test_an_engine_that_the_run_holds_is_warm_for_its_own_toggles():
    busy = ArmState(arm="base", kind="busy", words="busy: held by run-1")
    other = ArmState(arm="spec", kind="busy", words="busy: held by run-2")
    assert [state.kind for state in as_its_run_sees([busy, other], "run-1")] == ["warm", "busy"]
    assert [state.kind for state in as_its_run_sees([busy], "")] == ["busy"]


def test_an_engine_that_is_up_but_has_served_nothing_of_this_run_may_be_warmed_up_first():
    up = ArmState(arm="spec", kind="warm", words="warm")
    assert [state.words for state in as_its_run_sees([up], "run-1")] == ["up (this run may warm it up first)"]
    assert as_its_run_sees([up], "") == [up]


def test_three_arms_are_one_flip_away():
    assert flips(Arm(prefix_caching=True)) == ["base", "prefix+pd", "prefix+spec"]
    assert one_flip_away([ArmState(arm="spec", kind="warm", words="warm")]) == "One flip away: spec warm."
    assert one_flip_away([]) == ""


@pytest.mark.parametrize(
    ("experiment", "asked", "can"),
    [("replay", {"recording": "tiny"}, True), ("live", {"task": "t"}, True), ("agent", {"task": "t"}, False),
     ("factorial", {"recordings": ["a", "b"]}, False)],
)  # fmt: skip
def test_what_can_be_repeated(experiment, asked, can):
    info = RunInfo(id="r", experiment=experiment, created="", state="done", asked=asked, fingerprint={})
    assert can_repeat(info) is can


def test_a_click_on_a_step_is_its_address():
    data = ["run-1", "prefix", "count", "tiny", "0", "1", "7", "", "warm", "turn 7", "tokens", "times"]
    assert step_address([{"x": 1}, {"customdata": data}]) == {
        "run_id": "run-1", "arm": "prefix", "task": "count", "recording": "tiny", "agent": "0", "repeat": "1",
        "turn": "7", "cache": "warm",
    }  # fmt: skip


def test_a_live_agent_replays_no_recording_and_other_clicks_lead_nowhere():
    found = step_address(
        [{"customdata": ["run-1", "prefix", "count", "", "0", "1", "7", "toggled from base", "cold", "w"]}]
    )
    assert found is not None
    assert "recording" not in found
    assert found["condition"] == "toggled from base"
    assert step_address([]) is None
    assert step_address([{"customdata": "text"}, {"customdata": ["too", "short"]}, {}]) is None
