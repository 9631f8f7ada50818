"""OpenTelemetry spans of the run, by the GenAI semantic conventions: one trace per agent's pass over a task.

`invoke_agent` holds a `chat` span per LLM call and, beside them, an `execute_tool` span per tool that ran, linked to
the call that asked for it (it runs after that call has ended, so it cannot lie in it). OTLP/JSON, a `TracesData` per
line, as the collector's file exporter writes and its file receiver reads; ids are hex, as OTLP/JSON has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import labkit
from labkit.core.progress import OnProgress, Progress
from labkit.core.records import RunInfo
from labkit.store.exports.engine_facts import engine_name, model_name
from labkit.store.exports.files import write_lines
from labkit.store.exports.otlp.attributes import attributes
from labkit.store.exports.otlp.spans import Trace, spans_of
from labkit.store.exports.requests import by_session, requests_of, stable_id
from labkit.store.exports.wall import Wall
from labkit.store.runs import Run

TRACES = "traces.jsonl"
SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0"


def write_otlp(run: Run, out: Path, on_progress: OnProgress) -> list[Path]:
    """One line per trace; the file written."""
    info, wall = run.info, Wall(run.created)
    sessions = by_session(requests_of(run))
    on_progress(Progress(stage="otlp", message=f"{len(sessions)} traces"))
    provider, model = engine_name(info), model_name(info)
    lines = (
        _line(info, spans_of(Trace(stable_id(info.id, *session), provider, model, wall), requests, info))
        for session, requests in sessions.items()
    )
    return [write_lines(out / TRACES, lines)]


def _line(info: RunInfo, spans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    about = {"service.name": "labkit", "labkit.run.id": info.id, "labkit.experiment": info.experiment}
    scope = {"scope": {"name": "labkit", "version": labkit.__version__}, "schemaUrl": SCHEMA_URL, "spans": spans}
    return {"resourceSpans": [{"resource": {"attributes": attributes(about)}, "scopeSpans": [scope]}]}
