"""One row per arm: the table that answers the lab's question, with the counts that say how far to trust it.

Warm-up is thrown away. Failed steps stay in `n_steps` and are counted in `n_failed`; their times are not times of an
answer, so times are over finished steps. Arms may fail on different steps, so sums of different arms are not divided:
the ratio is over the steps that finished in both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from labkit.analysis.acceptance import acceptance
from labkit.analysis.cache import cache_use
from labkit.analysis.latency import e2e, itl_by_arm, ntpot, percentile, tpot, ttft
from labkit.analysis.tables import STEP_KEY, Floats, floats, is_finished, measured, total, typed_frame
from labkit.core.arms import ARMS, BASE
from labkit.core.columns import column
from labkit.core.records import Record

MIN_PAIRS = 5
"""Below this many pairs a ratio carries `too_few`: it is shown, and not to be believed."""


@dataclass(frozen=True, kw_only=True)
class ArmRow(Record):
    """One arm of a run. Ratio: base time / arm time over common steps, so 2 means twice as fast as base."""

    arm: str = column("string", "", "label of the arm")
    n_steps: int = column("int64", "", "steps sent, warm-up excluded, failed ones included")
    n_failed: int = column("int64", "", "of these, steps with an error or without an end")
    switched_by: str = column("string", "", "how prefix caching was set: `flag`, `salt`, or both")
    history: str = column("string", "", "`recorded` or `live` history, or both")
    e2e_s: float | None = column("float64", "s", "sum of send to end over finished steps, without tools", nullable=True)
    e2e_paired_s: float | None = column("float64", "s", "send to end summed over the pairs, this arm", nullable=True)
    e2e_base_s: float | None = column("float64", "s", "send to end summed over the pairs, base", nullable=True)
    e2e_p50_s: float | None = column("float64", "s", "median of send to end", nullable=True)
    ttft_p50_s: float | None = column("float64", "s", "median time to first token", nullable=True)
    ttft_p95_s: float | None = column("float64", "s", "95th percentile of the time to first token", nullable=True)
    n_gaps: int = column("int64", "", "gaps between chunks that the ITL percentiles are over")
    itl_p50_s: float | None = column("float64", "s", "median gap between chunks, all streams pooled", nullable=True)
    itl_p99_s: float | None = column("float64", "s", "99th percentile of the gap between chunks", nullable=True)
    tpot_p50_s: float | None = column("float64", "s", "median over steps of the time per output token", nullable=True)
    ntpot_p50_s: float | None = column("float64", "s", "median over steps of send to end per token", nullable=True)
    n_usage: int = column("int64", "", "finished steps that reported prompt and cached tokens")
    prompt_computed: int | None = column("int64", "tokens", "prompt tokens computed, by any process", nullable=True)
    prompt_cached: int | None = column("int64", "tokens", "prompt tokens from the prefix cache", nullable=True)
    prompt_transferred: int | None = column(
        "int64", "tokens", "prompt tokens moved from prefill to decode; also in computed or cached", nullable=True
    )
    hit_rate: float | None = column("float64", "", "cached / prompt tokens, 0 to 1", nullable=True)
    hit_ceiling: float | None = column("float64", "", "hit rate of an infinite cache of whole blocks", nullable=True)
    acceptance_rate: float | None = column("float64", "", "accepted / proposed draft tokens, 0 to 1", nullable=True)
    acceptance_length: float | None = column("float64", "tokens", "tokens per verification round", nullable=True)
    ratio_to_base: float | None = column("float64", "", "base time / arm time over common steps", nullable=True)
    n_pairs: int = column("int64", "", "steps that finished in both base and this arm")
    too_few: bool = column("bool", "", f"fewer than {MIN_PAIRS} pairs: too few to tell")


_NO_GAPS = np.array([], dtype=np.float64)


class Paired(NamedTuple):
    """`ratio`: `base_s` / `arm_s`, seconds summed over `n_pairs` common steps; None without a pair."""

    ratio: float | None = None
    n_pairs: int = 0
    base_s: float | None = None
    arm_s: float | None = None


def arm_table(steps: pd.DataFrame, chunks: pd.DataFrame) -> pd.DataFrame:
    """One row per arm in the order of ARMS; columns as ArmRow declares them. Empty in, empty out."""
    steps, gaps = measured(steps), itl_by_arm(measured(chunks))
    times = {arm: _times(steps[steps["arm"] == arm]) for arm in in_order(steps["arm"])}
    base = times.get(BASE.label)
    rows = [
        _row(arm, steps[steps["arm"] == arm], gaps.get(arm, _NO_GAPS), _paired(base, of_arm))
        for arm, of_arm in times.items()
    ]
    return typed_frame(ArmRow, rows)


def ratio(steps: pd.DataFrame, base: str, arm: str) -> Paired:
    """How many times faster `arm` is than `base`, on the steps that finished in both, warm-up excluded."""
    steps = measured(steps)
    return _paired(_times(steps[steps["arm"] == base]), _times(steps[steps["arm"] == arm]))


def _times(steps: pd.DataFrame) -> pd.Series[float]:
    """Seconds of each finished step by STEP_KEY; a step that was sent more than once counts once, with its mean."""
    done = steps[is_finished(steps)]
    return e2e(done).groupby([done[name] for name in STEP_KEY]).mean()


def _paired(base: pd.Series[float] | None, arm: pd.Series[float]) -> Paired:
    common = arm.index[:0] if base is None else base.index.intersection(arm.index)
    if base is None or not len(common):
        return Paired()
    base_s, arm_s = float(base.loc[common].sum()), float(arm.loc[common].sum())
    return Paired(base_s / arm_s if arm_s > 0 else None, len(common), base_s, arm_s)


def _row(arm: str, steps: pd.DataFrame, gaps: Floats, paired: Paired) -> ArmRow:
    done = steps[is_finished(steps)]
    cache, guesses, first = cache_use(done), acceptance(done), ttft(done)
    return ArmRow(
        arm=arm,
        n_steps=len(steps),
        n_failed=len(steps) - len(done),
        switched_by=_words(steps["switched_by"]),
        history=_words(steps["history"]),
        e2e_s=total(floats(e2e(done))),
        e2e_paired_s=paired.arm_s,
        e2e_base_s=paired.base_s,
        e2e_p50_s=percentile(e2e(done), 50),
        ttft_p50_s=percentile(first, 50),
        ttft_p95_s=percentile(first, 95),
        n_gaps=len(gaps),
        itl_p50_s=percentile(gaps, 50),
        itl_p99_s=percentile(gaps, 99),
        tpot_p50_s=percentile(tpot(done), 50),
        ntpot_p50_s=percentile(ntpot(done), 50),
        n_usage=cache.n,
        prompt_computed=cache.computed,
        prompt_cached=cache.cached,
        prompt_transferred=cache.transferred,
        hit_rate=cache.hit_rate,
        hit_ceiling=cache.hit_ceiling,
        acceptance_rate=guesses.rate,
        acceptance_length=guesses.length,
        ratio_to_base=paired.ratio,
        n_pairs=paired.n_pairs,
        too_few=paired.n_pairs < MIN_PAIRS,
    )


def in_order(arms: Iterable[str]) -> list[str]:
    """Labels of arms, each once, in the order of ARMS; labels that no arm has come last."""
    known = [arm.label for arm in ARMS]
    return sorted(set(arms), key=lambda arm: (known.index(arm) if arm in known else len(known), arm))


def _words(values: pd.Series[str]) -> str:
    return ", ".join(sorted(str(value) for value in values.unique()))
