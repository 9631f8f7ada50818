"""Gains as somebody says them who never saw the lab: `answers came 1.39 times as fast (1.18 to 1.63)`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labkit.analysis.comparisons import MIN_REPEATS, REPEATS
from labkit.analysis.effect_words import MIN_STARTS, MIN_TASKS, SAME, TOO_FEW
from labkit.analysis.format import missing, plain
from labkit.core.arms import LAYERS, arm_named
from labkit.experiments.report.english import LAYER_NAMES, counted, listed

Row = Mapping[str, Any]
"""A row of `effects`, `arm_gains` or `compare`."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Whose gain it is, as in a sentence, and the row that tells it."""

    name: str
    row: Row


_LARGE = 100.0
_SAID: dict[str, tuple[str, str, str, str]] = {
    "e2e_s": ("answers came", "{} times as fast", "answers took", "{} times as long"),
    "ttft_s": ("the first word came", "{} times as soon", "the first word took", "{} times as long"),
    "itl_p99_s": ("the longest pauses were", "{} times shorter", "the longest pauses were", "{} times longer"),
    "tokens_per_s": ("text was written", "{} times as fast", "text was written", "{} times as slowly"),
    "prompt_computed": ("", "{} times less of the prompts had to be read", "", "{} times more of them had to be read"),
    "joules": ("it took", "{} times less energy", "it took", "{} times more energy"),
}
"""Metric to what is said of a gain, how it begins and how it ends; then the same of a loss."""


def gained(row: Row) -> str:
    """What came of it, with the interval where there is one: `answers came 1.32 times as fast (1.12 to 1.56)`."""
    begin = _SAID[row["metric"]][0 if row["gain"] >= 1 else 2]
    return f"{begin} {briefly(row)}".strip()


def briefly(row: Row) -> str:
    """`1.32 times as fast (1.12 to 1.56)`, after a sentence that said of what."""
    end = _SAID[row["metric"]][1 if row["gain"] >= 1 else 3]
    return f"{end.format(_size(row['gain']))}{_interval(row)}"


def is_told(row: Row) -> bool:
    """Whether the numbers allow a verdict."""
    return not missing(row["gain"]) and not str(row["verdict"]).startswith(TOO_FEW)


def does(row: Row) -> str:
    """`pays` or `costs`; `changes little` where the whole interval is within what the verdict `same` allows."""
    if not missing(row["low"]) and all(abs(math.log(row[end])) < SAME for end in ("low", "high")):
        return "changes little"
    return "pays" if row["gain"] >= 1 else "costs"


def evidence(row: Row) -> str:
    """`30 requests of 6 tasks, each sent 2 times`, `1 request of one task only, sent once`."""
    sent = "once" if row["n_repeats"] == 1 else f"{row['n_repeats']} times"
    who = "sent" if row["n_requests"] == 1 else "each sent"
    tasks = "one task only" if row["n_tasks"] == 1 else counted(row["n_tasks"], "task")
    return f"{counted(row['n_requests'], 'request')} of {tasks}, {who} {sent}"


def why_untold(row: Row) -> str:
    """Why there is no verdict and what it takes, a clause."""
    if missing(row["low"]):
        return f"to tell them from chance takes {MIN_TASKS} tasks, or one task sent {MIN_REPEATS} times"
    if row["over"] != REPEATS and row["n_tasks"] < MIN_TASKS:
        return f"that is only {counted(row['n_tasks'], 'task')}; it takes {MIN_TASKS}"
    reason = str(row["verdict"]).removeprefix(TOO_FEW)
    if not reason.startswith(":"):
        return _missed(row)
    if row["n_repeats"] < MIN_STARTS:
        return "each request was sent once, and one slow start of an engine would look the same; it takes 3 repeats"
    if row["n_starts"] < MIN_STARTS:
        return f"all {row['n_repeats']} repeats ran on one start of an engine, and a slow start would look the same"
    if "cannot show what starts" in reason:
        return f"{row['n_repeats']} repeats are too few to see how much one start of an engine differs from the next"
    return reason.removeprefix(": ")


def of_one_task(row: Row) -> bool:
    """Whether the interval is about repeats of one task."""
    return bool(row["over"] == REPEATS)


def arm_in_words(arm: str) -> str:
    """`prefix caching and speculation together`; `no layer` for base."""
    layers = arm_named(arm).layers
    names = [LAYER_NAMES[layer] for layer in LAYERS if layer in layers]
    if len(names) == len(LAYERS):
        return "all three layers together"
    return f"{listed(names)} together" if len(names) > 1 else "".join(names) or "no layer"


def _size(gain: float) -> str:
    size = max(gain, 1 / gain)
    return f"over {_LARGE:.0f}" if size > _LARGE else plain(size)


def _interval(row: Row) -> str:
    """The interval, the same way round as the words; what lies on the other side of 1 is below 1 there."""
    if missing(row["low"]):
        return ""
    low, high = (row["low"], row["high"]) if row["gain"] >= 1 else (1 / row["high"], 1 / row["low"])
    return f" ({plain(low)} to {_most(high)})"


def _missed(row: Row) -> str:
    """What this n would have shown."""
    needed = row["smallest_gain"]
    if missing(needed):
        return "they may be chance"
    if needed > _LARGE:
        return f"even a gain of {_LARGE:.0f} times would have been missed"
    return f"a gain below {plain(needed)} times would have been missed"


def _most(value: float) -> str:
    return f"over {_LARGE:.0f}" if value > _LARGE else plain(value)
