"""When a step did what: the parts of its wall time, laid out on the run's clock, so that they can be drawn.

The ledger (ledger.py) says how long each part took; here they get a place. Client lag ends at the send. From there the
engine's parts follow one another in the order in which a request meets them: server, queue, prefill, transfer. They are
cut at the first token, which the client saw, and decode begins there; the tool begins at the end of the reply. What no
part fills is `other`. An engine that told no times, as with several agents at once, leaves what the client can split on
its own: `first` and `rest`. A failed step is one span, `failed`, as long as it is known to have lasted.

The engine's server works before and after its core, and says only one sum, so its place is a convention.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from labkit.analysis.tables import Floats, is_finished, numbers

BEFORE_FIRST = ("server", "queue", "prefill", "transfer")
PARTS = ("client_lag", *BEFORE_FIRST, "decode", "first", "rest", "tool", "other", "failed")
_STREAM = ["arm", "task", "recording", "condition", "cache", "agent", "repeat"]


def step_spans(steps: pd.DataFrame, tools: bool = False) -> pd.DataFrame:
    """Columns `step` (position of the row in `steps`), `part`, `start` and `end` in seconds; none is of no length.

    `tools`: whether the time of recorded tools was waited for; those of live agents always were. A tool ends at the
    agent's next send at the latest.
    """
    bounds = {**_told(steps), **_untold(steps), "tool": _tool(steps, tools), "failed": _failed(steps)}
    bounds["other"] = _other(steps, bounds)
    tables = [_table(part, *bounds[part]) for part in PARTS]
    found = pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)
    return found.sort_values(["step", "start"], kind="stable", ignore_index=True)


def step_end(steps: pd.DataFrame) -> Floats:
    """When each step's reply had ended, as far as is known: its end, else its last token, else its send."""
    ends = [numbers(steps, name) for name in ("t_end", "t_last", "t_first_token", "t_send")]
    known = ends[0]
    for other in ends[1:]:
        known = np.where(np.isnan(known), other, known)
    return known


Bounds = tuple[Floats, Floats]


def _told(steps: pd.DataFrame) -> dict[str, Bounds]:
    """The engine's parts, of the steps whose engine told its times."""
    send, first, end = (np.where(_split(steps), numbers(steps, name), np.nan) for name in _WALL)
    bounds, at = {"client_lag": (send - _lag(steps), send)}, send
    for part in BEFORE_FIRST:
        until = np.minimum(at + np.nan_to_num(numbers(steps, f"{part}_s")), first)
        bounds[part] = (at, until)
        at = until
    bounds["decode"] = (first, np.minimum(first + numbers(steps, "decode_s"), end))
    return bounds


def _untold(steps: pd.DataFrame) -> dict[str, Bounds]:
    told = _split(steps) | ~is_finished(steps).to_numpy(dtype=bool)
    send, first, end = (np.where(told, np.nan, numbers(steps, name)) for name in _WALL)
    return {"first": (send, first), "rest": (first, end)}


def _tool(steps: pd.DataFrame, waited: bool) -> Bounds:
    """From the end of the reply; cut at the next send of the same agent, which a replay without gaps makes at once."""
    end, lasts = numbers(steps, "t_end"), numbers(steps, "tool_s")
    sends = steps["t_send"].groupby([steps[name] for name in _STREAM], sort=False).shift(-1)
    following = sends.to_numpy(dtype=np.float64, na_value=np.nan)
    passed = (steps["recording"] == "").to_numpy(dtype=bool) | waited
    lasts = np.where(np.isnan(following) & ~passed, np.nan, lasts)
    return end, np.fmin(end + lasts, np.where(np.isnan(lasts), np.nan, following))


def _failed(steps: pd.DataFrame) -> Bounds:
    good = is_finished(steps).to_numpy(dtype=bool)
    return np.where(good, np.nan, numbers(steps, "t_send")), np.where(good, np.nan, step_end(steps))


def _other(steps: pd.DataFrame, bounds: dict[str, Bounds]) -> Bounds:
    """What is left before the first token; what is left after decode, the way of the last bytes, is not drawn."""
    return bounds["transfer"][1], np.where(_split(steps), numbers(steps, "t_first_token"), np.nan)


def _split(steps: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    told = ~np.isnan(numbers(steps, "prefill_s") + numbers(steps, "decode_s"))
    return np.asarray(told & is_finished(steps).to_numpy(dtype=bool))


def _lag(steps: pd.DataFrame) -> Floats:
    return np.maximum(np.nan_to_num(numbers(steps, "send_lag_s")), 0.0)


_WALL = ("t_send", "t_first_token", "t_end")


def _table(part: str, start: Floats, end: Floats) -> pd.DataFrame:
    there = np.flatnonzero(end - start > 0)
    return pd.DataFrame({"step": there, "part": part, "start": start[there], "end": end[there]})
