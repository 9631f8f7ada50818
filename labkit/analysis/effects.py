"""What each layer gains, alone and together: the lab's answer, per metric, with its interval.

On the log scale, so that effects are ratios: a gain of 2 halves a time, an interaction of 1 says that gains multiply.
Requests are paired, averaged over their repeats, and clustered by task (see `inference`). p is corrected by Holm over
the headline set, which is declared here and was chosen before anything was measured: every term on `e2e_s` and
`ttft_s`. The other metrics explore, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests

from labkit.analysis.comparisons import Comparison, compared
from labkit.analysis.contrasts import Contrast, arm_contrasts, term_contrasts
from labkit.analysis.effect_rows import ArmGainRow, EffectRow
from labkit.analysis.effect_words import level, method, note, smallest, verdict
from labkit.analysis.joules import joule_costs
from labkit.analysis.paired import measured_arms
from labkit.analysis.requests import METRICS, Metric, request_costs, sent
from labkit.analysis.starts import Starts, starts_of
from labkit.analysis.tables import typed_frame
from labkit.core.records import Cache

HEADLINE: tuple[Metric, ...] = ("e2e_s", "ttft_s")
"""The metrics whose rows are the headline set that Holm's correction is over."""


def effects(
    steps: pd.DataFrame,
    chunks: pd.DataFrame,
    joules: pd.DataFrame | None = None,
    *,
    cache: Cache = "cold",
    condition: str | None = None,
) -> pd.DataFrame:
    """One row per metric and term; columns as EffectRow declares them. Empty without a step in any arm.

    `joules`: columns arm, repeat, joules, as `labkit.analysis.energy` gives: its `group_joules` where the run has warm
    passes or several conditions, for the joules of the one that is asked for. `condition`: None when the run has only
    one. Raises BadInput when it has several.
    """
    return _terms(_costs(steps, chunks, joules, cache, condition))


def arm_gains(
    steps: pd.DataFrame,
    chunks: pd.DataFrame,
    joules: pd.DataFrame | None = None,
    *,
    cache: Cache = "cold",
    condition: str | None = None,
) -> pd.DataFrame:
    """One row per metric and arm but base, against base; columns as ArmGainRow declares them. Else as `effects`."""
    return _against_base(_costs(steps, chunks, joules, cache, condition))


class Gains(NamedTuple):
    """Both tables of one condition and cache state."""

    effects: pd.DataFrame
    arm_gains: pd.DataFrame


def effects_and_gains(
    steps: pd.DataFrame,
    chunks: pd.DataFrame,
    joules: pd.DataFrame | None = None,
    *,
    cache: Cache = "cold",
    condition: str | None = None,
) -> Gains:
    """`effects` and `arm_gains` for the price of one: most of it is the reading of a run's chunks."""
    costs = _costs(steps, chunks, joules, cache, condition)
    return Gains(_terms(costs), _against_base(costs))


def holm(p: Sequence[float]) -> list[float]:
    """p values after Holm's step-down correction (Holm 1979), in their own order."""
    return [float(one) for one in multipletests(list(p), method="holm")[1]] if len(p) else []


@dataclass(frozen=True)
class _Costs:
    """What is compared: by metric a cost for each request. `arms`: all that were sent a step."""

    by_metric: dict[Metric, pd.DataFrame]
    arms: list[str]
    starts: Starts


def _costs(
    steps: pd.DataFrame, chunks: pd.DataFrame, joules: pd.DataFrame | None, cache: Cache, condition: str | None
) -> _Costs:
    steps, chunks = sent(steps, cache, condition), sent(chunks, cache, condition)
    if steps.empty:
        return _Costs({}, [], Starts())
    of_steps: dict[Metric, pd.DataFrame] = {
        metric: joule_costs(joules, steps) if metric == "joules" else request_costs(steps, chunks, metric)
        for metric in METRICS
    }
    return _Costs(of_steps, list(map(str, steps["arm"].unique())), starts_of(steps))


def _terms(costs: _Costs) -> pd.DataFrame:
    found = _decided(_compared(costs, term_contrasts))
    return typed_frame(EffectRow, [EffectRow.from_dict({**values, "term": name}) for name, values in found])


def _against_base(costs: _Costs) -> pd.DataFrame:
    found = _decided(_compared(costs, arm_contrasts))
    return typed_frame(ArmGainRow, [ArmGainRow.from_dict({**values, "arm": name}) for name, values in found])


def _compared(costs: _Costs, contrasts: Callable[[Sequence[str], Sequence[str]], list[Contrast]]) -> list[Comparison]:
    return [
        one
        for metric, of_metric in costs.by_metric.items()
        for one in compared(metric, of_metric, contrasts(measured_arms(of_metric), costs.arms), costs.starts)
    ]


def _decided(found: Sequence[Comparison]) -> list[tuple[str, dict[str, Any]]]:
    """Holm over the headline comparisons that have a p, then each one's name and columns."""
    tested = [n for n, one in enumerate(found) if one.metric in HEADLINE and one.p is not None]
    corrected = dict(zip(tested, holm([found[n].p or 0.0 for n in tested]), strict=True))
    return [(one.name, _columns(one, corrected.get(n), len(tested))) for n, one in enumerate(found)]


def _columns(found: Comparison, p_holm: float | None, family: int) -> dict[str, Any]:
    headline = found.metric in HEADLINE
    needed = smallest(found, level(found, family, headline))
    return {
        **{name: value for name, value in vars(found).items() if name not in ("gain", "low", "high", "shared")},
        **{name: ratio(getattr(found, name)) for name in ("gain", "low", "high")},
        "p_holm": p_holm,
        "headline": headline,
        "verdict": verdict(found, p_holm if headline else found.p, headline, needed),
        "note": note(found),
        "smallest_gain": needed,
        "method": method(found),
        "arms_used": ",".join(found.arms_used),
    }


def ratio(log: float | None) -> float | None:
    """A log gain as a ratio; where an interval has next to no degrees of freedom its ends are beyond all numbers."""
    return None if log is None else float(np.exp(np.clip(log, -_MOST, _MOST)))


_MOST = 700.0
"""Just below the logarithm of the largest number."""
