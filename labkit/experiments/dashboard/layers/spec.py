"""What speculation did in a run: how much was accepted, where, what it gained, and when it cost more than it gave."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from labkit.analysis.acceptance import acceptance
from labkit.analysis.draft_positions import position_table
from labkit.analysis.drafter_gain import gain_table
from labkit.analysis.drafters import by_method, drafter_table
from labkit.analysis.tables import is_finished
from labkit.experiments.dashboard.layers.costs import Cost, cost, gains
from labkit.experiments.dashboard.layers.drafts import draft_counters, drafter_name, drafters, varies
from labkit.experiments.dashboard.layers.gain import twin_gain
from labkit.experiments.dashboard.layers.rows import chosen, command_for, notes_on, twin_of, why_unpaired
from labkit.experiments.dashboard.layers.spec_words import Drafter, facts, finding
from labkit.experiments.dashboard.layers.words import Fact, Unpaired
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.report.english import records
from labkit.plots.acceptance import AcceptanceInfo, acceptance_by_kind_info
from labkit.plots.draft_gain import DraftGainInfo, draft_gain_info
from labkit.plots.drafted import DraftedInfo, drafted_info
from labkit.plots.drafters import DraftersInfo, drafters_info
from labkit.plots.positions import PositionsInfo, positions_info

_NO_CHUNKS = pd.DataFrame()


@dataclass(frozen=True, kw_only=True)
class SpecSection:
    """The section, from top to bottom. `several`: more than one drafter, so that figures are by drafter.

    `measured`: whether any drafts of replies of natural length were told; else there is nothing to draw.
    """

    finding: str
    facts: tuple[Fact, ...]
    several: bool
    measured: bool
    kinds: AcceptanceInfo | DraftersInfo
    turns: DraftersInfo
    positions: PositionsInfo
    drafted: DraftedInfo
    gain: DraftGainInfo
    gain_by_kind: DraftersInfo
    costs: tuple[Cost, ...]
    unpaired: Unpaired | None
    notes: tuple[str, ...]


def spec_section(opened: Opened, arm: str, cache: str, condition: str | None) -> SpecSection:
    """Of one arm with speculation, in one cache state and condition (None: all; a drafter is one, too)."""
    steps, name = chosen(opened, cache, None), drafter_name(opened.info)
    rows = drafters(steps, arm, condition, name)
    natural = rows[rows["mode"] != "pinned"]
    own = varies(steps)
    rates, table = drafter_table(rows), gain_table(rows, tested=own)
    pairs, other = gains(rows)
    found = tuple(_drafter(method, mine, table) for method, mine in by_method(natural))
    unpaired = _unpaired(opened, steps, arm, condition)
    if not own and unpaired is None:
        whole = twin_gain("e2e_s", _of(steps, condition), _NO_CHUNKS, arm, twin_of(arm, "speculation"))
        found = tuple(replace(one, gain=whole.gain, verdict=whole.head) for one in found)
    costs = tuple(cost(pairs, one.name, other.get(one.name, 0)) for one in found)
    several = len(found) > 1
    of_arm = _visible(steps, condition)
    events = draft_counters(opened.events, steps, arm, condition, name)
    return SpecSection(
        finding=finding(arm, found, costs, twin_of(arm, "speculation"), pinned=len(natural) < len(rows)),
        facts=facts(found, costs),
        several=several,
        measured=any(one.accepted.drafted for one in found),
        kinds=drafters_info(rates, "rate", "kind", arm) if several else acceptance_by_kind_info(of_arm),
        turns=drafters_info(rates, "rate", "turn", arm),
        positions=positions_info(position_table(events), arm),
        drafted=drafted_info(natural),
        gain=draft_gain_info(pairs, arm),
        gain_by_kind=drafters_info(table, "gain", "kind", arm),
        costs=costs,
        unpaired=unpaired,
        notes=notes_on(opened, steps, arm),
    )


def _visible(steps: pd.DataFrame, condition: str | None) -> pd.DataFrame:
    """The steps whose acceptance means something, of the chosen condition."""
    kept = steps[steps["mode"] != "pinned"]
    return kept if condition is None else kept[kept["condition"] == condition]


def _drafter(method: str, mine: pd.DataFrame, table: pd.DataFrame) -> Drafter:
    rows = records(table[(table["method"] == method) & (table["by"] == "all")])
    found = acceptance(mine[is_finished(mine)])
    if not rows:
        return Drafter(name=method, accepted=found)
    row: dict[str, Any] = rows[0]
    known = {name: None if pd.isna(row[name]) else float(row[name]) for name in ("gain", "decode_gain")}
    return Drafter(name=method, accepted=found, verdict=row["verdict"], n_pairs=int(row["n_pairs"]), **known)


def _unpaired(opened: Opened, steps: pd.DataFrame, arm: str, condition: str | None) -> Unpaired | None:
    """The speculation experiment has its reference among its own rows."""
    if varies(steps):
        return None
    kept, twin = _of(steps, condition), twin_of(arm, "speculation")
    why = why_unpaired(opened, kept, arm, twin)
    return Unpaired(words=why, command=command_for(opened, (twin, arm))) if why else None


def _of(steps: pd.DataFrame, condition: str | None) -> pd.DataFrame:
    return steps if condition is None else steps[steps["condition"] == condition]
