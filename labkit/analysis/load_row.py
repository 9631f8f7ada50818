"""What one arm was like with so many agents at once: the row that `interference` makes."""

from __future__ import annotations

from dataclasses import dataclass

from labkit.analysis.agent_runs import MIN_RUNS
from labkit.core.columns import column
from labkit.core.records import Record


@dataclass(frozen=True, kw_only=True)
class LoadRow(Record):
    """One arm with so many agents. `*_low`, `*_high`: 95 % over agent-runs; null: too few to tell."""

    arm: str = column("string", "", "label of the arm")
    agents: int = column("int64", "", "agents at work")
    n_windows: int = column("int64", "", "windows of this load")
    n_agent_runs: int = column("int64", "", "recordings begun; what the intervals are over")
    n_sent: int = column("int64", "", "requests sent in the windows")
    n_failed: int = column("int64", "", "of these, without a whole answer")
    in_flight: float = column("float64", "", "requests in flight, averaged over the time of the windows")
    ttft_p50_s: float | None = column("float64", "s", "median time to first token", nullable=True)
    ttft_low_s: float | None = column("float64", "s", "lower end of its interval", nullable=True)
    ttft_high_s: float | None = column("float64", "s", "upper end", nullable=True)
    ttft_p99_s: float | None = column("float64", "s", "99th percentile of the time to first token", nullable=True)
    itl_p50_s: float | None = column("float64", "s", "median gap between chunks, pooled", nullable=True)
    itl_p99_s: float | None = column("float64", "s", "99th percentile of the gap between chunks", nullable=True)
    itl_low_s: float | None = column("float64", "s", "lower end of its interval", nullable=True)
    itl_high_s: float | None = column("float64", "s", "upper end", nullable=True)
    n_gaps: int = column("int64", "", "gaps between chunks")
    stall_s: float | None = column("float64", "s", "a gap longer than this is a stall, in this arm", nullable=True)
    n_stalls: int = column("int64", "", "stalls, of streams that ended well")
    stalls_per_1000: float | None = column(
        "float64", "1/1000 tokens", "the same per 1000 tokens of those streams", nullable=True
    )
    stalls_low: float | None = column("float64", "1/1000 tokens", "lower end of its interval", nullable=True)
    stalls_high: float | None = column("float64", "1/1000 tokens", "upper end", nullable=True)
    lost_s: float = column("float64", "s", "time lost in these stalls")
    lost_share: float | None = column("float64", "", "of the time between first and last chunk", nullable=True)
    stalls_overlapped: float | None = column(
        "float64", "", "share of the stalls during which another agent waited for its first token", nullable=True
    )
    gaps_overlapped: float | None = column(
        "float64", "", "the same share of the gaps that are no stalls: what coincidence alone would give", nullable=True
    )
    hit_rate: float | None = column("float64", "", "prompt tokens from the prefix cache / prompt tokens", nullable=True)
    hit_ceiling: float | None = column("float64", "", "hit rate of an infinite cache of whole blocks", nullable=True)
    tokens_per_s: float | None = column(
        "float64", "tokens/s", "tokens that arrived, all agents together", nullable=True
    )
    ttft_ratio: float | None = column("float64", "", "median TTFT / that with the fewest agents", nullable=True)
    itl_ratio: float | None = column("float64", "", "ITL p99 / that with the fewest agents", nullable=True)
    too_few: bool = column("bool", "", f"fewer than {MIN_RUNS} agent-runs: too few to tell")
