"""Where a step's wall time went, in parts that add up.

Wall is from the moment when the step was due to when the next one is: send lag, send to end, tool. Its parts:

    client_lag  due to sent
    server      in the engine's HTTP server beyond its core: template, tokenizer, grammar, the way to the core and back
    queue       waiting to be scheduled
    prefill     scheduled to first token, in every process that computes some of the prompt
    transfer    KV from prefill to decode
    decode      first to last token
    tool        the tool that the step asked for; in a replay, as long as it took when it was recorded
    other       what is left: connection, HTTP, router, and the client's own reading and parsing

Three clocks that know nothing of each other are added here: the client's wall, the server's `e2e` histogram (which
gives `server`) and the core's times. `other` is the residual, so that the sum holds by construction, and how small it
is says whether the others are right: `unaccounted_share` is the steps' |other|, summed, over wall without the
tool, so that steps with too much of it do not make up for those with too little. More engine time than the client saw
is counted in `n_over`. A step whose engine said no times, as with several requests at once on a split engine, has its
wall and null parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.latency import e2e
from labkit.analysis.tables import STEP_KEY, Floats, floats, is_finished, measured, numbers, total, typed_frame
from labkit.core.arms import ARMS
from labkit.core.columns import column
from labkit.core.records import Record

PARTS: Final = ("client_lag", "server", "queue", "prefill", "transfer", "decode", "tool", "other")
_SPLIT: Final = frozenset(arm.label for arm in ARMS if arm.pd_split)
TOLERANCE_S: Final = 0.002
"""The core's clock is read in another process than the client's: a residual down to minus this much is noise."""


@dataclass(frozen=True, kw_only=True)
class LedgerRow(Record):
    """Seconds of one arm, summed over `n` finished steps; None: not measured. The parts add up to `wall`."""

    arm: str = column("string", "", "label of the arm")
    n: int = column("int64", "", "finished steps that the seconds are summed over")
    n_unsplit: int = column(
        "int64", "", "finished steps whose engine told no times; left out unless there are only such"
    )
    wall: float | None = column("float64", "s", "due to next due: send lag, send to end, tool", nullable=True)
    client_lag: float | None = column("float64", "s", "due to sent", nullable=True)
    server: float | None = column("float64", "s", "in the engine's HTTP server, beyond its core", nullable=True)
    queue: float | None = column("float64", "s", "waiting to be scheduled", nullable=True)
    prefill: float | None = column("float64", "s", "scheduled to first token", nullable=True)
    transfer: float | None = column("float64", "s", "KV from prefill to decode", nullable=True)
    decode: float | None = column("float64", "s", "first to last token", nullable=True)
    tool: float | None = column("float64", "s", "tools, as recorded in a replay", nullable=True)
    other: float | None = column("float64", "s", "what no clock names: HTTP, router, reading", nullable=True)
    unaccounted_share: float | None = column("float64", "", "sum of |other| of steps / (wall - tool)", nullable=True)
    n_over: int = column("int64", "", f"steps whose parts are over {TOLERANCE_S * 1000:g} ms more than their wall")


def ledger(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per arm in the lab's order; columns as LedgerRow declares them. Warm-up and failed steps left out."""
    table = step_ledger(steps)
    return typed_frame(LedgerRow, [_row(arm, table[table["arm"] == arm]) for arm in in_order(table["arm"])])


def step_ledger(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per finished step: arm, STEP_KEY, `wall` and PARTS in seconds, NaN where not measured.

    A part that was never measured (`server`, without counters) is in `other`; without prefill and decode there is no
    split at all.
    """
    kept = measured(steps)
    kept = kept[is_finished(kept)].reset_index(drop=True)
    whole, lag, tool = floats(e2e(kept)), numbers(kept, "send_lag_s"), _tool(kept)
    core = _core(kept)
    known = ~np.isnan(core["prefill"] + core["decode"])
    named = np.nansum(list(core.values()), axis=0) if len(kept) else np.zeros(0)
    parts = {name: np.where(known, seconds, np.nan) for name, seconds in core.items()}
    other = np.where(known, whole - named, np.nan)
    wall = np.nan_to_num(lag) + whole + tool
    return kept[["arm", *STEP_KEY]].assign(wall=wall, client_lag=lag, **parts, tool=tool, other=other)


def _core(steps: pd.DataFrame) -> dict[str, Floats]:
    """What the engine said. An arm without a split, and a script, transfer nothing: their 0 is known."""
    times = {name: numbers(steps, f"{name}_s") for name in ("server", "queue", "prefill", "transfer", "decode")}
    split = steps["arm"].isin(_SPLIT).to_numpy(dtype=bool)
    times["transfer"] = np.where(split, times["transfer"], 0.0)
    return times


def _tool(steps: pd.DataFrame) -> Floats:
    """Seconds of each step's tool; 0 where it asked for none."""
    seconds = numbers(steps, "tool_s")
    seconds[steps["tool_name"].isna().to_numpy(dtype=bool) & np.isnan(seconds)] = 0.0
    return seconds


def _row(arm: str, table: pd.DataFrame) -> LedgerRow:
    table = table[table["wall"].notna()]
    split = table[table["other"].notna()]
    summed = split if len(split) else table
    sums = {name: total(numbers(summed, name)) for name in ("wall", *PARTS)}
    return LedgerRow(
        arm=arm,
        n=len(summed),
        n_unsplit=len(table) - len(split),
        **sums,
        unaccounted_share=_share(total(np.abs(numbers(summed, "other"))), sums["wall"], sums["tool"]),
        n_over=int((numbers(split, "other") < -TOLERANCE_S).sum()),
    )


def _share(other: float | None, wall: float | None, tool: float | None) -> float | None:
    """`other`: its sizes, summed."""
    if other is None or wall is None or wall <= (tool or 0.0):
        return None
    return other / (wall - (tool or 0.0))
