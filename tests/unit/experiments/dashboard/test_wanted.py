"""What the toggles of a live run mean: the newest wish, else the plan, and never what was refused."""

from __future__ import annotations

import pytest

from labkit.core.records import RunInfo
from labkit.experiments.dashboard.live.wanted import arm_of, wanted

BASE_SERVES = {"type": "switch", "arm": "base"}
STEER_SPEC = {"type": "steer", "arm": "spec"}
SPEC_REFUSED = {"type": "refused", "arm": "spec"}


@pytest.mark.parametrize(
    ("events", "asked", "arm"),
    [
        ([], None, "prefix"),
        ([BASE_SERVES], None, "prefix"),  # the lap under base comes first by itself
        ([BASE_SERVES, STEER_SPEC], "spec", "spec"),
        ([BASE_SERVES], "spec", "spec"),  # asked a moment ago, and not read yet
        ([BASE_SERVES, STEER_SPEC, SPEC_REFUSED], "spec", "base"),
        ([BASE_SERVES, STEER_SPEC, SPEC_REFUSED], "pd", "pd"),
        ([BASE_SERVES, STEER_SPEC, SPEC_REFUSED, {"type": "switch", "arm": "prefix"}], "spec", "prefix"),
        ([STEER_SPEC, {"type": "switch", "arm": "spec"}, {"type": "engine_died", "arm": "spec"}, BASE_SERVES],
         "spec", "base"),
        ([BASE_SERVES, {"type": "refused", "arm": "prefix"}], None, "base"),
    ],
)  # fmt: skip
def test_what_is_wanted(events, asked, arm):
    assert wanted("j", ("base", "prefix"), events, asked).arm == arm


def test_a_refused_wish_is_told_from_no_wish_at_all():
    before = wanted("j", ("base",), [BASE_SERVES], None)
    after = wanted("j", ("base",), [BASE_SERVES, STEER_SPEC, SPEC_REFUSED], "spec")
    assert before.arm == after.arm == "base"
    assert before != after


@pytest.mark.parametrize(
    ("asked", "label"),
    [({"recording": "tiny", "arms": ["base", "spec"]}, "spec"), ({"recordings": ["a"], "arms": ["all"]}, None),
     ({"task": "t", "arms": ["none"]}, None), ({"task": "t", "arm": "prefix"}, None)],
)  # fmt: skip
def test_where_an_ended_run_came_to(asked, label):
    info = RunInfo(id="r", experiment="live", created="", state="done", asked=asked, fingerprint={})
    found = arm_of(info, [])
    assert (found.label if found else None) == label
