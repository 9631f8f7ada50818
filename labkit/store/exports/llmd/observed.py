"""What was seen of the engine meanwhile: KV usage, queue and hit rate, from the samples within the cell's time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from labkit.store.exports.files import known
from labkit.store.exports.llmd.performance import statistics
from labkit.store.exports.requests import Request

_GAUGES = {
    "kv_cache_usage": (("vllm:kv_cache_usage_perc", "sglang:token_usage"), "percent", 100.0),
    "running_requests": (("vllm:num_requests_running", "sglang:num_running_reqs"), "count", 1.0),
    "waiting_requests": (("vllm:num_requests_waiting", "sglang:num_queue_reqs"), "count", 1.0),
}
"""The report's name: the engines' series, the unit and the factor to it. vLLM's `_perc` is a share of 1."""


def observability(
    mine: Sequence[Request], samples: pd.DataFrame, stack: Sequence[dict[str, Any]]
) -> dict[str, Any] | None:
    """A component per engine process that was sampled, and one for all with the hit rate; None when nothing was."""
    start, end = min(r.step.t_send for r in mine), max(r.t_over for r in mine)
    engines = {request.step.engine for request in mine}
    kept = samples[samples["t"].between(start, end) & samples["value"].notna()]
    kept = kept[kept["source"].str.rsplit("/", n=1).str[0].isin(engines)]
    components = [
        {"component_label": str(source).rpartition("/")[2], "replica_id": str(source), "aggregate": gauges}
        for source, rows in kept.groupby("source")
        if (gauges := _gauges(rows))
    ]
    if hits := _hit_rate(mine):
        label = stack[0]["metadata"]["label"] if stack else "engine"
        components.append({"component_label": label, "aggregate": {"cache_hit_rate": hits}})
    return {"components": components} if components else None


def _gauges(rows: pd.DataFrame) -> dict[str, Any]:
    found = {
        name: statistics((rows.loc[rows["name"].isin(series), "value"] * factor).tolist(), unit)
        for name, (series, unit, factor) in _GAUGES.items()
    }
    return known(found)


def _hit_rate(mine: Sequence[Request]) -> dict[str, Any] | None:
    """Cached over prompt tokens in percent, over the requests that reported both: weighted by tokens."""
    steps = [r.step for r in mine if r.step.prompt_tokens is not None and r.step.cached_tokens is not None]
    prompt = sum(step.prompt_tokens or 0 for step in steps)
    cached = sum(step.cached_tokens or 0 for step in steps)
    return {"units": "percent", "mean": 100 * cached / prompt} if prompt else None
