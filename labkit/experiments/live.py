"""What the live page asks for and follows: three toggles become an arm, an arm and base become a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labkit.core.arms import BASE, Arm
from labkit.experiments import jobs
from labkit.experiments.catalogue import experiment
from labkit.experiments.jobs import Job, JobStatus
from labkit.experiments.words import command_of

EXPERIMENT = "replay"
_ACTIVE = ("starting", "running")


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is chosen on the page. `compare`: measure base, too, so that there is something to pair with."""

    profile: str
    recording: str
    arm: Arm
    steps: int
    compare: bool = True

    @property
    def arms(self) -> tuple[str, ...]:
        """Labels of the arms to measure, base first."""
        return tuple(dict.fromkeys([BASE.label] * self.compare + [self.arm.label]))

    def params(self) -> dict[str, Any]:
        """Parameters of the job. The last engine is kept, so that the arm stays warm."""
        return {
            "recording": self.recording,
            "profile": self.profile,
            "arms": self.arms,
            "steps": self.steps,
            "keep": True,
        }

    def command(self) -> str:
        """The same run from a terminal."""
        return " ".join(["labkit", *command_of(experiment(EXPERIMENT), self.params())])


def start(choice: Choice) -> Job:
    """Start the run in the background. Raises BadInput and UnknownName."""
    return jobs.start(EXPERIMENT, choice.params())


def newest_job() -> JobStatus | None:
    """The job that was started last on this machine, by whomever; None when there never was one."""
    known = jobs.jobs()
    return jobs.status(known[0].id) if known else None


def is_active(job: JobStatus | None) -> bool:
    """Whether the job still goes on; one at a time is enough for one machine."""
    return job is not None and job.state in _ACTIVE


def is_starting(job: JobStatus | None) -> bool:
    """Whether the job goes on and has no run yet."""
    return job is not None and job.state == "starting"


def failed_early(job: JobStatus | None, newest_run: str | None) -> bool:
    """Whether the job ended before it had a run, and nothing newer has happened since. Ids begin with their time."""
    if job is None or job.run is not None or is_active(job):
        return False
    return newest_run is None or job.job.id > newest_run
