"""The state of a run follows from what was measured of what was asked."""

import pytest

from labkit.experiments.verdict import Tally, verdict


def tally(
    measured: dict[str, int], failed: dict[str, int] | None = None, refused: dict[str, str] | None = None
) -> Tally:
    made = Tally()
    made.measured.update(measured)
    made.failed.update(failed or {})
    made.refused.update(refused or {})
    return made


@pytest.mark.parametrize(
    ("measured", "state"),
    [({"base": 8, "pd": 1}, "done"), ({"base": 8}, "partial"), ({}, "failed")],
)
def test_state(measured: dict[str, int], state: str):
    assert verdict(["base", "pd"], tally(measured, failed={"pd": 3}))[0] == state


def test_an_arm_that_was_not_measured_is_named_with_the_engines_own_words():
    state, note = verdict(["base", "pd"], tally({"base": 2}, refused={"pd": "No module named nixl"}))
    assert (state, note) == ("partial", "pd not measured: No module named nixl.")


def test_failed_steps_are_counted_and_do_not_spoil_the_arm():
    assert verdict(["base"], tally({"base": 6}, failed={"base": 2})) == ("done", "base: 2 of 8 steps failed.")


def test_an_arm_that_died_half_way_keeps_what_it_measured():
    state, note = verdict(["base"], tally({"base": 3}, refused={"base": "engine died"}))
    assert (state, note) == ("partial", "base ended early: engine died.")


def test_an_arm_that_shared_the_machine_is_done_and_says_so():
    made = tally({"base": 3})
    made.disturbed["base"] = 0.83
    state, note = verdict(["base"], made)
    assert state == "done"
    assert "base: other processes kept 0.8 cores busy" in note


def test_what_is_to_be_said_of_several_arms_is_said_once():
    made = tally({"base": 3, "spec": 3}, refused={"pd": "No nixl.", "prefix+pd": "No nixl.", "all": "no room"})
    made.disturbed.update({"base": 0.31, "spec": 0.52})
    assert verdict(["base", "spec", "pd", "prefix+pd", "all"], made)[1].splitlines() == [
        "pd, prefix+pd not measured: No nixl.",
        "all not measured: no room.",
        "base, spec: other processes kept 0.3-0.5 cores busy while they were measured: times are too long.",
    ]


def test_counting_a_step():
    made = Tally()
    made.count("base", None)
    made.count("base", "HTTP 500")
    assert (made.measured["base"], made.failed["base"]) == (1, 1)
