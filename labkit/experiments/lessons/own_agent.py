"""An agent of one's own: its task, played by a script or recorded live, and its recording on an engine elsewhere.

Work that waits for an engine runs in a thread with an event loop of its own, as a notebook has one running already.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, TypeVar

from labkit.agents.steps import Step
from labkit.core.errors import BadInput
from labkit.engines.fleet import Fleet
from labkit.engines.profiles import load_profile
from labkit.experiments.agent_run import AgentAsked, AgentRun, run_live
from labkit.experiments.asked import Asked
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.lessons.measured import over_itself, where
from labkit.experiments.runner import run_replay
from labkit.experiments.serving import StaticProvider
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import Recording
from labkit.traffic.several import split

T = TypeVar("T")


def played(task: Path, profile: str, runs: Path) -> AgentRun:
    """The task's script, played through the real loop, tools and hidden check; no engine. Raises BadInput.

    `runs`: the store that the attempt goes to, so that it is not among one's own runs.
    """
    asked = AgentAsked(task=str(task), profile=profile, model="scripted", with_engine=False)
    return _waited(run_live(asked, StaticProvider({}, "none"), store=RunStore(runs)))


def recorded(
    task: Path, profile: str, steps: int, runs: Path, engine: Literal["live", "stored"] | str, stored: str
) -> Recording:
    """`live`: the profile's model at this task, now, for at most so many calls. `stored`: what that run replayed.

    Either way it is said which. Raises BadInput, EngineError, and what `RunStore.open` raises.
    """
    if engine != "live":
        run = RunStore().open(stored)
        print(where(run, engine))
        return replayed_in(run)
    asked, say = AgentAsked(task=str(task), profile=profile, steps=steps), over_itself(print)
    provider = FleetProvider(Fleet(), load_profile(profile))
    done = _waited(run_live(asked, provider, store=RunStore(runs), on_step=lambda step: say(_did(step))))
    say(f"recorded {len(done.recording.steps)} steps.")
    return dataclasses.replace(done.recording, header=dataclasses.replace(done.recording.header, name=task.name))


def replayed_in(run: Run) -> Recording:
    """The one recording that a run replayed. Raises BadInput when it holds none, or several."""
    found = split(run.recordings())
    if len(found) != 1:
        raise BadInput("RUN", run.id, "a run that replayed one recording")
    return found[0]


def replayed_at(url: str, model: str, block: int, recording: Path, runs: Path) -> Run:
    """The recording under base and prefix on an engine that runs already: nothing is started, nothing is ended.

    `url`: without `/v1`; `block`: tokens of its KV block, for the ceiling. It must have prefix caching on, and take
    vLLM's `cache_salt`, by which base goes without.
    """
    urls = dict.fromkeys(("base", "prefix"), url)
    asked = Asked(profile="", recording=str(recording), arms=tuple(urls))
    provider = StaticProvider(urls, model, block)
    return _waited(run_replay("replay", asked, provider, store=RunStore(runs)))


def command_at(recording: str, block: int, url: str = "http://127.0.0.1:8000", model: str = "MODEL") -> str:
    """The same in a terminal."""
    attached = f"--attach base={url} --attach prefix={url} --attach model={model} --attach block_size={block}"
    return f"labkit replay {recording} --arms base,prefix {attached}"


def _waited(work: Coroutine[Any, Any, T]) -> T:
    """Its result; its error is raised here."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def _did(step: Step) -> str:
    return f"turn {step.turn}: {step.kind}" + (f" {step.tool.name}" if step.tool else "")
