"""A Chrome trace of the run's swim lanes, for ui.perfetto.dev: where did each agent's time go, in every arm?

A group of tracks per arm, one track per agent in it (a second one where its requests overlap), and on it each step with
the engine's phases inside, then its tool. Telemetry is drawn as counters below. Format: Trace Event Format, the JSON
object form; `ph` X (slice), M (name) and C (counter); times in whole microseconds since the run's start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import labkit
from labkit.core.progress import OnProgress, Progress
from labkit.store.exports.files import whole_file
from labkit.store.exports.perfetto.counters import counters
from labkit.store.exports.perfetto.lanes import lanes_of
from labkit.store.exports.perfetto.slices import slices_of
from labkit.store.exports.requests import requests_of
from labkit.store.jsonl import to_json
from labkit.store.runs import Run

TRACE = "trace.json"
_ABOUT = (
    "Lengths of queue, prefill, transfer and decode are the engine's; where they lie in the step is inferred: up to "
    "the first token and after it. A phase cut to fit its step has the reported length in its args."
)


def write_perfetto(run: Run, out: Path, on_progress: OnProgress) -> list[Path]:
    """One file with everything; the file written."""
    lanes, info = lanes_of(requests_of(run), run.info), run.info
    slices = chain.from_iterable(slices_of(placed, info) for placed in lanes.placed)
    events = chain(lanes.names, slices, counters(run.arrow("telemetry"), first_pid=lanes.next_pid))
    about = {"run": info.id, "experiment": info.experiment, "created": info.created, "state": info.state}
    on_progress(Progress(stage="perfetto", message="drawing the steps", done=0, total=1))
    _write(out / TRACE, events, {**about, "labkit": labkit.__version__, "about": _ABOUT})
    return [out / TRACE]


def _write(path: Path, events: Iterable[Mapping[str, Any]], about: Mapping[str, str]) -> None:
    """Event by event: a long run's trace is larger than its tables."""
    with whole_file(path) as file:
        file.write(f'{{"displayTimeUnit":"ms","otherData":{to_json(about)},"traceEvents":[\n')
        for number, event in enumerate(events):
            file.write(f"{',' if number else ''}{to_json(event)}\n")
        file.write("]}\n")
