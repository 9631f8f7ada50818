"""Two runs, arm by arm: what the second gains over the first, paired where the requests are the same.

Paired, a run takes the place that an arm has in `effects`, so the numbers are those of the same code: log ratios of the
same request, clustered by task, with the variance of engine starts where repeats show it. Where the requests are not
the same, tasks are compared as two groups: Welch's t on the tasks' mean logs (Welch 1947). Then the tasks' own
differences are in the interval, and it says nothing without two tasks on either side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.comparisons import Comparison, compared
from labkit.analysis.contrasts import Contrast
from labkit.analysis.effect_rows import GainRow
from labkit.analysis.effect_words import NOT_MEASURED, level, method, note, smallest, verdict
from labkit.analysis.effects import HEADLINE, holm, ratio
from labkit.analysis.requests import PASS, Metric, request_costs
from labkit.analysis.same_requests import Hashes, SameRow, same_requests
from labkit.analysis.starts import starts_of
from labkit.analysis.tables import measured, typed_frame
from labkit.analysis.unpaired import UNPAIRED, unpaired, unpaired_note, unpaired_verdict
from labkit.core.arms import ARMS, BASE
from labkit.core.columns import column

METRICS: tuple[Metric, ...] = ("e2e_s", "ttft_s", "itl_p99_s", "prompt_computed", "tokens_per_s")
_A, _B = BASE.label, ARMS[1].label
"""The two runs, in the places of two arms."""
_NONE = f"{NOT_MEASURED}: no request has a value in both runs"
_GAIN = Contrast("b", {_A: 1.0, _B: -1.0})
_STATE = ["arm", "condition", "cache"]


@dataclass(frozen=True, kw_only=True)
class ComparisonRow(GainRow):
    """One metric of one arm, condition and cache state that both runs have; `gain`: of run B over run A."""

    arm: str = column("string", "", "label of the arm, in both runs")
    condition: str = column("string", "", "what was varied besides the arm")
    cache: str = column("string", "", "`cold` or `warm`")
    paired: bool = column("bool", "", "request by request; false: two groups of tasks")
    a: float | None = column(
        "float64", "as metric", "median over requests of run A that are compared (computed tokens: mean)", nullable=True
    )
    b: float | None = column(
        "float64", "as metric", "median over requests of run B that are compared (computed tokens: mean)", nullable=True
    )
    n_a: int = column("int64", "", "requests of run A that are compared, repeats counted")
    n_b: int = column("int64", "", "requests of run B that are compared, repeats counted")


@dataclass(frozen=True, kw_only=True)
class _Sides:
    """The steps and chunks of both runs in one state, each run under its place."""

    state: tuple[str, str, str]
    steps: pd.DataFrame
    chunks: pd.DataFrame
    paired: bool


def compare(
    a_steps: pd.DataFrame,
    a_chunks: pd.DataFrame,
    b_steps: pd.DataFrame,
    b_chunks: pd.DataFrame,
    a_hashes: Hashes | None = None,
    b_hashes: Hashes | None = None,
) -> pd.DataFrame:
    """One row per metric of each arm, condition and cache state in both; columns as ComparisonRow declares them.

    `*_hashes`: recording to the hash of its requests, where the run kept it.
    """
    same = same_requests(a_steps, b_steps, a_hashes, b_hashes)
    steps, chunks = _placed(a_steps, b_steps), _placed(a_chunks, b_chunks)
    found = [(sides, *_compared(sides, metric)) for sides in _sides(steps, chunks, same) for metric in METRICS]
    tested = [n for n, (_, one, _) in enumerate(found) if one.metric in HEADLINE and one.p is not None]
    corrected = dict(zip(tested, holm([found[n][1].p or 0.0 for n in tested]), strict=True))
    return typed_frame(ComparisonRow, [_row(*each, corrected.get(n), len(tested)) for n, each in enumerate(found)])


def _placed(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    """Measured rows of both runs; `place` says whose they are."""
    return pd.concat([measured(a).assign(place=_A), measured(b).assign(place=_B)], ignore_index=True)


def _sides(steps: pd.DataFrame, chunks: pd.DataFrame, same: list[SameRow]) -> Iterator[_Sides]:
    """Every state that both runs have, in the order of arms. Of a state with paired requests, only those."""
    alike = {row.recording for row in same if row.same}
    both = steps.groupby(_STATE)["place"].nunique()
    states: list[Any] = [state for state, runs in both.items() if runs == 2]
    arms = in_order(steps["arm"])
    for state in sorted(states, key=lambda one: (arms.index(one[0]), *one[1:])):
        rows, stream = _in_state(steps, state), _in_state(chunks, state)
        paired = rows["recording"].isin(alike)
        if paired.any():
            rows, stream = rows[paired], stream[stream["recording"].isin(alike)]
        yield _Sides(
            state=state,
            steps=rows.assign(arm=rows["place"]).reset_index(drop=True),
            chunks=stream.assign(arm=stream["place"]),
            paired=bool(paired.any()),
        )


def _in_state(frame: pd.DataFrame, state: tuple[str, str, str]) -> pd.DataFrame:
    arm, condition, cache = state
    return frame[(frame["arm"] == arm) & (frame["condition"] == condition) & (frame["cache"] == cache)]


def _compared(sides: _Sides, metric: Metric) -> tuple[Comparison, pd.DataFrame]:
    costs, starts = request_costs(sides.steps, sides.chunks, metric), starts_of(sides.steps)
    if sides.paired:
        found = compared(metric, costs, [_GAIN], starts)[0]
        return replace(found, shared=(("run A", "run B"),) if found.shared else ()), costs
    return unpaired(metric, costs, starts, _A, _B), costs


def _row(sides: _Sides, found: Comparison, costs: pd.DataFrame, p_holm: float | None, family: int) -> ComparisonRow:
    headline = found.metric in HEADLINE
    needed = smallest(found, level(found, family, headline))
    said = verdict(found, p_holm if headline else found.p, headline, needed) if found.gain is not None else _NONE
    arm, condition, cache = sides.state
    known = _in_both(costs) if sides.paired else costs[costs["cost"].notna()]
    a, b = (known.loc[known["arm"] == place, "cost"] for place in (_A, _B))
    return ComparisonRow(
        arm=arm,
        condition=condition,
        cache=cache,
        paired=sides.paired,
        a=_typical(a, found.metric),
        b=_typical(b, found.metric),
        n_a=len(a),
        n_b=len(b),
        p_holm=p_holm,
        headline=headline,
        verdict=said if sides.paired else unpaired_verdict(found, said),
        note=note(found) if sides.paired else unpaired_note(found),
        method=method(found) if sides.paired else UNPAIRED * (found.df is not None),
        smallest_gain=needed,
        arms_used=arm,
        gain=ratio(found.gain),
        low=ratio(found.low),
        high=ratio(found.high),
        **{name: getattr(found, name) for name in _KEPT},
    )


_KEPT = ("metric", "p", "n_requests", "n_tasks", "n_repeats", "n_starts", "n_left_out", "over", "df", "block_sd")


def _in_both(costs: pd.DataFrame) -> pd.DataFrame:
    """The values of requests that both runs measured: the numbers beside a paired gain are of the same requests."""
    known = costs[costs["cost"].notna()]
    sides = known.groupby([name for name in PASS if name != "repeat"] + ["turn"])["arm"].transform("nunique")
    return known[sides == 2]


def _typical(costs: pd.Series[float], metric: Metric) -> float | None:
    """The median, in the metric's own unit; tokens per second are compared as seconds per token.

    The mean for computed tokens, whose gain is one of sums.
    """
    if not len(costs):
        return None
    if metric == "prompt_computed":
        return float(costs.mean())
    median = float(costs.median())
    if metric == "tokens_per_s":
        return 1 / median if median > 0 else None
    return median
