"""What the live page asks for and follows: three toggles become an arm, and a run that is steered by them goes on.

job = start(Choice(profile="cpu-smollm2", arm=Arm(prefix_caching=True), recording="ranks-that-jump-live"))
steer(job.id, Arm(speculation=True))        # every agent's next step goes there
flip_and_repeat(run_id, Arm())              # the same question once more, under another arm
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from filelock import FileLock

from labkit.core.arms import BASE, Arm
from labkit.core.errors import BadInput, LabError
from labkit.core.paths import state_dir
from labkit.core.records import RunInfo
from labkit.engines.process import is_alive
from labkit.experiments import jobs, steering
from labkit.experiments.catalogue import experiment
from labkit.experiments.jobs import Job, JobStatus
from labkit.experiments.words import command_of
from labkit.store.runs import RunStore

EXPERIMENT = "live"
_ACTIVE = ("starting", "running")
_SAME = ("profile", "recording", "task", "agents", "steps", "gaps", "spec_method", "strict")
_LIVE_AGENTS = ("tool_mode", "temperature", "seed")
"""What live agents were asked, too; a replay's seed is of its order, and one run of one arm has none."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is chosen on the page: a recording or a task, exactly one. `compare`: a lap under base first, to pair with.

    `agents` at once; `steps` of each of them, None: all; `laps` of each arm, 0: again and again until it is stopped.
    `beside`: id of the run that this one repeats under another arm.
    """

    profile: str
    arm: Arm
    compare: bool = True
    recording: str | None = None
    task: str | None = None
    agents: int = 1
    steps: int | None = None
    laps: int = 1
    beside: str | None = None

    @property
    def arms(self) -> tuple[str, ...]:
        """Labels of the arms that laps are planned for, base first."""
        return tuple(dict.fromkeys([BASE.label] * self.compare + [self.arm.label]))

    def params(self) -> dict[str, Any]:
        """Parameters of the job. The last engine is kept, so that the arm stays warm."""
        asked = {
            "profile": self.profile,
            "recording": self.recording,
            "task": self.task,
            "arms": self.arms,
            "agents": self.agents,
            "steps": self.steps,
            "laps": self.laps,
            "keep": True,
            "beside": self.beside,
        }
        return _said(asked)

    def command(self) -> str:
        """The same run from a terminal."""
        return " ".join(["labkit", *command_of(experiment(EXPERIMENT), self.params())])


def start(choice: Choice) -> Job:
    """Start the run in the background. Raises BadInput and UnknownName."""
    params = choice.params()
    experiment(EXPERIMENT).asked(params).checked()  # type: ignore[attr-defined]
    return _started_alone(params)


def flip_and_repeat(run_id: str, arm: Arm) -> Job:
    """Ask what this run was asked once more, under `arm` alone and beside it. Raises BadInput and UnknownName."""
    return _started_alone(repeat_params(RunStore().open(run_id).info, arm))


def _started_alone(params: Mapping[str, Any]) -> Job:
    """Start it, unless a job goes on: two tabs may press Run at once. Raises LabError, naming the job."""
    folder = state_dir() / "jobs"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "start.lock"):
        if going := active_job():
            what = f"{going.job.experiment} run {going.run.id}" if going.run else f"{going.job.experiment} run"
            raise LabError(f"a {what} goes on already.", "Wait for it, or stop it: one at a time measures.")
        return jobs.start(EXPERIMENT, params)


def repeat_params(info: RunInfo, arm: Arm) -> dict[str, Any]:
    """Parameters of a run that asks what this one was asked, under `arm` alone. One lap of a run without end.

    Raises BadInput for a run that neither replayed one recording nor worked at one task.
    """
    asked = info.asked
    if not (asked.get("recording") or (asked.get("task") and info.experiment == EXPERIMENT)):
        allowed = "a run that replayed one recording, or whose live agents worked at one task"
        raise BadInput("run", info.id, allowed, "labkit runs lists what there is")
    names = _SAME + (_LIVE_AGENTS if info.experiment == EXPERIMENT else ())
    same = {name: asked[name] for name in names if name in asked}
    same.setdefault("gaps", False)
    laps = int(asked.get("laps", asked.get("repeats", 1))) or 1
    return _said({**same, "arms": (arm.label,), "laps": laps, "keep": True, "beside": info.id})


def steer(job_id: str, arm: Arm) -> None:
    """Ask the running live job for this arm from the next step on. Raises UnknownName, BadInput for another job."""
    if not can_steer(jobs.status(job_id)):
        raise BadInput("job", job_id, "a live run that goes on", "Start one: labkit run live --help")
    steering.ask(job_id, arm)


def can_steer(job: JobStatus | None) -> bool:
    """Whether the job is a live run that goes on."""
    return job is not None and is_active(job) and job.job.experiment == EXPERIMENT


def running_live() -> JobStatus | None:
    """The live job that was started last and still goes on; None when there is none."""
    going = active_job()
    return going if can_steer(going) else None


def _said(params: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is the default anyway."""
    defaults = experiment(EXPERIMENT).all_defaults
    always = ("profile", "arms")
    return {name: value for name, value in params.items() if name in always or value != defaults.get(name)}


def newest_job() -> JobStatus | None:
    """The job that was started last on this machine, by whomever; None when there never was one."""
    job = jobs.newest()
    return jobs.status(job.id) if job else None


def active_job() -> JobStatus | None:
    """The live run that goes on, since it can be steered; else the newest job that does; None when there is none."""
    going = [now for job in jobs.jobs() if is_alive(job.process) and is_active(now := jobs.status(job.id))]
    return next(filter(can_steer, going), going[0] if going else None)


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
