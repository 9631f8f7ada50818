"""How far into a draft acceptance reaches: accepted at position i, over all drafts.

Unconditional, as vLLM logs it: a token is accepted only where all before it were, so rates fall with the position. A
drafter may propose fewer tokens than it is allowed to, as n-gram does near the end of a match; such drafts stay in the
denominator, so a low rate deep in the draft can mean that nothing was proposed there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from labkit.analysis.tables import typed_frame
from labkit.core.columns import column
from labkit.core.conditions import method_of
from labkit.core.records import Record


@dataclass(frozen=True, kw_only=True)
class PositionRow(Record):
    """One position of one drafter's drafts."""

    method: str = column("string", "", "drafter, as the profile names it")
    position: int = column("int64", "", "position in the draft, from 1")
    drafts: int = column("int64", "", "verification rounds with a draft")
    accepted: int = column("int64", "tokens", "tokens accepted at this position")
    rate: float = column("float64", "", "accepted / drafts, 0 to 1")


def position_table(counters: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """From a run's `counters` events, of any process that counted drafts; columns as PositionRow declares them."""
    drafts: dict[str, int] = defaultdict(int)
    accepted: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for event in counters:
        method = method_of(str(event.get("condition") or ""))
        for process in event.get("processes", {}).values():
            grown = process["growth"]
            if not method or not grown.get("accepted_per_position"):
                continue
            drafts[method] += grown["drafts"] or 0
            for place, count in enumerate(grown["accepted_per_position"], 1):
                accepted[method][place] += count
    counted = [(method, place, count) for method, of in accepted.items() for place, count in of.items()]
    return typed_frame(PositionRow, [_row(m, drafts[m], place, count) for m, place, count in counted if drafts[m]])


def _row(method: str, drafts: int, position: int, accepted: int) -> PositionRow:
    return PositionRow(method=method, position=position, drafts=drafts, accepted=accepted, rate=accepted / drafts)
