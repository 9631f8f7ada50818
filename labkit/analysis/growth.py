"""How an agent's cost grows with its steps: the same agent cut after so many of them, each cut a pass of its own.

A pass is told by its condition, `steps=N`. Only whole passes count: one with a failed step has too small a sum. Each
turn sends the whole history again, so with prompts that grow by g a turn from p on, N steps send N p + g N (N - 1) / 2
tokens: the sum grows faster than the steps (`exponents` says how fast). What a prefix cache holds need not be computed
again; that is what it leaves of this growth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.passes import PASS_KEY, TOTALS, passes
from labkit.analysis.tables import null_if_nan, numbers, typed_frame
from labkit.core.arms import BASE
from labkit.core.columns import column
from labkit.core.records import Record


@dataclass(frozen=True, kw_only=True)
class GrowthRow(Record):
    """One arm cut after so many steps. Sums over a pass, as means over the whole passes; ratios over common passes."""

    arm: str = column("string", "", "label of the arm")
    steps: int = column("int64", "", "LLM calls of a pass")
    n_passes: int = column("int64", "", "whole passes, over tasks and repeats")
    n_broken: int = column("int64", "", "passes with a failed or missing step; not in the means")
    prompt_sent: float | None = column("float64", "tokens", "prompt tokens sent", nullable=True)
    prompt_computed: float | None = column("float64", "tokens", "of these, not from the prefix cache", nullable=True)
    generated: float | None = column("float64", "tokens", "tokens generated", nullable=True)
    e2e_s: float | None = column("float64", "s", "send to end, summed; tools are not in it", nullable=True)
    with_tools_s: float | None = column("float64", "s", "the same and the recorded time of the tools", nullable=True)
    prefill_share: float | None = column("float64", "", "prefill, as the engine reports it, / e2e", nullable=True)
    peak_context: float | None = column("float64", "tokens", "longest prompt with its reply", nullable=True)
    kv_bytes: float | None = column("float64", "bytes", "KV cache of the longest context", nullable=True)
    kv_usage_peak: float | None = column("float64", "", "engine's own gauge, highest sample, 0 to 1", nullable=True)
    computed_vs_base: float | None = column("float64", "", "base / arm, tokens computed", nullable=True)
    time_vs_base: float | None = column("float64", "", "base / arm, seconds, tools left out", nullable=True)


def growth_table(
    steps: pd.DataFrame, samples: pd.DataFrame | None = None, kv_bytes_per_token: int | None = None
) -> pd.DataFrame:
    """One row per arm and count of steps, columns as GrowthRow declares them. Empty without such passes.

    `samples`: the run's telemetry, for the engine's KV gauge. `kv_bytes_per_token`: of the model; None: not known.
    """
    table = passes(steps, samples)
    rows = [
        _row(arm, count, of_count, table, kv_bytes_per_token)
        for arm in in_order(table["arm"])
        for count, of_count in table[table["arm"] == arm].groupby("steps", sort=True)
    ]
    return typed_frame(GrowthRow, rows)


def _row(arm: str, count: Any, of_count: pd.DataFrame, table: pd.DataFrame, kv_bytes: int | None) -> GrowthRow:
    whole = of_count[of_count["whole"]]
    means = {name: null_if_nan(numbers(whole, name).mean()) if len(whole) else None for name in TOTALS}
    peak, prefill, e2e = means["peak_context"], means.pop("prefill_s"), means["e2e_s"]
    return GrowthRow(
        arm=arm,
        steps=int(count),
        n_passes=len(whole),
        n_broken=len(of_count) - len(whole),
        kv_bytes=None if peak is None or kv_bytes is None else peak * kv_bytes,
        kv_usage_peak=null_if_nan(numbers(whole, "kv_usage").max()) if len(whole) else None,
        prefill_share=prefill / e2e if prefill is not None and e2e else None,
        computed_vs_base=_vs_base(whole, table, "prompt_computed"),
        time_vs_base=_vs_base(whole, table, "e2e_s"),
        **means,
    )


def _vs_base(whole: pd.DataFrame, table: pd.DataFrame, name: str) -> float | None:
    """Base over arm, summed over the passes that are whole in both."""
    key = [part for part in PASS_KEY if part != "arm"]
    base = table[(table["arm"] == BASE.label) & table["whole"]]
    pairs = whole.merge(base, on=key, suffixes=("", "_base"))
    mine = numbers(pairs, name).sum()
    return null_if_nan(numbers(pairs, f"{name}_base").sum() / mine) if mine > 0 else None
