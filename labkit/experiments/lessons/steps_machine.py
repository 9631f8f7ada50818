"""What became of the predictions on memory and on how busy the machine was, while an agent took its steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.analysis.format import missing, percent, times
from labkit.core.arms import BASE
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.lessons.steps import FEW, Row, costs, longest_pair, mib, of_arm
from labkit.experiments.report.english import counted, listed, records
from labkit.store.runs import Run

ALIKE = 0.1
"""Two peaks this near are the same: the gauge is read once a second, and a block is a part of what it shows."""
FULL = 0.9
"""A processor is called busy from here on, as a mean of all its cores."""


def memory_follows_the_context(run: Run) -> Outcome:
    """Whether KV memory grows less than base's computed tokens, and is as much in use with caching as without."""
    rows = records(costs(run))
    base = of_arm(rows, BASE.label)
    if len(base) < 2:
        return unmeasured("base has no whole passes of two counts")
    first, last = base[0], base[-1]
    work, memory = (last[name] / first[name] for name in ("prompt_computed", "peak_context"))
    ends = [row for row in rows if row["steps"] == last["steps"]]
    gauges = {row["arm"]: row["kv_usage_peak"] for row in ends}
    size = "" if missing(last["kv_bytes"]) else f", {mib(last['kv_bytes'])} of KV cache"
    said = (
        f"from {counted(first['steps'], 'step')} to {last['steps']} base computed {times(work)} as many tokens, "
        f"and its longest context grew {times(memory)} to {last['peak_context']:,.0f} tokens{size}; {_gauges(gauges)} "
        f"(n = {counted(last['n_passes'], 'pass', 'passes')} each)"
    )
    alike = _alike(gauges)
    few = last["steps"] < FEW or min(map(_readings, ends)) < FEW
    return Outcome(None if alike is None or few else alike and memory < work, said)


def busy_whatever_it_does(run: Run) -> Outcome:
    """Whether the processor is as full with caching as without, though it does less: in the longest cut."""
    pair = longest_pair(row for row in records(costs(run)) if not missing(row["cpu_busy"]))
    if pair is None:
        return unmeasured("the processor was not sampled in passes of both arms")
    base, prefix = pair
    busy = " and ".join(f"{percent(row['cpu_busy'])} busy under {row['arm']}" for row in pair)
    less = base["prompt_computed"] / prefix["prompt_computed"]
    said = (
        f"at {counted(base['steps'], 'step')} the processor was {busy}, while base computed {times(less)} as "
        f"many prompt tokens (n = {_readings(base)} and {_readings(prefix)} readings)"
    )
    few = min(_readings(base), _readings(prefix)) < FEW
    return Outcome(None if few else all(row["cpu_busy"] >= FULL for row in pair), said)


def _readings(row: Row) -> int:
    """Rounds of the sampler within the passes; the processor and the gauge are read in the same ones."""
    return 0 if missing(row["n_readings"]) else int(row["n_readings"])


def _alike(gauges: Mapping[str, Any]) -> bool | None:
    """None where fewer than two arms were sampled."""
    known = [float(value) for value in gauges.values() if not missing(value)]
    return None if len(known) < 2 else max(known) <= (1 + ALIKE) * min(known)


def _gauges(gauges: Mapping[str, Any]) -> str:
    known = [f"{percent(value)} under {arm}" for arm, value in gauges.items() if not missing(value)]
    if not known:
        return "how much of the engine's KV cache was in use was not sampled"
    return f"of the engine's KV cache {listed(known)} was in use at most"
