"""What an agent run was asked to do, and what that makes of its rows and its recording's header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from labkit.agents.requests import RequestBuilder, ToolMode
from labkit.agents.tasks import Task
from labkit.core.records import Record
from labkit.experiments.rows import Place
from labkit.experiments.serving import Served
from labkit.store.runs import RunWriter
from labkit.traffic.recording import RecordingHeader

NO_ARM = "none"
"""The arm of a script that ran without an engine."""


@dataclass(frozen=True, kw_only=True)
class AgentAsked(Record):
    """What an agent run was asked to do; `run.json` keeps it. `model`: who decides, the engine's model or a script.

    `with_engine`: serve the arm even for a script, whose tokens it then counts.
    `steps`: most LLM calls; None: as many as the task says. `temperature` and `seed`: of every request; at 0 the model
    always says what is most likely, and a second attempt is the first one again. `attempt`: which one this is, from 0.
    """

    task: str
    profile: str
    arm: str = "prefix"
    model: Literal["engine", "scripted"] = "engine"
    tool_mode: ToolMode = "grammar"
    with_engine: bool = True
    steps: int | None = None
    temperature: float = 0.0
    seed: int | None = None
    attempt: int = 0
    keep: bool = False


def header_of(
    asked: AgentAsked, task: Task, served: Served | None, requests: RequestBuilder, writer: RunWriter
) -> RecordingHeader:
    """The recording's header; how it ended is filled in at the end."""
    by = served.model if served else None
    return RecordingHeader(
        name=f"{task.name}-{asked.model}",
        task=task.name,
        decided_by=by if asked.model == "engine" and by else "scripted",
        model=by or "none",
        tools=requests.tools,
        counted_by=by,
        template_sha256=_template(writer.info.fingerprint),
        created=writer.info.created,
        note=_NOTES[asked.model],
    )


def _template(fingerprint: Mapping[str, Any]) -> str | None:
    """The hash of the one engine's chat template, where the fingerprint has it."""
    for engine in (fingerprint.get("engines") or {}).values():
        return engine.get("chat_template_sha256") if isinstance(engine, Mapping) else None
    return None


_NOTES = {
    "engine": "A live run: the model chose every call and wrote every text. In mode `grammar` its calls were kept "
    "well-formed, and narrowed to those that tell or change something.",
    "scripted": "A script chose the calls and wrote the texts; tools, workspace and their results are real.",
}


def place_of(asked: AgentAsked, task: Task, served: Served | None, writer: RunWriter) -> Place:
    """Where the rows belong. A script is served by no arm."""
    facts: dict[str, Any] = {
        "arm": asked.arm if served and asked.model == "engine" else NO_ARM,
        "switched_by": served.switched_by if served else "flag",
        "engine": served.engine if served and asked.model == "engine" else NO_ARM,
    }
    return Place(run=writer.id, task=task.name, repeat=asked.attempt, history="live", t0=writer.t0, **facts)
