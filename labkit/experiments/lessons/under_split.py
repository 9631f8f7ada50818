"""The lesson on the split under load: what company costs in each arm, and what the split trades for what."""

from __future__ import annotations

from typing import Any

import pandas as pd

from labkit.analysis.format import DASH, missing, percent, plain, seconds
from labkit.analysis.stalls import threshold
from labkit.experiments.dashboard.layers.halves import Halves
from labkit.experiments.dashboard.layers.load import heaviest_load
from labkit.experiments.lessons.interference import FEW, Company
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted, records

_MOST = 0.75
"""This share of streams is most of them."""
_INTERVAL = "95 % of ITL p99"


def levels_shown(load: Company) -> pd.DataFrame:
    """A row per arm and number of agents, for readers; a dash: not measured, or too few agent-runs for an interval.

    The column of intervals is there if any level has one.
    """
    rows = [_level(row) for row in records(load.levels)]
    table = pd.DataFrame(rows).set_index(["arm", "agents"]) if rows else pd.DataFrame()
    return table.drop(columns=_INTERVAL) if rows and (table[_INTERVAL] == DASH).all() else table


def _level(row: dict[str, Any]) -> dict[str, Any]:
    failed = f", {row['n_failed']} failed" if row["n_failed"] else ""
    return {
        "arm": row["arm"],
        "agents": row["agents"],
        "requests (n)": f"{row['n_sent']}{failed}",
        "agent-runs (n)": row["n_agent_runs"],
        "TTFT p50": seconds(row["ttft_p50_s"]),
        "TTFT p99": seconds(row["ttft_p99_s"]),
        "ITL p50": seconds(row["itl_p50_s"]),
        "ITL p99": seconds(row["itl_p99_s"]),
        _INTERVAL: _range(row["itl_low_s"], row["itl_high_s"]),
        "stalls per 1000 tokens": plain(row["stalls_per_1000"]),
        "time lost in stalls": percent(row["lost_share"]),
        "prompt from the cache": percent(row["hit_rate"]),
        "tokens/s, all agents": plain(row["tokens_per_s"]),
    }


def _range(low: Any, high: Any) -> str:
    return DASH if missing(low) or missing(high) else f"{seconds(low)} to {seconds(high)}"


def split_trades_gaps_for_first_tokens(load: Company, plain_arm: str, split: str) -> Outcome:
    """Whether the longest gaps got shorter and the first tokens later, at the heaviest load that both arms had."""
    rows = heaviest_load(load.levels, split, plain_arm)
    if len(rows) < 2:
        return unmeasured(f"{plain_arm} and {split} were not both measured under one load")
    one, other = rows[plain_arm], rows[split]
    if any(missing(row[name]) for row in (one, other) for name in ("itl_p99_s", "ttft_p99_s")):
        return unmeasured(f"{plain_arm} or {split} has no stream whose times are known")
    agents, runs = counted(int(one["agents"]), "agent"), min(one["n_agent_runs"], other["n_agent_runs"])
    saw = (
        f"with {agents} the 99th percentile of gaps was {seconds(other['itl_p99_s'])} under {split} and "
        f"{seconds(one['itl_p99_s'])} under {plain_arm}, that of the time to first token "
        f"{seconds(other['ttft_p99_s'])} and {seconds(one['ttft_p99_s'])} (n = {other['n_sent']} and {one['n_sent']} "
        f"requests, {runs} agent-runs or more each)"
    )
    held = other["itl_p99_s"] < one["itl_p99_s"] and other["ttft_p99_s"] > one["ttft_p99_s"]
    return Outcome(None if one["too_few"] or other["too_few"] else bool(held), saw)


def streams_run_on(load: Company, plain_arm: str, split: str) -> Outcome:
    """Whether most prompts under the split leave the stream beside them without a stall."""
    (n, well), (n_plain, well_plain) = (_unharmed(load, arm) for arm in (split, plain_arm))
    if not n:
        return unmeasured(f"no prompt of {split} was computed beside one other stream")
    worst = load.met.loc[load.met["arm"] == split, "gap_s"].max()
    saw = (
        f"under {split} {well} of {n} streams ran on without a stall beside a prompt (under {plain_arm} {well_plain} "
        f"of {n_plain}), and the longest gap beside one was {seconds(float(worst))}"
    )
    return Outcome(None if n < FEW else well / n >= _MOST, saw)


def _unharmed(load: Company, arm: str) -> tuple[int, int]:
    """Pairs of a prompt and a stream, and those whose longest gap was no stall."""
    mine = load.met[load.met["arm"] == arm]
    return len(mine), int(
        sum(gap <= threshold(usual) for gap, usual in zip(mine["gap_s"], mine["usual_s"], strict=True))
    )


def prefill_slows_with_its_share(load: Company, plain_arm: str, split: str, on: Halves | None) -> Outcome:
    """Whether prefill on a part of the machine is as much slower as the part is smaller."""
    one, other = load.rates.get(plain_arm), load.rates.get(split)
    if one is None or other is None or on is None:
        return unmeasured(f"the rate of prefill under {plain_arm} or {split}, or what they computed on, is not known")
    part, ratio = len(on.prefill) / on.all, other.per_s / one.per_s
    whose = f"{len(on.prefill)} of {counted(on.all, on.unit)}"
    saw = (
        f"prefill on {whose} computed {plain(other.per_s)} tokens a second under {split}, {percent(ratio)} of the "
        f"{plain(one.per_s)} under {plain_arm} (n = {other.n} and {one.n} requests)"
    )
    return Outcome(None if min(one.n, other.n) < FEW else bool(part / 1.25 <= ratio <= part * 1.25), saw)
