"""The columns of the effects tables."""

from __future__ import annotations

from dataclasses import dataclass

from labkit.core.columns import column
from labkit.core.records import Record


@dataclass(frozen=True, kw_only=True)
class GainRow(Record):
    """A gain with its interval. Above 1 is better on every metric: less time, fewer tokens, more tokens a second."""

    metric: str = column("string", "", "e2e_s, ttft_s, itl_p99_s, tokens_per_s, prompt_computed or joules")
    gain: float | None = column(
        "float64", "", "ratio, above 1 is better; null when it could not be told", nullable=True
    )
    low: float | None = column("float64", "", "lower end of the 95 % interval", nullable=True)
    high: float | None = column("float64", "", "upper end of the 95 % interval", nullable=True)
    p: float | None = column("float64", "", "two-sided p of no effect", nullable=True)
    p_holm: float | None = column("float64", "", "p after Holm's correction over the headline set", nullable=True)
    headline: bool = column("bool", "", "one of the headline set")
    n_requests: int = column("int64", "", "distinct requests that are paired")
    n_tasks: int = column("int64", "", "tasks that they are of")
    n_repeats: int = column("int64", "", "repeats that they were sent in")
    n_starts: int = column("int64", "", "starts of an engine, in the arm that has the fewest of them")
    n_left_out: int = column("int64", "", "requests without a value in some arm; each repeat counted")
    verdict: str = column("string", "", "better, worse, same, too few to tell or not measured; then why")
    note: str = column("string", "", "what limits the result, in sentences; empty when nothing does")
    smallest_gain: float | None = column(
        "float64", "", "smallest gain that this n would have shown in 80 of 100 runs", nullable=True
    )
    over: str = column("string", "", "what the interval is about: `tasks`, or repeats; empty without an interval")
    method: str = column("string", "", "how the interval was made; empty without one")
    df: float | None = column("float64", "", "degrees of freedom of the interval", nullable=True)
    block_sd: float | None = column(
        "float64", "", "standard deviation between starts of an engine, on the log scale", nullable=True
    )
    arms_used: str = column("string", "", "arms that the gain is computed from, with commas between")


@dataclass(frozen=True, kw_only=True)
class EffectRow(GainRow):
    """A layer's gain, averaged over the settings of the others; or, for an interaction, a ratio of gains."""

    term: str = column("string", "", "a layer, or layers with `:` between for their interaction")


@dataclass(frozen=True, kw_only=True)
class ArmGainRow(GainRow):
    """An arm against base."""

    arm: str = column("string", "", "label of the arm")
