"""From a click on a swim lane to the address of that step on the Trajectory page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

KEY = ("run_id", "arm", "task", "recording", "agent", "repeat", "turn", "condition", "cache")
"""What `customdata` of a step's box starts with; the names are those of the pages' query parameters."""


def step_address(points: Sequence[Mapping[str, Any]]) -> dict[str, str] | None:
    """Query parameters of the first selected point that is a step; None where nothing of the kind was selected.

    An empty value (a live agent replays no recording) is left out.
    """
    for point in points:
        data = point.get("customdata")
        if isinstance(data, Sequence) and not isinstance(data, str) and len(data) >= len(KEY):
            return {name: str(value) for name, value in zip(KEY, data, strict=False) if str(value)}
    return None
