"""What the page asks for: arms, parameters, and the same words for a terminal."""

from labkit.core.arms import Arm
from labkit.core.progress import Progress
from labkit.engines.starting import this_process
from labkit.experiments.jobs import Job, JobStatus
from labkit.experiments.live import Choice, failed_early, is_active, is_starting
from labkit.experiments.waiting import in_words


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
