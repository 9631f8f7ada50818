"""What the page asks for: arms, parameters, and the same words for a terminal."""

import dataclasses

import pytest

from labkit.core.arms import Arm
from labkit.core.progress import Progress
from labkit.engines.fleet import Fleet
from labkit.engines.starting import this_process
from labkit.experiments.jobs import Job, JobStatus
from labkit.experiments.live import Choice, can_steer, failed_early, is_active, is_starting
from labkit.experiments.refusals import refused_arms
from labkit.experiments.view import view
from labkit.experiments.waiting import in_words
from labkit.store.runs import RunStore


def choice(**changes) -> Choice:
    return Choice(
        **{"profile": "cpu-smollm2", "recording": "tiny", "arm": Arm(prefix_caching=True), "steps": 4, **changes}
    )


def status(state: str, run=None) -> JobStatus:
    job = Job(id="20260101T000000Z-replay-aaaaaa", experiment="replay", params={}, created="", process=this_process())
    return JobStatus(job=job, state=state, run=run)


def test_base_comes_first_and_only_once():
    assert choice().arms == ("base", "prefix")
    assert choice(arm=Arm()).arms == ("base",)
    assert choice(compare=False).arms == ("prefix",)


def test_the_command_asks_for_the_same_run():
    same = "labkit run live --profile cpu-smollm2 --recording tiny --arms base,prefix --steps 4"
    assert choice().command() == f"{same} --keep"
    assert choice(agents=3, laps=0).command() == f"{same.replace(' --steps', ' --agents 3 --steps')} --laps 0 --keep"
    assert "--task t --arms base,prefix" in choice(recording=None, task="t").command()


def test_a_job_without_a_run_either_starts_or_failed_early():
    assert is_starting(status("starting"))
    assert is_active(status("running"))
    assert not is_active(status("cancelled"))
    assert not is_starting(None)
    assert failed_early(status("failed"), None)
    assert failed_early(status("failed"), "20251231T235959Z-replay-ffffff")


def test_an_early_failure_is_forgotten_when_something_newer_has_run():
    assert not failed_early(status("failed"), "20260101T000001Z-quick-000000")
    assert not failed_early(status("starting"), None)
    assert not failed_early(None, None)


def test_progress_in_words():
    said = Progress(stage="measuring base", message="turn 3", done=3, total=8, eta_s=20.4)
    assert in_words(said) == "3/8 measuring base: turn 3, about 20 s left"
    assert in_words(Progress(stage="ending engines")) == "ending engines"


def test_only_a_live_run_that_goes_on_can_be_steered():
    assert not can_steer(status("running"))  # a replay
    assert not can_steer(None)
    job = dataclasses.replace(status("running").job, experiment="live")
    assert can_steer(JobStatus(job=job, state="running"))
    assert can_steer(JobStatus(job=job, state="starting"))
    assert not can_steer(JobStatus(job=job, state="partial"))


@pytest.mark.parametrize(("later", "refused"), [((), {"spec": "no drafter"}), (("switch",), {})])
def test_a_refused_wish_is_told_by_its_toggle_until_it_is_granted(tmp_path, later, refused):
    asked = {"profile": "cpu-smollm2", "recording": "tiny", "arms": ["base"]}
    with RunStore(tmp_path).create("live", asked, {"engines": {}}) as writer:
        writer.event("refused", arm="spec", label="spec", repeat=0, message="no drafter", hint="", log_tail=[])
        for kind in later:
            writer.event(kind, arm="spec", was="base", waited_s=1.0, warm=False)
    shown = view(RunStore(tmp_path).open(writer.id))
    assert shown.refused == refused
    assert refused_arms(Fleet(tmp_path / "state"), "cpu-smollm2", ["spec", "base"], shown) == refused
