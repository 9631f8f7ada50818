"""The tables of the notebook on pitfalls as a reader sees them: words at the top, rounded, a dash: not measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from labkit.analysis.format import DASH, missing, percent, plain, seconds, times
from labkit.analysis.latency import e2e
from labkit.analysis.tables import measured
from labkit.experiments.report.english import records
from labkit.store.runs import Run

Shown = Callable[[Any], str]


def whole(value: Any) -> str:
    """`1,091`; a dash."""
    return DASH if missing(value) else f"{value:,.0f}"


_VARIANTS: dict[str, tuple[str, Shown]] = {
    "variant": ("requests", str),
    "n": ("steps", whole),
    "prompt": ("prompt tokens", whole),
    "computed": ("computed", whole),
    "hit_rate": ("hit rate", percent),
    "hit_ceiling": ("ceiling", percent),
    "arm_sum_s": ("TTFT, pairs added up", seconds),
    "base_sum_s": ("base's", seconds),
    "gain": ("gain over base", times),
    "n_pairs": ("pairs", whole),
}
_HABITS: dict[str, tuple[str, Shown]] = {
    "habit": ("habit", str),
    "n": ("requests", whole),
    "breaks_at": ("first break", str),
    "prompt": ("prompt tokens", whole),
    "computed": ("to compute", whole),
    "hit_ceiling": ("ceiling", percent),
}
_ROUTED: dict[str, tuple[str, Shown]] = {
    "replicas": ("replicas, each in its turn", whole),
    "n": ("requests", whole),
    "prompt": ("prompt tokens", whole),
    "computed": ("to compute", whole),
    "hit_ceiling": ("ceiling", percent),
}
_HISTORY: dict[str, tuple[str, Shown]] = {
    "template": ("template", str),
    "turns": ("turns", whole),
    "rewritten": ("of them rewritten", whole),
    "prompt": ("prompt tokens", whole),
    "computed": ("to compute", whole),
}
_ROOMS: dict[str, tuple[str, Shown]] = {
    "drafter": ("drafter", str),
    "arm": ("arm", str),
    "blocks": ("KV blocks", whole),
    "tokens": ("tokens", whole),
    "expected_tokens": ("by arithmetic", whole),
    "share": ("left", percent),
    "n": ("readings", whole),
    "used_gb": ("machine memory in use (GB)", plain),
    "n_used": ("readings of it", whole),
}
_DRAFTS: dict[str, tuple[str, Shown]] = {
    "draft": ("draft", str),
    "parameters": ("parameters (billions)", plain),
    "weights_gb": ("weights in bf16 (GB)", plain),
    "kv_kib": ("KV a token (KiB)", whole),
    "tokens": ("tokens that fit (millions)", plain),
    "room": ("of the room without", percent),
    "taken_gb": ("taken by the draft in all (GB)", whole),
}


def variants(table: pd.DataFrame) -> pd.DataFrame:
    """`labkit.analysis.variants.variant_table` in words."""
    return _told(table, _VARIANTS)


def habits(table: pd.DataFrame) -> pd.DataFrame:
    """`habit_table` in words."""
    return _told(table, _HABITS)


def routed(table: pd.DataFrame) -> pd.DataFrame:
    """`labkit.analysis.routed.routed_table` in words."""
    return _told(table, _ROUTED)


def history(table: pd.DataFrame) -> pd.DataFrame:
    """`rewritten_history.sums` in words."""
    return _told(table, _HISTORY)


def rooms(table: pd.DataFrame) -> pd.DataFrame:
    """`draft_memory.room_table` in words."""
    return _told(table, _ROOMS)


def drafts(table: pd.DataFrame) -> pd.DataFrame:
    """`labkit.analysis.draft_arithmetic.draft_table` in words."""
    return _told(table, _DRAFTS)


def steps_of(run: Run | None) -> pd.DataFrame:
    """What became of each step of a run: its turn, how long it took, and what it failed with. Empty without a run."""
    if run is None:
        return pd.DataFrame(columns=["turn", "kind", "time", "failed with"])
    kept = measured(run.steps())
    return pd.DataFrame(
        {
            "turn": kept["turn"].astype(int),
            "kind": kept["kind"],
            "time": [seconds(value) for value in e2e(kept)],
            "failed with": kept["error"].fillna(DASH),
        }
    ).reset_index(drop=True)


def claimed(claim: Mapping[str, Any]) -> str:
    """A published claim, who made it, and what is true today; Markdown."""
    return f"Claimed ({claim['source']}, {claim['date']}): *{claim['statement']}* {claim['today']}"


def _told(table: pd.DataFrame, words: Mapping[str, tuple[str, Shown]]) -> pd.DataFrame:
    rows = [{name: show(row[column]) for column, (name, show) in words.items()} for row in records(table)]
    return pd.DataFrame(rows, columns=[name for name, _ in words.values()])
