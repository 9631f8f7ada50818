"""The eviction cliff, measured: hit rates by number of agents, beside what was predicted, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from labkit.analysis.concurrency import windows
from labkit.analysis.format import DASH, count, missing, percent, seconds
from labkit.analysis.interference import interference
from labkit.analysis.turn_taking import TurnTakingRow
from labkit.engines.profiles import load_profile
from labkit.experiments.lessons.cliff import Need, SmallCache
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted, listed, records
from labkit.store.runs import Run

KEPT, GONE = 0.9, 0.3
"""Shares of the ceiling: above the first the cache holds what it could, below the second it has forgotten."""
_FEW = 5
_TTFT = "TTFT (median)"


def load_rows(run: Run) -> pd.DataFrame:
    """One row per number of agents; columns as LoadRow declares them."""
    return interference(run.steps(), run.chunks(), windows(run.events()))


def cliff_table(rows: pd.DataFrame, expected: Sequence[TurnTakingRow], disturbance: str = "") -> pd.DataFrame:
    """Measured beside what was predicted, one row per number of agents; a dash: not measured.

    What is held against the prediction is the share of the ceiling: a window has a ceiling of its own, since not every
    conversation in it was seen from its first turn to its last. `disturbance`: why no time is shown.
    """
    foreseen, seen = {row.agents: row for row in expected}, {row["agents"]: row for row in records(rows)}
    table = pd.DataFrame([_level(at, seen.get(at), foreseen.get(at)) for at in sorted({*foreseen, *seen})])
    return table.set_index("agents").drop(columns=[_TTFT] if disturbance else [])


def falls_where_predicted(rows: pd.DataFrame, need: Need, cache: SmallCache) -> Outcome:
    """Whether the cache held what it could up to `whole` agents, and next to nothing from `gone` on."""
    known = [row for row in records(rows) if _kept(row) is not None]
    below = [row for row in known if row["agents"] <= need.whole(cache)]
    beyond = [row for row in known if row["agents"] >= need.gone(cache)]
    if not below or not beyond:
        return unmeasured("no number of agents was measured on both sides of the cliff")
    worst = min(below, key=lambda row: _kept(row) or 0.0)
    best = max(beyond, key=lambda row: _kept(row) or 0.0)
    fewest = min(row["n_sent"] - row["n_failed"] for row in (*below, *beyond))
    saw = (
        f"with {_levels(below)} the cache served at least {percent(_kept(worst))} of what an infinite one could have, "
        f"and with {_levels(beyond)} at most {percent(_kept(best))} (n = {fewest} requests or more at each level)"
    )
    if fewest < _FEW:
        return Outcome(None, saw)
    return Outcome((_kept(worst) or 0.0) >= KEPT and (_kept(best) or 0.0) <= GONE, saw)


def costs_the_first_token(rows: pd.DataFrame, need: Need, cache: SmallCache, disturbance: str = "") -> Outcome:
    """Whether the median time to first token more than doubles from the last level that fits to the first without."""
    if disturbance:
        return unmeasured(f"{disturbance}, so no time is shown")
    known = [row for row in records(rows) if not missing(row["ttft_p50_s"])]
    below = [row for row in known if row["agents"] <= need.whole(cache)]
    beyond = [row for row in known if row["agents"] >= need.gone(cache)]
    if not below or not beyond:
        return unmeasured("no number of agents was measured on both sides of the cliff")
    last, first = below[-1], beyond[0]
    requests = [row["n_sent"] - row["n_failed"] for row in (last, first)]
    saw = (
        f"the median time to first token was {seconds(last['ttft_p50_s'])} with {counted(last['agents'], 'agent')} and "
        f"{seconds(first['ttft_p50_s'])} with {first['agents']} (n = {requests[0]} and {requests[1]} requests)"
    )
    return Outcome(None if min(requests) < _FEW else first["ttft_p50_s"] > 2 * last["ttft_p50_s"], saw)


def memory_in_words(run: Run) -> str:
    """How many agents of this run's recording the cache of its own profile holds, by the same arithmetic."""
    per_token = run.info.fingerprint.get("kv_bytes_per_token")
    profile = load_profile(run.info.asked["profile"])
    given = profile.engine.flags.get("kv-cache-memory-bytes")
    longest = run.steps()["prompt_tokens"].max()
    if not isinstance(given, int) or not per_token or missing(longest):
        return f"{profile.name} leaves the size of its cache to the engine: agents that fit, {DASH}."
    tokens = given / per_token
    return (
        f"{profile.name} gives each engine {given / 2**30:.1f} GiB at {count(per_token)}B a token: "
        f"{count(tokens)} tokens, {tokens / float(longest):.0f} agents of {count(float(longest))} tokens each."
    )


def _level(agents: int, seen: Mapping[str, Any] | None, foreseen: TurnTakingRow | None) -> dict[str, object]:
    row = seen or dict.fromkeys(("hit_rate", "hit_ceiling", "ttft_p50_s"))
    return {
        "agents": agents,
        "requests": DASH if seen is None else f"{seen['n_sent'] - seen['n_failed']:,}",
        "kept, predicted": percent(None if foreseen is None else foreseen.kept),
        "kept, measured": percent(_kept(row)),
        "hit rate": percent(row["hit_rate"]),
        "ceiling": percent(row["hit_ceiling"]),
        _TTFT: seconds(row["ttft_p50_s"]),
    }


def _kept(row: Mapping[str, Any]) -> float | None:
    """Hit rate over its ceiling; None where one of the two is not known or nothing could hit."""
    if missing(row["hit_rate"]) or missing(row["hit_ceiling"]) or not row["hit_ceiling"]:
        return None
    return float(row["hit_rate"] / row["hit_ceiling"])


def _levels(rows: Sequence[Mapping[str, Any]]) -> str:
    """`1, 2 and 3 agents`, `1 agent`."""
    numbers = [int(row["agents"]) for row in rows]
    return counted(1, "agent") if numbers == [1] else f"{listed(map(str, numbers))} agents"
