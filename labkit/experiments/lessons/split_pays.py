"""The lesson's arithmetic at other hit rates: how much prefill is left to split off, and when that evens out."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from labkit.analysis.format import DASH, percent, plain, seconds
from labkit.experiments.lessons.split_balance import Balance, signed

_SHARES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99)
_OWN, _EQUAL = "with these rates", "with equal rates of prefill"


def by_hit_rate(found: Balance | None, shares: Sequence[float] = _SHARES) -> pd.DataFrame:
    """The run's mean prompt at other hit rates, by its own rates of prefill: arithmetic, not measured.

    Tokens times the seconds that one took in each arm; transfer and detour as they were, since both have little to do
    with how much is new. Streams: beside so many the prefill frees as much as the turn loses. With equal rates, as
    where each half has hardware of its own, transfer and detour alone are paid.
    """
    if found is None or not found.new:
        return pd.DataFrame()
    each = tuple(spent / found.new for spent in found.prefill)
    rows = []
    for share in shares:
        new = (1 - share) * found.prompt
        freed, smaller = new * each[0], new * (each[1] - each[0])
        moved = found.transfer + found.detour
        rows.append(
            {
                "prompt from the cache": percent(share),
                "new tokens": f"{new:,.0f}",
                "prefill to split off": seconds(freed),
                f"own first token later, {_OWN}": signed(smaller + moved),
                f"streams that even it out, {_OWN}": _streams(freed, smaller + moved),
                f"own first token later, {_EQUAL}": signed(moved),
                f"streams that even it out, {_EQUAL}": _streams(freed, moved),
            }
        )
    return pd.DataFrame(rows).set_index("prompt from the cache")


def _streams(freed: float, paid: float) -> str:
    """Not rounded up: 1.04 and 1.41 are both two streams, and what lies between them is what the hit rate costs."""
    if paid <= 0:
        return "0"
    return plain(paid / freed) if freed > 0 else DASH
