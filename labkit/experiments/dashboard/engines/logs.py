"""Logs to follow: whose there are, and the end of one, bounded however long it has grown.

An engine's folder keeps its logs after its end, so the log of a start that was refused is there as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from labkit.core.clock import Clock, SystemClock
from labkit.core.masking import masked_text
from labkit.engines.fleet import Fleet
from labkit.engines.logs import end_of
from labkit.experiments import warm

Level = Literal["error", "warning", "other"]
MOST_LINES = 1000
_MOST_CHARS = 600
_SAID = re.compile(r"\b(DEBUG|INFO|WARN|ERROR|CRITICAL|FATAL)(?:ING)?\b|^([DIWEF])\d{4} ")
_LEVELS: dict[str, Level] = {"W": "warning", "E": "error", "C": "error", "F": "error"}
_ERROR = re.compile(r"Traceback \(most|\b\w*(?:Error|Exception)\b:")
_WARNING = re.compile(r"\b\w*Warning:")


@dataclass(frozen=True, kw_only=True)
class LogSource:
    """The logs of one engine, or of a start. `label`: what became of it; `roles`: role to file; `ended`: gone."""

    id: str
    label: str
    roles: dict[str, str]
    ended: bool


@dataclass(frozen=True, kw_only=True)
class LogView:
    """The end of a log without its secrets, oldest line first.

    `words`: what is shown; `errors`, `warnings`: lines in what was read.
    """

    lines: tuple[str, ...]
    words: str
    errors: int
    warnings: int


def log_sources(fleet: Fleet, clock: Clock | None = None) -> dict[str, LogSource]:
    """Whose logs there are, by id: engines of the fleet, newest first, then those that have ended, newest first."""
    now = (clock or SystemClock()).wall()
    up = {engine.id: engine for engine in reversed(fleet.ps())}
    found = [
        LogSource(
            id=engine.id,
            label=engine.status,
            roles={process.role: process.log for process in engine.processes},
            ended=False,
        )
        for engine in up.values()
    ]
    return {source.id: source for source in [*found, *_ended(fleet, set(up), now)]}


def _ended(fleet: Fleet, up: Collection[str], now: datetime) -> Iterator[LogSource]:
    folders = fleet.state_dir / "engines"
    ended = [path for path in folders.iterdir() if path.name not in up] if folders.is_dir() else []
    dated = {path: max((log.stat().st_mtime for log in path.glob("*.log")), default=0.0) for path in ended}
    for path in sorted(dated, key=dated.__getitem__, reverse=True):
        if roles := {log.stem: str(log) for log in sorted(path.glob("*.log"))}:
            label = f"ended or refused, last word {ago(now.timestamp() - dated[path])}"
            yield LogSource(id=path.name, label=label, roles=roles, ended=True)


def ago(seconds: float) -> str:
    """`40 s ago`, `12 min ago`, `3 h ago`."""
    minutes = int(max(0.0, seconds)) // 60
    if minutes >= 60:
        return f"{minutes // 60} h ago"
    return f"{minutes} min ago" if minutes else f"{max(0.0, seconds):.0f} s ago"


def refused_start(profile: str, arm: str) -> LogView:
    """What the start of this arm printed when it failed; empty when it did not."""
    return _view(*end_of(warm.log_of(profile, arm)), ("error", "warning", "other"), MOST_LINES)


def log_view(path: str, lines: int = 200, levels: Collection[Level] = ("error", "warning", "other")) -> LogView:
    """The last `lines` lines (1,000 at most) of these levels, out of the last 256 KiB of the file."""
    return _view(*end_of(Path(path)), levels, min(lines, MOST_LINES))


def _view(read: list[str], whole: int, levels: Collection[Level], lines: int) -> LogView:
    rated = _rated(read)
    kept = [line for level, line in rated if level in levels]
    shown = [masked_text(line) for line in kept[-lines:]] if lines else []
    counted = [level for level, _ in rated]
    return LogView(
        lines=tuple(line if len(line) <= _MOST_CHARS else f"{line[:_MOST_CHARS]} …" for line in shown),
        words=_words(len(shown), len(read), whole, sum(len(line) + 1 for line in read)),
        errors=counted.count("error"),
        warnings=counted.count("warning"),
    )


def _rated(lines: list[str]) -> list[tuple[Level, str]]:
    """Each line with its level; what is indented under an error (a traceback) is part of it."""
    rated: list[tuple[Level, str]] = []
    for line in lines:
        inside = bool(rated) and rated[-1][0] == "error" and line[:1] in (" ", "\t")
        rated.append(("error" if inside else level_of(line), line))
    return rated


def level_of(line: str) -> Level:
    """What a line says of itself: by the level that vLLM and Python's logging write, or by an exception's name."""
    if said := _SAID.search(line):
        return _LEVELS.get(said[0][0], "other")
    if _ERROR.search(line):
        return "error"
    return "warning" if _WARNING.search(line) else "other"


def _words(shown: int, read: int, whole: int, read_bytes: int) -> str:
    if not whole:
        return "The file is empty, or it is not there yet."
    cut = f"; the file has {_size(whole)}, its last {_size(read_bytes)} were read" if read_bytes < whole * 0.9 else ""
    return f"{shown} of {read} lines{cut}"


def _size(n: int) -> str:
    return f"{n / (1 << 20):.1f} MiB" if n >= 1 << 20 else f"{n / 1024:.0f} KiB"
