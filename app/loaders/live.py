"""What the Live page shows of a run: its finding, lanes, tiles and figures, each worked out once for each state."""

from __future__ import annotations

from typing import Any

import pandas as pd
from labkit.agents.tasks import list_tasks
from labkit.core.arms import Arm
from labkit.core.errors import LabError
from labkit.engines.fleet import Fleet
from labkit.experiments import ending, live, steering
from labkit.experiments.arm_state import ArmState
from labkit.experiments.dashboard.live import own_arms, wish
from labkit.experiments.dashboard.live.finding import Finding, findings
from labkit.experiments.dashboard.live.lane_clock import Clock
from labkit.experiments.dashboard.live.lanes import Window, lanes
from labkit.experiments.dashboard.live.lanes_beside import side_by_side
from labkit.experiments.dashboard.live.tiles import Tiles, tiles
from labkit.experiments.dashboard.live.wanted import Wanted
from labkit.experiments.dashboard.live.wanted import arm_of as arm_of_run
from labkit.experiments.dashboard.live.wanted import wanted as wanted_of
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.jobs import JobStatus
from labkit.experiments.live import Choice
from labkit.plots.acceptance import AcceptanceInfo, acceptance_by_kind_info
from labkit.plots.arms_overview import ArmsOverviewInfo, arms_overview_info
from labkit.plots.lane_records import LanesInfo
from labkit.plots.per_turn import Measure, PerTurnInfo, per_turn_info
from labkit.plots.tokens_per_turn import TokensPerTurnInfo, tokens_per_turn_info
from labkit.plots.wall_ledger import WallLedgerInfo, wall_ledger_info

import loaders


def tasks() -> list[str]:
    """The tasks that live agents can work at."""
    return list_tasks()


def beside(run_id: str) -> str | None:
    """The run that this one repeats under another arm, if it can still be read."""
    other = loaders.opened(run_id).info.asked.get("beside")
    try:
        return loaders.opened(str(other)).id if other else None
    except LabError:
        return None


def findings_of(run_id: str) -> tuple[Finding, ...]:
    """In words, the newest arm first."""
    other = beside(run_id)
    return _findings_beside(run_id, other, _moment(other)) if other else _findings(run_id)


def tiles_of(run_id: str) -> Tiles:
    """Of the newest arm, beside the arm before."""
    other = beside(run_id)
    return _tiles_beside(run_id, other, _moment(other)) if other else _tiles(run_id)


def _moment(run_id: str) -> str:
    """What changes with the run: whatever was worked out from it is then worked out anew."""
    run = loaders.opened(run_id)
    return f"{run.run.folder} {run.version} {run.info.state}"


def lanes_of(run_id: str, clock: Clock, window: Window | None = None) -> LanesInfo:
    """Swim lanes; those of the run that this one repeats above its own."""
    own, other = _lanes(run_id, clock, window), beside(run_id)
    if other is None:
        return own
    return side_by_side(_lanes(other, clock, window), own, (other.rsplit("-", 1)[-1], run_id.rsplit("-", 1)[-1]))


def seconds_of(run_id: str, clock: Clock) -> float:
    """How long the lanes are; of two runs, the longer one's."""
    return lanes_of(run_id, clock).end


def own_seconds(run_id: str) -> float:
    """How long a run that goes on has gone on, whatever it repeats."""
    return _lanes(run_id, "run").end


def states(choice: Choice, refused: dict[str, str], job: JobStatus | None) -> list[ArmState]:
    """What may be said of the engines of the arms that were chosen; of those that the running job holds: warm."""
    return _seen_by(job, loaders.states(choice.profile, choice.arms, refused))


def one_flip_away(choice: Choice, refused: dict[str, str], job: JobStatus | None) -> str:
    """What each toggle leads to: the states of the arms that differ from the chosen one in a single layer."""
    arms = tuple(arm for arm in own_arms.flips(choice.arm) if arm not in choice.arms)
    return own_arms.one_flip_away(_seen_by(job, loaders.states(choice.profile, arms, refused)))


def _seen_by(job: JobStatus | None, states: list[ArmState]) -> list[ArmState]:
    run_id = job.run.id if job and job.run and live.is_active(job) else ""
    return own_arms.as_its_run_sees(states, run_id)


def can_repeat(run_id: str) -> bool:
    """Whether the run asked a question that can be asked once more under another arm."""
    return own_arms.can_repeat(loaders.opened(run_id).info)


def is_busy() -> bool:
    """Whether a job goes on: one at a time is enough for one machine."""
    return live.is_active(loaders.current_job())


def wanted(job: JobStatus | None) -> Wanted | None:
    """What the job is to serve, when it is a live run that goes on."""
    if job is None or not live.can_steer(job):
        return None
    planned, asked = tuple(job.job.params.get("arms", ())), steering.newest(job.job.id)
    return wanted_of(job.job.id, planned, _events(job), asked)


def _events(job: JobStatus) -> list[dict[str, Any]]:
    """Of the job's run; none while it has none, or where it writes into another store."""
    try:
        return loaders.opened(job.run.id).events if job.run else []
    except LabError:
        return []


def arm_of(run_id: str) -> Arm | None:
    """The arm that a run of one recording or one task came to last."""
    try:
        run = loaders.opened(run_id)
        return arm_of_run(run.info, run.events)
    except LabError:
        return None


def shared_words(states: list[ArmState]) -> str:
    """Which arm stands on another one's engine."""
    return own_arms.shared_words(states)


def any_to_end() -> bool:
    """Whether there is an engine to end, or the remains of one, that nobody is ending."""
    return any(not ending.is_ending(engine.id) for engine in Fleet().ps())


def endings() -> list[str]:
    """Of each engine that is being ended or could not be: a sentence."""
    return own_arms.endings(Fleet())


def wish_of(run_id: str) -> wish.Wish | None:
    """Where the next steps of a run that goes on will go."""
    return wish.wish(loaders.opened(run_id).events)


def newest_arm(run_id: str) -> str:
    """The arm that served last, or was asked for last."""
    return own_arms.newest_arm(loaders.opened(run_id))


def _overview(opened: Opened) -> ArmsOverviewInfo:
    return arms_overview_info(opened.arm_table, opened.view.arms)


def _tokens(opened: Opened) -> TokensPerTurnInfo:
    return tokens_per_turn_info(opened.counted, own_arms.newest_counted(opened))


def _per_turn(opened: Opened, measure: Measure) -> PerTurnInfo:
    return per_turn_info(opened.counted, measure)


def _ledger(opened: Opened) -> WallLedgerInfo:
    return wall_ledger_info(opened.counted)


def _drafts(opened: Opened) -> AcceptanceInfo:
    return acceptance_by_kind_info(opened.counted)


def _arms(opened: Opened) -> pd.DataFrame:
    return opened.arm_table


def _with_findings(opened: Opened, other: str, _moment: str) -> tuple[Finding, ...]:
    return findings(opened, loaders.opened(other))


def _with_tiles(opened: Opened, other: str, _moment: str) -> Tiles:
    return tiles(opened, loaders.opened(other))


_findings = loaders.per_run(findings)
_findings_beside = loaders.per_run(_with_findings)
_tiles = loaders.per_run(tiles)
_tiles_beside = loaders.per_run(_with_tiles)
_lanes = loaders.per_run(lanes)
overview = loaders.per_run(_overview)
tokens = loaders.per_run(_tokens)
per_turn = loaders.per_run(_per_turn)
ledger = loaders.per_run(_ledger)
drafts = loaders.per_run(_drafts)
arms = loaders.per_run(_arms)
