"""Sums over whole passes: one row for each time that a recording was sent to an arm, cut after so many steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from labkit.analysis.latency import e2e
from labkit.analysis.tables import is_finished, measured, numbers
from labkit.core.conditions import steps_of

PASS_KEY = ["arm", "task", "recording", "agent", "condition", "cache", "repeat"]
"""What tells passes apart."""
TOTALS = ("prompt_sent", "prompt_computed", "generated", "e2e_s", "with_tools_s", "prefill_s", "peak_context")
"""Columns of a pass that are null unless every step of it was measured."""
_KV_GAUGE = "vllm:kv_cache_usage_perc"


def passes(steps: pd.DataFrame, samples: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per pass with a condition `steps=N`: PASS_KEY, `steps`, `whole`, TOTALS and `kv_usage`.

    `whole`: all N steps finished. `kv_usage`: highest sample of the engine's gauge while the pass ran, NaN for none.
    """
    kept = measured(steps)
    kept = kept[kept["condition"].map(lambda text: steps_of(text) is not None).astype(bool)]
    rows = [{**dict(zip(PASS_KEY, key, strict=True)), **_totals(of, samples)} for key, of in kept.groupby(PASS_KEY)]
    table = pd.DataFrame(rows, columns=[*PASS_KEY, "steps", "whole", *TOTALS, "kv_usage"])
    return table.astype({"steps": "int64", "whole": "bool"})


def _totals(of: pd.DataFrame, samples: pd.DataFrame | None) -> dict[str, Any]:
    """NaN in a step makes its sum NaN: a sum over part of the steps is no sum of the pass."""
    prompt, generated = numbers(of, "prompt_tokens"), numbers(of, "completion_tokens")
    seconds, count = e2e(of).to_numpy(), steps_of(of["condition"].iloc[0])
    return {
        "steps": count,
        "whole": int(is_finished(of).sum()) == count,
        "prompt_sent": prompt.sum(),
        "prompt_computed": (prompt - numbers(of, "cached_tokens")).sum(),
        "generated": generated.sum(),
        "e2e_s": seconds.sum(),
        "with_tools_s": seconds.sum() + numbers(of[of["tool_name"].notna()], "tool_s").sum(),
        "prefill_s": numbers(of, "prefill_s").sum(),
        "peak_context": (prompt + generated).max(),
        "kv_usage": _kv_usage(of, samples),
    }


def _kv_usage(of: pd.DataFrame, samples: pd.DataFrame | None) -> float:
    if samples is None or not len(samples):
        return np.nan
    start, end = of["t_send"].min(), of["t_end"].max()
    during = samples[(samples["name"] == _KV_GAUGE) & samples["t"].between(start, end) & samples["value"].notna()]
    return float(during["value"].max()) if len(during) else np.nan
