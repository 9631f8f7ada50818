"""A factorial from the terminal: the estimate before it, and after it the arms, the effects and the report."""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial
from typing import Any, NoReturn

from rich.console import Console

from labkit.cli.effects_view import print_effects
from labkit.cli.measuring import conduct, provider, refuse_busy, show
from labkit.core.errors import BadInput, LabError
from labkit.core.progress import OnProgress
from labkit.engines.fleet import Fleet
from labkit.experiments.attached.provider import AttachedProvider
from labkit.experiments.before_start import host_of
from labkit.experiments.design import Design
from labkit.experiments.estimate import Past, estimate, past
from labkit.experiments.factorial import NAME, FactorialAsked
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.left_behind import end_left_behind
from labkit.experiments.report import write_report
from labkit.experiments.resume import remaining, resume_design
from labkit.experiments.runner import OnCreated, run_design, starts
from labkit.experiments.serving import EngineProvider
from labkit.experiments.words import asked_of
from labkit.store.fingerprint import host_fingerprint
from labkit.store.runs import Run, RunStore


def start(asked: FactorialAsked, *, attached: list[str], as_json: bool) -> NoReturn:
    """Run it. Raises typer.Exit as `measuring` says, LabError for a question that is wrong."""
    design, engines = asked.design(), _engines(asked, attached)
    earlier = _announced(asked, design, engines, as_json)

    def work(on_progress: OnProgress, on_created: OnCreated) -> Coroutine[Any, Any, Run]:
        return run_design(
            NAME,
            asked,
            design,
            engines,
            keep=asked.keep,
            on_progress=on_progress,
            on_created=on_created,
            expected=_expected(earlier, asked),
        )

    conduct(work, partial(show_factorial, as_json=as_json), job=asked.job, as_json=as_json)


def go_on(name: str, *, anyway: bool, attached: list[str], job: str | None, as_json: bool) -> NoReturn:
    """Resume a factorial. Raises typer.Exit as `measuring` says, LabError when it cannot go on."""
    run, asked = _factorial(name)
    engines = _engines(asked, attached)
    design = remaining(run, asked.design(), engines, anyway=anyway)
    if isinstance(engines, FleetProvider):
        end_left_behind(Fleet(), run)
    earlier = _announced(asked, design, engines, as_json)

    def work(on_progress: OnProgress, on_created: OnCreated) -> Coroutine[Any, Any, Run]:
        return resume_design(
            run,
            design,
            engines,
            anyway=anyway,
            keep=asked.keep,
            on_progress=on_progress,
            on_created=on_created,
            expected=_expected(earlier, asked),
        )

    conduct(work, partial(show_factorial, as_json=as_json), job=job, as_json=as_json)


def _factorial(name: str) -> tuple[Run, FactorialAsked]:
    """The run and what was asked of it; `latest`: the newest factorial, whatever else was run since."""
    store = RunStore()
    newest = next((run.id for run in store.runs() if run.info.experiment == NAME), None)
    run = store.open(newest if name == "latest" and newest else name)
    asked = asked_of(run.info.experiment, run.info.asked)
    if not isinstance(asked, FactorialAsked):
        there = f"The newest factorial is {newest}." if newest else "There is none yet: labkit run factorial"
        raise BadInput("resume", run.id, "a factorial", f"It is of the experiment {run.info.experiment}. {there}")
    return run, asked


def _engines(asked: FactorialAsked, attached: list[str]) -> EngineProvider:
    engines = provider(asked.profile, attached, spec_method=asked.spec_method, strict=asked.strict)
    if isinstance(engines, FleetProvider):
        refuse_busy(Fleet(), [engines.plan(block.arm) for block in asked.blocks()])
    return engines


def _announced(asked: FactorialAsked, design: Design, engines: EngineProvider, as_json: bool) -> Past:
    """Print what is left and how long that will take; returns what earlier runs say of it."""
    turns = max(each.options.count(each.recording) for block in design.blocks for each in design.passes(block))
    earlier = past(RunStore(), asked.profile, _here(design, engines), turns)
    said = estimate(design, starts(design, engines), earlier).in_words()
    what = f"{len(asked.arms)} arms x {len(asked.recordings)} recordings x {asked.repeats}, seed {asked.seed}"
    Console(stderr=as_json).print(f"{what}: {said}.", highlight=False, soft_wrap=True)
    return earlier


def _here(design: Design, engines: EngineProvider) -> dict[str, Any]:
    """What earlier runs must have run on to tell anything of this one."""
    if not isinstance(engines, AttachedProvider):
        return host_fingerprint()
    return {**host_of(engines), **engines.fingerprint([block.arm for block in design.blocks])}


def _expected(earlier: Past, asked: FactorialAsked) -> dict[str, float]:
    """Seconds of a step by arm, for the time left; empty when nothing was measured here before."""
    return {arm: earlier.step(arm, "cold") for arm in asked.arms} if earlier.n else {}


def show_factorial(run: Run, console: Console, *, as_json: bool) -> None:
    """What every run shows; then the effects of the layers, the report, and how to go on with a run cut short."""
    show(run, console, as_json=as_json)
    print_effects(run, console)
    if run.info.state != "done" and not run.info.fingerprint.get("nodes"):
        console.print(f"Go on with it: labkit run factorial --resume {run.id}", highlight=False, soft_wrap=True)
    try:
        console.print(f"Report: {write_report(run)}", highlight=False, soft_wrap=True)
    except LabError as error:
        console.print(f"No report: {error.message}", highlight=False, markup=False, soft_wrap=True)
