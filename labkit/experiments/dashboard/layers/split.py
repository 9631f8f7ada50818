"""What the prefill/decode split did in a run: to the first token and to the gaps, what it moved, and what failed."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from labkit.analysis.requests import request_costs
from labkit.experiments.compared import compared
from labkit.experiments.dashboard.layers.gain import TwinGain, gain_of, twin_gain
from labkit.experiments.dashboard.layers.halves import halves, verdict, where
from labkit.experiments.dashboard.layers.load import Loaded, under_load
from labkit.experiments.dashboard.layers.rows import (
    chosen,
    command_for,
    folded,
    matched,
    notes_on,
    twin_of,
    why_unpaired,
)
from labkit.experiments.dashboard.layers.split_words import facts, finding
from labkit.experiments.dashboard.layers.transfers import (
    Trouble,
    bytes_per_token,
    moved,
    step_transfers,
    troubles,
)
from labkit.experiments.dashboard.layers.words import Fact, Unpaired
from labkit.experiments.dashboard.opened import Opened
from labkit.plots.transfers import TransfersInfo, transfers_info
from labkit.plots.twin_lines import TwinLinesInfo, twin_lines_info

_NO_CHUNKS = pd.DataFrame()
_BETTER = "better"


@dataclass(frozen=True, kw_only=True)
class SplitSection:
    """The section, from top to bottom. `cannot`: why it is not expected to win on this machine; empty
    where it may, or did.

    `lines`: TTFT and ITL against the twin, where requests are paired; `loaded`: where the run was under load.
    """

    finding: str
    facts: tuple[Fact, ...]
    cannot: str
    where: str
    lines: tuple[TwinLinesInfo, ...]
    loaded: Loaded | None
    transfers: TransfersInfo
    troubles: tuple[Trouble, ...]
    unpaired: Unpaired | None
    notes: tuple[str, ...] = field(default=())


def split_section(opened: Opened, arm: str, cache: str, condition: str | None) -> SplitSection:
    """Of one arm with the split, in one cache state and condition (None: all)."""
    steps, twin = chosen(opened, cache, condition), twin_of(arm, "pd_split")
    mine, loaded = steps[steps["arm"] == arm], under_load(opened, arm, twin)
    why = why_unpaired(opened, steps, arm, twin)
    first, gaps, lines = _against(opened, steps, arm, twin) if not why else _nothing(arm, twin)
    found = moved(opened.events, steps, arm)
    on = halves(opened.info.fingerprint)
    unpaired = Unpaired(words=why, command="" if loaded else command_for(opened, (twin, arm))) if why else None
    return SplitSection(
        finding=finding(arm, first, gaps, found, loaded),
        facts=facts(first, gaps, found, loaded),
        cannot="" if _BETTER in (first.head, gaps.head) else verdict(on),
        where=where(on),
        lines=lines,
        loaded=loaded,
        transfers=transfers_info(step_transfers(mine, bytes_per_token(opened)), arm),
        troubles=troubles(found, mine, opened.view, arm),
        unpaired=unpaired,
        notes=notes_on(opened, steps, arm),
    )


Against = tuple[TwinGain, TwinGain, tuple[TwinLinesInfo, ...]]


def _nothing(arm: str, twin: str) -> Against:
    return TwinGain(metric="ttft_s", arm=arm, twin=twin), TwinGain(metric="itl_p99_s", arm=arm, twin=twin), ()


def _against(opened: Opened, steps: pd.DataFrame, arm: str, twin: str) -> Against:
    """Gains of TTFT and of the longest gaps, and both by turn."""
    costs, kept = gap_costs(opened, steps)
    kept = kept.assign(itl_p99_s=costs["cost"].to_numpy())
    pairs = matched(kept, arm, twin, ("t_send", "t_first_token", "itl_p99_s"))
    lines = (twin_lines_info(pairs, arm, twin, "ttft"), twin_lines_info(pairs, arm, twin, "itl"))
    return twin_gain("ttft_s", steps, _NO_CHUNKS, arm, twin), gain_of("itl_p99_s", costs, kept, arm, twin), lines


def gap_costs(opened: Opened, steps: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Each step's 99th percentile of gaps as `request_costs` has it, and the steps (`folded`), row by row."""
    chunks = compared(opened.info, opened.chunks)
    chunks = chunks[chunks["cache"].astype(str).isin(steps["cache"].unique())]
    kept = folded(steps).reset_index(drop=True)
    return request_costs(kept, folded(chunks), "itl_p99_s"), kept
