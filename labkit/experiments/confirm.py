"""Confirm live: agents work at real tasks in two arms, and the hidden checks say whether the faster one is as good.

A replay cannot tell: it sends recorded requests whatever the engine says. Here every attempt goes its own way, so times
are not paired with it; success is, by task and seed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from labkit.core.arms import Arm
from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import EngineBusy, EngineError
from labkit.core.progress import OnProgress, Progress, silent
from labkit.experiments.agent_run import AgentAsked, attempt, task_of
from labkit.experiments.confirm_asked import ConfirmAsked
from labkit.experiments.keep_logs import kept_logs
from labkit.experiments.sampling import sampled
from labkit.experiments.serving import EngineProvider, Served
from labkit.store.fingerprint import host_fingerprint
from labkit.store.runs import Run, RunStore, RunWriter


@dataclass
class _Trial:
    """One confirmation under way. Mutable: `done` attempts, and what could not be served."""

    asked: ConfirmAsked
    provider: EngineProvider
    writer: RunWriter
    clock: Clock
    on_progress: OnProgress
    done: int = 0
    refused: dict[str, str] = dataclasses.field(default_factory=dict)

    def say(self, stage: str, message: str = "") -> None:
        total = len(self.asked.order()) * len(self.asked.task_names)
        left = self.writer.now() / self.done * (total - self.done) if self.done else None
        told = Progress(stage=stage, message=message, done=self.done, total=total, eta_s=left)
        self.writer.event("progress", **dataclasses.asdict(told))
        self.on_progress(told)


async def run_confirm(
    asked: ConfirmAsked,
    provider: EngineProvider,
    *,
    store: RunStore | None = None,
    on_progress: OnProgress = silent,
    on_created: Callable[[Path], None] = lambda _: None,
    clock: Clock | None = None,
) -> Run:
    """Let agents work at every task in both arms. Raises BadInput, UnknownName and WeightsError before there is a run.

    Each attempt leaves an `outcome` event with its arm, task and attempt. An arm that cannot be served is noted.
    """
    clock = clock or SystemClock()
    order, store = asked.checked().order(), store or RunStore(clock=clock)
    fingerprint = {**host_fingerprint(), **provider.fingerprint([arm for arm, _ in order])}
    with store.create("confirm", asked.to_dict(), fingerprint) as writer:
        on_created(writer.folder)
        trial = _Trial(asked, provider, writer, clock, on_progress)
        async with sampled(writer, clock):
            await _through(trial)
        writer.finish("partial" if trial.refused else "done", _note(trial.refused))
    return store.open(writer.id)


async def _through(trial: _Trial) -> None:
    keep = False
    try:
        for arm, number in trial.asked.order():
            await _block(trial, arm, number)
        keep = trial.asked.keep
    finally:
        trial.writer.event("closed", engines_left_up=await trial.provider.close(keep=keep))


async def _block(trial: _Trial, arm: Arm, number: int) -> None:
    """Every task once in this arm. Raises EngineBusy."""
    if arm.label in trial.refused:
        return
    try:
        served = await trial.provider.serve(arm, trial.on_progress)
        trial.writer.event("serving", arm=arm.label, repeat=number, **served.facts())
        with trial.provider.locked(served, trial.writer.id), kept_logs(served, trial.writer.log_dir):
            for name in trial.asked.task_names:
                await _try(trial, served, _asked(trial.asked, arm, name, number))
    except EngineBusy:
        raise
    except EngineError as error:
        trial.refused[arm.label] = error.message
        trial.writer.event("refused", arm=arm.label, repeat=number, message=error.message, hint=error.hint)


def _asked(asked: ConfirmAsked, arm: Arm, task: str, number: int) -> AgentAsked:
    return AgentAsked(
        task=task,
        profile=asked.profile,
        arm=arm.label,
        tool_mode=asked.tool_mode,
        steps=asked.steps,
        temperature=asked.temperature,
        seed=asked.seed + number if asked.temperature else None,
        attempt=number,
    )


async def _try(trial: _Trial, served: Served, asked: AgentAsked) -> None:
    trial.say(f"{asked.arm} at {asked.task}", f"attempt {asked.attempt + 1} of {trial.asked.attempts}")
    outcome, _ = await attempt(asked, task_of(asked), served, trial.writer, lambda _: None, trial.clock)
    if outcome.stop_reason == "error":
        trial.provider.check(served)
    facts = {"arm": asked.arm, "task": asked.task, "attempt": asked.attempt, "seed": asked.seed}
    trial.writer.event("outcome", **facts, **dataclasses.asdict(outcome))
    trial.done += 1


def _note(refused: dict[str, str]) -> str:
    return "\n".join(f"{arm} not measured: {why}" for arm, why in refused.items())
