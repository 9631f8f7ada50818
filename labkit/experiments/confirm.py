"""Confirm live: agents work at real tasks in two arms, and the hidden checks say whether the faster one is as good.

A replay cannot tell: it sends recorded requests whatever the engine says. Here every attempt goes its own way, so times
are not paired with it; success is, by task and seed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from labkit.agents.requests import RequestBuilder
from labkit.core.arms import Arm
from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import EngineBusy, EngineError
from labkit.core.progress import OnProgress, silent
from labkit.experiments.agent_asked import place_of
from labkit.experiments.agent_run import AgentAsked, attempt, task_of
from labkit.experiments.alive import check_alive
from labkit.experiments.attached.remarks import attached_remarks
from labkit.experiments.before_start import asked_and_attached, host_of
from labkit.experiments.confirm_asked import ConfirmAsked
from labkit.experiments.confirm_trial import Trial
from labkit.experiments.keep_logs import kept_logs
from labkit.experiments.live_warmup import live_warmup
from labkit.experiments.sampling import engine_sampled, sampled
from labkit.experiments.serving import EngineProvider, Served
from labkit.experiments.warming import warm_up
from labkit.experiments.warmup import TASK
from labkit.store.runs import Run, RunStore


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

    Each block warms its engine up first. Each attempt leaves an `outcome` event with its arm, task and attempt. An arm
    that cannot be served is noted; one whose engine dies is given up, and what it never tried is not solved.
    """
    clock = clock or SystemClock()
    order, store = asked.checked().order(), store or RunStore(clock=clock)
    fingerprint = {**host_of(provider), **provider.fingerprint([arm for arm, _ in order])}
    with store.create("confirm", asked_and_attached(asked, provider), fingerprint) as writer:
        on_created(writer.folder)
        trial = Trial(asked, provider, writer, clock, on_progress)
        async with sampled(writer, clock):
            await _through(trial)
        noted = [f"{words}." for words in attached_remarks(Run(writer.folder).events())]
        writer.finish("partial" if trial.refused else "done", "\n".join(filter(None, (trial.note(), *noted))))
    return store.open(writer.id)


async def _through(trial: Trial) -> None:
    keep = False
    try:
        for arm, number in trial.asked.order():
            await _block(trial, arm, number)
        keep = trial.asked.keep
    finally:
        trial.writer.event("closed", engines_left_up=await trial.provider.close(keep=keep))


async def _block(trial: Trial, arm: Arm, number: int) -> None:
    """Every task once in this arm. Raises EngineBusy."""
    try:
        if arm.label not in trial.refused:
            await _served(trial, arm, number)
    except EngineBusy:
        raise
    except EngineError as error:
        trial.give_up(arm, number, error)
    if arm.label in trial.refused:
        trial.pass_over(arm, number)


async def _served(trial: Trial, arm: Arm, number: int) -> None:
    trial.say(f"starting {arm.label}")
    served = await trial.provider.serve(arm, trial.starting)
    served.tell(trial.writer, arm=arm.label, repeat=number)
    attempts = [_asked(trial.asked, arm, name, number) for name in trial.asked.task_names]
    with trial.provider.locked(served, trial.writer.id), kept_logs(served, trial.writer.log_dir):
        async with engine_sampled(trial.writer, served, trial.clock):
            await _warm_up(trial, served, attempts)
            for each in attempts:
                await _try(trial, served, each)


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


async def _warm_up(trial: Trial, served: Served, attempts: Sequence[AgentAsked]) -> None:
    """Send what is thrown away; the first attempt is to pay for nothing that the others find done."""
    first, tasks = attempts[0], [task_of(each) for each in attempts]
    trial.say(f"warming up {first.arm}")
    builder = RequestBuilder(tool_mode=first.tool_mode, temperature=first.temperature, seed=first.seed)
    place = place_of(first, tasks[0], served, trial.writer)
    async with served.client(trial.clock) as client:
        await warm_up(
            live_warmup(tasks, builder),
            served,
            client,
            place=dataclasses.replace(place, task=TASK, recording=TASK, warmup=True),
            writer=trial.writer,
            clock=trial.clock,
            after_failure=partial(check_alive, trial.provider, served),
        )


async def _try(trial: Trial, served: Served, asked: AgentAsked) -> None:
    """One attempt. One that broke off is not solved, whatever it left; it counts even where its engine has died."""
    trial.say(f"{asked.arm} at {asked.task}", f"attempt {asked.attempt + 1} of {trial.asked.attempts}")
    outcome, _ = await attempt(asked, task_of(asked), served, trial.writer, lambda _: None, trial.clock)
    failed = outcome.stop_reason == "error"
    trial.ended(asked, dataclasses.replace(outcome, reached=False) if failed else outcome)
    if failed:
        await check_alive(trial.provider, served)
