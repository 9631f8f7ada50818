"""When a step's tool ran, if it did. A replay knows how long the tool took when it was recorded, but runs none."""

from __future__ import annotations

from typing import NamedTuple

from labkit.core.records import RunInfo
from labkit.store.exports.requests import Request


class ToolTime(NamedTuple):
    """Seconds since the run's start. `slept`: the recorded time was waited for and no tool was run."""

    start: float
    end: float
    slept: bool


def tool_time(request: Request, info: RunInfo) -> ToolTime | None:
    """The tool's time after the response; None without a tool, or when a replay left the recorded gaps out."""
    step = request.step
    if step.tool_s is None or step.t_end is None:
        return None
    replayed = bool(step.recording)
    if replayed and not info.asked.get("gaps"):
        return None
    return ToolTime(step.t_end, step.t_end + step.tool_s, replayed)
