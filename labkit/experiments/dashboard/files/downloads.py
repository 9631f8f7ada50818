"""What a run can be downloaded as: each format with what reads it, about how large, and the command that does the same.

Sizes are guessed from the bytes of the run's events: looking closer would cost as long as the export. The ratios were
measured on runs of 0.1 to 107 MB and are right within a factor of two or so.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from labkit.core.records import RunInfo
from labkit.experiments.dashboard.opened import Opened
from labkit.store.exports import FOLDER, FORMATS

REPORT = "report"
REPORT_MB = 5.1
"""A report is about its drawing library, whatever the run."""


class Offer(NamedTuple):
    """A format; `reads`: what reads it. `ratio`: its bytes over those of the run's events; `packed`: zipped."""

    name: str
    label: str
    reads: str
    ratio: float
    packed: float


OFFERS = (
    Offer("csv", "CSV", "tables for spreadsheets: steps, chunks, telemetry, arms", 0.85, 0.12),
    Offer("parquet", "Parquet", "the same tables, typed, for pandas, DuckDB and Spark", 0.12, 0.09),
    Offer("json", "JSON", "the same tables for scripts", 1.9, 0.13),
    Offer("aiperf", "AIPerf", "`aiperf plot DIR`, InferenceX's scripts", 0.6, 0.12),
    Offer("llmd", "llm-d", "llm-d-benchmark and llm-d-prism", 0.1, 0.03),
    Offer("otlp", "OpenTelemetry", "an OpenTelemetry collector (otlpjsonfile), or POST to /v1/traces", 0.45, 0.04),
    Offer("perfetto", "Perfetto", "https://ui.perfetto.dev: the agents' swim lanes", 0.5, 0.06),
    Offer(REPORT, "Report", "any browser, offline: method, results, limits", 0.0, 0.0),
    Offer(FOLDER, "Run folder", "labkit elsewhere: `labkit show FILE.zip`", 0.25, 0.25),
)
ALONE = frozenset({"otlp", "perfetto", REPORT, FOLDER})
"""Formats that are one file."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A run as it is now. `words`: what an export of it lacks, or empty; `version`: bytes of its events."""

    id: str
    label: str
    words: str
    version: int


def chosen(opened: Opened, label: str) -> Chosen:
    """What is said of a run before it is exported."""
    return Chosen(id=opened.id, label=label, words=lacking(opened.info, len(opened.steps)), version=opened.version)


def lacking(info: RunInfo, n_steps: int) -> str:
    """Why an export of this run is less than one may think; empty when nothing is missing."""
    steps = f"{n_steps} step{'s' * (n_steps != 1)}"
    if info.state == "running":
        return f"It still goes on: the export has what there is now ({steps}); export again when it has ended."
    if info.state == "done":
        return ""
    if not n_steps:
        return f"It {_ended(info.state)} before a step was over: the export says so, and its tables are empty."
    return f"It {_ended(info.state)}: the export has the {steps} that it has."


def _ended(state: str) -> str:
    return {"failed": "failed", "cancelled": "was cancelled", "partial": "ended with some arm missing"}.get(
        state, state
    )


def guessed_bytes(versions: Sequence[int], formats: Collection[str]) -> int:
    """About how large the download is. `versions`: bytes of each run's events."""
    alone = len(versions) == 1 and len(formats) == 1 and ALONE.issuperset(formats)
    total = 0.0
    for offer in OFFERS:
        if offer.name in formats:
            ratio = offer.ratio if alone else offer.packed
            fixed = REPORT_MB * 1e6 * (1 if alone else 0.3) if offer.name == REPORT else 0
            total += sum(version * ratio + fixed for version in versions)
    return round(total)


def size_words(count: int) -> str:
    """`less than 0.1 MB`, `about 4.1 MB`, `about 120 MB`."""
    mb = count / 1e6
    return "less than 0.1 MB" if mb < 0.1 else f"about {mb:.1f} MB" if mb < 9.95 else f"about {mb:,.0f} MB"


def commands(ids: Sequence[str], formats: Sequence[str]) -> tuple[str, ...]:
    """The same from a terminal, a line for each run and format; one with `--format all` where it is all of them."""
    return tuple(line for run in ids for line in _commands(run, formats))


def _commands(run: str, formats: Sequence[str]) -> list[str]:
    files = [name for name in formats if name in FORMATS]
    lines = [_export(run, "all")] if len(files) == len(FORMATS) else [_export(run, name) for name in files]
    lines += [shlex.join(["labkit", "report", run, "--out", f"{run}.html"])] if REPORT in formats else []
    return lines + ([_export(run, FOLDER)] if FOLDER in formats else [])


def _export(run: str, fmt: str) -> str:
    return shlex.join(["labkit", "export", run, "--format", fmt])
