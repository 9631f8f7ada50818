"""How many prompt tokens a second an arm computes when nobody else is at work: new tokens over seconds of prefill.

From the replies of the steps with the fewest agents, ramp included, where the engine tells each step's prefill. A split
engine tells it of decode alone, so there it is from the counters of the processes that prefill, read around the window.
Weighted by tokens: long prompts count most, and what a pass costs whatever its length is in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.counter_events import counters
from labkit.analysis.tables import is_finished, numbers


class PrefillRate(NamedTuple):
    """`tokens` in `seconds`, over `n` requests."""

    tokens: int
    seconds: float
    n: int

    @property
    def per_s(self) -> float:
        """Tokens per second."""
        return self.tokens / self.seconds


def prefill_rates(
    steps: pd.DataFrame, events: Iterable[Mapping[str, Any]], spans: pd.DataFrame
) -> dict[str, PrefillRate]:
    """Arm to its rate, arms in the lab's order; an arm whose engine tells neither is not in it.

    `spans`: as `labkit.analysis.concurrency.windows` returns it; `events`: of the run, for its `counters`.
    """
    counted, found = counters(events), {}
    for arm in in_order(spans["arm"]):
        mine = spans[spans["arm"] == arm]
        condition = str(mine.sort_values("agents")["condition"].iloc[0])
        here = steps[(steps["arm"] == arm) & (steps["condition"] == condition)]
        told = [each for each in counted if (each.get("arm"), each.get("condition")) == (arm, condition)]
        if rate := _of_steps(here) or _of_counters(told):
            found[arm] = rate
    return found


def _of_steps(steps: pd.DataFrame) -> PrefillRate | None:
    done = steps[is_finished(steps)]
    table = pd.DataFrame(
        {"tokens": numbers(done, "prompt_tokens") - numbers(done, "cached_tokens"), "s": numbers(done, "prefill_s")}
    ).dropna()
    return _rate(float(table["tokens"].sum()), float(table["s"].sum()), len(table))


def _of_counters(events: Iterable[Mapping[str, Any]]) -> PrefillRate | None:
    """Over every process but decode, which computes what prefill has sent no KV of."""
    grown = [
        process["growth"]
        for event in events
        for role, process in event["processes"].items()
        if role != "decode" and process["growth"].get("prefill_s") and process["growth"].get("prompt_computed")
    ]
    tokens, seconds, n = (
        sum(each.get(name) or 0 for each in grown) for name in ("prompt_computed", "prefill_s", "requests")
    )
    return _rate(tokens, seconds, n)


def _rate(tokens: float, seconds: float, n: int) -> PrefillRate | None:
    return PrefillRate(int(tokens), float(seconds), int(n)) if tokens > 0 and seconds > 0 else None
