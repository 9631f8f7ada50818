"""Where prompt tokens were lost to the cache, though they had been seen before: which turns, why, and what to do.

The names and numbers are those of analysis/cache_gap.py. What it cost is the step's own price of a computed token times
what was lost: an estimate, since attention over a longer context costs more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from labkit.analysis.cache_gap import step_gap
from labkit.analysis.format import count
from labkit.analysis.tables import STEP_KEY
from labkit.experiments.dashboard.opened import Opened

_WHY = ("eviction", "routing", "unknown", "template_drift", "rounding")
_WORDS = {
    "eviction": "evicted",
    "routing": "in another process",
    "unknown": "evicted or in another process",
    "template_drift": "template drift",
    "rounding": "rounded off",
}
_DO = {
    "eviction": "The cache was full. Give it more memory (kv-cache-memory-bytes), or run fewer agents at once.",
    "routing": "Another process of the engine had it. Send an agent's turns to the same one; in a split, decode's own "
    "words are not in prefill's cache.",
    "unknown": "Replicas cannot be told apart here. Send an agent's turns to the same one, then look again.",
    "template_drift": "The history was written anew instead of appended to. Send reasoning and tool calls back word "
    "for word, and let the template drop nothing; the Doctor page looks for it.",
    "rounding": "Only whole blocks hit, and the last token is always computed.{block} Nothing is wrong.",
}
SHOWN = 12


@dataclass(frozen=True, kw_only=True)
class Loss:
    """One step and what it lost. `cost_s`: about so many seconds of prefill; None where the engine told none."""

    task: str
    recording: str
    agent: str
    repeat: int
    turn: int
    condition: str
    prompt: int
    lost: int
    why: str
    cost_s: float | None


@dataclass(frozen=True, kw_only=True)
class Losses:
    """`worst`: the steps that lost most, the worst first; `n`: steps that lost anything; `by_why`: words to tokens.

    `do`: for each reason in `by_why`, what to do about it. `prompt`: all prompt tokens; 0 where nothing is known.
    """

    worst: tuple[Loss, ...] = ()
    n: int = 0
    tokens: int = 0
    prompt: int = 0
    by_why: tuple[tuple[str, int], ...] = ()
    do: tuple[str, ...] = ()


def losses(opened: Opened, mine: pd.DataFrame) -> Losses:
    """Of the steps of one arm with prefix caching."""
    gap = step_gap(mine)
    if not len(gap):
        return Losses()
    parts = _parts(gap)
    lost = parts.sum(axis=1)
    sums = {why: int(parts[why].sum()) for why in _WHY if parts[why].any()}
    told = gap.assign(lost=lost, why=parts.idxmax(axis=1))
    worst = told[lost > 0].sort_values(["lost", *STEP_KEY], ascending=[False] + [True] * len(STEP_KEY)).head(SHOWN)
    costs = mine[[*STEP_KEY, "prefill_s"]].drop_duplicates(STEP_KEY)
    rows = worst.merge(costs, on=STEP_KEY, how="left").itertuples(index=False)
    ordered = sorted(sums.items(), key=lambda item: -item[1])
    return Losses(
        worst=tuple(_loss(row) for row in rows),
        n=int((lost > 0).sum()),
        tokens=int(lost.sum()),
        prompt=int(gap["prompt"].sum()),
        by_why=tuple((_WORDS[why], tokens) for why, tokens in ordered),
        do=tuple(_advice(why, tokens, block_size(opened)) for why, tokens in ordered),
    )


def block_size(opened: Opened) -> int | None:
    """Tokens in a block, as the run's engines said when they began to serve."""
    sizes = {event["block_size"] for event in opened.events if event["type"] == "serving" and event.get("block_size")}
    return int(sizes.pop()) if len(sizes) == 1 else None


def _parts(gap: pd.DataFrame) -> pd.DataFrame:
    """Tokens by reason; `unknown` where it is not known whether they were evicted or elsewhere."""
    known = gap["routing"].notna()
    return pd.DataFrame(
        {
            "eviction": gap["eviction"].fillna(0.0),
            "routing": gap["routing"].fillna(0.0),
            "unknown": gap["lost"].where(~known, 0.0),
            "template_drift": gap["template_drift"],
            "rounding": gap["rounding"],
        }
    )[list(_WHY)]


def _loss(row: Any) -> Loss:
    """`row`: a named row of the gap's columns, with `lost`, `why` and the step's `prefill_s`."""
    computed, cost = row.prompt - row.cached, None
    if computed > 0 and not pd.isna(row.prefill_s):
        cost = float(row.prefill_s) / computed * row.lost
    return Loss(
        task=row.task,
        recording=row.recording,
        agent=row.agent,
        repeat=int(row.repeat),
        turn=int(row.turn),
        condition=row.condition,
        prompt=int(row.prompt),
        lost=int(row.lost),
        why=_WORDS[row.why],
        cost_s=cost,
    )


def _advice(why: str, tokens: int, block: int | None) -> str:
    size = "" if block is None else f" A block has {block} tokens; smaller ones lose less."
    return f"**{_WORDS[why]}** ({count(tokens)} tokens): {_DO[why].format(block=size)}"
