"""The same agent's requests in several variants: what the prefix cache served of each, and what that did to TTFT.

A variant is a table of steps of its own: the recording as it was, or changed in one place. Variants are told apart by
name; within one, an arm is compared with base on the steps that both finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from labkit.analysis.cache import cache_use
from labkit.analysis.latency import percentile, ttft
from labkit.analysis.tables import STEP_KEY, is_finished, measured, typed_frame
from labkit.core.arms import BASE
from labkit.core.columns import column
from labkit.core.records import Record


@dataclass(frozen=True, kw_only=True)
class VariantRow(Record):
    """One variant under one arm. Rates are weighted by tokens."""

    variant: str = column("string", "", "what was changed in the recording")
    n: int = column("int64", "", "finished steps of the arm that reported prompt and cached tokens")
    prompt: int | None = column("int64", "tokens", "their prompt tokens", nullable=True)
    computed: int | None = column("int64", "tokens", "of these, not from the prefix cache", nullable=True)
    hit_rate: float | None = column("float64", "", "cached / prompt tokens, 0 to 1", nullable=True)
    hit_ceiling: float | None = column("float64", "", "hit rate of an infinite cache of whole blocks", nullable=True)
    ttft_p50_s: float | None = column("float64", "s", "median time to first token, the arm", nullable=True)
    base_p50_s: float | None = column("float64", "s", "median time to first token, base", nullable=True)
    arm_sum_s: float | None = column("float64", "s", "time to first token of the pairs, added up, arm", nullable=True)
    base_sum_s: float | None = column("float64", "s", "the same of base", nullable=True)
    gain: float | None = column("float64", "", "base_sum_s / arm_sum_s", nullable=True)
    n_pairs: int = column("int64", "", "steps with a first token in both the arm and base")


def variant_table(steps: Mapping[str, pd.DataFrame], arm: str = "prefix") -> pd.DataFrame:
    """One row per variant, in the order given; columns as VariantRow declares them. Warm-up is left out."""
    return typed_frame(VariantRow, [_row(variant, frame, arm) for variant, frame in steps.items()])


def _row(variant: str, steps: pd.DataFrame, arm: str) -> VariantRow:
    kept = measured(steps)
    done = kept[is_finished(kept)]
    use, pairs = cache_use(done[done["arm"] == arm]), _pairs(done, arm)
    base_s, arm_s = float(pairs["base"].sum()), float(pairs["arm"].sum())
    return VariantRow(
        variant=variant,
        n=use.n,
        prompt=None if use.computed is None or use.cached is None else use.computed + use.cached,
        computed=use.computed,
        hit_rate=use.hit_rate,
        hit_ceiling=use.hit_ceiling,
        ttft_p50_s=percentile(_times(done, arm), 50),
        base_p50_s=percentile(_times(done, BASE.label), 50),
        arm_sum_s=arm_s if len(pairs) else None,
        base_sum_s=base_s if len(pairs) else None,
        gain=base_s / arm_s if arm_s > 0 else None,
        n_pairs=len(pairs),
    )


def _pairs(steps: pd.DataFrame, arm: str) -> pd.DataFrame:
    """TTFT in seconds of each step that both arms have, in columns `base` and `arm`."""
    times = {"base": _times(steps, BASE.label), "arm": _times(steps, arm)}
    return pd.DataFrame(times).dropna()


def _times(steps: pd.DataFrame, arm: str) -> pd.Series[float]:
    """A step that was sent more than once counts once, with its mean."""
    of_arm = steps[steps["arm"] == arm]
    return ttft(of_arm).groupby([of_arm[name] for name in STEP_KEY]).mean()
