"""Going on with a run that was cut short: what is done is not done again, what was half done is thrown away.

A pass is done when the run folder says `pass_done`. One that began and did not end is void: its rows stay in the folder
and read as warm-up, since half a pass is not a pass, and it is made again. Order, seed and requests are those of the
run's own `asked`; machine, engines, recordings and code must be those of its fingerprint.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import BadInput, LabError
from labkit.core.progress import OnProgress, silent
from labkit.experiments.before_start import check, fingerprint_of
from labkit.experiments.design import Design
from labkit.experiments.runner import OnCreated, conduct
from labkit.experiments.serving import EngineProvider
from labkit.experiments.so_far import Before, before
from labkit.store.fingerprint import Difference, difference
from labkit.store.masking import without_secrets
from labkit.store.runs import Run, RunStore, RunWriter

_ABOUT = ("block", "pass", "repeat", "recording", "condition", "cache")


async def resume_design(
    run: Run,
    design: Design,
    provider: EngineProvider,
    *,
    anyway: bool = False,
    keep: bool = False,
    store: RunStore | None = None,
    on_progress: OnProgress = silent,
    on_created: OnCreated = lambda _: None,
    clock: Clock | None = None,
    expected: Mapping[str, float] | None = None,
) -> Run:
    """Measure what is left of a run, in its own folder, as `run_design` would have. `design`: that of its `asked`.

    `anyway`: go on although something that the fingerprint tells is not as it was; the note says what. Raises BadInput
    for a run that is done, LabError for one that still goes on or that ran on something else.
    """
    clock = clock or SystemClock()
    store = store or RunStore(clock=clock)
    rest = remaining(run, design, provider, anyway=anyway)
    differs = differences(run, design, provider)
    with store.resume(run, differs=[each._asdict() for each in differs]) as writer:
        on_created(writer.folder)
        was = before(run.events())
        _void(writer, was)
        was.tally.remarks += _remarks(differs)
        await conduct(
            writer,
            rest,
            provider,
            keep=keep,
            on_progress=on_progress,
            clock=clock,
            tally=was.tally,
            expected=expected,
        )
    return store.open(writer.folder)


def remaining(run: Run, design: Design, provider: EngineProvider, *, anyway: bool = False) -> Design:
    """The design without what the run has done; nothing is started or written. Raises as `resume_design` does."""
    check(design)
    refuse(run)
    if (differs := differences(run, design, provider)) and not anyway:
        raise LabError(f"Run {run.id} ran on something else: {_in_words(differs)}.", _ANYWAY)
    return dataclasses.replace(design, done=frozenset(before(run.events()).done))


_ANYWAY = "Put it back as it was; or go on all the same with --resume-anyway, and the run's note will say so."


def refuse(run: Run) -> None:
    """Raises BadInput for a run with nothing left to do, LabError for one that somebody still writes."""
    if run.live:
        raise LabError(f"Run {run.id} still goes on.", "Wait for it, or stop it first.")
    if run.info.fingerprint.get("nodes"):
        hint = "Half a repeat cannot go on elsewhere: start the run again with --ray."
        raise BadInput("resume", run.id, "a run on one machine", f"This one was spread over a cluster. {hint}")
    if run.info.state == "done":
        raise BadInput("resume", run.id, "a run that was cut short", "This one is done. See it: labkit show " + run.id)


def differences(run: Run, design: Design, provider: EngineProvider) -> list[Difference]:
    """What is not as it was when the run began: machine, versions, commit, engines, recordings."""
    now = json.loads(json.dumps(fingerprint_of(design, provider)))
    return difference(without_secrets(run.info.fingerprint), now)  # one of before secrets were masked


def _void(writer: RunWriter, was: Before) -> None:
    for half in was.half:
        about = {name: half[name] for name in _ABOUT}
        writer.void(half["arm"], half["t"], writer.now() if half["t_to"] is None else half["t_to"], **about)


def _remarks(differs: Sequence[Difference]) -> list[str]:
    changed = f", on something else than it began on: {_in_words(differs)}" if differs else ""
    return [f"the run was cut short and went on later{changed}"]


def _in_words(differs: Sequence[Difference]) -> str:
    shown = [f"{each.key} was {_short(each.a)} and is {_short(each.b)}" for each in differs[:5]]
    return "; ".join(shown + [f"and {len(differs) - 5} more"] * (len(differs) > 5))


def _short(value: Any) -> str:
    text = "not there" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
